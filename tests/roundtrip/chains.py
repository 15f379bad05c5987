#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Frames of recordings that this test builds, because not every machine can record their kinds.

    tests/roundtrip/chains.py SONDE [stored|perf-6.1|perf-6.12]

stored: sonde's text, with and without --compat, must be the text in this file. perf-6.1, perf-6.12:
perf's text must be the text in this file.
"""
import pathlib
import platform
import re
import struct
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / 'gen')]
from columns import perf_of  # noqa: E402
from points import done, run, say, skip  # noqa: E402
from samples import *  # noqa: E402,F403

BPF, KERNEL_TEXT = 0xffffffffc0000000, 0xffffffff81000000
IN_KERNEL, IN_USER = (1 << 64) - 128, (1 << 64) - 512
COMPATS = 'perf-6.1', 'perf-6.12'
FRAMES = '-F ip,sym,symoff,dso'
CASES = {}


def case(name, options, text, default=None, perf=None, compats=COMPATS):
    """Adds a case. text is that of sonde --compat; default and perf hold that of sonde without it
    and that of perf, if they differ."""
    def take(make):
        CASES[name] = (make, options, text, default or text, perf or text, compats)
        return make
    return take


class Chains(Recording):
    """Samples with a chain each, one microsecond apart."""

    def __init__(self, sample=IP | TID | TIME | CALLCHAIN, big=False, **kw):
        super().__init__(big=big)
        self.event = self.attr(sample=sample, name='cycles', **kw)
        self.now = 1000
        self.kernel_map()
        self.comm(10, 'work')

    def at(self, *chain, **kw):
        self.now += 1000
        self.sample(self.event, misc=KERNEL if chain[0] == IN_KERNEL else USER, ip=chain[1],
                    time=self.now, chain=chain, **kw)


# ---- kernel symbols that are registered at run time --------------------------------------------

@case('BPF programs', FRAMES, '''\
ffffffffc0000000 bpf_prog_6deef7357e7b4530_one+0x0 (bpf_prog_6deef7357e7b4530_one)
ffffffffc000003f bpf_prog_6deef7357e7b4530_one+0x3f (bpf_prog_6deef7357e7b4530_one)

ffffffffc0000040 [unknown] ([unknown])

ffffffffc0000110 bpf_trampoline_77+0x10 (bpf_trampoline_77)

ffffffffc0000000 [unknown] ([unknown])

ffffffffc0000000 bpf_prog_ffff456789abcdef_two+0x0 (bpf_prog_ffff456789abcdef_two)
ffffffffc0000064 bpf_prog_ffff456789abcdef_two+0x64 (bpf_prog_ffff456789abcdef_two)

ffffffffc0001001 ftrace_trampoline+0x1 (ftrace_trampoline)
''')
def _():
    r = Chains()
    r.ksymbol(BPF, 64, 'bpf_prog_6deef7357e7b4530_one')
    r.ksymbol(BPF + 0x100, 64, 'bpf_trampoline_77')
    r.at(IN_KERNEL, BPF, BPF + 63)
    r.at(IN_KERNEL, BPF + 64)
    r.at(IN_KERNEL, BPF + 0x110)
    r.ksymbol(BPF, 64, 'bpf_prog_6deef7357e7b4530_one', time=r.now + 500, ends=True)
    r.at(IN_KERNEL, BPF)
    r.ksymbol(BPF, 128, 'bpf_prog_ffff456789abcdef_two', time=r.now + 500)
    r.at(IN_KERNEL, BPF, BPF + 100)
    r.ksymbol(BPF + 0x1000, 4096, 'ftrace_trampoline', time=r.now + 500, kind=2)
    r.at(IN_KERNEL, BPF + 0x1001)
    return r


@case('a program at the place of one whose removal was not recorded', FRAMES, '''\
ffffffffc0000050 one+0x50 (one)
ffffffffc0000010 one+0x10 (one)

ffffffffc0000050 [unknown] ([unknown])
ffffffffc0000010 [unknown] ([unknown])
''', '''\
ffffffffc0000050 two+0x10 (two)
ffffffffc0000010 [unknown] ([unknown])

ffffffffc0000050 [unknown] ([unknown])
ffffffffc0000010 [unknown] ([unknown])
''')
def _():
    r = Chains()
    r.ksymbol(BPF, 128, 'one')
    r.ksymbol(BPF + 0x40, 32, 'two', time=r.now + 500)
    r.at(IN_KERNEL, BPF + 0x50, BPF + 0x10)
    r.ksymbol(BPF + 0x40, 32, 'two', time=r.now + 500, ends=True)
    r.at(IN_KERNEL, BPF + 0x50, BPF + 0x10)
    return r


@case('programs have no offset in a file', '-F ip,sym,dso,dsoff', '''\
ffffffffc0000010 bpf_prog_6deef7357e7b4530_one (bpf_prog_6deef7357e7b4530_one)
ffffffffc0001010 ftrace_trampoline (ftrace_trampoline)
''', perf='''\
ffffffffc0000010 bpf_prog_6deef7357e7b4530_one (bpf_prog_6deef7357e7b4530_one+0x10)
ffffffffc0001010 ftrace_trampoline (ftrace_trampoline)
''', compats=('perf-6.12',))
def _():
    r = Chains()
    r.ksymbol(BPF, 64, 'bpf_prog_6deef7357e7b4530_one')
    r.ksymbol(BPF + 0x1000, 4096, 'ftrace_trampoline', kind=2)
    r.at(IN_KERNEL, BPF + 0x10, BPF + 0x1010)
    return r


# ---- code that is modified while it runs -------------------------------------------------------

OOL = BPF + 0x1000


def pokes(big=False):
    r = Chains(IP | TID | TIME, big=big)

    def at(*ips):
        for ip in ips:
            r.now += 1000
            r.sample(r.event, misc=KERNEL, ip=ip, time=r.now)

    def poke(addr, new, old='', **kw):
        r.text_poke(addr, bytes.fromhex(old), bytes.fromhex(new), time=r.now + 500, **kw)

    r.ksymbol(OOL, 4096, 'kprobe_insn_page', kind=2)
    at(OOL)
    poke(OOL, '55 4889e5')
    at(OOL, OOL + 1)
    poke(OOL, 'cc', old='55')
    at(OOL)
    poke(OOL + 0x10, 'e8')  # without the rest of the instruction
    at(OOL + 0x10)
    poke(OOL, '90', misc=USER)
    at(OOL)
    poke(OOL, '', old='cc')  # the code is removed
    at(OOL, OOL + 1)
    r.ksymbol(OOL, 4096, 'kprobe_insn_page', kind=2, time=r.now + 500, ends=True)
    at(OOL + 1)
    r.ksymbol(OOL, 4096, 'kprobe_insn_page', kind=2, time=r.now + 500)
    at(OOL + 1)
    poke(KERNEL_TEXT + 0x100, '0f1f440000')
    at(KERNEL_TEXT + 0x100)
    r.ksymbol(BPF, 64, 'bpf_prog_6deef7357e7b4530_one', time=r.now + 500)
    poke(BPF, 'c3')
    at(BPF)
    return r


POKED = '''\
ffffffffc0001000%s
ffffffffc0001000 insn: 55
ffffffffc0001001 insn: 48 89 e5
ffffffffc0001000 insn: cc
ffffffffc0001010%s
ffffffffc0001000 insn: cc
ffffffffc0001000%s
ffffffffc0001001 insn: 48 89 e5
ffffffffc0001001
ffffffffc0001001%s
ffffffff81000100%s
ffffffffc0000000%s
'''
POKED_PERF = POKED % (' insn: 00 00', ' insn: e8 00 00 00 00', ' insn: cc', ' insn: 00 00', '', '')
POKED_KNOWN = POKED % ('', '', '', '', ' insn: 0f 1f 44 00 00', ' insn: c3')
case('code modified at run time', '-F ip,insn', POKED_PERF, POKED_KNOWN)(pokes)
case('code modified at run time, in the other byte order', '-F ip,insn', POKED_PERF, POKED_KNOWN,
     compats=())(lambda: pokes(big=True))


@case('branches in code modified at run time', '-F ip,brstackinsn', '''\
ffffffffc0001020
ftrace_trampoline+11:
ffffffffc000100b	insn: c3                      \t# PRED
ffffffffc0001000	insn: 55
ffffffffc0001001	insn: 48 89 e5
ffffffffc0001004	insn: 90
ffffffffc0001005	insn: e8 00 00 00 00          \t# PRED
ffffffffc000101e	insn: 00 00
ffffffffc0001020	insn: 00 00
''', '''\
ffffffffc0001020
ftrace_trampoline+11:
ffffffffc000100b	insn: c3                      \t# PRED
ffffffffc0001000	insn: 55
ffffffffc0001001	insn: 48 89 e5
ffffffffc0001004	insn: 90
ffffffffc0001005	insn: e8 00 00 00 00          \t# PRED
''')
def _():
    r = Recording()
    event = r.attr(sample=IP | TID | TIME | BRANCH_STACK, branches=8, name='cycles')
    r.kernel_map()
    r.comm(10, 'work')
    r.ksymbol(OOL, 4096, 'ftrace_trampoline', kind=2)
    r.text_poke(OOL, b'', bytes.fromhex('55 4889e5 90 e8 00000000 5d c3'), time=500)
    r.sample(event, misc=KERNEL, ip=OOL + 0x20, time=1000,
             branches=[(OOL + 5, OOL + 0x1e, 2), (OOL + 0xb, OOL, 2)])
    return r


# ---- call stacks that the hardware keeps (--call-graph lbr) ------------------------------------

class Calls(Chains):
    """Samples with the hardware's call stack and a chain by frame pointers, which is another
    one."""
    LBR = [(0x417a53, 0x41b3b0, 0), (0x401581, 0x417a00, 0), (0x42089e, 0x401500, 0),
           (0x401b68, 0x420800, 0)]

    def __init__(self):
        super().__init__(IP | TID | TIME | CALLCHAIN | BRANCH_STACK, branches=BRANCH_CALL_STACK | 1)
        self.mmap(10, 0x400000, 0x100000, 0x400000, '/bin/nosuch')

    def at(self, *chain, branches=LBR):
        super().at(*chain, branches=branches)


def calls():
    r = Calls()
    r.at(IN_USER, 0x41b3b4, 0)
    r.at(IN_KERNEL, BPF, IN_USER, 0x41b3b4, 0x41, 0x42)
    r.at(IN_KERNEL, BPF, BPF + 1)  # a kernel thread, or a chain without a part of user space
    r.at(IN_KERNEL, BPF, BPF + 1, BPF + 2, IN_USER, 0x41b3b4)
    r.at(IN_USER, 0x41b3b4, branches=[(0x401000, 0x402000, 0)])
    return r


BY_HARDWARE = ['41b3b0', '417a53', '401581', '42089e', '401b68']
BY_KERNEL = ['ffffffffc000000%d' % n for n in range(3)]


def calls_text(*chains):
    return '\n'.join(''.join(ip + '\n' for ip in chain)
                     for chain in (*chains, ['402000', '401000']))


EVERY_CALL = calls_text(BY_HARDWARE, BY_KERNEL[:1] + BY_HARDWARE, BY_KERNEL[:2],
                        BY_KERNEL + BY_HARDWARE)
case('call stacks of the hardware', '-F ip', EVERY_CALL)(calls)
case('call stacks of the hardware, kernel part longer than --max-stack', '-F ip --max-stack 3',
     calls_text(BY_HARDWARE, BY_KERNEL[:1] + BY_HARDWARE, BY_KERNEL[:2], BY_KERNEL),
     calls_text(BY_HARDWARE[:3], BY_KERNEL[:1] + BY_HARDWARE[:2], BY_KERNEL[:2], BY_KERNEL))(calls)


@case('an empty call stack of the hardware', '-F ip', '''\
ffffffffc0000000
ffffffffc0000001

ffffffffc0000000
''', perf='''\
ffffffffc0000000
ffffffffc0000001
1

ffffffffc0000000
''')  # perf reads the bytes after the empty stack as its first entry
def _():
    r = Calls()
    r.at(IN_KERNEL, BPF, BPF + 1, IN_USER, 0x41b3b4, 0x41b3b8, branches=[])
    r.at(IN_KERNEL, BPF)
    return r


# ---- copied stacks -----------------------------------------------------------------------------

def stacks(arch='x86_64', regs=(6, 7, 8)):
    """Samples in a missing file, of processes that have mapped nothing else, a [vdso], an existing
    file, or a second missing one."""
    r = Recording(arch)
    event = r.attr(sample=IP | TID | TIME | CALLCHAIN | REGS_USER | STACK_USER,
                   user_regs=sum(1 << n for n in regs), user_stack=16, name='cycles')
    for n, other in enumerate([None, '[vdso]', '/bin/sh', '/bin/absent']):
        r.comm(10 + n, 'work')
        r.mmap(10 + n, 0x401000, 0x1000, 0x1000, '/bin/nosuch')
        if other:
            r.mmap(10 + n, 0x501000, 0x1000, 0, other)
    for n, abi in (0, 2), (1, 2), (2, 2), (3, 2), (1, 1):
        r.sample(event, pid=10 + n, ip=0x401010, time=1000, chain=[IN_USER], user_abi=abi,
                 user_regs=[0x7fff0000, 0x7fff0100, 0x401010], user_stack=bytes(16))
    return r


STACKS = '-F pid,ip,sym,dso'
FRAME = '%s [unknown] (/bin/nosuch)\n\n'
if platform.machine() == 'x86_64':
    for compat, ip in ('perf-6.1', '1010'), ('perf-6.12', '401010'):
        case('copied stacks of processes with missing files, ' + compat, STACKS,
             ''.join('%d\n' % n + (FRAME % ip if n in (11, 12) else '\n')
                     for n in (10, 11, 12, 13, 11)),
             ''.join('%d\n' % n + FRAME % '401010' for n in (10, 11, 12, 13, 11)),
             compats=(compat,))(stacks)
    case('copied stacks of another machine', STACKS, '10\n\n11\n\n12\n\n13\n\n11\n',
         ''.join('%d\n' % n + (FRAME % '401010' if abi == 2 else '\n') for n, abi in
                 ((10, 2), (11, 2), (12, 2), (13, 2), (11, 1))))(
                     lambda: stacks('aarch64', (29, 31, 32)))


# ---- a map of the kernel that starts at 0, as in old recordings --------------------------------

def old_kernel():
    """Samples in the kernel and in user space, with an address and branches of the other mode."""
    r = Recording()
    event = r.attr(1, 2, IP | TID | TIME | ADDR | BRANCH_STACK, branches=8, name='page-faults')
    r.kernel_map(0, 0xffffffff9fffffff, '[kernel.kallsyms]_stext', KERNEL_TEXT)
    r.comm(10, 'work')
    r.mmap(10, 0x401000, 0x1000, 0x1000, '/bin/nosuch')
    for n, (misc, ip) in enumerate([(KERNEL, KERNEL_TEXT + 0x100), (USER, 0x401010)]):
        r.sample(event, misc=misc, ip=ip, time=1000 + n, addr=0x401020,
                 branches=[(0x401030, KERNEL_TEXT + 0x100, 2), (KERNEL_TEXT + 0x200, 0x401040, 2),
                           (0x701000, 0x401050, 2)])
    return r


case('branches out of and into the kernel', '-F brstack,dso --kallsyms /dev/null', '''\
0x401030([kernel.kallsyms])/0xffffffff81000100([kernel.kallsyms])/P/-/-/0/  \
0xffffffff81000200([kernel.kallsyms])/0x401040([kernel.kallsyms])/P/-/-/0/  \
0x701000([kernel.kallsyms])/0x401050([kernel.kallsyms])/P/-/-/0/
0x401030(/bin/nosuch)/0xffffffff81000100([kernel.kallsyms])/P/-/-/0/  \
0xffffffff81000200([kernel.kallsyms])/0x401040(/bin/nosuch)/P/-/-/0/  \
0x701000([unknown])/0x401050(/bin/nosuch)/P/-/-/0/
''', '''\
0x401030(/bin/nosuch)/0xffffffff81000100([kernel.kallsyms])/P/-/-/0/  \
0xffffffff81000200([kernel.kallsyms])/0x401040(/bin/nosuch)/P/-/-/0/  \
0x701000([unknown])/0x401050(/bin/nosuch)/P/-/-/0/
0x401030(/bin/nosuch)/0xffffffff81000100([kernel.kallsyms])/P/-/-/0/  \
0xffffffff81000200([kernel.kallsyms])/0x401040(/bin/nosuch)/P/-/-/0/  \
0x701000([unknown])/0x401050(/bin/nosuch)/P/-/-/0/
''', compats=('perf-6.1',))(old_kernel)
case('samples in the kernel with an address of user space',
     '-F addr,ip,sym,dso --kallsyms /dev/null', '''\
401020 [unknown] ([kernel.kallsyms]) ffffffff81000100 [unknown] ([kernel.kallsyms])
401020 [unknown] (/bin/nosuch)           401010 [unknown] (/bin/nosuch)
''', '''\
401020 [unknown] (/bin/nosuch) ffffffff81000100 [unknown] ([kernel.kallsyms])
401020 [unknown] (/bin/nosuch)           401010 [unknown] (/bin/nosuch)
''')(old_kernel)


def see_dump(sonde, part, perf, folder):
    """perf gives the kernel's map of an old recording an end when it prints the first sample."""
    name, r, data = 'the kernel\'s file in a dump', Recording(), folder + '/d.data'
    event = r.attr(name='cycles')
    r.kernel_map(0, (1 << 64) - 1, pgoff=KERNEL_TEXT)
    for n in range(2):
        r.sample(event, misc=KERNEL, ip=0x10, time=1000 + n)
    pathlib.Path(data).write_bytes(r.bytes())
    symbols = '%x T _text\n%x T work\n%x T _etext\n' % tuple(KERNEL_TEXT + n for n in (0, 256, 512))
    pathlib.Path(folder + '/kallsyms').write_text(symbols)
    options = '-D --kallsyms %s/kallsyms' % folder
    asked = [(sonde, compat) for compat in COMPATS + ('',)] if part == 'stored' else [(perf[0], '')]
    for tool, compat in asked:
        second = '<not found>' if compat or tool != sonde else '[kernel.kallsyms]'
        status, got, err = text_of([tool] + ['--compat', compat] * bool(compat), data, options)
        got = re.findall(r'^\.+ dso: (.*)', got, re.M)
        say((status, got) == (0, ['[kernel.kallsyms]', second]), '%s: %s %s' % (part, name, compat),
            '%s\n%s' % (got, err))


