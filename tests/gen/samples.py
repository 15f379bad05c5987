# SPDX-License-Identifier: MIT
"""Makes perf.data files with any values in samples, also those that only some hardware records.

    r = Recording(arch='x86_64')
    cycles = r.attr(type=0, config=0, sample=IP | TID | TIME | DATA_SRC)
    r.comm(10, 'work')
    r.sample(cycles, ip=0x401000, pid=10, tid=10, time=1000000, data_src=0x1e05080021)
    open('x.data', 'wb').write(r.bytes())
"""
import struct

(IP, TID, TIME, ADDR, READ, CALLCHAIN, ID, CPU, PERIOD, STREAM_ID, RAW, BRANCH_STACK, REGS_USER,
 STACK_USER, WEIGHT, DATA_SRC, IDENTIFIER, TRANSACTION, REGS_INTR, PHYS_ADDR, AUX, CGROUP,
 DATA_PAGE_SIZE, CODE_PAGE_SIZE, WEIGHT_STRUCT) = (1 << i for i in range(25))
KERNEL, USER, HYPERVISOR, GUEST_KERNEL, GUEST_USER = range(1, 6)
SAMPLE_ID_ALL = 1 << 18
BRANCH_ANY, BRANCH_COUNTERS = 1 << 3, 1 << 19
HW_INDEX = 1 << 17
BRANCH_CALL_STACK = 1 << 11
ENABLED, RUNNING, READ_ID, GROUP, LOST = (1 << i for i in range(5))  # of read_format


