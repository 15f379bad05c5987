# SPDX-License-Identifier: MIT
"""Makes blktrace files: every action, both byte orders, several cpus, drops.

    t = Blktrace(big=True)
    t.process(100, 'kjournald')
    t.add('Q', time=1000, sector=8, nr_bytes=4096, rwbs='WS', pid=100)
    (folder / 'sda.blktrace.0').write_bytes(t.data)

docs/formats/blktrace.md has the layout.
"""
import struct

MAGIC = 0x65617400
CATEGORIES = ['read', 'write', 'flush', 'sync', 'queue', 'requeue', 'issue', 'complete', 'fs', 'pc',
              'notify', 'ahead', 'meta', 'discard', 'drv_data', 'fua']
BIT = {name: 1 << (16 + n) for n, name in enumerate(CATEGORIES)}
# The letter that blkparse prints: (action, categories that the kernel adds)
ACTIONS = {'Q': (1, ['queue']), 'M': (2, ['queue']), 'F': (3, ['queue']), 'G': (4, ['queue']),
           'S': (5, ['queue']), 'R': (6, ['requeue']), 'D': (7, ['issue']), 'C': (8, ['complete']),
           'P': (9, ['queue']), 'U': (10, ['queue']), 'UT': (11, ['queue']), 'I': (12, ['queue']),
           'X': (13, []), 'B': (14, []), 'A': (15, ['queue']), 'abort': (16, ['queue']),
           'drv_data': (17, ['drv_data'])}
CGROUP = 0x100
PROCESS, TIMESTAMP, MESSAGE = 0, 1, 2
LETTERS = {'R': 'read', 'W': 'write', 'D': 'discard', 'F': 'flush', 'U': 'fua', 'A': 'ahead',
           'S': 'sync', 'M': 'meta'}


def dev(major, minor):
    return major << 20 | minor


class Blktrace:
    """The records of one file, in `data`."""

    def __init__(self, big=False, cpu=0, version=7, device=dev(8, 1)):
        self.e, self.cpu, self.version, self.device = '>' if big else '<', cpu, version, device
        self.data, self.sequence = b'', 0

    def record(self, time, sector=0, nr_bytes=0, action=0, pid=0, error=0, pdu=b'', device=None,
               cpu=None, sequence=0, pdu_len=None, magic=None):
        device = self.device if device is None else device
        cpu = self.cpu if cpu is None else cpu
        pdu_len = len(pdu) if pdu_len is None else pdu_len
        magic = MAGIC | self.version if magic is None else magic
        if self.version == 8:
            head = struct.pack(self.e + 'IIQQIIQIIHH12x', magic, sequence, time, sector, nr_bytes,
                               pid, action, device, cpu, error & 0xffff, pdu_len)
        else:
            head = struct.pack(self.e + 'IIQQIIIIIHH', magic, sequence, time, sector, nr_bytes,
                               action, pid, device, cpu, error & 0xffff, pdu_len)
        self.data += head + pdu
        return self

    def add(self, letter, time, sector=0, nr_bytes=0, rwbs='R', pid=0, pc=False, cgroup=None,
            drop=0, **more):
        """rwbs: letters of R W D F(lush) U(fua) A S M. drop: number of records of this cpu lost
        before this one.
        """
        act, categories = ACTIONS[letter]
        bits = 0
        for name in categories + ['pc' if pc else 'fs'] + [LETTERS[c] for c in rwbs]:
            bits |= BIT[name]
        pdu = more.pop('pdu', b'')
        if cgroup is not None:
            act |= CGROUP
            pdu = struct.pack(self.e + 'Q', cgroup) + pdu
        self.sequence += 1 + drop
        more.setdefault('sequence', self.sequence)
        return self.record(time, sector, nr_bytes, act | bits | more.pop('bits', 0), pid, pdu=pdu,
                           **more)

    def remap(self, time, sector, nr_bytes, from_dev, from_sector, to_dev=None, **more):
        to_dev = self.device if to_dev is None else to_dev
        return self.add('A', time, sector, nr_bytes,
                        pdu=struct.pack('>IIQ', from_dev, to_dev, from_sector), **more)

    def count(self, letter, time, n, **more):
        """U, UT: n requests; X: the new sector."""
        return self.add(letter, time, pdu=struct.pack('>Q', n), **more)

    def notify(self, kind, time=0, pid=0, pdu=b'', **more):
        return self.record(time, action=kind | BIT['notify'], pid=pid, pdu=pdu, **more)

    def process(self, pid, comm, time=0, **more):
        return self.notify(PROCESS, time, pid, comm.encode()[:16].ljust(16, b'\0'), **more)

    def timestamp(self, sec, nsec, time=0, **more):
        return self.notify(TIMESTAMP, time, pdu=struct.pack(self.e + 'II', sec, nsec), **more)

    def message(self, text, time=0, pid=0, **more):
        return self.notify(MESSAGE, time, pid, text.encode() if isinstance(text, str) else text,
                           **more)


