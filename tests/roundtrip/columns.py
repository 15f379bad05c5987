#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Columns of text, for recordings with values that only some hardware records.

    tests/roundtrip/columns.py SONDE [stored|perf-6.1|perf-6.12|terminal] [--update]

The test builds the recordings. stored: compares sonde's text under each --compat with
tests/data/columns/COMPAT.txt. --update writes perf's text there; for "none" (no --compat) it writes
sonde's own text, which must be reviewed. perf-6.1, perf-6.12: compares with the text of perf.
terminal: control characters.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / 'tests' / 'gen'))
from samples import *  # noqa: E402,F403

DATA = ROOT / 'tests' / 'data' / 'columns'
sys.path.insert(0, str(HERE.parent))
import kallsyms  # noqa: E402
from points import ENV, done, on_pty, say, skip  # noqa: E402
BASE = IP | TID | TIME | CPU | PERIOD
HARDWARE, SOFTWARE, CACHE, RAW_TYPE, BREAKPOINT = 0, 1, 3, 4, 5


# ---- the recordings ----------------------------------------------------------------------------

def ticks():
    """Times in ns, one millisecond apart."""
    t = 0
    while True:
        t += 1000000
        yield t


def start(**kw):
    r = Recording(**kw)
    return r, ticks()


def branches(big=False, few=False):
    r, t = start(big=big, arch='ppc64' if big else 'x86_64')
    a = r.attr(HARDWARE, 0, BASE | BRANCH_STACK, branches=BRANCH_ANY)
    r.comm(10, 'work')
    r.mmap(10, 0x400000, 0x1000, 0x3000, '/bin/nosuch')
    flags = ([0, 1, 2, 3, 4, 8, 2 | 4 | 8, 2 | 12345 << 4] + [2 | n << 20 for n in range(16)] +
             [2 | 15 << 20 | n << 26 for n in range(16)] + [2 | n << 24 for n in range(4)] +
             [2 | n << 30 for n in range(8)])
    if big:  # perf 6.1 misreads the newer flags in the other byte order
        flags = flags[:8 + 15]
    for i, f in enumerate(flags[6:9] if few else flags):
        r.sample(a, ip=0x400100, time=next(t),
                 branches=[(0x400100 + i, 0x400200 + i, f), (0x400300, 0x500000, 2)])
    r.sample(a, ip=0x400100, time=next(t))
    r.sample(a, ip=0x400100, time=next(t),
             branches=[(0xffffffff81000000, 0x400200, 2), (0x7f0000000000, 0, 0)])
    return r


def data_sources():
    r, t = start()
    a = r.attr(HARDWARE, 0, BASE | DATA_SRC)
    r.comm(10, 'work')
    level, hit, miss, l1, l2, remote = lambda bits: bits << 5, 2, 4, 8, 32, 1 << 37
    number, hops = lambda n: n << 33, lambda n: n << 43
    values = [0] + [1 << i for i in range(48)]
    values += [number(n) | far for n in range(16) for far in (0, remote)]
    values += [hops(n) | far | more for n in range(8) for far in (0, remote)
               for more in (0, number(11), level(l1))]
    values += [n << 38 for n in range(4)] + [n << 40 for n in range(8)] + list(range(32))
    values += [level(hit | l1), level(hit | miss | l1), level(miss | l1), level(hit) | number(1),
               level(miss) | number(1) | remote, level(hit | miss) | number(3),
               level(l2) | number(1), level(hit | l2) | number(1), level(l1 | l2),
               level(hit | l1 | l2), remote | level(l1), level(1 | l1), level(1) | number(1),
               level(1 | hit) | number(1), number(15) | level(l1), number(7) | level(hit),
               level(0x3fff), (1 << 64) - 1, 0x1f << 19 | 3 << 38, 3 << 24, 0x7f << 26,
               0x1e | 0x1f << 19 | 3 << 38 | 0x7e << 26 | level(0x3ffe), 0x1e05080021]
    for v in values:
        r.sample(a, ip=0x400100, time=next(t), data_src=v)
    return r


def registers(arch):
    r, t = start(arch=arch)
    mask = (1 << 64) - 1
    a = r.attr(HARDWARE, 0, BASE | REGS_INTR | REGS_USER, intr_regs=mask, user_regs=0x1010101)
    r.comm(10, 'work')
    r.sample(a, ip=0x400100, time=next(t), intr_regs=range(64), user_regs=[1 << 63, 0, 5, 6])
    r.sample(a, ip=0x400100, time=next(t), intr_abi=0, user_abi=0)
    r.sample(a, ip=0x400100, time=next(t), intr_abi=1, intr_regs=range(64), user_abi=0)
    return r


