#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares sonde evlist and sonde report --header-only with perf's.

    tests/roundtrip/evlist.py SONDE FIXTURES.PY

Texts known beforehand need no perf. If perf 6.1 is installed, its texts of the recordings of
tests/data and of the corpus must equal those of --compat perf-6.1.
"""
import difflib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent))
import points  # noqa: E402
from points import ENV, done, skip  # noqa: E402
from recordings import NO_CORPUS, corpus_files, load_fixtures  # noqa: E402

DATA = HERE.parent / 'data'
SONDE = [str(pathlib.Path(sys.argv[1]).resolve())]
COMPAT = SONDE + ['--compat', 'perf-6.1']
OPTIONS = ['evlist -g', 'evlist -F --trace-fields', 'evlist -v', 'report --header-only',
           'report --header-only -I']
MIXED = str(DATA / 'text' / 'mixed.data')
# Recordings that perf 6.1 misreads: it takes ids after a short attr of pipe mode for members of the
# attr, and it ends at a record of an unknown kind.
OTHERS = {'evlist -v': ('perf-pipe-lost-3-attrs__', 'perf-pipe-k4.4-perf4.16__'),
          'evlist -g': ('perf-pipe-k4.4-perf4.16__',),
          'evlist -F --trace-fields': ('perf-pipe-k4.4-perf4.16__',)}

EVENTS = '[2,64:u32] %s [1:u32] str "one" [7:u64] %s [1:u32] str "two" [8:u64]'
ATTR = '[1,64:u32] [%d,5,0x10040:u64] [0,0x40000:u64] [0,0:u64]'
GROUPS = """=== file
--- attr type=software size=64 config=0 sample_period=5 sample_type=IDENTIFIER|ID ids=7
--- attr type=software size=64 config=1 sample_period=5 sample_type=IDENTIFIER|ID ids=8
--- feature EVENT_DESC
EVENTS
--- feature GROUP_DESC
[1:u32] str "both" [0,2:u32]
--- data
FINISHED_INIT { }
=== pipe
--- file
"PERFILE2" [16:u64]
HEADER_ATTR { ATTR0 [7:u64] }
HEADER_ATTR { ATTR1 [8:u64] }
HEADER_FEATURE { [12:u64] EVENTS }
HEADER_FEATURE { [17:u64] [1:u32] str "both" [0,2:u32] }
FINISHED_INIT { }
""".replace('EVENTS', EVENTS).replace('%s', 'ATTR0', 1).replace('%s', 'ATTR1', 1).replace('%s', 'ATTR0', 1).replace(
    '%s', 'ATTR1', 1).replace('ATTR0', ATTR % 0).replace('ATTR1', ATTR % 1)

# Formats before the first sample, and after it a record that makes the reader set up its events
# again.
AGAIN = """=== again
--- file
"PERFILE2" [16:u64]
HEADER_ATTR { [2,64:u32] [300:u64] [1:u64] [0x10487:u64] [0:u64] [0x40000:u64] [0:u64]*2 [7:u64] }
HEADER_TRACING_DATA { [stop-begin:u32] [0:u32] } begin: "\\x17\\x08\\x44tracing0.6\\0" [0:u8] [8:u8] [4096:u32] "header_page\\0" u64len { "x" }
"header_event\\0" u64len { "x" } [0:u32] [1:u32] "sys\\0" [1:u32] u64len { "name: one
ID: 300
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;

	field:int n;	offset:4;	size:4;	signed:1;

print fmt: \\"n=%d\\", REC->n
" } [0:u32] [0:u32] [0:u64] stop: pad8
FINISHED_INIT { }
SAMPLE/user { [7:u64] [0x500010:u64] [12,13:u32] [1000:u64] [3,0:u32] raw { [300,0:u16] [5:u32] } }
HEADER_BUILD_ID/user { [-1:u32] "bbbbbbbbbbbbbbbbbbbb" [0:u32] "/bin/a\\0" pad8 }
COMM/exec { [12,13:u32] "late\\0" pad8  [12,13:u32] [1001:u64] [3,0:u32] [7:u64] }
FINISHED_ROUND { }
"""


def say(ok, name, why=()):
    points.say(ok, name, '\n'.join(why))


def run(command, words, path, env={}):
    p = subprocess.run(command + words.split() + ['-i', str(path)], env={**ENV, **env},
                       stdin=subprocess.DEVNULL, capture_output=True, timeout=600)
    return p.returncode, p.stdout.decode('latin-1'), p.stderr.decode('latin-1')


def check(name, want, got):
    lines = difflib.unified_diff(want.splitlines(), got.splitlines(), 'perf', 'sonde', lineterm='',
                                 n=0)
    say(want == got, name, [line[:200] for line in lines][:12] if want != got else ())


def made(folder, text=GROUPS):
    """Paths of recordings; those of GROUPS have the same group of two events, in a file and in pipe
    mode."""
    fixtures = load_fixtures()
    (folder / 'x.fix').write_text(text)
    for case in fixtures.parse(folder / 'x.fix'):
        path = folder / (case.name + '.data')
        path.write_bytes(case.build('little')[0])
        yield path


def known():
    tip = "# Tip: use '%s evlist --trace-fields' to show fields for tracepoint events\n"
    names = 'sched:sched_switch\ncpu-clock\npage-faults/period=3/\n'
    for command, tool in (SONDE, 'sonde'), (COMPAT, 'perf'):
        check('names, %s' % tool, names + tip % tool, run(command, 'evlist', MIXED)[1])
    fields = run(SONDE, 'evlist --trace-fields', MIXED)[1]
    check('fields of a tracepoint',
          'sched:sched_switch: trace_fields: prev_comm,prev_pid,prev_prio,'
          'prev_state,next_comm,next_pid,next_prio\ncpu-clock: (not a tracepoint)\n'
          'page-faults/period=3/: (not a tracepoint)\n', fields)
    with tempfile.TemporaryDirectory() as folder:
        file, pipe = made(pathlib.Path(folder))
        check('a group of a file', 'both{one,two}\n', run(SONDE, 'evlist -g', file)[1])
        check('a group of pipe mode', 'both{one,two}\n', run(SONDE, 'evlist -g', pipe)[1])
        check('a group of pipe mode under --compat', 'cpu-clock:HG\ntask-clock:HG\n',
              run(COMPAT, 'evlist -g', pipe)[1])
        want = (': type: 1, size: 64, %s{ sample_period, sample_freq }: 5, '
                'sample_type: ID|IDENTIFIER, sample_id_all: 1\n')
        check('-v of pipe mode', 'one' + want % '' + 'two' + want % 'config: 0x1, ',
              run(SONDE, 'evlist -v', pipe)[1])
        cut = pathlib.Path(folder) / 'cut.data'
        cut.write_bytes(pipe.read_bytes()[:-4])
        for command, ends, names in (SONDE, 1,
                                     'one\ntwo\n'), (COMPAT, 0, 'cpu-clock:HG\ntask-clock:HG\n'):
            status, out, err = run(command, 'evlist', cut)
            say((status, out) == (ends, names) and 'truncated: 1' in err and 'cause' not in err,
                'pipe mode that ends in the middle of a record: %s' % command[-1],
                [str(status), out, err])
        check('-F', 'one: sample_period=5\ntwo: sample_period=5\n',
              run(SONDE, 'evlist -F', file)[1])
        say('# data size' in run(SONDE, 'report --header-only', pipe)[1], 'the header of pipe mode')
        path, = made(pathlib.Path(folder), AGAIN)
        check('an event is listed once', 'sys:one: trace_fields: n\n',
              run(SONDE, 'evlist --trace-fields', path)[1])
        check('a record after the events were set up again',
              '            late    13 [003]     0.000001: PERF_RECORD_COMM exec: late:12/13\n',
              run(SONDE, 'script --show-task-events --comms late', path)[1])
        names = [e['name'] for e in json.loads(run(SONDE, 'info --format json', path)[1])['events']]
        check('an event is listed once by sonde info', 'sys:one', ' '.join(names))
    status, out, err = run(SONDE, 'evlist -g -v', MIXED)
    say(status == 2 and not out and '-g cannot be combined' in err, 'refused: -g and -v', [err])
    header = run(SONDE, 'report --header-only -I', MIXED)[1]
    check('report --header-only prints the header of script',
          run(SONDE, 'script --header-only -I', MIXED)[1], header)
    for words in ([MIXED], [MIXED, '-F'], ['-F', MIXED]):
        p = subprocess.run(SONDE + ['evlist'] + words, capture_output=True, text=True, env=ENV)
        option = ' -F' if len(words) > 1 else ''
        check('evlist FILE%s' % option, p.stdout, run(SONDE, 'evlist' + option, MIXED)[1])
    p = subprocess.run(SONDE + ['evlist', MIXED, '-i', MIXED], capture_output=True, text=True,
                       env=ENV)
    say(p.returncode == 2 and 'one recording at a time' in p.stderr, 'refused: FILE and -i',
        [p.stderr])
    p = subprocess.run(COMPAT + ['evlist', MIXED], capture_output=True, text=True, env=ENV)
    say(p.returncode == 129 and not p.stdout, 'refused under --compat: FILE without -i',
        [p.stderr])


def compare_with_perf(perf, paths):
    for words in OPTIONS:
        wrong, seen = [], 0
        for path in paths:
            if path.name.startswith(OTHERS.get(words, ('-',))):
                continue
            # perf prints uninitialised memory for attrs that a recording holds only in part: its
            # text then depends on the filling of memory.
            theirs = run([perf], words, path, {'MALLOC_PERTURB_': '85'})
            if theirs != run([perf], words, path, {'MALLOC_PERTURB_': '170'}):
                continue
            if theirs[0] or not theirs[1] or '(null)' in theirs[1]:
                continue  # the recording is newer than perf 6.1, or perf crashed
            seen += 1
            ours = run(COMPAT, words, path)
            if ours[:2] != (theirs[0], theirs[1]):
                diff = difflib.unified_diff(theirs[1].splitlines(), ours[1].splitlines(),
                                            lineterm='', n=0)
                wrong += ['%s: status %d' % (path, ours[0])] + [line[:200] for line in diff][:6]
        say(not wrong and seen, '%s: %d recordings' % (words, seen), wrong[:30])


def main():
    known()
    perf = shutil.which('perf')
    if not perf or not points.run([perf, 'version'])[1].startswith(b'perf version 6.1.'):
        skip('compared with perf', 'no perf 6.1 is installed')
    else:
        compare_with_perf(perf, sorted(DATA.rglob('*.data')))
        paths = [p for p in corpus_files('perf-*.data') if not p.name.startswith('perf-fuzz')]
        if paths:
            compare_with_perf(perf, paths)
        else:
            skip('recordings of other machines', NO_CORPUS)
    return done()


sys.exit(main())