# ---- between exec and the first instruction of the new program ---------------------------------

@case('mappings before and after exec', '-F ip,sym,dso', '''\
ffffffffc0000000 [unknown] ([unknown])
401100 [unknown] (/bin/old)
401200 [unknown] (/bin/old)

ffffffffc0000000 [unknown] ([unknown])
401100 [unknown] (/bin/old)
401200 [unknown] (/bin/old)

ffffffffc0000000 [unknown] ([unknown])
501000 [unknown] (/bin/new)
401200 [unknown] (/bin/old)

ffffffffc0000000 [unknown] ([unknown])
401100 [unknown] (/bin/old)

501000 [unknown] (/bin/new)

ffffffffc0000000 [unknown] ([unknown])
401100 [unknown] (/bin/old)
''', '''\
ffffffffc0000000 [unknown] ([unknown])
401100 [unknown] (/bin/old)
401200 [unknown] (/bin/old)

ffffffffc0000000 [unknown] ([unknown])
401100 [unknown] (/bin/old)
401200 [unknown] (/bin/old)

ffffffffc0000000 [unknown] ([unknown])
501000 [unknown] (/bin/new)
401200 [unknown] ([unknown])

ffffffffc0000000 [unknown] ([unknown])
401100 [unknown] ([unknown])

501000 [unknown] (/bin/new)

ffffffffc0000000 [unknown] ([unknown])
401100 [unknown] ([unknown])
''')
def _():
    r = Chains()
    for pid in 10, 11:
        r.comm(pid, 'old')
        r.mmap(pid, 0x401000, 0x1000, 0x401000, '/bin/old')
    r.comm(10, 'new', time=r.now + 500, by_exec=True)
    r.at(IN_KERNEL, BPF, IN_USER, 0x401100, 0x401200)
    r.mmap(10, 0x501000, 0x1000, 0x501000, '/bin/new', time=r.now + 500)
    r.at(IN_KERNEL, BPF, IN_USER, 0x401100, 0x401200)
    r.at(IN_KERNEL, BPF, IN_USER, 0x501000, 0x401200)  # the new program calls the kernel
    r.at(IN_KERNEL, BPF, IN_USER, 0x401100)
    r.comm(11, 'new', time=r.now + 500, by_exec=True)
    r.mmap(11, 0x501000, 0x1000, 0x501000, '/bin/new', time=r.now + 501)
    r.at(IN_USER, 0x501000, pid=11)  # the new program runs
    r.at(IN_KERNEL, BPF, IN_USER, 0x401100, pid=11)
    return r


