# SPDX-License-Identifier: MIT
"""Makes trace.dat files: both versions, byte orders and sizes of long; every kind of record.

    tracedat.py FOLDER           writes the files of tests/data/tracedat that are swept
    tracedat.py --seeds FOLDER   writes the first inputs of tests/fuzz/tracedat.c

    t = TraceDat(version=7, big=True, long_bytes=4, compression='zlib')
    t.cpu(0).add(1000, t.switch(1, 'init', 2, 'sh')).add(3000, t.print(2, 'hello'))
    path.write_bytes(t.data())

docs/formats/tracedat.md has the layout.
"""
import pathlib
import struct
import sys
import zlib

PAGE = 4096
# ID: system, name, fields (type, name, size; 'long' is the kernel's), print format
EVENTS = {
    1: ('ftrace', 'function', [('unsigned long', 'ip', 'L'), ('unsigned long', 'parent_ip', 'L')],
        '" %ps <-- %ps", (void *)REC->ip, (void *)REC->parent_ip'),
    2: ('ftrace', 'funcgraph_entry', [('unsigned long', 'func', 'L'), ('int', 'depth', 'i')],
        '"--> %ps (%d)", (void *)REC->func, REC->depth'),
    3: ('ftrace', 'funcgraph_exit',
        [('unsigned long', 'func', 'L'), ('unsigned long long', 'calltime', 'Q'),
         ('unsigned long long', 'rettime', 'Q'), ('unsigned long', 'overrun', 'L'),
         ('int', 'depth', 'i')],
        '"<-- %ps (%d) (start: %llx  end: %llx) over: %d", (void *)REC->func, REC->depth, '
        'REC->calltime, REC->rettime, REC->depth'),
    4: ('ftrace', 'kernel_stack', [('int', 'size', 'i'), ('unsigned long', 'caller[8]', '8L')],
        '"\\t=> %ps\\n", (void *)REC->caller[0]'),
    5: ('ftrace', 'print', [('unsigned long', 'ip', 'L'), ('char', 'buf[]', '')],
        '"%ps: %s", (void *)REC->ip, REC->buf'),
    6: ('ftrace', 'bprint', [('unsigned long', 'ip', 'L'), ('const char *', 'fmt', 'L'),
                             ('u32', 'buf[]', '')],
        '"%ps: %s", (void *)REC->ip, REC->fmt'),
    7: ('ftrace', 'bputs', [('unsigned long', 'ip', 'L'), ('const char *', 'str', 'L')],
        '"%ps: %s", (void *)REC->ip, REC->str'),
    8: ('ftrace', 'raw_data', [('unsigned int', 'id', 'I'), ('char', 'buf[]', '')],
        '"id:%04x %08x", REC->id, (int)REC->buf[0]'),
    100: ('sched', 'sched_switch',
          [('char', 'prev_comm[16]', '16s'), ('pid_t', 'prev_pid', 'i'), ('int', 'prev_prio', 'i'),
           ('long', 'prev_state', 'l'), ('char', 'next_comm[16]', '16s'),
           ('pid_t', 'next_pid', 'i'), ('int', 'next_prio', 'i')],
          '"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s ==> next_comm=%s next_pid=%d '
          'next_prio=%d", REC->prev_comm, REC->prev_pid, REC->prev_prio, REC->prev_state ? '
          '__print_flags(REC->prev_state, "|", { 1, "S"} , { 2, "D" }) : "R", REC->next_comm, '
          'REC->next_pid, REC->next_prio'),
    101: ('sched', 'sched_wakeup',
          [('char', 'comm[16]', '16s'), ('pid_t', 'pid', 'i'), ('int', 'prio', 'i'),
           ('int', 'target_cpu', 'i')],
          '"comm=%s pid=%d prio=%d target_cpu=%03d", REC->comm, REC->pid, REC->prio, '
          'REC->target_cpu'),
    200: ('test', 'numbers', [('u32', 'small', 'I'), ('u64', 'large', 'Q'),
                              ('__data_loc char[]', 'name', 'I')],
          '"small=%u large=0x%llx name=%s", REC->small, REC->large, __get_str(name)'),
    300: ('syscalls', 'sys_enter_futex',
          [('int', '__syscall_nr', 'i')] +
          [(kind, name, 'Q') for kind, name in
           (('u32 *', 'uaddr'), ('int', 'op'), ('u32', 'val'),
            ('const struct __kernel_timespec *', 'utime'), ('u32 *', 'uaddr2'),
            ('u32', 'val3'))],
          '"uaddr: 0x%08lx, op: 0x%08lx, val: 0x%08lx", ((unsigned long)(REC->uaddr)), '
          '((unsigned long)(REC->op)), ((unsigned long)(REC->val))'),
    400: ('kvm', 'kvm_exit',
          [('unsigned int', 'exit_reason', 'I'), ('unsigned long', 'guest_rip', 'L'),
           ('u32', 'isa', 'I'), ('u64', 'info1', 'Q'), ('u64', 'info2', 'Q')],
          '"reason %u", REC->exit_reason'),
    401: ('kvm', 'kvm_entry', [('unsigned int', 'vcpu_id', 'I'), ('unsigned long', 'rip', 'L')],
          '"vcpu %u, rip 0x%lx", REC->vcpu_id, REC->rip'),
    402: ('kvm', 'kvm_emulate_insn',
          [('__u64', 'rip', 'Q'), ('__u32', 'csbase', 'I'), ('__u8', 'len', 'B'),
           ('__u8', 'insn[15]', '15s'), ('__u8', 'flags', 'B'), ('__u8', 'failed', 'B')],
          '"%x:%llx", REC->csbase, REC->rip'),
}
COMMON = [('unsigned short', 'common_type', 'H'), ('unsigned char', 'common_flags', 'B'),
          ('unsigned char', 'common_preempt_count', 'B'), ('int', 'common_pid', 'i')]
