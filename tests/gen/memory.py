#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes tests/data/report/memory.data: memory accesses with all words of data_src, and counters of
threads.

    tests/gen/memory.py FILE

Two processes share memory of a file; both have private memory at the same addresses. The second
event type has weights in three parts. No machine's processor records all of these values.
"""
import sys

from samples import *  # noqa: F403

SHARED_FLAG, PRIVATE_FLAG = 1, 2
READ_ONLY, WRITABLE, CODE = 1, 3, 5
COUNTS = ((10, 10, 0, 1234567), (10, 11, 0, 5), (10, 11, 1, 77), (20, 20, 1, 8), (10, 10, 0, 3))


def data_src(op=2, level=0, snoop=0, lock=0, tlb=0, number=0, remote=0, more=0, blocked=0, hops=0):
    return (op | level << 5 | snoop << 19 | lock << 24 | tlb << 26 | number << 33 | remote << 37 |
            more << 38 | blocked << 40 | hops << 43)


def sources():
    """Each bit of each part with hit and miss, and some that contradict each other."""
    yield 0
    yield data_src(op=1, level=1, snoop=1, lock=1, tlb=1)  # "not available"
    yield data_src(op=1, level=1, snoop=1, lock=1, tlb=1, number=15)
    for bit in range(3, 14):
        for outcome in 0, 2, 4:
            yield data_src(level=1 << bit | outcome, snoop=2)
    for number in range(16):
        yield data_src(level=2, number=number)
        yield data_src(level=2, number=number, remote=1)
    for hops in range(8):
        yield data_src(level=2, number=3, remote=1, hops=hops)
    for snoop in range(32):
        yield data_src(snoop=snoop, more=snoop % 4)
    for tlb in list(range(0, 128, 5)) + [127]:
        yield data_src(tlb=tlb)
    for i in range(8):
        yield data_src(lock=i % 4, blocked=i)
    yield (1 << 46) - 1


def mapping(r, pid, start, name, prot, flags, inode):
    device = (8, 1) if inode else (0, 0)
    body = r.pack('iiQQQIIQQII', pid, pid, start, 0x10000, 0x3000, *device, inode, 0, prot, flags)
    # bit 13 of misc: not code
    r.record(10, body + r.text(name) + r.sample_id(0, pid, pid, 5),
             misc=USER | (prot != CODE) << 13)


def read(r, pid, tid, n, value, time):
    r.record(8, r.pack('iiQ', pid, tid, value) + r.sample_id(n, pid, tid, time))


def make():
    r = Recording()
    common = IP | TID | TIME | ADDR | CPU | DATA_SRC | PHYS_ADDR | DATA_PAGE_SIZE
    loads = r.attr(config=2, sample=common | WEIGHT, name='loads')
    stores = r.attr(config=3, sample=common | WEIGHT_STRUCT, name='stores')
    for pid in 10, 20:
        r.comm(pid, 'work%d' % pid, 1)
        mapping(r, pid, 0x400000, '/no/code', CODE, PRIVATE_FLAG, 11)
        mapping(r, pid, 0x500000 + 0x1000 * pid, '/no/shared', WRITABLE, SHARED_FLAG, 12)
        mapping(r, pid, 0x600000, '//anon', WRITABLE, PRIVATE_FLAG, 0)
        mapping(r, pid, 0x700000, '/dev/zero', WRITABLE, SHARED_FLAG, 0)
        mapping(r, pid, 0x800000, '/no/data', READ_ONLY, PRIVATE_FLAG, 13)
    places = (0x600000, 0x600040, 0x700008, 0x800100, 0x900000, 0xffffffff81001000,
              0xffff888000000000, 0x510100, 0x520100)
    for i, source in enumerate(sources()):
        pid, kernel = (10, 20)[i // len(places) % 2], i % 7 == 3
        weight = i * 37 % 11
        event = (loads, stores)[i % 4 == 2]
        if event == stores:
            weight |= (i % 5) << 32 | (i % 3) << 48
        r.sample(event, KERNEL if kernel else USER, pid=pid, time=100 + i, cpu=i % 2,
                 ip=0xffffffff81000100 + i % 4 if kernel else 0x400000 + i % 5 * 16,
                 addr=places[i % len(places)] + i % 4 * 8, weight=weight, data_src=source,
                 phys_addr=i % 6 << 12, data_page_size=(0, 4096, 2 << 20, 1 << 30)[i % 4])
    for i, (pid, tid, n, value) in enumerate(COUNTS):
        read(r, pid, tid, n, value, 1000 + i)
    return r.bytes()


if __name__ == '__main__':
    with open(sys.argv[1], 'wb') as f:
        f.write(make())