def bpf_output():
    r, t = start()
    a = r.attr(SOFTWARE, 10, BASE | RAW)
    b = r.attr(SOFTWARE, 0, BASE | RAW)
    r.comm(10, 'work')
    for raw in (b'', b'abc\0', b'abcd', b'hello world\0', b'hello\0xxxxxx', bytes(range(12)),
                b'\x80\xff\x7f\x20\x1f~\n\tabcd', b'a' * 28, b'a' * 27 + b'\0', bytes(12),
                b'ab\n\0', 'é\0\0'.encode(), bytes(range(160, 256)), b'0123456789abcdef' * 3 +
                b'0123'):
        r.sample(a, ip=0x400100, time=next(t), raw=raw)
    r.sample(b, ip=0x400100, time=next(t), raw=b'xyz\0')
    return r


def memory():
    """All values of a memory access, in samples of a software event, whose default columns have
    none."""
    r, t = start()
    a = r.attr(SOFTWARE, 2, BASE | ADDR | CGROUP | WEIGHT_STRUCT | PHYS_ADDR | DATA_PAGE_SIZE |
               CODE_PAGE_SIZE | DATA_SRC)
    r.comm(10, 'work')
    r.mmap(10, 0x400000, 0x1000, 0, '/bin/nosuch')
    r.cgroup(1, '/')
    r.cgroup(77, '/user.slice/x y')
    r.cgroup(77, '/other', time=4500000)
    pages = [4096, 2 << 20, 1 << 30, 3000, 0, 1024, 16384, 1 << 62, 5 << 20]
    for i, page in enumerate(pages):
        r.sample(a, ip=0x400100, time=next(t), cgroup=(1, 77, 5)[i % 3], weight=0xffff000200000001 +
                 i, phys_addr=0xabc000 << i,
                 data_page_size=page, code_page_size=pages[-i],
                 addr=(0x400200, 0x7000, 0xffffffff81000000)[i % 3], data_src=0x5080144)
    return r


def raw_class():
    r, t = start()
    a = r.attr(RAW_TYPE, 0x1cd, BASE | ADDR | DATA_SRC | WEIGHT_STRUCT | PHYS_ADDR |
               DATA_PAGE_SIZE | CODE_PAGE_SIZE,
               name='cpu/mem-loads,ldlat=30/P')
    b = r.attr(RAW_TYPE, 0x82d0, BASE | ADDR | DATA_SRC | WEIGHT | PHYS_ADDR,
               name='cpu/mem-stores/P')
    r.comm(10, 'work')
    r.mmap(10, 0x400000, 0x1000, 0, '/bin/nosuch')
    for n in (a, b, a):
        now = next(t)
        r.sample(n, ip=0x400100, time=now, weight=0x0003000200000001 + now,
                 phys_addr=0xabc000 + now, data_page_size=4096, code_page_size=8192, addr=0x7000,
                 data_src=0x5080144)
    return r


def classes():
    """One event type of each class, each with other recorded values."""
    r, t = start()
    kinds = [r.attr(HARDWARE, 0, BASE, name='cycles'),
             r.attr(SOFTWARE, 0, IP | TID | TIME, name='cpu-clock'),
             r.attr(CACHE, 0, BASE | ADDR, name='L1-dcache-loads'),
             r.attr(RAW_TYPE, 0x1c2, IP | TID | TIME, name='r1c2'),
             r.attr(BREAKPOINT, 0, IP | TIME | ADDR, name='mem:0x1000:rw'),
             r.attr(8, 1, IP | TID | TIME, name='odd/x/'),
             r.attr(0x80000000, 0, IP | TID | TIME, name='synthetic')]
    r.comm(10, 'work')
    for n in kinds:
        r.sample(n, ip=0x400100, time=next(t), addr=0x1000, period=n)
    return r


def no_address():
    r, t = start()
    a, b = (r.attr(RAW_TYPE, 0x1c2, TID | TIME, name='r1c2'),
            r.attr(SOFTWARE, 0, BASE, name='cpu-clock'))
    r.comm(10, 'work')
    for n in (a, b):
        r.sample(n, ip=0x400100, time=next(t))
    return r


