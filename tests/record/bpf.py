# SPDX-License-Identifier: MIT
"""BPF programs: their records and their descriptions in the header are those of perf record."""
import ctypes
import os
import platform
import re
import struct
import subprocess
import time

from tap import PERF_ENV, SONDE, Skip, case, is_recording, need, perf, run, same, sh, wait_until

NR_BPF = {'x86_64': 321, 'aarch64': 280, 'riscv64': 280}.get(platform.machine())
PROG_LOAD, BTF_LOAD, RAW_TRACEPOINT, RAW_TRACEPOINT_OPEN = 5, 18, 17, 17


class Loader:
    """Loads small programs, which stay loaded until close()."""

    def __init__(self):
        self.libc, self.kept, self.fds = ctypes.CDLL(None, use_errno=True), [], []

    def place(self, data):
        room = ctypes.create_string_buffer(data, len(data))
        self.kept.append(room)
        return ctypes.addressof(room)

    def bpf(self, command, attr):
        if not NR_BPF:
            raise Skip('the number of bpf(2) is not known on this architecture')
        fd = self.libc.syscall(NR_BPF, command,
                               ctypes.create_string_buffer(attr, max(len(attr), 120)),
                               max(len(attr), 120))
        if fd < 0:
            raise Skip('no BPF: %s' % os.strerror(ctypes.get_errno()))
        self.fds.append(fd)
        return fd

    def types(self):
        """Loads the BTF of `int snd_main()`."""
        strings = b'\0int\0snd_main\0/src/snd.c\0return 0;\0'
        types = struct.pack('<4I3I3I', 1, 1 << 24, 4, 1 << 24 | 32, 0, 13 << 24, 1, 5, 12 << 24, 2)
        btf = (struct.pack('<HBB5I', 0xeb9f, 1, 0, 24, 0, len(types), len(types), len(strings)) +
               types + strings)
        return self.bpf(BTF_LOAD, struct.pack('<QQIII', self.place(btf), 0, len(btf), 0, 0))

    def load(self, name, with_types):
        instructions = struct.pack('<BBhiBBhi', 0xb7, 0, 0, 0, 0x95, 0, 0, 0)  # r0 = 0; exit
        btf, function, line = 0, (0, 0, 0), (0, 0, 0)
        if with_types:
            btf = self.types()
            function = (8, self.place(struct.pack('<II', 0, 3)), 1)
            line = (16, self.place(struct.pack('<IIII', 0, 14, 25, 1 << 10)), 1)
        return self.bpf(PROG_LOAD, struct.pack('<IIQQIIQII16sIIIIQIIQI', RAW_TRACEPOINT, 2,
                                               self.place(instructions), self.place(b'MIT\0'), 0, 0,
                                               0, 0, 0, name, 0, 0, btf, *function, *line))

    def printing(self, name, tracepoint):
        """Attaches a program that calls bpf_trace_printk() to a tracepoint."""
        code = [(0xb7, 1, 0, 0x000a6968), (0x7b, 0x1a, -8, 0), (0xbf, 0xa1, 0, 0), (7, 1, 0, -8),
                (0xb7, 2, 0, 4), (0x85, 0, 0, 6), (0xb7, 0, 0, 0), (0x95, 0, 0, 0)]
        instructions = b''.join(struct.pack('<BBhi', *c) for c in code)
        fd = self.bpf(PROG_LOAD, struct.pack('<IIQQIIQII16s', RAW_TRACEPOINT, len(code),
                                             self.place(instructions), self.place(b'GPL\0'), 0, 0,
                                             0, 0, 0, name))
        self.bpf(RAW_TRACEPOINT_OPEN, struct.pack('<QI', self.place(tracepoint + b'\0'), fd))

    def close(self):
        for fd in self.fds:
            os.close(fd)
        self.fds = []