class Recording:
    def __init__(self, arch='x86_64', big=False):
        self.e, self.big = '>' if big else '<', big
        self.attrs, self.data, self.features = [], b'', {}
        self.features[3] = self.string('host')
        self.features[4] = self.string('6.0')
        self.features[5] = self.string('6.1')
        if arch:
            self.features[6] = self.string(arch)

    def pack(self, fmt, *v):
        return struct.pack(self.e + fmt, *v)

    def string(self, s):
        b = s.encode() + b'\0'
        b = b.ljust(len(b) + -len(b) % 64, b'\0')
        return self.pack('I', len(b)) + b

    def attr(self, type=0, config=0, sample=IP | TID | TIME, period=1, branches=0, user_regs=0,
             intr_regs=0, flags=0, name=None, read_format=0, user_stack=0):
        """An event type; returns its number.

        Each has IDENTIFIER, so that several can live together.
        """
        flags |= SAMPLE_ID_ALL
        if self.big:  # bit fields are allocated from the other end of each byte
            flags = int.from_bytes(bytes(int('{:08b}'.format(b)[::-1], 2)
                                         for b in flags.to_bytes(8, 'little')), 'big')
        sample |= IDENTIFIER
        body = self.pack('IIQQQQQIIQQQQIiQIHHII', type, 128, config, period, sample, read_format,
                         flags, 0, 0, 0, 0, branches, user_regs, user_stack, 0,
                         intr_regs, 0, 0, 0, 0, 0).ljust(128, b'\0')
        self.attrs.append((body, sample, branches, name, read_format))
        return len(self.attrs) - 1

    def record(self, kind, body, misc=0):
        self.data += self.pack('IHH', kind, misc, 8 + len(body)) + body

    def sample_id(self, n, pid=-1, tid=-1, time=0, cpu=0):
        """The trailer of records of state, by the n-th attr."""
        sample = self.attrs[n][1]
        out = b''
        if sample & TID:
            out += self.pack('ii', pid, tid)
        if sample & TIME:
            out += self.pack('Q', time)
        if sample & CPU:
            out += self.pack('II', cpu, 0)
        return out + self.pack('Q', n + 1)

    def text(self, s):
        b = s if isinstance(s, bytes) else s.encode()
        b += b'\0'
        return b.ljust(len(b) + -len(b) % 8, b'\0')

    def comm(self, pid, name, time=0, tid=None, by_exec=False):
        tid = tid or pid
        self.record(3, self.pack('ii', pid, tid) + self.text(name) +
                    self.sample_id(0, pid, tid, time), misc=by_exec << 13)

    def mmap(self, pid, start, length, pgoff, name, time=0):
        body = self.pack('iiQQQIIQQII', pid, pid, start, length, pgoff, 8, 1, 1234, 0, 5, 2)
        self.record(10, body + self.text(name) + self.sample_id(0, pid, pid, time), misc=USER)

    def kernel_map(self, start=0xffffffff81000000, length=0x1000000, name='[kernel.kallsyms]_text',
                   pgoff=None):
        body = self.pack('iiQQQ', -1, 0, start, length, start if pgoff is None else pgoff)
        self.record(1, body + self.text(name) + self.sample_id(0, 0, 0), misc=KERNEL)

    def ksymbol(self, addr, length, name, time=0, ends=False, kind=1):
        """kind: 1 a BPF program, 2 code out of line."""
        self.record(17, self.pack('QIHH', addr, length, kind, ends) + self.text(name) +
                    self.sample_id(0, 0, 0, time))

    def text_poke(self, addr, old, new, time=0, misc=KERNEL):
        body = self.pack('QHH', addr, len(old), len(new)) + old + new
        self.record(20, body.ljust(len(body) + -len(body) % 8, b'\0') +
                    self.sample_id(0, 0, 0, time), misc=misc)

    def cgroup(self, id, path, time=0):
        self.record(19, self.pack('Q', id) + self.text(path) + self.sample_id(0, 0, 0, time))

    def regs(self, values, abi=2):
        return self.pack('Q', abi) + (b''.join(self.pack('Q', v) for v in values) if abi else b'')

    def read(self, read_format, values, enabled, running):
        """The READ part: [(value, number of the event type, lost)], one unless the format has
        GROUP.
        """
        times = [v for bit, v in ((ENABLED, enabled), (RUNNING, running)) if read_format & bit]
        one = [[value] + [n + 1] * bool(read_format & READ_ID) + [lost] * bool(read_format & LOST)
               for value, n, lost in values]
        if read_format & GROUP:
            words = [len(values)] + times + [w for v in one for w in v]
        else:
            words = one[0][:1] + times + one[0][1:]
        return b''.join(self.pack('Q', w) for w in words)

    def branch_flags(self, f):
        """Converts flags numbered from the lowest bit to the machine's order: big-endian ones
        allocate from the highest.
        """
        if not self.big:
            return f
        out = at = 0
        # Mispred predicted in_tx abort cycles type spec new_type priv reserved.
        for width in 1, 1, 1, 1, 16, 4, 2, 4, 3, 31:
            out = out << width | f >> at & (1 << width) - 1
            at += width
        return out

    def sample(self, n, misc=USER, **v):
        """A sample of the n-th attr.

        Lists: branches [(from, to, flags)], counters, user_regs, intr_regs, chain, read (see
        read()); raw and user_stack are bytes.
        """
        _, sample, branch_type, _, read_format = self.attrs[n]
        get = lambda name, default=0: v.get(name, default)
        q = lambda x: self.pack('Q', x & (1 << 64) - 1)
        out = q(n + 1)
        if sample & IP:
            out += q(get('ip'))
        if sample & TID:
            out += self.pack('ii', get('pid', 10), get('tid', get('pid', 10)))
        for bit, name in (TIME, 'time'), (ADDR, 'addr'), (ID, 'id'), (STREAM_ID, 'stream_id'):
            if sample & bit:
                out += q(get(name))
        if sample & CPU:
            out += self.pack('II', get('cpu'), 0)
        if sample & PERIOD:
            out += q(get('period', 1))
        if sample & READ:
            out += self.read(read_format, get('read', ()), get('enabled'), get('running'))
        if sample & CALLCHAIN:
            out += q(len(get('chain', ()))) + b''.join(q(x) for x in get('chain', ()))
        if sample & RAW:
            raw = get('raw', b'')
            raw += bytes(-(len(raw) + 4) % 8)
            out += self.pack('I', len(raw)) + raw
        if sample & BRANCH_STACK:
            branches = get('branches', ())
            out += q(len(branches)) + (q(-1) if branch_type & HW_INDEX else b'')
            out += b''.join(q(a) + q(b) + q(self.branch_flags(f)) for a, b, f in branches)
            if branch_type & BRANCH_COUNTERS:
                out += b''.join(q(c) for c in get('counters', [0] * len(branches)))
        if sample & REGS_USER:
            out += self.regs(get('user_regs', ()), get('user_abi', 2))
        if sample & STACK_USER:
            stack = get('user_stack', b'')
            out += q(len(stack)) + stack + (q(get('user_stack_len', len(stack))) if stack else b'')
        if sample & (WEIGHT | WEIGHT_STRUCT):
            out += q(get('weight'))
        if sample & DATA_SRC:
            out += q(get('data_src'))
        if sample & TRANSACTION:
            out += q(get('transaction'))
        if sample & REGS_INTR:
            out += self.regs(get('intr_regs', ()), get('intr_abi', 2))
        for bit, name in (PHYS_ADDR,
                          'phys_addr'), (CGROUP, 'cgroup'), (DATA_PAGE_SIZE, 'data_page_size'), \
                (CODE_PAGE_SIZE, 'code_page_size'):
            if sample & bit:
                out += q(get(name))
        self.record(9, out, misc)

    def clock(self, clockid=1, tod_ns=1700000000123456789, clock_ns=1000):
        self.features[23] = self.pack('Q', 1000)  # in nanoseconds, how fine it is
        self.features[29] = self.pack('IIQQ', 1, clockid, tod_ns, clock_ns)

    def group(self, n):
        """The first n event types were opened as one group."""
        self.features[17] = self.pack('I', 1) + self.string('') + self.pack('II', 0, n)

    def bytes(self):
        n = len(self.attrs)
        ids, table_at = 104, 104 + 8 * n
        table = b''.join(a[0] + self.pack('QQ', ids + 8 * i, 8) for i, a in enumerate(self.attrs))
        if any(a[3] for a in self.attrs):
            self.features[12] = self.pack('II', n, 128) + b''.join(
                a[0] + self.pack('I', 1) + self.string(a[3] or 'event-%d' % i) +
                self.pack('Q', i + 1)
                for i, a in enumerate(self.attrs))
        data_at = table_at + len(table)
        at, places, bodies = data_at + len(self.data) + 16 * len(self.features), b'', b''
        for bit in sorted(self.features):
            places += self.pack('QQ', at + len(bodies), len(self.features[bit]))
            bodies += self.features[bit].ljust(len(self.features[bit]) + -len(self.features[bit]) %
                                               8, b'\0')
        header = self.pack('QQQQQQQQQ', 0x32454c4946524550, 104, 144, table_at, len(table), data_at,
                           len(self.data), 0, 0)
        header += self.pack('QQQQ', sum(1 << bit for bit in self.features), 0, 0, 0)
        return (header + b''.join(self.pack('Q', i + 1) for i in range(n)) + table + self.data +
                places + bodies)