def branch_trace():
    r, t = start()
    a = r.attr(HARDWARE, 4, BASE | ADDR, name='branches:u')
    b = r.attr(HARDWARE, 0, BASE | ADDR, name='cycles')
    c = r.attr(HARDWARE, 5, BASE | ADDR, name='branch-misses')
    r.comm(10, 'work')
    r.mmap(10, 0x400000, 0x1000, 0, '/bin/nosuch')
    for n, addr in (a, 0x400200), (b, 0x400200), (c, 0x400200), (a, 0):
        r.sample(n, ip=0x400100, time=next(t), addr=addr)
    return r


def metrics(kinds):
    r, t = start()
    types = [r.attr(type, config, BASE, period=2) for type, config in kinds]
    r.group(len(types))
    r.comm(10, 'work')
    for turn in range(4):
        for i, n in enumerate(types):
            r.sample(n, ip=0x400100, time=next(t), cpu=turn & 1, period=(i * 7 + 3) % 11 * 1000 +
                     turn)
    for n in types[1:] + types[:1]:  # in another order, and on another cpu
        r.sample(n, ip=0x400100, time=next(t), cpu=n & 1, period=4000000 + n)
    return r


CACHE_MISS = 1 << 16
GROUPS = {
    'cycles': [(HARDWARE, 0), (HARDWARE, 1), (HARDWARE, 7), (HARDWARE, 8), (HARDWARE, 9)],
    'misses': [(HARDWARE, 2), (HARDWARE, 3), (HARDWARE, 4), (HARDWARE, 5)],
    'caches': [(CACHE, n | miss) for n in range(5) for miss in (0, CACHE_MISS)],
    'clock': [(SOFTWARE, 1), (HARDWARE, 0), (HARDWARE, 1), (SOFTWARE, 2), (RAW_TYPE, 0x1c2)],
    'instructions': [(HARDWARE, 1), (HARDWARE, 8), (HARDWARE, 0)],
    'alone': [(HARDWARE, 1)],
}


def modes():
    r, t = start()
    a = r.attr(SOFTWARE, 0, BASE)
    r.comm(10, 'work')
    r.clock()
    for misc in (0, KERNEL, USER, HYPERVISOR, USER | 1 << 14):
        r.sample(a, ip=0x400100, time=next(t), misc=misc)
    return r


def speaking():
    r, t = start()
    a = r.attr(SOFTWARE, 10, BASE | RAW)
    r.comm(10, b'\x1b[31mred\x07\n')
    r.mmap(10, 0x400000, 0x1000, 0, b'/bin/\x1b]0;title\x07\xc2\x9b\x9b')
    r.sample(a, ip=0x400100, time=next(t), raw=b'\xa0\xff\xa0\xc2')
    r.comm(10, 'plain \xe9\u20ac', time=1500000)
    r.sample(a, ip=0x400100, time=next(t), raw=b'abc\0')
    return r


RECORDINGS = {'branches': branches, 'branches-be': lambda: branches(True),
              'few-branches': lambda: branches(few=True), 'data_src': data_sources,
              'bpf': bpf_output, 'memory': memory, 'raw': raw_class, 'classes': classes,
              'no-address': no_address, 'branch-trace': branch_trace, 'modes': modes,
              'speaking': speaking}
RECORDINGS.update(('metrics-' + name, lambda kinds=kinds: metrics(kinds))
                  for name, kinds in GROUPS.items())
ARCHS = ['x86_64', 'i686', 'aarch64', 'armv7l', 'riscv64', 's390x', 'ppc64le', 'mips64', 'csky',
         'loongarch64', 'sparc64']
RECORDINGS.update(('regs-' + arch, lambda arch=arch: registers(arch)) for arch in ARCHS)

CASES = [('branches', '-F brstack'), ('branches-be', '-F brstack')]
CASES += [('few-branches', o) for o in
         ('-F brstack', '-F brstacksym', '-F brstackoff', '-F comm,ip,brstack,dso',
          '-F ip,brstacksym,dso', '-F ip,sym,brstackoff,dso',
          '-F brstack,brstackoff,brstacksym,ip')]
CASES += [('data_src', '-F data_src'), ('data_src', '-F event,data_src,ip')]
CASES += ([('regs-' + arch, '-F iregs,uregs') for arch in ARCHS] +
          [('regs-x86_64', '-F comm,uregs,ip,period')])
CASES += [('bpf', o) for o in ('', '-F ip,bpf-output', '-F sw:comm,bpf-output', '-F -bpf-output',
                               '-F sw:comm')]
