#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads ftrace's text: lines of all forms, with the descriptions in tests/data/tracefs.

    ftracetext.py SONDE
"""
import json
import os
import pathlib
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent))
from points import done, run, say, skip  # noqa: E402

SONDE = str(pathlib.Path(sys.argv[1]).resolve())
FORMATS = HERE.parent / 'data' / 'tracefs'
SWITCH = 'sched_switch: prev_comm=%s prev_pid=%d prev_state=%s ==> next_comm=%s'


def formats(folder):
    shutil.copytree(FORMATS / 'events', folder / 'events')


def events(path, *words):
    status, out, err = run([SONDE, 'script', '-i', str(path), '--format', 'jsonl', *words])
    lines = [json.loads(line) for line in out.splitlines()]
    return status, [e for e in lines if 'event' in e], err.decode()


def forms(folder):
    """Lines of each form: columns with and without flags and tgid, latency, graph, losses."""
    path = folder / 'trace'

    def read(text, *words):
        path.write_text(text)
        return events(path, '--tracefs', str(folder), *words)

    line = ('            bash-7       [001] %s1.000002: ' +
            SWITCH % ('a prev_pid=1', 7, 'S|D+', 'x=y'))
    for name, flags in (('flags', 'dNh5. '), ('no flags', ' ')):
        status, got, err = read('# tracer: nop\n#\n' + line % flags + '\n')
        e = got[0] if got else {}
        f = e.get('fields', {})
        say(status == 0 and len(got) == 1 and e['event'] == 'sched:sched_switch' and
            (e['time'], e['cpu'], e['pid'], e['comm']) == (1000002000, 1, 7, 'bash') and
            (f['prev_comm'], f['prev_pid'], f['prev_state'], f['next_comm']) ==
            ('a prev_pid=1', 7, 0x103, 'x=y') and
            (f.get('common_flags'), f.get('common_preempt_count')) ==
            ((0x2d, 5) if flags.strip() else (None, None)),
            'a line with ' + name, '%s %s' % (got, err))
    tgid = line.replace('-7       [', '-7       (      5) [') % '..... '
    status, got, err = read('# tracer: nop\n' + tgid + '\n')
    say(len(got) == 1 and (got[0]['pid'], got[0]['tid']) == (5, 7), 'a line with tgid',
        '%s %s' % (got, err))
    status, got, err = read(
        '# tracer: irqsoff\n#\n      ps-61434   2d..1  259us+: one <-two\n'
        '      ps-61434   2d..1  306us : <stack trace>\n => three\n => four\n')
    say([(e['time'], e['cpu'], e['pid'], e['fields']['text']) for e in got] ==
        [(259000, 2, 61434, 'one <-two'), (306000, 2, 61434, '<stack trace>\n => three\n => four')],
        'the latency format, and a stack', '%s %s' % (got, err))
    status, got, err = read('# tracer: function_graph\n 0)               |  f() {\n'
                            ' 1)   0.382 us    |    g();\n')
    say([(e['cpu'], e['fields']['text'][-5:]) for e in got] == [(0, 'f() {'), (1, ' g();')],
        'function_graph', '%s %s' % (got, err))
    for layout, want in (
            ('text', ['             :-1    -1 [000] ftrace:text: 0)               |  f() {',
                      '             :-1    -1 [001] ftrace:text: 1)   0.382 us    |    g();']),
            ('trace-cmd', ['0)               |  f() {', '1)   0.382 us    |    g();'])):
        out = run([SONDE, 'script', '-i', str(path), '--format', layout])[1].decode()
        say(out.splitlines() == want, 'lines without a time, --format ' + layout, out)
    status, got, err = read(line % '' + '\nCPU:1 [LOST 123 EVENTS]\n' + line % '' + '\n')
    say(len(got) == 2 and 'lost-events: 123' in err, 'losses in trace_pipe', '%s %s' % (got, err))
    status, got, err = read(
        '# tracer: nop\n# entries-in-buffer/entries-written: 1/5   #P:2\n' + line % '' + '\n')
    say(len(got) == 1 and 'lost-events: 4' in err, 'overwritten events', '%s %s' % (got, err))
    head = '# tracer: nop\n            bash-7       [001] ..... 1.000002: '
    status, got, err = read(head + 'block_plug: 8,17 at 00000000deadbeef name=sd a1\n')
    f = got[0]['fields'] if got else {}
    say(f.get('dev') == 8 << 20 | 17 and f.get('name') == 'sd a1' and 'where' not in f and
        'hidden' not in f and f.get('text') == '8,17 at 00000000deadbeef name=sd a1',
        'fields that the text does not show are left out', '%s %s' % (got, err))
    say('hidden-fields: 1 (first block:block_plug: where)' in err, 'and are reported', err)
    status, got, err = read(head + 'arrays: raw=01 02 ff 00 words={0x1,0xffff,0x0} part=05 06 '
                            'more=0a0b list={0x12345678}\n' +
                            head[14:] + 'arrays: raw=01 02 ff 00 words={0x1} part=05 06 '
                            'more= list={}\n' +
                            head[14:] + 'arrays: raw=01 02 ff words={0x1,} part= more=1 list=0\n')
    f = [e['fields'] for e in got]
    say(len(f) == 3 and (f[0]['raw'], f[0]['words'], f[0]['more'], f[0]['list']) ==
        ([1, 2, 255, 0], [1, 65535, 0], [10, 11], [0x12345678]) and
        (f[1]['more'], f[1]['list']) == ([], []) and 'part' not in f[0] and
        list(f[2]) == ['text'] and 'text-only: 1 (first the line at 0x' in err and
        'hidden-fields: 1 (first test:arrays: part)' in err, 'arrays', '%s %s' % (f, err))
    status, got, err = read(head + 'sys_openat(dfd: 0xffffff9c, filename: 0x7f00 "/a, b)")\n')
    f = got[0]['fields'] if got else {}
    say(got and got[0]['event'] == 'syscalls:sys_enter_openat' and
        (f['dfd'], f['filename']) == (0xffffff9c, 0x7f00), 'a system call',
        '%s %s' % (got, err))
    status, got, err = read(head + 'sched_switch: another text\n' + head[14:] +
                            'tracing_mark_write: hello\n' + head[14:] + 'no_event: text\n')
    say([(e['event'], e['fields']) for e in got] ==
        [('sched:sched_switch', {'text': 'another text'}), ('ftrace:print', {'buf': 'hello'}),
         ('ftrace:text', {'text': 'no_event: text'})],
        'other text is kept', '%s %s' % (got, err))
    say('text-only: 2 (first the line at 0xe of ' in err and
        'is not the text of sched:sched_switch)' in err, 'and is reported', err)
    (folder / 'empty' / 'events' / 'none' / 'none').mkdir(parents=True, exist_ok=True)
    for command in (['info'], ['report'], ['script'], ['convert', '-f', '--to', 'csv', '-o',
                                                       str(folder / 'out.csv')]):
        for tracefs, want in ((folder, 'text-only: 2'), (folder / 'empty', 'text-only: 2'),
                              (folder / 'none', 'has no descriptions of events')):
            err = run([SONDE, *command, '-i', str(path), '--tracefs', str(tracefs)])[2].decode()
            say(want in err, '%s --tracefs %s' % (command[0], tracefs.name), err)
    say('kernel-formats' not in run([SONDE, 'script', '-i', str(path), '--tracefs', str(folder)])[
        2].decode(), 'formats of a folder are not the running kernel\'s', err)
    path.write_text(head + 'sched_switch: prev_comm=a prev_pid=1 prev_prio=1 prev_state=S ==> '
                    'next_comm=b next_pid=2 next_prio=1\n')
    err = run([SONDE, 'script', '-i', str(path)])[2].decode()
    if 'text-only' in err:
        skip('formats of the running kernel', 'tracefs cannot be read')
    else:
        say('kernel-formats: 1 (first sched:sched_switch); ' in err,
            'formats of the running kernel are reported', err)
    status, got, err = read('# tracer: nop\n' + line % '..... ')
    say(len(got) == 1 and 'truncated: 1 (first the last line of ' in err,
        'a last line without its end', '%s %s' % (got, err))
    path.write_text(line % '..... ' + '\n' + line % '..... ' + '\n')
    _, all_of, _ = events(path, '--tracefs', str(folder), '--where', 'next_comm == "x=y"')
    _, none, _ = events(path, '--tracefs', str(folder), '--where', 'prev_state == 1')
    say(len(all_of) == 2 and not none, '--where uses the fields', '%s %s' % (all_of, none))
    csv = folder / 'switches.csv'
    run([SONDE, 'convert', '-i', str(path), '--tracefs', str(folder), '-e', 'sched_switch',
         '--fields', 'prev_pid,prev_state,next_comm', '-o', str(csv)])
    say(csv.read_text() == 'time,cpu,pid,tid,comm,prev_pid,prev_state,next_comm\n' +
        2 * '1000002000,1,7,7,bash,7,259,x=y\n', 'columns', csv.read_text())
    blob = bytearray(path.read_bytes())
    bad = []
    for at in range(0, len(blob), 3):
        for byte in (0, ord('\n'), ord('-'), 255):
            broken = blob[:]
            broken[at] = byte
            path.write_bytes(broken)
            status = run([SONDE, 'script', '-i', str(path), '--tracefs', str(folder)])[0]
            if status not in (0, 1):
                bad.append((at, byte, status))
    say(not bad, 'damaged text ends with status 0 or 1', str(bad[:5]))


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        formats(folder)
        forms(folder)


main()
sys.exit(done())
