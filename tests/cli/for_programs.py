#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""for_programs.py SONDE: every list and every table as JSON, by the same options; suggestions for
mistyped names.

--format json, --json and -j print the same object, whose figures are those of the text. Every
script that sonde ships takes --json.
"""
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / 'data'
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent))
import points  # noqa: E402
from points import ENV, UNDER_ASAN, done, run, skip  # noqa: E402

SONDE = str(pathlib.Path(sys.argv[1]).resolve())
DEMO, MIXED = str(DATA / 'demo.data'), str(DATA / 'text' / 'mixed.data')
CALLS = str(DATA / 'text' / 'syscalls.data')
TRUE = '/bin/true'


def say(ok, name, why=''):
    points.say(ok, name, '' if ok else why)


def parsed(words):
    status, out, err = run([SONDE] + words)
    try:
        return status, json.loads(out), err
    except ValueError:
        return status, None, out[:300] + err


def lines(words):
    return run([SONDE] + words)[1].decode('latin-1').splitlines()


def one_spelling():
    for schema, words in (('info', ['info', DEMO]), ('check', ['check', DEMO]),
                          ('list', ['list', 'sw']),
                          ('evlist', ['evlist', '-i', MIXED]),
                          ('buildids', ['buildid-list', '-i', DEMO]),
                          ('buildids', ['buildid-list', '-m']),
                          ('buildids', ['buildid-list', '-i', TRUE])):
        got = [parsed(words + more) for more in (['--format', 'json'], ['--json'], ['-j'],
                                                 ['--format=text', '-j'])]
        same = [g[:2] == got[0][:2] for g in got]
        say(got[0][0] == 0 and all(same) and got[0][1] and got[0][1]['schema'] == 'sonde-' +
            schema and got[0][1]['version'] == 1,
            'one object: ' + ' '.join(words[:2]), repr(got[0])[:400])
        status, out, err = run([SONDE] + words + ['--format', 'xml'])
        say(status == 2 and not out and b"text or json, not 'xml'" in err,
            'no other format: ' + words[0], repr(err))
        say(lines(words + ['--format', 'text']) == lines(words), '--format text is the default: ' +
            words[0])


def figures():
    events = parsed(['list', '-j', 'sw'])[1]['events']
    listed = [line.split()[0] for line in lines(['list', '--no-desc', 'sw'])]
    say([e['name'] for e in events] == listed and
        all(e['kind'] == 'software' for e in events) and 'cs' in [e.get('alias') for e in events],
        'list', repr(events)[:300])
    say(parsed(['list', '-j', 'nosuch'])[:2] ==
        (1, dict(parsed(['list', '-j', 'sw'])[1], events=[])), 'list: nothing found')
    events = parsed(['evlist', '-j', '-i', MIXED])[1]['events']
    fields = [line for line in lines(['evlist', '--trace-fields', '-i', MIXED])
              if ': trace_fields: ' in line]
    same = ['%s: trace_fields: %s' % (e['name'], ','.join(f['name'] for f in e['fields']))
            for e in events if 'fields' in e]
    say(same == fields and fields, 'evlist: fields', repr(same))
    freq = lines(['evlist', '-F', '-i', MIXED])[:len(events)]
    same = ['%s: sample_%s=%d' % (e['name'], 'freq' if e['attr'].get('freq') else 'period',
                                  e['attr']['sample_period'])
            for e in events]
    say(same == freq, 'evlist: attributes', repr((same, freq)))
    files = parsed(['buildid-list', '-j', '-i', DEMO])[1]['files']
    say(['%-40s %s' % (f.get('build_id', ''), f['file']) for f in files] ==
        lines(['buildid-list', '-i', DEMO]), 'buildid-list', repr(files))
    maps = parsed(['buildid-list', '-jm'])[1]['files']
    say(['%s %16x %16x %s' % (f.get('build_id', ''), f.get('start', 0), f.get('end', 0), f['file'])
         for f in maps] ==
        lines(['buildid-list', '-m']), 'buildid-list -m', repr(maps)[:300])
    # --symfs of an empty folder: there are samples without a symbol also on the machine that
    # recorded them.
    without = ['check', MIXED, '--max-unknown', '0', '--symfs', str(DATA / 'nothing')]
    status, c, err = parsed(without + ['-j'])
    text = lines(without)
    named = {line[6:17].strip(): line[:4].strip() == 'ok' for line in text
             if line[:4] in ('ok  ', 'OVER')}
    say({r['name']: r['ok'] for r in c['checks']} == named and c['ok'] == all(named.values()) and
        (status == 3) == (not c['ok']),
        'check: results and status', repr((c['checks'], text)))
    say(sum(f['unknown'] for f in c['files']) > 0 and
        all(r['unit'] in ('percent', 'count') for r in c['checks']), 'check: files', repr(c))
    scripts = parsed(['script', '-l', '--json'])[1]['scripts']
    say([s['name'] for s in scripts] == [line.split()[0] for line in lines(['script', '-l'])
                                         if line[:2] == '  ' and line[2] != ' '],
        'script -l', repr(scripts)[:300])
    status, filters, err = parsed(['script', '--list-dlfilters', '--json'])
    say(status == 0 and filters['schema'] == 'sonde-dlfilters' and filters['version'] == 1 and
        [f['name'] for f in filters['filters']] ==
        [line.split()[0] for line in lines(['script', '--list-dlfilters'])[1:]],
        'script --list-dlfilters', repr((filters, err)))
    languages = parsed(['script', '-j', '-s', 'lang'])[1]['languages']
    say([lang['name'] for lang in languages] == ['Python', 'Perl', 'Lua', 'Ruby'], 'script -s lang',
        repr(languages))
    for word in '--format=json', '--json', '-j':
        say(run([SONDE, 'script', word, '-i', DEMO])[:2] ==
            run([SONDE, 'script', '--format', 'jsonl', '-i', DEMO])[:2],
            'events as JSON lines: script ' + word)
    return scripts, {lang['name']: lang['ready'] for lang in languages}


def analyses(scripts, ready):
    missing, broken, seen = [], [], 0
    for s in scripts:
        if s['origin'] != 'sonde' or s.get('record_wrapper'):
            continue
        # No stored recording has its events; tests/analyses/rw_top.py reads its JSON.
        if os.path.basename(s['file']) == 'rw-top.py':
            continue
        data = CALLS if os.path.basename(s['file']) == 'syscall-top.py' else DEMO
        if not ready[s['language']] or UNDER_ASAN:
            continue
        seen += 1
        args = ['x'] if '<' in s.get('args', '') else []
        outs = []
        for word in '--json', '-j':
            p = subprocess.run([SONDE, 'script', '-i', data, s['file']] + args + [word], env=ENV,
                               stdin=subprocess.DEVNULL, capture_output=True, timeout=600)
            outs.append(p.stdout)
        try:
            objects = [json.loads(line) for line in outs[0].splitlines()]
            if not objects or not all(o['analysis'] for o in objects) or outs[0] != outs[1]:
                broken.append('%s: %r' % (s['file'], outs))
        except ValueError:
            broken.append('%s: %r %r' % (s['file'], outs[0][:200], p.stderr[-200:]))
        if '[--json]' not in s.get('args', ''):
            missing.append(s['file'])
    if not seen:
        return skip('analyses', 'this build runs no scripts here')
    say(not broken and seen, '%d analyses print JSON' % seen, '\n'.join(broken))
    return say(not missing, 'their usage lines have --json', '\n'.join(missing))


def hostile():
    """Names of threads in a Perl analysis that are not UTF-8, or have control characters for a
    terminal.
    """
    if UNDER_ASAN:
        return skip('names in JSON of Perl', 'no interpreter under sanitizers here')
    script = HERE.parents[1] / 'scripts'
    perl = ['perl', '-I', str(script), '-MAnalysis=json_text', '-e',
            r'print json_text("a\"\\\e[1m\x9b\xff\xc3\xa4\xed\xa0\x80\xc2\x9b")']
    try:
        status, out, err = run(perl)
    except FileNotFoundError:
        return skip('names in JSON of Perl', 'no perl is installed')
    want = 'a"\\\x1b[1m\udc9b\udcff\u00e4\udced\udca0\udc80\x9b'
    return say(status == 0 and json.loads(out) == want and not set(out) & {0x1b, 0x9b, 0xff},
               'names in JSON of Perl', repr((out, err)))


def names():
    for words in (['info', DEMO], ['check', DEMO], ['script', '-i', DEMO], ['evlist'],
                  ['record', 'true'], ['list'], []):
        status, out, err = run([SONDE, '--compat', 'perf-7'] + words)
        say(status == 2 and not out and b"not 'perf-7'" in err,
            '--compat perf-7 is a usage error: ' + ' '.join(words[:1]), repr((status, err)))
    status, out, err = run([SONDE, '--version', '-v'])
    say(b'languages of scripts: Python=' in out and b' Perl=' in out,
        '--version -v names languages', repr(out))
    status, out, err = run([SONDE, 'script', '-F', 'comm,tme', '-i', DEMO])
    say(status == 2 and b"'tme'; did you mean time?" in err, '-F with a typing error', repr(err))
    status, out, err = run([SONDE, 'script', '-F', 'comm,xyzzyx', '-i', DEMO])
    say(status == 2 and b"'xyzzyx'; there are comm" in err, '-F with another word', repr(err))
    status, out, err = run([SONDE, 'list', 'page-fualts'])
    say(status == 1 and b'(nearest: page-faults)' in err, 'list with a typing error', repr(err))
    status, out, err = run([SONDE, 'list', 'sofware'])
    say(status == 1 and b'(nearest: software)' in err, 'list: a kind with a typing error',
        repr(err))
    if os.access('/sys/kernel/tracing/events/sched/sched_switch/id', os.R_OK):
        status, out, err = run([SONDE, 'list', 'sched_swich'])
        say(status == 1 and b'(nearest: sched:sched_switch)' in err,
            'list: a tracepoint with a typing error', repr(err))
    else:
        skip('list: a tracepoint with a typing error', 'tracepoints cannot be read here')
    status, out, err = run([SONDE, 'record', '--dry-run', '-e', 'bogus:x', 'true'])
    say(status == 2 and b'sonde list' in err or b'no right' in err, '-e bogus:x names sonde list',
        repr((status, err)))


one_spelling()
analyses(*figures())
hostile()
names()
sys.exit(done())