CASES += [('memory', o) for o in
          ('', '-F +weight', '-F comm,addr,sym,symoff,dso', '-F +addr,-dso',
           '-F +data_src,+ins_lat,+code_page_size', '-F ip,phys_addr,data_page_size,code_page_size',
           '-F comm,cgroup', '-F cgroup,retire_lat', '-F +retire_lat', '-F ip,dsoff',
           '-F ip,sym,dso,dsoff', '-F weight,ins_lat,period', '-F sw:ip,iregs', '-F uregs')]
CASES += [('raw', o) for o in ('', '-F -addr', '-F raw:-data_src,+pid', '-F comm,weight,ins_lat',
                               '--ns -F +misc')]
CASES += [('classes', o) for o in
          ('', '-F comm,event', '-F comm,event,trace', '-F cpu', '-F sw:cpu,comm',
           '-F hw:event,cpu -F raw:comm', '-F trace:comm', '-F break: -F comm', '-F raw:',
           '-F sw:addr', '-F break:comm,addr,sym', '-F synth:comm', '-F synth:+pid,-time',
           '-F sw:trace', '-F sym,event', '-F symoff', '-F event,sym,symoff', '-F dso', '-F hw:sym',
           '-F hw:srcline', '-F hw:+srccode', '-F +pid', '-F +pid,-comm', '-F pid,-comm', '-F',
           '-F ,', '-F +', '-F foo', '-F hw:foo', '-F xx:comm', '-F comm,,event',
           '-F event,time,callindent', '-F event,flags', '-F flags',
           '-F event,synth,metric,ipc,machine_pid,vcpu', '-F +flags', '-F event,time --reltime',
           '-F event,time --deltatime', '-F event,time --reltime --deltatime', '-L',
           '-L -F comm,event', '-F period,event', '-F event,tod', '-F brstackinsn', '-F brcntr',
           '-F retire_lat', '-F cgroup', '-F sw:cgroup,comm')]
CASES += [('no-address', o) for o in ('', '-F comm,event', '-F +pid', '-F sym', '-F raw:+dso',
                                      '-F raw:event,time', '-F raw:ip')]
CASES += [('branch-trace', o) for o in
          ('', '-F ip,addr', '-F ip,sym', '-F +addr', '-F comm,addr,dso', '-F comm,callindent,dso',
           '-F +callindent', '-F comm,flags,ip', '-F event,ip -L')]
CASES += [('metrics-' + name, '-F event,period,metric') for name in GROUPS]
CASES += [('metrics-cycles', o) for o in ('-F +metric', '-F comm,time,metric --deltatime')]
CASES += [('modes', o) for o in ('-F misc,comm', '-F +misc,-cpu', '-F tod,time', '-F +tod --ns',
                                 '--reltime -F tod,time', '-F +tod -L')]
CASES += [('speaking', o) for o in ('', '-F comm,ip,dso', '-L')]


# ---- running the cases -------------------------------------------------------------------------

def run(tool, folder, name, options):
    options = [o.replace('\0', '') for o in options.replace('-F ', '-F\0').split()]
    words = []
    for o in options:
        words += ['-F', o[2:]] if o.startswith('-F') else [o]
    p = subprocess.run(tool + ['-i', name + '.data'] + words, env=ENV, cwd=folder,
                       stdin=subprocess.DEVNULL, capture_output=True, timeout=600)
    return p.returncode, p.stdout, p.stderr.decode('utf-8', 'replace')


def section(case, code, text):
    head = '== %s %s' % case
    return head.rstrip().encode() + (b'\nexit status %d\n' % code if code else b'\n') + text


def read_sections(path):
    sections = {}
    for part in path.read_bytes().split(b'\n\n== '):
        head, _, body = part.partition(b'\n')
        sections[head.removeprefix(b'== ')] = body
    return sections


def write_sections(path, parts):
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b'\n\n'.join(p.removesuffix(b'\n') for p in parts) + b'\n\n')


def difference(want, got):
    want, got = want.split(b'\n'), got.split(b'\n')
    i = next((i for i, (a, b) in enumerate(zip(want, got)) if a != b), min(len(want), len(got)))
    show = lambda lines: ascii(lines[i].decode('latin-1')) if i < len(lines) else 'nothing'
    return 'line %d; wanted: %s\n        got: %s' % (i + 1, show(want), show(got))