# ---- the vdso of kernels before 4.3, whose page offset is its address --------------------------

VDSO, RETURN = 0x7ffd12345000, 0x401234


def vdso():
    """The image of this process's vdso and the offset of a function in it; None without a vdso."""
    with open('/proc/self/maps') as maps:
        found = re.search(r'^(\w+)-(\w+) .*\[vdso\]$', maps.read(), re.M)
    if not found or platform.machine() != 'x86_64':
        return None
    start, end = (int(n, 16) for n in found.groups())
    with open('/proc/self/mem', 'rb') as memory:
        memory.seek(start)
        image = memory.read(end - start)
    sections = [struct.unpack_from('<IIQQQQIIQQ', image, struct.unpack_from('<Q', image, 40)[0] +
                                   64 * i)
                for i in range(struct.unpack_from('<H', image, 60)[0])]
    symbols = next(s for s in sections if s[1] == 11)
    strings = sections[symbols[6]]
    for at in range(symbols[4], symbols[4] + symbols[5], 24):
        name, _, _, _, value, _ = struct.unpack_from('<IBBHQQ', image, at)
        name = image[strings[4] + name:].split(b'\0')[0]
        if name == b'__vdso_getcpu':
            return image, value
    return None


def in_vdso(image, function):
    """Two samples at the function's first instruction, called from a program."""
    r = Chains(IP | TID | TIME | CALLCHAIN | REGS_USER | STACK_USER,
               user_regs=1 << 6 | 1 << 7 | 1 << 8, user_stack=16)
    note = image.index(b'\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0') + 16
    r.mmap(10, 0x401000, 0x1000, 0x1000, '/bin/nosuch')
    for pid, misc, what in (10, USER, r.pack('IIQQ', 0, 0, 0, 0)), (
            11, USER | 1 << 14, bytes([20, 0, 0, 0]) + image[note:note + 20]):
        r.comm(pid, 'work')
        body = r.pack('iiQQQ', pid, pid, VDSO, 0x2000, VDSO) + what + r.pack('II', 5, 2)
        r.record(10, body + r.text('[vdso]') + r.sample_id(0, pid, pid, 0), misc=misc)
    for pid in 10, 11:
        r.mmap(pid, 0x401000, 0x1000, 0x1000, '/bin/nosuch')
        r.sample(r.event, pid=pid, ip=VDSO + function, time=2000,
                 user_regs=[0x7fff0000, 0x7fff0100, VDSO + function],
                 user_stack=r.pack('QQ', RETURN, 0))
    return r


