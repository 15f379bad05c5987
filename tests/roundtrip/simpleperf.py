#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Symbols and call chains that recordings of simpleperf contain: text, JSON lines, Python, Perl.

    tests/roundtrip/simpleperf.py SONDE FIXTURES.PY

The test builds the recordings. No machine has the files that they name, except one local file.
--compat prints what perf prints, which knows neither these sections nor these records.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent))
from points import UNDER_ASAN, done, run, say, skip  # noqa: E402
from recordings import load_fixtures  # noqa: E402

SONDE = str(pathlib.Path(sys.argv[1]).resolve())
fixtures = load_fixtures()

ATTR = ('--- attr type=hardware config=0 sample_period=1 sample_type=IDENTIFIER|IP|TID|TIME '
        'sample_id_all=1 ids=7\n')
IDS = ' [12,12:u32] [900:u64] [7:u64] }\n'
KERNEL = 0xffffffff81000000


def symbol(addr, size, name):
    return '[0x%x:u64] [%d:u32] "%s\\0" ' % (addr, size, name)


def binary(path, kind, first, symbols, behind=''):
    """An entry of section FILE."""
    return 'u32len { "%s\\0" [%d:u32] [0x%x:u64] [%d:u32] %s %s }\n' % (
        path, kind, first, len(symbols), ''.join(symbol(*s) for s in symbols), behind)


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def field(number, value):
    """A protobuf field: a number, or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def message(path, kind, first, symbols, more=b''):
    """An entry of section FILE2; the fields of protobuf may be in any order."""
    body = more + b''.join(field(4, field(3, name.encode()) + field(1, addr) + field(2, size))
                           for addr, size, name in symbols)
    body += (field(2, kind) + field(3, first) + field(1, path.encode()) + field(99, b'newer') +
             field(98, 5))
    return 'u32len { [%s:u8] }\n' % ','.join(map(str, body))


def mapping(start, size, pgoff, path, prot=5):
    return ('MMAP2/user { [12,12:u32] [0x%x,0x%x,0x%x:u64] [8,1:u32] [77,0:u64] [%d,2:u32] '
            '"%s\\0" pad8%s' % (start, size, pgoff, prot, path, IDS))


KERNEL_MAP = ''.join('MMAP/kernel { [0xffffffff,0:u32] [%s,0:u64] "%s\\0" pad8%s' % (at, name, IDS)
                     for at, name in (
                         ('0,0xffffffffffffffff', '[kernel.kallsyms]'),
                         ('0xffffffffc0000000,0x4000', '/none/m.ko')))
MODULE = 0xffffffffc0000000
MAPS = (KERNEL_MAP + mapping(0x10000, 0x4000, 0x2000, '/none/app') +
        mapping(0x20000, 0x1000, 0, '/none/old.so') +
        mapping(0x30000, 0x1000, 0x5000, '/none/a.dex', 1) +
        mapping(0x40000, 0x1000, 0x11668, '/none/x.data_jit_app_cache:1-2', 0x4000) +
        mapping(0x50000, 0x1000, 0, '/none/stripped'))
ELF = '[0x1000:u64]'  # the offset of its first address, below what is mapped
NAMED = [binary('/none/app', 2, 0x2000, [(0x3010, 16, '_ZN3one3twoEv'), (0x3040, 16, 'main')], ELF),
         binary('/none/old.so', 2, 0x9000, [(0x9100, 32, 'old')]),
         binary('/none/a.dex', 3, 0, [(0x5200, 8, 'a.b.c')], '[1:u32] [0x28:u64]'),
         binary('/none/x.data_jit_app_cache:1-2', 2, 0, [(0x40080, 8, 'jitted')], '[0:u64]'),
         binary('/none/m.ko', 1, 0x40, [(0x60, 16, 'later'), (0x50, 16, 'in_module')],
                '[0x1000:u64]'),
         binary('[kernel.kallsyms]', 0, 0, [(KERNEL + 0x100, 16, 'in_kernel')])]
NAMED2 = [message('/none/app', 2, 0x2000, [(0x3010, 16, '_ZN3one3twoEv'), (0x3040, 16, 'main')],
                  field(6, field(1, 0x1000))),
          message('/none/none', 2, 0, []),
          message('/none/old.so', 2, 0, [(0x100, 32, 'old')], field(6, b'')),
          message('/none/a.dex', 3, 0, [(0x5200, 8, 'a.b.c')], field(5, field(1, varint(0x28)))),
          message('/none/x.data_jit_app_cache:1-2', 2, 0, [(0x40080, 8, 'jitted')], field(6, b'')),
          message('/none/m.ko', 1, 0x40, [(0x60, 16, 'later'), (0x50, 16, 'in_module')],
                  field(7, field(1, 0x1000))),
          message('[kernel.kallsyms]', 0, 0, [(KERNEL + 0x100, 16, 'in_kernel')])]
# For each sample: its address, the function at that address, and the offset in the function.
WANT = [(0x10010, 'one::two', 0), (0x1001f, 'one::two', 15), (0x10020, None, 0),
        (0x10040, 'main', 0), (0x20104, 'old', 4),
        (0x30207, 'a.b.c', 7), (0x30208, None, 0), (0x40081, 'jitted', 1), (0x50010, None, 0),
        (KERNEL + 0x104, 'in_kernel', 4),
        (KERNEL + 0x110, None, 0), (MODULE + 0x1011, 'in_module', 1), (MODULE + 0x1020, 'later', 0),
        (MODULE + 0x1030, None, 0)]


def samples(addresses):
    return ''.join('SAMPLE/%s { [7:u64] [0x%x:u64] [12,12:u32] [%d:u64] }\n' %
                   ('kernel' if a >= KERNEL else 'user', a, 1000 + i)
                   for i, a in enumerate(addresses))


def make(path, sections, data, attr=ATTR):
    text = ('=== x\n' + attr + ''.join('--- feature %s\n%s' % s for s in sections) + '--- data\n' +
            data)
    fix = path.with_suffix('.fix')
    fix.write_text(text)
    path.write_bytes(fixtures.parse(fix)[0].build('little')[0])
    return path


def lines(*words):
    status, out, err = run([SONDE, *map(str, words)])
    return out.decode().splitlines() if not status else ['status %s: %s' % (status, err.decode())]


def json_lines(path):
    return [e for e in map(json.loads, lines('script', '-i', path, '--format', 'jsonl'))
            if 'sample' in e]


SCRIPT_PY = (
    'def process_event(d): print("%x" % d["sample"]["ip"], d.get("symbol"), d.get("symoff"), '
    'd.get("dso"))\n')
CHAIN_PY = '''def process_event(d):
    print(" ".join("%x=%s" % (f["ip"], f.get("sym", {}).get("name")) for f in d["callchain"]))
'''
CHAIN_PL = '''sub trace_unhandled {
    print join(" ", map { sprintf("%x=%s", $_->{ip}, $_->{sym} ? $_->{sym}{name} : "None") } @{$_[7]}), "\\n";
}
'''


def names(folder, what, sections):
    path = make(folder / 'names.data', sections, MAPS + samples(a for a, _, _ in WANT))
    got = [re.sub(r'\s+', ' ', x.strip())
           for x in lines('script', '-i', path, '-F', 'ip,sym,symoff')]
    want = ['%x %s' % (a, '%s+0x%x' % (name, off) if name else '[unknown]')
            for a, name, off in WANT]
    say(got == want, what + ': text', '' if got == want else '\n'.join(got))
    got = [(e['at']['ip'], e['at'].get('sym'), e['at'].get('off', 0)) for e in json_lines(path)]
    say(got == WANT, what + ': JSON lines', '' if got == WANT else '%s' % got)
    script = folder / 'names.py'
    script.write_text(SCRIPT_PY)
    if not UNDER_ASAN:
        got = [x.split()[:2] for x in lines('script', '-i', path, '-s', script)]
        want = [['%x' % a, str(name)] for a, name, _ in WANT]
        say(got == want, what + ': Python', '' if got == want else '%s' % got)
    for version in 'perf-6.1', 'perf-6.12':  # perf uses symbols of the running kernel
        got = lines('script', '--compat', version, '-i', path, '-F', 'ip,sym')
        ok = (len(got) == len(WANT) and all('[unknown]' in x for x, (a, _, _) in zip(got, WANT)
                                            if a < KERNEL) and
              not any('in_kernel' in x for x in got))
        say(ok, '%s: %s' % (what, version), '' if ok else '\n'.join(got))


# ---- call chains -------------------------------------------------------------------------------

CHAIN_ATTR = (
    '--- attr type=hardware config=0 sample_period=1 '
    'sample_type=IDENTIFIER|IP|TID|TIME|CALLCHAIN|REGS_USER|STACK_USER '
              'sample_id_all=1 sample_regs_user=0x100 sample_stack_user=16 ids=7\n')
IN_KERNEL, IN_USER = (1 << 64) - 128, (1 << 64) - 512
ORIGINAL, JOINED = 0, 2


def sample(time, chain, stack=True, tid=12):
    return 'SAMPLE/kernel { [7,0x%x:u64] [12,%d:u32] [%d,%d%s:u64] %s }\n' % (
        KERNEL + 0x104, tid, time, len(chain), ''.join(',0x%x' % ip for ip in chain),
        '[2,0x10010,16,1,2,16:u64]' if stack else '[0,0:u64]')


def chain(time, kind, addresses, tid=12, length=None):
    """A record with a chain; length: the number that it states, if it is a wrong one."""
    n = len(addresses)
    return '32775 { [12,%d:u32] [%d,%d,%d:u64] %s }\n' % (
        tid, kind, time, n if length is None else length,
        ' '.join('[0x%x:u64]' % a for a in addresses + [0x7000 + i for i in range(n)]))


KERNEL_PART = [IN_KERNEL, KERNEL + 0x104]
LONG, SHORT = [0x10010, 0x20104, 0x10044], [0x10010, 0x20104]
IN = ['in_kernel']
NAMES = ['one::two', 'old', 'main']
CHAINS = [
    # The records that simpleperf writes.
    (''.join(['32776 { [1000,1,0,0,0,0:u64] }\n', sample(1000, KERNEL_PART),
              chain(1000, ORIGINAL, SHORT), chain(1000, JOINED, LONG),
              sample(1000, KERNEL_PART + [IN_USER] + LONG, stack=False)]),
     [IN + NAMES, IN + NAMES]),
    # Only the original chain; the joined one first; both before a sample without a chain.
    (sample(1001, KERNEL_PART) + chain(1001, ORIGINAL, SHORT), [IN + NAMES[:2]]),
    (sample(1002, KERNEL_PART) + chain(1002, JOINED, LONG) + chain(1002, ORIGINAL, SHORT),
     [IN + NAMES]),
    (chain(1003, ORIGINAL, SHORT) + chain(1003, JOINED, LONG) + chain(1003, ORIGINAL, SHORT) +
     sample(1003, KERNEL_PART, stack=False),
     [IN + NAMES]),
    # Chains of another thread or time are not used; the sample's own user frames are kept.
    (chain(1004, JOINED, LONG, tid=13) + sample(1004, KERNEL_PART, stack=False) +
     chain(1005, JOINED, LONG), [IN]),
    (sample(1006, KERNEL_PART + [IN_USER, 0x20104], stack=False) + chain(1006, JOINED, LONG),
     [IN + ['old']]),
    # Markers are no frames; a record between sample and chain; a wrong length; an empty chain;
    # none.
    (sample(1007, KERNEL_PART) + chain(1007, JOINED, [IN_KERNEL, 0x10044]), [IN + ['main']]),
    (sample(1008, KERNEL_PART, stack=False) +
     'THROTTLE { [1008,7,7:u64] [12,12:u32] [1008,7:u64] }\n' + chain(1008, JOINED, LONG), [IN]),
    (sample(1009, KERNEL_PART, stack=False) + chain(1009, JOINED, LONG, length=4), [IN]),
    (sample(1010, KERNEL_PART, stack=False) + chain(1010, JOINED, []), [IN]),
    (sample(1011, KERNEL_PART, stack=False) + '32775 { [12,12:u32] [0:u64] }\n', [IN]),
]
CHAIN_DATA = MAPS + ''.join(records for records, _ in CHAINS)
CHAIN_WANT = [frames for _, wanted in CHAINS for frames in wanted]


def stacks(out):
    return [[re.sub(r'\+.*', '', x.split()[1]) for x in block.splitlines()]
            for block in re.split(r'\n{2,}', '\n'.join(out).strip())]


def chains(folder):
    path = make(folder / 'chains.data', [(128, ''.join(NAMED))], CHAIN_DATA, CHAIN_ATTR)
    got = stacks(lines('script', '-i', path, '-F', 'ip,sym'))
    say(got == CHAIN_WANT, 'chains: text', '' if got == CHAIN_WANT else '%s' % got)
    got = [[f.get('sym') for f in e['chain']] for e in json_lines(path)]
    say(got == CHAIN_WANT, 'chains: JSON lines', '' if got == CHAIN_WANT else '%s' % got)
    # Perl gets only the chains of tracepoints.
    tracepoints = make(folder / 'tracepoints.data', [(128, ''.join(NAMED))], CHAIN_DATA,
                       CHAIN_ATTR.replace('hardware config=0', 'tracepoint config=9'))
    for name, text, data in ('chain.py', CHAIN_PY, path), ('chain.pl', CHAIN_PL, tracepoints):
        if UNDER_ASAN:
            break
        (folder / name).write_text(text)
        got = [[f.split('=')[1] for f in x.split()]
               for x in lines('script', '-i', data, '-s', folder / name)]
        say(got == CHAIN_WANT, 'chains: ' + name, '' if got == CHAIN_WANT else '%s' % got)
    out = run([SONDE, 'info', '--format', 'json', '-i', str(path)])[1]
    found = {d['name']: d['count'] for d in json.loads(out)['defects']}
    say(found.get('bad-record') == 2 and found.get('unknown-record') == 1, 'chains: damage',
        '%s' % found)
    for version in 'perf-6.1', 'perf-6.12':
        got = [len(x) for x in stacks(lines('script', '--compat', version, '-i', path, '-F',
                                            'ip,sym'))]
        say(got == [1, 4, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1], 'chains: ' + version, '%s' % got)


def local_file(folder):
    """Symbols of a file on this machine are used only if its build id is the recorded one."""
    path, source = folder / 'local.so', folder / 'local.c'
    source.write_text('int local_name(int x) { return x * 3; }\n')
    cc = shutil.which('cc')
    if not cc or subprocess.run([cc, '-shared', '-fPIC', '-Wl,--build-id=0x' + '11' * 20, '-o',
                                 path, source],
                                capture_output=True).returncode:
        return skip('a local file', 'no compiler links shared libraries here')
    addr = next(int(x.split()[0], 16) for x in run(['nm', str(path)])[1].decode().splitlines()
                if x.endswith(' local_name'))
    named = binary(path, 2, 0, [(addr, 4, 'recorded_name')], '[0:u64]')
    for what, build_id, want in (('the recorded build id', 0x11, 'local_name'),
                                 ('another build id', 0x22, 'recorded_name'),
                                 ('no recorded build id', None, 'recorded_name')):
        maps = mapping(0x10000, 0x10000, 0,
                       path).replace('[77,0:u64]', '[%d,0:u64]' % path.stat().st_ino)
        if build_id:
            maps = maps.replace('MMAP2/user', 'MMAP2/user|build_id').replace(
                '[8,1:u32] [%d,0:u64]' % path.stat().st_ino, '[20,0,0,0:u8] [%d:u8]*20' % build_id)
        data = make(folder / 'local.data', [(128, named)], maps + samples([0x10000 + addr]))
        got = [x.split()[1] for x in lines('script', '-i', data, '-F', 'ip,sym')]
        say(got == [want], 'a local file, %s' % what, '%s' % got)


def damaged(folder):
    """Symbols before the damage are used."""
    path = make(folder / 'damaged.data', [(128, NAMED[0] + NAMED[1] + '[8:u32] "/x"\n')],
                MAPS + samples(a for a, _, _ in WANT))
    got = [e['at'].get('sym') for e in json_lines(path)]
    want = [name if a < 0x30000 else None for a, name, _ in WANT]
    status = json.loads(run([SONDE, 'info', '--format', 'json', '-i', str(path)])[1])
    found = [d['name'] for d in status['defects']]
    say(got == want and 'bad-feature' in found, 'damage', '%s %s' % (got, found))


def main():
    with tempfile.TemporaryDirectory() as tmp:
        folder = pathlib.Path(tmp)
        names(folder, 'FILE', [(128, ''.join(NAMED))])
        names(folder, 'FILE2', [(132, ''.join(NAMED2))])
        damaged(folder)
        local_file(folder)
        chains(folder)
    return done()


sys.exit(main())