PADDING, TIME_EXTEND, TIME_STAMP = 29, 30, 31
# A latency tracer's text, which trace-cmd stores in place of events.
LATENCY = b'''# tracer: irqsoff
#
# latency: 16 us, #4/4, CPU#0 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:4)
#  => started at: run_timer_softirq
#
  <idle>-0       0d.s2    0us+: _raw_spin_lock_irq <-run_timer_softirq
  <idle>-0       0dNs3   17us : trace_hardirqs_on <-run_timer_softirq
  <idle>-0       0dNs3   25us : <stack trace>
 => _raw_spin_unlock_irq
    bash-12      1d.h2. 1234us!: do_it <-main
'''


class Pages:
    """The pages of a cpu, in `pages`; the last one takes further records."""

    def __init__(self, owner, page=PAGE):
        self.o, self.page, self.pages, self.body, self.time = owner, page, [], b'', None

    def word(self, kind, delta):
        return struct.pack(self.o.e + 'I', kind << 27 | delta if self.o.big else delta << 5 | kind)

    def begin(self, time, lost=None):
        """A new page. lost: events lost in front of it; 0 if they were not counted."""
        self.end()
        self.base = self.time = time
        self.lost = lost
        return self

    def end(self):
        if self.time is None:
            return self
        commit = len(self.body)
        count = b''
        if self.lost is not None:
            commit |= 1 << 31
            if self.lost:
                commit |= 1 << 30
                count = self.o.long(self.lost)
        page = struct.pack(self.o.e + 'Q', self.base) + self.o.long(commit) + self.body + count
        assert len(page) <= self.page, 'a page is too small'
        self.pages.append(page.ljust(self.page, b'\0'))
        self.body, self.time = b'', None
        return self

    def record(self, kind, delta, more=None, data=b''):
        extra = b'' if more is None else struct.pack(self.o.e + 'I', more)
        self.body += self.word(kind, delta) + extra + data
        return self

    def add(self, time, data, is_long=False, by_stamp=False):
        """An event. is_long: in the form of long records, whatever its size."""
        data = data.ljust((len(data) + 3) & ~3, b'\0')
        room = self.page - 16 - 24 - len(data) - len(self.body)
        if self.time is None or room < 0:
            self.begin(time)
        delta = time - self.time
        if by_stamp:
            self.record(TIME_STAMP, time & (1 << 27) - 1, time >> 27 & 0xffffffff)
            delta = 0
        elif delta >= 1 << 27:
            self.record(TIME_EXTEND, delta & (1 << 27) - 1, delta >> 27)
            delta = 0
        self.time = time
        if is_long or len(data) > 28 * 4:
            return self.record(0, delta, len(data) + 4, data)
        return self.record(len(data) // 4, delta, None, data)

    def bytes(self):
        self.end()
        return b''.join(self.pages)


class TraceDat:
    """formats: the texts of format files by system, in place of those of EVENTS."""
    formats = None

    def __init__(self, version=7, big=False, long_bytes=8, compression='none', page=PAGE,
                 kallsyms=b'', printk=b'', cmdlines=b'', options=(), clock='local', cpus=2,
                 events=None):
        self.text = None  # of a latency tracer, in place of events
        self.version, self.big, self.long_bytes, self.page = version, big, long_bytes, page
        self.e = '>' if big else '<'
        self.compression, self.kallsyms, self.printk = compression, kallsyms, printk
        self.cmdlines, self.clock, self.nr_cpus = cmdlines, clock, cpus
        self.options = list(options)
        self.events = EVENTS if events is None else {n: EVENTS[n] for n in events}
        self.buffers = {'': {}}

    def cpu(self, cpu, buffer=''):
        return self.buffers.setdefault(buffer, {}).setdefault(cpu, Pages(self, self.page))

    # ---- events --------------------------------------------------------------------------------

    def long(self, v):
        mask = (1 << 8 * self.long_bytes) - 1
        return struct.pack(self.e + ('Q' if self.long_bytes == 8 else 'I'), v & mask)

    def form(self, code):
        return code.replace('L', 'Q' if self.long_bytes == 8 else 'I').replace(
            'l', 'q' if self.long_bytes == 8 else 'i')

    def layout(self, fields):
        """[(type, name, offset, size, code)]: each field at a multiple of its size."""
        at, found = 0, []
        for kind, name, code in COMMON + fields:
            size = struct.calcsize('=' + self.form(code))
            align = 1 if 's' in code else min(size, 8) or 4
            if code == '8L':
                align = self.long_bytes
            at = (at + align - 1) // align * align
            found.append((kind, name, at, size, self.form(code)))
            at += size
        return found, at

    def event(self, number, pid, *values, flags=0, preempt=0, tail=b''):
        fields, size = self.layout(EVENTS[number][2])
        data = bytearray(size)
        for (_, _, at, width, code), value in zip(fields, (number, flags, preempt, pid) + values):
            if width:
                value = value if isinstance(value, tuple) else (value,)
                struct.pack_into(self.e + code, data, at, *value)
        return bytes(data) + tail

    def switch(self, prev, prev_comm, pid, comm, state=1, **more):
        return self.event(100, prev, prev_comm.encode(), prev, 120, state, comm.encode(), pid, 120,
                          **more)

    def wakeup(self, by, pid, comm, cpu=0, **more):
        return self.event(101, by, comm.encode(), pid, 120, cpu, **more)

    def print(self, pid, text, ip=0x1000, **more):
        return self.event(5, pid, ip, tail=text.encode() + b'\0', **more)

    def numbers(self, pid, small, large, name, **more):
        tail = name.encode() + b'\0'
        _, size = self.layout(EVENTS[200][2])
        return self.event(200, pid, small, large, len(tail) << 16 | size, tail=tail, **more)

    # ---- parts ---------------------------------------------------------------------------------

    def sized(self, data, code='Q'):
        return struct.pack(self.e + code, len(data)) + data

    def format(self, number):
        _, name, fields, text = EVENTS[number]
        lines = ['name: %s' % name, 'ID: %d' % number, 'format:']
        for i, (kind, field, at, size, code) in enumerate(self.layout(fields)[0]):
            signed = int(kind in ('int', 'pid_t', 'long', 'char'))
            lines.append('\tfield:%s %s;\toffset:%d;\tsize:%d;\tsigned:%d;' %
                         (kind, field, at, size, signed))
            if i == 3:
                lines.append('')
        return '\n'.join(lines + ['', 'print fmt: ' + text, '']).encode()

    def header_page(self):
        n = self.long_bytes
        return ('\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n'
                '\tfield: local_t commit;\toffset:8;\tsize:%d;\tsigned:1;\n'
                '\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n'
                '\tfield: char data;\toffset:%d;\tsize:%d;\tsigned:0;\n' %
                (n, 8 + n, self.page - 8 - n)).encode()

    def header_info(self):
        event = b'# compressed entry header\n\ttype_len    :    5 bits\n' \
                b'\ttime_delta  :   27 bits\n\tarray       :   32 bits\n\n' \
                b'\tpadding     : type == 29\n\ttime_extend : type == 30\n' \
                b'\ttime_stamp : type == 31\n\tdata max type_len  == 28\n'
        return b'header_page\0' + self.sized(self.header_page()) + \
            b'header_event\0' + self.sized(event)

    def ftrace_events(self):
        return self.system('ftrace')

    def system(self, name):
        if self.formats is None:
            texts = [self.format(n) for n in self.events if self.events[n][0] == name]
        else:
            texts = self.formats[name]
        return struct.pack(self.e + 'I', len(texts)) + b''.join(map(self.sized, texts))

    def event_formats(self):
        systems = sorted(set(self.formats or (self.events[n][0] for n in self.events)) -
                         {'ftrace'})
        return struct.pack(self.e + 'I', len(systems)) + \
            b''.join(name.encode() + b'\0' + self.system(name) for name in systems)

    def option(self, number, data):
        return struct.pack(self.e + 'HI', number, len(data)) + data

    def clock_text(self):
        names = ('local', 'global', 'counter', 'perf', 'mono', 'boot', 'x86-tsc')
        return ' '.join('[%s]' % c if c == self.clock else c for c in names).encode() + b'\0'

    def start(self):
        return b'\x17\x08\x44tracing' + b'%d\0' % self.version + bytes([self.big,
                                                                       self.long_bytes]) + \
            struct.pack(self.e + 'I', self.page)

    def own_options(self):
        data = self.option(8, struct.pack(self.e + 'I', self.nr_cpus))
        data += self.option(4, self.clock_text())
        return data + b''.join(self.option(n, d) for n, d in self.options)

    def data(self):
        return self.data_6() if self.version == 6 else self.data_7()

    # ---- version 6 -----------------------------------------------------------------------------

    def table(self, cpus, at):
        """The table of a buffer whose pages begin at the offset; and the pages."""
        table, pages = b'', b''
        for cpu in range(self.nr_cpus):
            data = cpus[cpu].bytes() if cpu in cpus else b''
            table += struct.pack(self.e + 'QQ', at + len(pages), len(data))
            pages += data
        return table, pages

    def data_6(self):
        head = self.start() + self.header_info() + self.ftrace_events() + self.event_formats()
        head += self.sized(self.kallsyms, 'I') + self.sized(self.printk, 'I')
        head += self.sized(self.cmdlines) + struct.pack(self.e + 'I', self.nr_cpus)
        instances = [name for name in self.buffers if name]
        options = b'options  \0' + self.own_options()
        if self.text is not None:
            return head + options + struct.pack(self.e + 'H', 0) + b'latency  \0' + self.text
        one = 10 + 16 * self.nr_cpus
        clock = self.sized(self.clock_text()[:-1])
        size = len(head) + len(options) + sum(6 + 8 + len(n) + 1 for n in instances) + 2 + one + \
            len(clock)
        at = (size + one * len(instances) + self.page - 1) // self.page * self.page
        pages = b''
        tables = {}
        for name in self.buffers:
            table, more = self.table(self.buffers[name], at + len(pages))
            tables[name] = b'flyrecord\0' + table
            pages += more
        for i, name in enumerate(instances):
            options += self.option(3, struct.pack(self.e + 'Q', size + i * one) + name.encode() +
                                   b'\0')
        data = head + options + struct.pack(self.e + 'H', 0) + tables[''] + clock
        assert len(data) == size
        data += b''.join(tables[name] for name in instances)
        return data.ljust(at, b'\0') + pages

    # ---- version 7 -----------------------------------------------------------------------------

    def pack(self, data):
        if self.compression == 'zlib':
            packed = zlib.compress(data)
        else:  # a frame of zstd with one block that is stored, or several
            packed = b'\x28\xb5\x2f\xfd\xa0' + struct.pack('<I', len(data))
            blocks = [data[i:i + 65536] for i in range(0, len(data), 65536)] or [b'']
            for i, block in enumerate(blocks):
                word = len(block) << 3 | (i == len(blocks) - 1)
                packed += struct.pack('<I', word)[:3] + block
        return struct.pack(self.e + 'II', len(packed), len(data)) + packed

    def section(self, number, data, packed=None):
        packed = self.compression != 'none' if packed is None else packed
        data = self.pack(data) if packed else data
        return struct.pack(self.e + 'HHIQ', number, packed, 0, len(data)) + data

    def chunks(self, data, pages=2):
        n = pages * self.page
        chunks = [self.pack(data[i:i + n]) for i in range(0, len(data), n)]
        return struct.pack(self.e + 'I', len(chunks)) + b''.join(chunks)

    def data_7(self):
        data = self.start() + self.compression.encode() + b'\0' + \
            (b'' if self.compression == 'none' else b'1') + b'\0'
        place = len(data)
        data += bytes(8)
        options = self.own_options()
        for number, part in ((16, self.header_info()), (17, self.ftrace_events()),
                             (18, self.event_formats()), (19, self.sized(self.kallsyms, 'I')),
                             (20, self.sized(self.printk, 'I')), (21, self.sized(self.cmdlines))):
            options += self.option(number, struct.pack(self.e + 'Q', len(data)))
            data += self.section(number, part)
        if self.text is not None:
            options += self.option(22, struct.pack(self.e + 'Q', len(data)) + b'\0local\0')
            data += self.section(22, self.text)
        for name, cpus in self.buffers.items():
            if self.text is not None and not cpus:
                continue
            at = len(data)
            pages = b'' if self.compression != 'none' else bytes(-(at + 16) % self.page)
            table = b''
            for cpu, one in sorted(cpus.items()):
                raw = one.bytes()
                stored = raw if self.compression == 'none' else self.chunks(raw)
                size = len(stored) if self.compression == 'none' else len(stored) - 4
                table += struct.pack(self.e + 'IQQ', cpu, at + 16 + len(pages), size)
                pages += stored
            data += struct.pack(self.e + 'HHIQ', 3, self.compression != 'none', 0, len(pages))
            data += pages
            options += self.option(3, struct.pack(self.e + 'Q', at) + name.encode() + b'\0' +
                                   self.clock.encode() + b'\0' +
                                   struct.pack(self.e + 'II', self.page, len(cpus)) + table)
        options += self.option(0, bytes(8))
        data = data[:place] + struct.pack(self.e + 'Q', len(data)) + data[place + 8:]
        return data + self.section(0, options, packed=False)


def time_shift(peer, flags, cpus, fractions=None):
    """The option of a guest. cpus: for each [(time, offset, factor)]."""
    data = struct.pack('<QII', peer, flags, len(cpus))
    for moments in cpus:
        data += struct.pack('<I', len(moments))
        for column in range(3):
            data += b''.join(struct.pack('<Q', m[column] & 2**64 - 1) for m in moments)
    for moments, bits in zip(cpus, fractions or ()):
        data += struct.pack('<Q', bits) * len(moments)
    return 12, data


KALLSYMS = b''.join(b'%016x T %s\n' % (at, name) for at, name in
                    ((0x1000, b'tracing_mark_write'), (0x2000, b'do_work'), (0x2100, b'do_more'),
                     (0x2200, b'do_little'), (0x3000, b'caller_of_work')))
PRINTK = b'0x5000 : "value=%d name=%s ptr=%lx\\n"\n0x5100 : "only a text\\n"\n'
CMDLINES = b'10 alpha\n20 beta gamma\n30 delta\n'


def every_kind(**more):
    """A recording with each kind of event and of record, and two buffers."""
    more.setdefault('kallsyms', KALLSYMS)
    more.setdefault('printk', PRINTK)
    more.setdefault('cmdlines', CMDLINES)
    t = TraceDat(**more)
    a, b, x = t.cpu(0), t.cpu(1), t.cpu(1, 'instance')
    s = 1000000000
    a.begin(s)
    a.add(s + 1000, t.print(10, 'begin\n'))
    a.add(s + 2500, t.wakeup(10, 20, 'beta gamma', flags=1, preempt=1))
    a.add(s + 3000, t.switch(10, 'alpha', 20, 'beta gamma', flags=5, preempt=2))
    a.add(s + 4000, t.numbers(20, 7, 0x123456789a, 'seven', flags=0x19), is_long=True)
    a.record(PADDING, 500, 12, bytes(8))
    a.time += 500
    a.add(s + 5000, t.switch(20, 'beta gamma', 40, 'new one', state=0))
    a.add(s + 400000000, t.print(40, 'after a long time'))
    a.add(s + 400001000, t.switch(40, 'new one', 0, 'swapper/0', state=2))
    a.begin(s + 400100000, lost=7)
    a.add(s + 400100000, t.numbers(0, 1, 2, 'after a loss'))
    a.add(s + 400200000, t.event(8, 0, 0x2a, tail=b'abcd'))
    a.begin(s + 400300000, lost=0)
    a.add(s + 400300500, t.numbers(30, 3, 4, 'x' * 200))
    packed = struct.pack(t.e + 'I', 42) + b'answer\0\0'
    a.add(s + 400301000, t.event(6, 30, 0x2000, 0x5000, tail=packed + t.long(0xabc)))
    a.add(s + 400302000, t.event(7, 30, 0x2000, 0x5100))
    a.add(s + 400302500, t.event(4, 30, 3, (0x2010, 0x2110, 0x3001) +
                                 ((1 << 8 * t.long_bytes) - 1,) * 5))
    b.begin(s + 1500)
    b.add(s + 1500, t.event(1, 30, 0x2000, 0x3000))
    b.add(s + 1600, t.event(1, 30, 0x2100, 0x2000))
    b.add(s + 1700, t.event(1, 30, 0x2200, 0x2100))
    b.add(s + 1800, t.event(1, 30, 0x2100, 0x3000))
    b.add(s + 2500, t.event(2, 30, 0x2000, 0))
    b.add(s + 2600, t.event(2, 30, 0x2100, 1))
    b.add(s + 3600, t.event(3, 30, 0x2100, s + 2600, s + 3600, 0, 1))
    b.add(s + 203700, t.event(3, 30, 0x2000, s + 2500, s + 203700, 0, 0))
    b.add(s + 500000000, t.numbers(30, 5, 6, 'by a stamp'), by_stamp=True)
    x.add(s + 2000, t.print(30, 'in the instance'))
    x.add(s + 600000000, t.print(50, 'of nobody'))
    return t


def small(turn, **form):
    """A recording with small pages and few event types."""
    kinds = ((5, 100, 8), (2, 3, 1), (6, 7, 4), (100, 101, 200))[turn % 4]
    t = TraceDat(page=512, events=kinds, kallsyms=KALLSYMS[:100], printk=PRINTK[:40],
                 cmdlines=CMDLINES, **form)
    made = {1: (0x2000, 0x3000), 2: (0x2000, 0), 3: (0x2000, 1, 99999, 0, 0),
            4: (3, (0x2010, 0x2110) + (0xffffffff,) * 6), 5: (0x1000,), 6: (0x2000, 0x5000),
            7: (0x2000, 0x5100), 8: (42,), 101: (b'beta', 20, 120, 1),
            100: (b'alpha', 10, 120, 1, b'beta', 40, 120), 200: (7, 8, 4 << 16 | 28)}
    for cpu in 0, 1:
        p = t.cpu(cpu, 'x' if turn % 3 == cpu + 1 else '')
        p.begin(1000 * cpu, lost=(None, 7, 0)[(turn + cpu) % 3])
        for i, kind in enumerate(kinds * 2):
            tail = b'abc' if kind in (5, 6, 8, 200) else b''
            p.add(1000 * cpu + 300 * i + (i == 3) * (1 << 28),
                  t.event(kind, 10 + i, *made[kind], flags=i, preempt=i, tail=tail),
                  is_long=i == 1, by_stamp=i == 4)
        p.record(PADDING, 5, 8, bytes(4))
    return t


def swept(**form):
    """A recording for tests/sweep: pages at its end, and nothing in front of them that becomes an
    event."""
    t = TraceDat(version=6, page=1024, events=(5, 100, 101, 200), kallsyms=KALLSYMS, **form)
    at = 10**9
    for i in range(160):
        at += 1000 + 7 * i + (i % 40 == 39) * (1 << 28)
        pid = (10, 20, 30, 40)[i % 4]
        t.cpu(i * 7 % 5 % 2).add(at, (
            t.print(pid, 'line %d' % i),
            t.switch(pid, 'task %d' % pid, (10, 20, 30, 40)[(i + 1) % 4], 'next %d' % (i // 20)),
            t.wakeup(pid, 50 + i % 3, 'woken'),
            t.numbers(pid, i, i * i, 'n' * (i % 90)))[i % 4],
            is_long=i % 9 == 0, by_stamp=i % 50 == 49)
    return t


def main(folder):
    folder = pathlib.Path(folder)
    (folder / 'swept.dat').write_bytes(swept().data())
    (folder / 'swept-big.dat').write_bytes(swept(big=True, long_bytes=4).data())


def seeds(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    turn = 0
    for version, packed in ((6, 'none'), (7, 'none'), (7, 'zlib'), (7, 'zstd')):
        for big in False, True:
            for long_bytes in 8, 4:
                t = small(turn, version=version, compression=packed, big=big,
                          long_bytes=long_bytes)
                name = '%d-%s-%d%s' % (version, packed, long_bytes, '-big' if big else '')
                (folder / name).write_bytes(bytes((turn * 53 & 255, turn * 29 & 255)) + t.data())
                turn += 1
        t = TraceDat(version=version, compression=packed)
        t.text = b'# tracer: irqsoff\n  a-1       0d.s2    0us+: f <-g\n'
        (folder / ('%d-%s-text' % (version, packed))).write_bytes(b'\0\0' + t.data())


if __name__ == '__main__':
    seeds(sys.argv[2]) if sys.argv[1] == '--seeds' else main(sys.argv[1])