def see_vdso(sonde, part, perf, folder):
    name, found = 'a vdso with its address as page offset', vdso()
    if not found:
        return skip(name, 'no vdso of x86-64')
    pathlib.Path(folder + '/v.data').write_bytes(in_vdso(*found).bytes())
    # perf uses the running kernel's vdso if no build id was recorded; sonde uses it if the recorded
    # build id is the same.
    asked = [(perf[0], '', 10)] if part != 'stored' else [
        (sonde, 'perf-6.1', 10), (sonde, 'perf-6.12', 10), (sonde, '', 11)]
    for tool, compat, pid in asked:
        begin = 0 if compat == 'perf-6.1' or part == 'perf-6.1' else VDSO
        want = '%x __vdso_getcpu+0x0 ([vdso])\n%x [unknown] (/bin/nosuch)' % (
            begin + found[1], RETURN - 1 - (0x400000 if not begin else 0))
        status, got, err = text_of([tool] + ['--compat', compat] * bool(compat), folder + '/v.data',
                                   FRAMES + ' --pid %d' % pid)
        say((status, got) == (0, want), '%s: %s %s' % (part, name, compat),
            '' if got == want else got + '\n' + err)


def see_cut(sonde, folder):
    """Parts that sonde cut writes begin with the code as it was modified before them."""
    whole = pokes()
    pathlib.Path(folder + '/whole.data').write_bytes(whole.bytes())
    options = '-F time,ip,insn --ns'
    want = text_of([sonde], folder + '/whole.data', options)[1].splitlines()
    for n in range(1, len(want)):
        begin = want[n].split(':')[0]
        out = folder + '/part.data'
        status, _, err = run([sonde, 'cut', '-i', folder + '/whole.data', '-o', out, '--force',
                              '--time', begin + ','])
        got = text_of([sonde], out, options)[1].splitlines() if not status else [err.decode()]
        say(got == want[n:], 'code modified before a part, %d' % n,
            '' if got == want[n:] else '\n'.join(got))