def every_action(t, start=0, step=1000000):
    """Adds each action, kind of flags and payload once, in the order of time.

    Returns the time after the last.
    """
    at = iter(range(start, start + 1000 * step, step))
    io = dict(pid=100)
    t.process(100, 'kjournald', time=start)
    t.add('Q', next(at), 1000, 4096, 'WS', **io)
    t.add('G', next(at), 1000, 4096, 'WS', **io)
    t.add('P', next(at), rwbs='', **io)
    t.add('I', next(at), 1000, 4096, 'WS', **io)
    t.count('U', next(at), 1, rwbs='', **io)
    t.count('UT', next(at), 3, rwbs='', **io)
    t.add('D', next(at), 1000, 4096, 'WS', **io)
    t.add('C', next(at), 1000, 4096, 'WS', **io)
    t.add('M', next(at), 1008, 4096, 'RA', **io)
    t.add('F', next(at), 1016, 4096, 'RM', **io)
    t.count('X', next(at), 2004, sector=2000, nr_bytes=4096, rwbs='W', **io)
    t.remap(next(at), 2000, 4096, dev(8, 0), 4048, rwbs='W', **io)
    t.add('B', next(at), 3000, 512, 'R', **io)
    t.add('S', next(at), 3000, 512, 'R', **io)
    t.add('R', next(at), 3000, 512, 'R', error=5, **io)
    t.add('D', next(at), 0, 6, 'R', pc=True, pdu=b'\x12\0\0\0\x24\0', **io)
    t.add('C', next(at), 0, 6, 'R', pc=True, pdu=b'\x12\0\0\0\x24\0', **io)
    t.add('Q', next(at), 5000, 8192, 'WDS', **io)
    t.add('Q', next(at), 0, 0, 'WF', **io)
    t.add('Q', next(at), 5000, 4096, 'WFUSM', **io)
    t.add('C', next(at), 5000, 4096, 'W', error=-5, **io)
    t.add('Q', next(at), 0, 0, 'F', **io)
    t.message('hello message', next(at))
    return next(at)


FORMS = {'little': dict(), 'big': dict(big=True), 'trace2': dict(version=8)}


def recording(**form):
    """{name: bytes} of the files of a recording of two cpus: all actions, a note with the name of a
    process after its first request, five records lost on cpu 1.
    """
    first, second = Blktrace(cpu=0, **form), Blktrace(cpu=1, **form)
    first.timestamp(1600000000, 5, time=5000000000)
    every_action(first, start=5000000000)
    second.add('Q', 5000500000, 64, 65536, 'RA', pid=200)
    second.process(200, 'fio', time=5000600000)
    second.add('D', 5001500000, 64, 65536, 'RA', pid=200)
    second.add('C', 5020500000, 64, 65536, 'RA', pid=0, drop=5)
    return {'sda.blktrace.0': first.data, 'sda.blktrace.1': second.data}


def main():
    """Writes tests/data/blktrace anew."""
    import pathlib
    import sys
    for name, form in FORMS.items():
        folder = pathlib.Path(sys.argv[1]) / name
        folder.mkdir(parents=True, exist_ok=True)
        for file, data in recording(**form).items():
            (folder / file).write_bytes(data)


if __name__ == '__main__':
    main()
