#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares sonde buildid-list with perf's.

    tests/roundtrip/buildids.py SONDE FIXTURES.PY

Lists known beforehand need no perf. If perf 6.1 is installed, its lists of recordings (of
tests/data, of the corpus, new ones) must equal those of sonde with and without --compat perf-6.1.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DATA = ROOT / 'tests' / 'data'
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent))
from points import ENV, done, run, say, skip  # noqa: E402
from recordings import NO_CORPUS, corpus_files, load_fixtures  # noqa: E402

SONDE = [str(pathlib.Path(sys.argv[1]).resolve())]
COMPAT = SONDE + ['--compat', 'perf-6.1']
# perf 6.1 copies this machine's vdso to a temporary file, and shows its name for a vdso without a
# build id.
VDSO = re.compile(rb'/tmp/perf-vdso\.so-\w{6}')

# A recording whose names an old kernel damaged: docs/compat.md, MMAP2 of kernels before 3.16.
DAMAGED = 'perf-file-dwarf-callchain-k3.10__hotspot.data'

MAPPED = """MMAP/kernel { [0xffffffff,0:u32] [0xffffffff81000000,0x1000000,0xffffffff81000000:u64] "[kernel.kallsyms]_text\\0" pad8 ids }
MMAP/kernel { [0xffffffff,0:u32] [0xffffffffc0000000,0x1000,0:u64] "/lib/modules/6.1/kernel/net/some-thing.ko.xz\\0" pad8 ids }
MMAP2/user { [12,12:u32] [0x1000,0x1000,0:u64] [8,1:u32] [77,0:u64] [5,2:u32] "/bin/one\\0" pad8 ids }
MMAP2/user { [12,12:u32] [0x2000,0x1000,0:u64] [8,1:u32] [78,0:u64] [5,2:u32] "/bin/one\\0" pad8 ids }
MMAP2/user|build_id { [12,12:u32] [0x3000,0x1000,0:u64] [20:u8] [0:u8]*3 [0xab:u8]*20 [5,2:u32] "/bin/three\\0" pad8 ids }
MMAP2/user { [12,12:u32] [0x4000,0x1000,0:u64] [0,0:u32] [0,0:u64] [7,2:u32] "//anon\\0" pad8 ids }
MMAP2/user { [12,12:u32] [0x5000,0x1000,0:u64] [8,1:u32] [79,0:u64] [5,2:u32] "/bin/quiet\\0" pad8 ids }
"""
HITS = """SAMPLE/user { [7:u64] [0x1010:u64] [12,12:u32] [100:u64] }
SAMPLE/user { [7:u64] [0x2010:u64] [12,12:u32] [101:u64] }
SAMPLE/user { [7:u64] [0x3010:u64] [12,12:u32] [102:u64] }
SAMPLE/user { [7:u64] [0x4010:u64] [12,12:u32] [103:u64] }
SAMPLE/kernel { [7:u64] [0xffffffffc0000010:u64] [12,12:u32] [104:u64] }
SAMPLE/user { [7:u64] [0x9010:u64] [12,12:u32] [105:u64] }
"""


def entry(misc, digit, name):
    """An entry of the list of build ids, as bytes in the language of fixtures."""
    room = (len(name) + 8) // 8 * 8
    return ('[0:u32] [%d:u16] [%d:u16] [0xffffffff:u32] [%d:u8]*20 [20:u8] [0:u8]*3 "%s" [0:u8]*%d'
            % (misc | 0x8000, 36 + room, digit, name, room - len(name)))


FIXTURE = """=== list
--- attr type=software size=64 config=0 sample_period=1 sample_type=IDENTIFIER|IP|TID|TIME sample_id_all=1 ids=7
--- feature BUILD_ID
LIST
--- data
RECORDS
=== none
--- attr type=software size=64 config=0 sample_period=1 sample_type=IDENTIFIER|IP|TID|TIME sample_id_all=1 ids=7
--- data
RECORDS
=== pipe
--- file
[0x32454c4946524550:u64] [16:u64]
HEADER_ATTR { [1,64:u32] [0,1,0x10007:u64] [0,0x40000:u64] [0,0:u64] [7:u64] }
RECORDS
"""


def made(folder):
    fixtures = load_fixtures()
    # The list has the kernel, a module under its name in brackets, a file without samples, and one
    # that is not mapped.
    names = ((1, 0x11, '[kernel.kallsyms]'), (1, 0x22, '[some_thing]'), (2, 0x33, '/bin/quiet'),
             (2, 0x44, '/bin/gone'))
    ids = ' [12,12:u32] [50:u64] [7:u64]'
    text = FIXTURE.replace('LIST', '\n'.join(entry(*n) for n in names)).replace(
        'RECORDS', (MAPPED + HITS).replace(' ids', ids).rstrip())
    (folder / 'x.fix').write_text(text)
    for case in fixtures.parse(folder / 'x.fix'):
        for order in 'little', 'big':
            path = folder / ('%s-%s.data' % (case.name, order))
            path.write_bytes(case.build(order)[0])
            yield case.name, order, path


def check(name, want, command):
    status, out, err = run(command)
    ok = not status and out.decode() == want
    say(ok, name,
        '' if ok else 'status %s\n%s%s' % (status, out.decode('latin-1'), err.decode('latin-1')))