# ---- running the cases -------------------------------------------------------------------------

def text_of(command, data, options):
    status, out, err = run(command + ['script', '-i', data] + options.split())
    lines = '\n'.join(line.strip() for line in out.decode(errors='replace').splitlines()).strip()
    return status, re.sub('\n\n+', '\n\n', lines), err.decode(errors='replace')


def main():
    sonde, part = str(pathlib.Path(sys.argv[1]).resolve()), (sys.argv[2:] or ['stored'])[0]
    perf, why = (None, '') if part == 'stored' else perf_of(part)
    with tempfile.TemporaryDirectory(prefix='sonde-chains-') as folder:
        if part == 'stored' or perf:
            see_vdso(sonde, part, perf, folder)
            see_dump(sonde, part, perf, folder)
        if part == 'stored':
            see_cut(sonde, folder)
        features = run([sonde, '--version', '-v'])[1]
        # perf decodes instructions only for the machine that it runs on.
        knows_x86 = b'capstone=' in features and platform.machine() == 'x86_64'
        for name, (make, options, text, default, perfs, compats) in CASES.items():
            if 'insn' in options and not knows_x86:
                skip(name, 'this build cannot decode x86 instructions')
                continue
            data = folder + '/x.data'
            pathlib.Path(data).write_bytes(make().bytes())
            if part != 'stored':
                if not perf:
                    skip(part, why, may=part != 'perf-6.1')
                    break
                if part not in compats:
                    continue
                want = perfs.strip()
                status, got, err = text_of(perf[:1], data, options)
                say((status, got) == (0, want), '%s: %s' % (part, name),
                    '' if got == want else got + '\n' + err)
                continue
            for compat in compats + ('',):
                want = (text if compat else default).strip()
                status, got, err = text_of([sonde] + ['--compat', compat] * bool(compat), data,
                                           options)
                say((status, got) == (0, want), '%s %s' % (name, compat),
                    '' if got == want else got + '\n' + err)
    return done()


if __name__ == '__main__':
    sys.exit(main())