def perf_of(compat):
    """The command of that version of perf, or None and the reason."""
    if compat == 'perf-6.1':
        perf = shutil.which('perf', path=ENV['PATH'])
        if not perf:
            return None, 'no perf'
        version = subprocess.run([perf, '--version'], capture_output=True,
                                 text=True).stdout.split()[-1]
        if version.startswith('6.1.'):
            return [perf, 'script'], ''
        return None, 'the installed perf is %s' % version
    p = subprocess.run([ROOT / 'tools' / 'perf-6.12',
                        os.environ.get('SONDE_PERF612_FOLDER', 'build/perf-6.12')],
                       stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return (([p.stdout.strip(), 'script'], '') if p.returncode == 0
            else (None, p.stderr.strip() or 'no perf 6.12'))


def stored(sonde, folder, update):
    for compat in ('perf-6.1', 'perf-6.12', 'none'):
        tool = [sonde, '--compat', compat, 'script'] if compat != 'none' else [sonde, 'script']
        path = DATA / (compat + '.txt')
        if update:
            oracle = perf_of(compat)[0] if compat != 'none' else tool
            if oracle:
                texts = [(c, run(oracle, folder, *c)) for c in CASES]
                # Where perf crashed, sonde's text is stored.
                texts = [(c, r if r[0] >= 0 and r[0] != 139 else run(tool, folder, *c))
                         for c, r in texts]
                write_sections(path, [section(c, *r[:2]) for c, r in texts])
        want = read_sections(path)
        for case in CASES:
            code, text, err = run(tool, folder, *case)
            head, _, got = section(case, code, text).removesuffix(b'\n').partition(b'\n')
            good = want.get(head.removeprefix(b'== '), b'').rstrip(b'\n') == got.rstrip(b'\n')
            stored_text = want.get(head.removeprefix(b'== '), b'nothing is stored')
            say(good, '%s: %s %s' % ((compat,) + case),
                '' if good else difference(stored_text, got) + '\n' + err)


def live(sonde, folder, compat):
    perf, why = perf_of(compat)
    if not perf:
        skip(compat, why, may='no perf' not in why)
        return
    for case in CASES:
        code, want, _ = run(perf, folder, *case)
        ours, got, err = run([sonde, '--compat', compat, 'script'], folder, *case)
        good = (code, want) == (ours, got) or (code in (-11, 139) and ours == 0)
        say(good, '%s: %s %s' % ((compat,) + case), '' if good else
            'exit status %d; perf: %d\n%s\n%s' % (ours, code, difference(want, got), err))


def on_terminal(words, folder):
    """The text that a command writes to a terminal."""
    out = on_pty(words, env=dict(ENV, TERM='dumb'), cwd=folder, stdin=subprocess.DEVNULL)[1]
    return out.replace(b'\r\n', b'\n')


def terminal(sonde, folder):
    no_pager = ['--no-pager']
    if subprocess.run([sonde] + no_pager + ['--version'], capture_output=True).returncode:
        no_pager = []
    for options in ('-F comm,ip,dso,bpf-output', '-F comm,tid,event', '-L', '--show-mmap-events',
                    '-D'):
        out = on_terminal([sonde] + no_pager + ['script', '-i', 'speaking.data'] + options.split(),
                          folder)
        bad = ([b for b in out if b < 32 and b not in b'\n\t'] +
               [b for b in (0x7f, 0x9b) if b in out])
        say(out and not bad, 'no control characters with %s' % options, ascii(out) if bad or not out
            else '')
        say(b'\\x1b' in out, 'control characters are shown escaped with %s' % options,
            '' if b'\\x1b' in out else ascii(out))
    out = on_terminal([sonde] + no_pager + ['script', '-i', 'speaking.data', '-F', 'comm'], folder)
    say('plain \xe9\u20ac'.encode() in out, 'other characters of UTF-8 are not escaped',
        '' if b'plain' in out else ascii(out))
    out = run([sonde, 'script'], folder, 'speaking', '-F comm,dso,ip')[1]
    say(b'\x1b[31mred\x07\n' in out and b'\x9b' in out, 'nothing is escaped in a pipe')


def main():
    words = [w for w in sys.argv[1:] if w != '--update']
    sonde, part = str(pathlib.Path(words[0]).resolve()), words[1] if len(words) > 1 else 'stored'
    with tempfile.TemporaryDirectory(prefix='sonde-columns-') as folder:
        for name, make in RECORDINGS.items():
            (pathlib.Path(folder) / (name + '.data')).write_bytes(make().bytes())
        if part == 'stored':
            stored(sonde, folder, '--update' in sys.argv)
        elif part == 'terminal':
            terminal(sonde, folder)
        else:
            kallsyms.thin_out()
            live(sonde, folder, part)
    return done()


if __name__ == '__main__':
    sys.exit(main())