def known():
    def line(digits, name):
        return '%-40s %s\n' % (digits * 20, name)

    listed = (line('11', '[kernel.kallsyms]') + line('22', '[some_thing]') +
              line('33', '/bin/quiet') + line('44', '/bin/gone'))
    files = line('', '/bin/one') * 2 + line('ab', '/bin/three') + line('', '/tmp/perf-12.map')
    module = line('', '/lib/modules/6.1/kernel/net/some-thing.ko.xz')
    with tempfile.TemporaryDirectory() as folder:
        for name, order, path in made(pathlib.Path(folder)):
            words = ['buildid-list', '-i', str(path)]
            hits = line('22', '[some_thing]') + files if name == 'list' else module + files
            check('%s, %s: only hits' % (name, order), hits, SONDE + words + ['-H'])
            check('%s, %s' % (name, order), listed if name == 'list' else hits, SONDE + words)
            blob = path.read_bytes()
            worst = 0
            for cut in range(0, len(blob), 31):
                path.write_bytes(blob[:cut])
                worst = max(worst, *(abs(run(SONDE + words + o)[0]) for o in ([], ['-H'])))
            say(worst <= 1, '%s, %s: cut anywhere' % (name, order), 'status %s' % worst)
    for words in (['word', 'word'], ['-i', 'word', 'word'], ['-k', 'word']):
        status, out, err = run(SONDE + ['buildid-list'] + words)
        say(status == 2 and not out and b'word' in err, 'refused: buildid-list ' + ' '.join(words))
    demo = str(DATA / 'demo.data')
    check('a file without -i', run(SONDE + ['buildid-list', '-i', demo])[1].decode(),
          SONDE + ['buildid-list', demo])


def compare_with_perf(what, perf, paths):
    wrong, seen, refused = [], 0, []
    for path in paths:
        for words in ([], ['-H']):
            theirs = run([perf, 'buildid-list', '-i', str(path)] + words)
            ours = run(COMPAT + ['buildid-list', '-i', str(path)] + words)
            usual = run(SONDE + ['buildid-list', '-i', str(path)] + words)
            if ours[1] != usual[1] and path.name != DAMAGED:
                wrong.append('%s %s: another list without --compat' % (path.name, words))
            # Recordings of newer perfs, of other recorders, and noise: sonde may read what perf 6.1
            # refuses.
            if (theirs[0] or b'failed to process' in theirs[2] or
                b'describes no event' in ours[2] or b'attr entries of' in ours[2]):
                refused.append(path.name)
                continue
            seen += 1
            if ours[:2] != (0, VDSO.sub(b'[vdso]', theirs[1])):
                wrong += ['%s %s: status %s' % (path.name, words, ours[0]),
                          theirs[1].decode('latin-1'), ours[1].decode('latin-1')]
    say(not wrong and seen, '%s: %d lists' % (what, seen), '\n'.join(wrong[:40]))


def live(perf, folder):
    if subprocess.run([perf, 'record', '-q', '-o', folder / 'x', '-e', 'cpu-clock', 'true'],
                      env=ENV, stdin=subprocess.DEVNULL, capture_output=True).returncode:
        return skip('new recordings', 'perf cannot record here')
    jit = folder / 'jit.py'
    jit.write_text('import ctypes, mmap\n' "m = mmap.mmap(-1, 4096, prot=7)\n"
                   "m.write(b'\\xb9\\x00\\x00\\x00\\x08\\xff\\xc9\\x75\\xfc\\xc3')\n"
                   'ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(m)))()\n')
    work = ([sys.executable, str(jit)] if os.uname().machine == 'x86_64'
            else ['ls', '-R', '/usr/share'])
    for i, words in enumerate((['-e', 'cpu-clock'], ['--buildid-mmap', '-e', 'cpu-clock'],
                               ['-B', '-a', '-e', 'cpu-clock'],
                               ['--buildid-all', '-e', 'page-faults', '-c', '1'],
                               ['-g', '-e', 'cpu-clock'])):
        subprocess.run([perf, 'record', '-q', '-o', folder / ('%d.data' % i)] + words + work,
                       env=ENV, stdin=subprocess.DEVNULL, capture_output=True, timeout=600)
    with open(folder / 'pipe.data', 'wb') as f:
        subprocess.run([perf, 'record', '-q', '-o', '-', '-e', 'cpu-clock'] + work, env=ENV,
                       stdin=subprocess.DEVNULL, stdout=f, stderr=subprocess.DEVNULL, timeout=600)
    return compare_with_perf('new recordings', perf, sorted(folder.glob('*.data')))


def main():
    known()
    perf = shutil.which('perf')
    if not perf or not run([perf, 'version'])[1].startswith(b'perf version 6.1.'):
        skip('compared with perf', 'no perf 6.1 is installed', may=False)
        return done()
    for word in '-k', '-m':
        say(run([perf, 'buildid-list', word])[:2] == run(SONDE + ['buildid-list', word])[:2],
            'the running kernel, ' + word)
    compare_with_perf('stored recordings', perf, sorted(DATA.rglob('*.data')))
    paths = corpus_files('perf-*.data')
    if paths:
        compare_with_perf('recordings of other machines', perf, paths)
    else:
        skip('recordings of other machines', NO_CORPUS)
    with tempfile.TemporaryDirectory() as folder:
        live(perf, pathlib.Path(folder))
    return done()


sys.exit(main())
