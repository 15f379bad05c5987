#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""files.py SONDE FIXTURES: sonde convert --to trace.dat and --to perf keep every event and field.

Recordings of perf, of trace-cmd and of LTTng are converted and compared: the JSON lines of both,
and with stock trace-cmd report and perf script, if they are installed. Then what is left out,
refused outputs, and what is left of an output when it cannot be completed.
"""
import json
import pathlib
import re
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / 'gen'), str(TESTS)]
import ctf as made_ctf  # noqa: E402
import tracedat as made_dat  # noqa: E402
from points import FULL, done, run, say, skip  # noqa: E402
from recordings import NO_CORPUS, corpus_files  # noqa: E402

SONDE = str(pathlib.Path(sys.argv[1]).resolve())
DEMO = TESTS / 'data' / 'demo.data'
MIXED = TESTS / 'data' / 'text' / 'mixed.data'
TOP = pathlib.Path(tempfile.mkdtemp(prefix='sonde-convert-'))
TRACE_CMD, PERF = shutil.which('trace-cmd'), shutil.which('perf')
FORMATS = (('trace.dat', 'dat'), ('perf', 'data'))


def convert(path, to, *options, name='out', force=True):
    """(path of the output, exit status, stderr)"""
    out = TOP / ('%s.%s' % (name, dict(FORMATS)[to]))
    words = [SONDE, 'convert', '-i', path, '--to', to, '-o', out, *options]
    status, _, err = run([str(w) for w in words + ['-f'] * force])
    return out, status, err.decode()


def lines(command):
    out = run([str(word) for word in command])[1].decode('utf-8', 'backslashreplace')
    return [re.sub(' +', ' ', line).strip() for line in out.splitlines() if line.strip()]


def clean(name):
    """A name as it is in the text of a format."""
    return ':'.join(re.sub(r'\W', '_', part) for part in name.split(':', 1))


def flat(fields, outer=''):
    """Members of nested fields become fields of their own."""
    found = {}
    for name, value in fields.items():
        if isinstance(value, dict) and 'value' in value:
            found[clean(outer + name)] = value['value']  # a label is only in the print format
        elif isinstance(value, dict):
            found.update(flat(value, outer + name + '_'))
        elif not (outer + name).startswith('common_'):
            # a buffer up to the record's end has the padding of the record, too
            if name == 'buf':
                value = re.sub(r'((00)+|[, 0]*\])$', '', str(value))
            found[clean(outer + name)] = value
    return found


def events(path, with_tid=True):
    """The events of a recording as tuples, and the number of lost ones."""
    _, out, err = run([SONDE, 'script', '-i', str(path), '--format', 'jsonl'])
    lost = re.search(r'lost-events: (\d+)', err.decode())
    found = []
    for line in out.decode('utf-8', 'surrogateescape').splitlines():
        line = json.loads(line)
        if 'event' in line and 'fields' in line:
            name = line['event'] if ':' in line['event'] else 'ctf:' + line['event']
            found.append((clean(name), line.get('time', 0), max(line.get('cpu', 0), 0),
                          max(line.get('tid', 0), 0) if with_tid else 0, flat(line['fields'])))
    return found, int(lost[1]) if lost else 0


def difference(got, want):
    wrong = ['- %s\n+ %s' % (w, g) for g, w in zip(got, want) if g != w][:2]
    if len(got) != len(want):
        wrong.append('%d events, expected %d' % (len(got), len(want)))
    return '\n'.join(wrong)[:3000]


def kept(name, path, options=(), **how):
    """Both formats have every event of the recording; returns the two files."""
    want, want_lost = events(path, **how)
    outs = []
    for to, suffix in FORMATS:
        out, status, err = convert(path, to, *options, name=re.sub(r'\W', '-', name))
        got, lost = events(out, **how)
        say(status == 0 and want and sorted(got, key=str) == sorted(want, key=str) and
            lost == want_lost, '%s to %s' % (name, to),
            err + difference(got, want) + '\nlost: %s, expected %s' % (lost, want_lost))
        outs.append(out)
    return outs


# ---- stock readers -------------------------------------------------------------------------------

def stock(name, path, without=()):
    """The stock reader prints what sonde prints."""
    if path.suffix == '.dat':
        command, options, tool = [TRACE_CMD, 'report', '-i'], ('--format', 'trace-cmd'), TRACE_CMD
    else:
        command, options, tool = [PERF, 'script', '-i'], (), PERF
    if not tool:
        return skip('%s, by its owner' % name, 'no %s' % path.suffix[1:], may=False)
    want, got = lines(command + [path]), lines([SONDE, 'script', '-i', path, *options])
    want, got = ([line for line in text if not any(word in line for word in without)]
                 for text in (want, got))
    return say(got == want and len(want) > 1, '%s, by %s' % (name, pathlib.Path(tool).name),
               difference(got, want))


def from_perf():
    dat, data = kept('demo', DEMO)
    stock('demo as trace.dat', dat)
    stock('demo as perf.data', data)
    back, status, err = convert(dat, 'perf', name='back')
    say(status == 0 and events(back)[0] == events(DEMO)[0], 'demo to trace.dat and back to perf',
        err + difference(events(back)[0], events(DEMO)[0]))
    stock('demo and back', back)
    if TRACE_CMD:
        text = lines([TRACE_CMD, 'report', '-i', dat])
        say(len(text) == 1 + len(events(DEMO)[0]), 'as many lines in trace-cmd report')


def from_trace_cmd():
    for form in ({}, {'version': 6}, {'long_bytes': 4}, {'big': True}, {'big': True,
                                                                        'long_bytes': 4}):
        name = 'trace.dat %s' % (' '.join('%s=%s' % pair for pair in form.items()) or 'of 64 bits')
        path = TOP / 'made.dat'
        path.write_bytes(made_dat.every_kind(**form).data())
        dat, data = kept(name, path)
        if not form:
            # perf takes the names of kernel functions from the running kernel
            stock(name + ' as perf.data', data, without=('ftrace:',))
            stock(name + ' as trace.dat', dat, without=('funcgraph', '=> ', '/*'))


def as_version_6():
    """Version 6 has the events and the text of version 7."""
    # a cpu without events, missing numbers of cpus, losses, long records
    big = made_dat.every_kind(big=True, long_bytes=4)
    (TOP / 'big.dat').write_bytes(big.data())
    for name, path in ('demo', DEMO), ('32 bits', TOP / 'big.dat'), ('long', TOP / 'long'):
        outs = [convert(path, 'trace.dat', '--file-version', version, name='v' + version)
                for version in '67']
        old, new = outs[0][0], outs[1][0]
        say(old.read_bytes()[10:12] == b'6\0' and new.read_bytes()[10:12] == b'7\0',
            '%s: the version of the file' % name, outs[0][2] + outs[1][2])
        got, want = events(old), events(new)
        say(outs[0][1:] == outs[1][1:] and want[0] and got == want, '%s as version 6' % name,
            outs[0][2] + difference(got[0], want[0]))
        if not TRACE_CMD:
            skip('%s as version 6, by trace-cmd' % name, 'no trace-cmd', may=False)
            continue
        got, want = (lines([TRACE_CMD, 'report', '-i', path]) for path in (old, new))
        say(got == want and len(got) > 3, '%s as version 6, by trace-cmd' % name,
            difference(got, want))
    for words in ('trace.dat', '5'), ('perf', '6'), ('csv', '7'):
        status, _, err = run([SONDE, 'convert', '-i', str(DEMO), '--to', words[0],
                              '--file-version', words[1], '-o', str(TOP / 'refused')])
        say(status == 2 and b'file-version' in err, 'refused: --to %s --file-version %s' % words,
            err.decode())


SCHED = made_ctf.APP + '''
event {
  name = "app:numbers"; id = 0;
  fields := struct {
    integer { size = 32; signed = true; byte_order = be; } other;
    integer { size = 5; signed = true; } bits; u8 list[3]; u8 n; u32 seq[n];
    enum : u8 { ONE = 1, "two \\"2\\"" = 2 } kind; string text; struct { u8 a; u32 b; } in;
    floating_point { exp_dig = 11; mant_dig = 53; align = 8; } real;
  };
};
event { name = "other-name"; id = 1; fields := struct { string s; }; };
'''


def ctf_packet(order, first, discarded):
    def body(p):
        for i in range(20):
            # one difference is too long for a word of a ring buffer, and two events are equal
            time = first + (i // 2) * 5000 + (i > 10) * 900000000
            p.int(0, 8).int(time, 64, 8).int(77 + i, 32, 8)
            other = (-i).to_bytes(4, 'big', signed=True)
            p.raw(other).int(-i % 32, 5, 1).raw((i, 2, 3)).int(2, 8).int(i, 32, 8).int(9, 32, 8)
            p.int(1 + i % 3, 8).text('text %d' % i).int(i, 8).int(1000 + i, 32, 8).real(i / 3, 64)
        p.int(1, 8).int(first + 2000000000, 64, 8).int(5, 32, 8).text('last')

    return made_ctf.app_packet(order, body, 3, discarded)


def from_ctf():
    for order in 'le', 'be':
        stream = ctf_packet(order, 10**12, 0) + ctf_packet(order, 10**12 + 10**10, 11)
        folder = made_ctf.write(TOP / ('ctf-' + order), SCHED % made_ctf.trace_block(order),
                                chan_0=stream)
        dat, data = kept('CTF, ' + order, folder)
        stock('CTF, %s, as trace.dat' % order, dat, without=('other=', 'EVENTS'))
        stock('CTF, %s, as perf.data' % order, data, without=('other=',))
        if PERF:
            text = lines([PERF, 'script', '-i', data])
            say(len(text) == 42 and any('text=text 19 in_a=19 in_b=1019' in t for t in text),
                'CTF, %s: perf prints made formats' % order, '\n'.join(text[:3]))


SWITCH = '''
event {
  name = "sched:sched_switch"; id = 0;
  fields := struct {
    string prev_comm; integer { size = 32; align = 8; signed = true; } prev_pid;
    integer { size = 32; align = 8; signed = true; } prev_prio;
    integer { size = 64; align = 8; signed = true; } prev_state;
    string next_comm; integer { size = 32; align = 8; signed = true; } next_pid;
    integer { size = 32; align = 8; signed = true; } next_prio;
  };
};
'''


def names_of_tasks():
    """Names of tasks are char[16], which trace-cmd's text for the scheduler's events needs."""
    def body(p):
        for i, name in enumerate(('first', 'x' * 15, 'x' * 16)):
            p.int(0, 8).int(1000 + i, 64, 8).int(5, 32, 8).text('other').int(5, 32, 8)
            p.int(120, 32, 8).int(1, 64, 8).text(name).int(6 + i, 32, 8).int(100, 32, 8)

    folder = made_ctf.write(TOP / 'switch', made_ctf.APP % made_ctf.trace_block('le') + SWITCH,
                            chan_0=made_ctf.app_packet('le', body))
    want = events(folder)[0][:2]
    for to, _ in FORMATS:
        out, status, err = convert(folder, to, name='switch')
        say(status == 0 and events(out)[0] == want and
            'are not written: sched:sched_switch 1\n' in err,
            '%s: names of tasks' % to, err + difference(events(out)[0], want))
        if to == 'trace.dat' and TRACE_CMD:
            text = lines([TRACE_CMD, 'report', '-i', out])
            say([t.split('sched_switch: ')[1] for t in text[1:]] ==
                ['other:5 [120] S ==> first:6 [100]',
                 'other:5 [120] S ==> %s:7 [100]' % ('x' * 15)],
                'trace-cmd prints names of tasks', '\n'.join(text))


def tasks_of_trace_dat():
    """A trace.dat has the thread of an event only; what that leaves out is counted."""
    text = SCHED % made_ctf.trace_block('le')
    for name, metadata, note in (
            ('threads', text.replace('clock {', 'env { vpid = 4242; };\nclock {', 1),
             'the processes of %d events of threads are not written'),
            ('unknown', text.replace('vtid', 'other'),
             '%d events of unknown tasks have the pid 0')):
        folder = made_ctf.write(TOP / name, metadata, chan_0=ctf_packet('le', 10**12, 0))
        out, status, err = convert(folder, 'trace.dat', name=name)
        say(status == 0 and note % len(events(folder)[0]) in err, 'tasks of trace.dat: ' + name,
            err)
        say(' tasks ' not in convert(folder, 'perf', name=name)[2] and len(events(out)[0]) > 9,
            'but not of perf.data: ' + name, err)


def events_without_time():
    path = TOP / 'graph.txt'
    path.write_text('# tracer: function_graph\n 0)               |  f() {\n'
                    ' 12.345678 |  1)   0.382 us    |    g();\n 0) + 12.1 us |  }\n')
    note = '2 events without a time have that of the event before them, or 0\n'
    for to, _ in FORMATS + (('ctf', ''),):
        out = TOP / 'graph.out'
        status, _, err = run([SONDE, 'convert', '-i', str(path), '--to', to, '-o', str(out)])
        say(status == 0 and note in err.decode() and len(events(out)[0]) == 3,
            'events without a time: ' + to, err.decode())
        shutil.rmtree(out) if out.is_dir() else out.unlink()


def long_records():
    def body(p):
        for i, length in enumerate((20000, 65530, 40000, 1)):
            p.int(1, 8).int(1000 + i, 64, 8).int(5, 32, 8).text('x' * length)

    folder = made_ctf.write(TOP / 'long', SCHED % made_ctf.trace_block('le'),
                            chan_0=made_ctf.app_packet('le', body))
    want = [event for event in events(folder)[0] if len(event[-1]['s']) != 65530]
    for to, _ in FORMATS:
        out, status, err = convert(folder, to, name='long')
        say(status == 0 and len(want) == 3 and events(out)[0] == want and
            'are not written: other-name 1\n' in err,
            '%s: only a record that is too long is left out' % to, err)
        if to == 'trace.dat' and TRACE_CMD:
            text = lines([TRACE_CMD, 'report', '-i', out])
            say([len(t) > 19000 for t in text[1:]] == [True, True, False],
                'trace-cmd prints long records', str([len(t) for t in text]))


def from_corpus():
    paths = corpus_files('tracecmd-*.dat') + corpus_files('ctf-kernel-only.trace-kernel*') + \
        corpus_files('ctf-packet_lost_2_stream*') + corpus_files('blktrace-*/*.0')
    if not paths:
        return skip('recordings of other machines', NO_CORPUS)
    for path in paths:
        if FULL or path.is_dir() or path.stat().st_size < 3 << 20:
            kept(path.name if path.is_dir() else path.stem, path)
    return None


# ---- what is left out, and refused ---------------------------------------------------------------

def options():
    for to, what in ('trace.dat', 'trace.dat'), ('perf', 'perf.data'):
        out, status, err = convert(MIXED, to, name='none')
        say(status == 0 and 'events without a place in %s are not written: cpu-clock 1, ' % what in
            err and 'mmap2 4' in err and 'none was written' in err,
            '%s: left out events are listed by name and counted' % to, err)
    err = convert(DEMO, 'trace.dat')[2]
    say('values of samples without a place in trace.dat are not written: ip, period\n' in err,
        'values of samples that are left out are listed', err)
    out, status, err = convert(DEMO, 'trace.dat', '-e', 'sched_switch')
    names = {event[0] for event in events(out)[0]}
    say(status == 0 and names == {'sched:sched_switch'}, '-e chooses events', err + str(names))
    before = out.read_bytes()
    out, status, err = convert(DEMO, 'trace.dat', force=False)
    say(status == 1 and 'exists: --force' in err and out.read_bytes() == before,
        'an existing output is kept', err)
    for words, why in (('--to', 'perf', '-o', '-'), 'use -o FILE'), \
            (('--to', 'trace.dat', '-o', TOP), 'not a regular file'), \
            (('--to', 'trace.dat', '-o', TOP / 'x', '--stacks'), '--stacks is for tables'), \
            (('--to', 'ctf2', '-o', TOP / 'x'), 'not \'ctf2\''), \
            (('--to', 'perf', '-o', TOP / 'no' / 'x'), 'cannot write'):
        status, _, err = run([str(w) for w in (SONDE, 'convert', '-i', DEMO, *words)])
        say(status not in (0, 3) and why in err.decode(), 'refused: ' + ' '.join(map(str, words)),
            err.decode())
    cut = TOP / 'cut.data'
    cut.write_bytes(b'PERFILE2' + bytes(50))
    out, status, err = convert(cut, 'perf', name='failed')
    say(status == 1 and not out.exists(), 'a failure leaves no output', err)
    left = [p.name for p in TOP.iterdir() if '.tmp-' in p.name]
    say(not left, 'no temporary file is left', str(left))
    guessed = TOP / 'guessed.dat'
    status, _, err = run([SONDE, 'convert', '-i', str(DEMO), '-o', str(guessed)])
    say(status == 0 and guessed.read_bytes()[3:10] == b'tracing', 'the suffix names the format',
        err.decode())


try:
    from_perf()
    from_trace_cmd()
    from_ctf()
    names_of_tasks()
    tasks_of_trace_dat()
    events_without_time()
    long_records()
    as_version_6()
    from_corpus()
    options()
finally:
    shutil.rmtree(TOP)
sys.exit(done())