def header(name, feature):
    with open(name, 'rb') as f:
        d = f.read()
    h = struct.unpack_from('<13Q', d)
    bits = [n for n in range(256) if h[9 + n // 64] >> (n % 64) & 1]
    if feature not in bits:
        return None
    at, size = struct.unpack_from('<QQ', d, h[5] + h[6] + 16 * bits.index(feature))
    return d[at:at + size]


def programs(name):
    """{id: (info, data, arrays)} and {id: types} of the header.

    Programs of other tests may be among them.
    """
    infos, types, b, at = {}, {}, header(name, 25), 4
    for _ in range(struct.unpack_from('<I', b)[0]):
        info_len, data_len, arrays = struct.unpack_from('<IIQ', b, at)
        info, at = b[at + 16:at + 16 + info_len], at + 16 + info_len
        data = bytearray(b[at:at + data_len])
        # Arrays are aligned to 8. perf does not clear the padding after instructions and
        # lengths of functions, so it is cleared here.
        for nr, begin, size in (16, 24, 1), (108, 120, 4):
            end = (struct.unpack_from('<Q', info, begin)[0] +
                   size * struct.unpack_from('<I', info, nr)[0])
            data[end:end + -end % 8] = bytes(-end % 8)
        infos[struct.unpack_from('<I', info, 4)[0]] = (info, bytes(data), arrays)
        at += data_len
    same(at, len(b), 'bytes of the programs')
    b, at = header(name, 26), 4
    for _ in range(struct.unpack_from('<I', b)[0]):
        ident, size = struct.unpack_from('<II', b, at)
        types[ident] = b[at + 8:at + 8 + size]
        at += 8 + size
    return infos, types


def recorder(*options):
    """Starts to record all cpus; end() ends it."""
    os.mkfifo('go')
    p = subprocess.Popen([SONDE, 'record', '-q', '-a', *options, '-o', 's.data', '--', 'sh', '-c',
                          'read x < go'], env=PERF_ENV)
    wait_until('it records', lambda: is_recording(p, 's.data'))
    return p


def end(p):
    with open('go', 'w') as go:
        go.write('\n')
    same(p.wait(60), 0, 'status')


def mine(infos):
    return {ident: one for ident, one in infos.items() if b'snd_' in one[0]}


def lines(name):
    """perf's lines about programs called snd_* in the header and in KSYMBOL records, and all
    BPF_EVENT records.
    """
    text = sh(perf(), 'report', '--header-only', '-I', '-i', name)
    same((text.returncode, text.stderr), (0, ''), 'perf report of ' + name)
    records = sh(perf(), 'script', '--show-bpf-events', '-i', name).stdout
    return (re.findall(r'bpf_prog_info .*snd_.*', text.stdout),
            re.findall(r'PERF_RECORD_KSYMBOL .*snd_.*', records),
            re.findall(r'PERF_RECORD_BPF_EVENT.*', records))


@case('loaded programs: records and header have the bytes of perf record')
def _():
    perf()
    loader = Loader()
    try:
        loader.load(b'snd_types', True)
        loader.load(b'snd_plain', False)
        for name, tool in (('p.data', perf()), ('s.data', SONDE)):
            r = sh(tool, 'record', '-q', '-a', '-e', 'dummy', '-o', name, '--', 'true')
            same(r.returncode, 0, r.stderr)
        (theirs, their_types), (ours, our_types) = programs('p.data'), programs('s.data')
        same(len(mine(ours)), 2, 'programs')
        same(mine(ours), mine(theirs), 'descriptions')
        for info, data, arrays in mine(ours).values():
            ident = struct.unpack_from('<I', info, 128)[0]
            need(not ident or our_types[ident] == their_types[ident], 'types')
        a, b = lines('p.data'), lines('s.data')
        same(b[:2], a[:2], 'lines')
        need(any('_snd_main ' in line for line in b[0]) and len(b[1]) == 2, b)
        for ident in mine(ours):
            need(any(line.endswith('type 1, flags 0, id %d' % ident) for line in b[2]), b[2])
    finally:
        loader.close()


@case('a program that is loaded for a moment during the recording is in the header')
def _():
    loader = Loader()
    p = recorder('-e', 'dummy')
    try:
        loader.load(b'snd_late', True)
        time.sleep(1)
        loader.close()
        end(p)
    finally:
        loader.close()
        p.kill()
        p.wait()
    infos, types = programs('s.data')
    same(len(mine(infos)), 1, 'programs')
    need(any(b'snd_main' in t for t in types.values()), 'types')
    need(any('_snd_main ' in line for line in lines('s.data')[0]), 'header')


@case('--no-bpf-event: symbols of loaded programs, but not their descriptions, as perf')
def _():
    perf()
    loader = Loader()
    try:
        loader.load(b'snd_one', False)
        for name, tool in (('p.data', perf()), ('s.data', SONDE)):
            r = sh(tool, 'record', '-q', '-a', '--no-bpf-event', '-e', 'dummy', '-o', name, '--',
                   'true')
            same(r.returncode, 0, r.stderr)
        same(lines('s.data'), lines('p.data'), 'lines')
        need(len(lines('s.data')[1]) == 1, lines('s.data'))
        same(header('s.data', 25), struct.pack('<I', 0), 'programs')
        same(header('p.data', 25), struct.pack('<I', 0), "perf's programs")
    finally:
        loader.close()


@case('frames in programs have the right names, also when a program replaces another at the same '
      'address')
def _():
    perf()
    if not os.path.isdir('/sys/kernel/tracing/events/bpf_trace/bpf_trace_printk'):
        raise Skip('no tracepoint bpf_trace_printk')
    loader = Loader()
    loader.printing(b'snd_first', b'sched_process_fork')
    p = recorder('-g', '-e', 'bpf_trace:bpf_trace_printk')
    try:
        for name in b'snd_second', b'snd_third':
            for _ in range(3):
                sh('true')
            loader.close()
            loader.printing(name, b'sched_process_fork')
        sh('true')
        end(p)
    finally:
        loader.close()
        p.kill()
        p.wait()
    argv = ('script', '-i', 's.data', '-F', 'comm,tid,time,ip,sym,symoff,dso')
    theirs, ours, right = (sh(*tool, *argv).stdout
                           for tool in ((perf(),), (SONDE, '--compat', 'perf-6.1'), (SONDE,)))
    same(ours, theirs, 'text')
    for name in 'first', 'second', 'third':
        for text in ours, right:
            need(re.search(
                r' bpf_prog_[0-9a-f]{16}_snd_%s\+0x[0-9a-f]+ \(bpf_prog_[0-9a-f]{16}_snd_%s\)' %
                (name, name), text), name)
    in_programs = [re.findall('bpf_prog_.*', text) for text in (ours, right)]
    same(in_programs[1], in_programs[0], 'frames in programs')
    script = ('def bpf_trace__bpf_trace_printk(*a):\n    for f in a[7]:\n        '
              'print(f.get("sym"), f.get("dso"), f.get("sym_off"))\n')
    with open('frames.py', 'w') as f:
        f.write(script)
    same(sh(SONDE, 'script', '-i', 's.data', '-s', 'frames.py').stdout,
         sh(perf(), 'script', '-i', 's.data', '-s', 'frames.py').stdout, 'frames given to a script')


run()
