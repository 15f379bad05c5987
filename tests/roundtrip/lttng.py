#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records a program of its own with LTTng in user space, and reads the trace.

    lttng.py SONDE

Sessions of five kinds: written at once, snapshots of what is in the buffers, small buffers that
lose events, with files that are exchanged, buffers of each process, and live by a relay. The
fields' values are known; stock babeltrace2 must print the same lines. babeltrace2 2.0.4 prints the
text of an earlier event in place of an empty string, so no text is empty.
"""
import contextlib
import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from points import ENV, done, say, skip  # noqa: E402

SONDE = str(pathlib.Path(sys.argv[1]).resolve())
EVENTS = 2000
PROVIDER = r'''
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER sonde_test
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./provider.h"
#if !defined(PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define PROVIDER_H
#include <lttng/tracepoint.h>
LTTNG_UST_TRACEPOINT_ENUM(sonde_test, colour, LTTNG_UST_TP_ENUM_VALUES(
	lttng_ust_field_enum_value("RED", 0) lttng_ust_field_enum_range("BLUE", 2, 5)))
LTTNG_UST_TRACEPOINT_EVENT(sonde_test, all, LTTNG_UST_TP_ARGS(int, n, const char *, text),
	LTTNG_UST_TP_FIELDS(
	lttng_ust_field_integer(int, n, n)
	lttng_ust_field_integer_hex(unsigned long, hex, n * 4096ul)
	lttng_ust_field_integer_network(short, net, n)
	lttng_ust_field_float(double, real, n / 8.0)
	lttng_ust_field_float(float, single, n / 4.0f)
	lttng_ust_field_string(text, text)
	lttng_ust_field_array(unsigned char, fixed, text, 3)
	lttng_ust_field_array_text(char, letters, text, 2)
	lttng_ust_field_sequence(unsigned char, some, text, size_t, (size_t)n % 4)
	lttng_ust_field_sequence_text(char, word, text, size_t, (size_t)n % 3 + 1)
	lttng_ust_field_enum(sonde_test, colour, int, colour, n % 7)))
#endif
#include <lttng/tracepoint-event.h>
'''
PROGRAM = r'''
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "provider.h"
int main(void)
{
	for (int i = 0; i < %d; i++)
		lttng_ust_tracepoint(sonde_test, all, i, i %% 3 ? "some text" : "other");
	return 0;
}
''' % EVENTS


class Missing(Exception):
    pass


def run(*command, **how):
    return subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=120, **how)


def build(folder):
    (folder / 'provider.h').write_text(PROVIDER)
    (folder / 'program.c').write_text(PROGRAM)
    p = run('cc', '-I.', '-o', 'program', 'program.c', '-llttng-ust', '-ldl', cwd=folder, env=ENV)
    if p.returncode:
        raise Missing('no liblttng-ust to build a traced program with')


def session(folder, name, *steps, create=(), stop=True):
    """The commands that record the program: `steps` before it starts, then what ends it."""
    yield ['create', name, *(create or ['--output=%s' % (folder / name)])]
    yield from steps
    yield from [['add-context', '-u', '-t', 'vpid', '-t', 'vtid', '-t', 'procname'], ['start'],
                None]
    yield ['stop'] if stop else ['snapshot', 'record']
    yield ['destroy']


def free_ports(n):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(n)]
        for s in sockets:
            s.bind(('127.0.0.1', 0))
        return [s.getsockname()[1] for s in sockets]


def sessions(folder, urls):
    """Name of a session -> its commands."""
    events = ['enable-event', '-u', 'sonde_test:*']
    small = ['enable-channel', '-u', '--discard', '--subbuf-size=4096', '--num-subbuf=2',
             '--tracefile-size=8192', '--tracefile-count=400', 'small']
    ret = {
        'plain': session(folder, 'plain', events),
        'snapshot': session(folder, 'snapshot', events, stop=False,
                            create=['--snapshot', '--output=%s' % (folder / 'snapshot')]),
        'small': session(folder, 'small', small, [*events, '-c', 'small']),
        'pids': session(folder, 'pids', ['enable-channel', '-u', '--buffers-pid',
                                         '--subbuf-size=1M', 'pids'], [*events, '-c', 'pids'])}
    if urls:
        ret['live'] = session(folder, 'live', events, create=[
            '--live=100000', '--ctrl-url=%s' % urls[0], '--data-url=%s' % urls[1]])
    return ret


def start_relay(folder, env, daemons):
    """The addresses of a daemon that stores live traces in the folder; None if there is none."""
    if not shutil.which('lttng-relayd'):
        return None
    urls = ['tcp://127.0.0.1:%d' % port for port in free_ports(3)]
    daemons.append(subprocess.Popen(
        ['lttng-relayd', '--output=%s' % (folder / 'live'), '--control-port=' + urls[0],
         '--data-port=' + urls[1], '--live-port=' + urls[2]], env=env, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    time.sleep(0.5)
    return urls if daemons[-1].poll() is None else None


def record(folder):
    """Name -> folder of the trace that a session of LTTng makes of the program."""
    env = dict(ENV, HOME=str(folder), LTTNG_HOME=str(folder), LTTNG_UST_REGISTER_TIMEOUT='5000')
    daemons = []
    try:
        urls = start_relay(folder, env, daemons)
        daemons.append(subprocess.Popen(
            ['lttng-sessiond', '--no-kernel'], env=env, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        for _ in range(50):
            if run('lttng', 'list', env=env).returncode == 0 or daemons[-1].poll() is not None:
                break
            time.sleep(0.1)
        if daemons[-1].poll() is not None:
            raise Missing('lttng-sessiond does not start here (is another one running?)')
        traces = {}
        for name, steps in sessions(folder, urls).items():
            for step in steps:
                p = run('lttng', *step, env=env) if step else run(folder / 'program', env=env)
                if p.returncode:
                    raise Missing('LTTng does not record here: %s' % (p.stderr or p.stdout).strip())
            time.sleep(0.3 if name == 'live' else 0)
            traces[name] = next((folder / name).rglob('metadata')).parent
    finally:
        for daemon in reversed(daemons):
            daemon.terminate()
            daemon.wait(30)
    return traces


def check_lines(trace, name):
    """The lines of babeltrace2, and the losses that it reports."""
    if not shutil.which('babeltrace2'):
        return skip('lines of babeltrace2, ' + name, 'no babeltrace2', may=False)
    ours = run(SONDE, 'script', '-i', trace, '--format', 'babeltrace', env=ENV)
    theirs = run('babeltrace2', trace, env=ENV)
    wrong = ['- %s\n+ %s' % (t, o) for o, t in zip(ours.stdout.splitlines(),
                                                  theirs.stdout.splitlines()) if o != t][:3]
    say(ours.stdout == theirs.stdout and ours.stdout, 'lines of babeltrace2, ' + name,
        '\n'.join(wrong) + ours.stderr)
    lost = sum(map(int, re.findall(r'Tracer discarded (\d+) event', theirs.stderr)))
    got = re.search(r'lost-events: (\d+)', ours.stderr)
    return say(lost == int(got[1] if got else 0) and (lost > 0) == (name == 'small'),
               'losses, ' + name, '%s%s' % (theirs.stderr[:500], ours.stderr))


def check(trace):
    p = run(SONDE, 'script', '-i', trace, '--format', 'jsonl', env=ENV)
    events = [e for e in map(json.loads, p.stdout.splitlines()) if 'event' in e]
    wrong = []
    for n, e in enumerate(events):
        text = 'some text' if n % 3 else 'other'
        colour = {0: 'RED', 1: None, 6: None}.get(n % 7, 'BLUE')
        net = int.from_bytes((n & 0xffff).to_bytes(2, 'little'), 'big', signed=True)
        want = {'n': n, 'hex': n * 4096, 'net': net, 'real': n / 8, 'single': n / 4, 'text': text,
                'fixed': list(text[:3].encode()), 'letters': text[:2],
                'some': list(text[:n % 4].encode()), 'word': text[:n % 3 + 1],
                'colour': {'value': n % 7, 'label': colour}}
        if {k: v for k, v in e['fields'].items() if k in want} != want:
            wrong.append('%r, not %r' % (e['fields'], want))
    say(len(events) == EVENTS and not wrong and not p.stderr, 'all fields of a program',
        '%d events\n%s\n%s' % (len(events), '\n'.join(wrong[:3]), p.stderr))
    say(all(e['comm'] == 'program' and e['pid'] == e['tid'] > 0 for e in events) and events,
        'its task', repr(events[:1]))


def main():
    with tempfile.TemporaryDirectory(prefix='sonde-lttng-') as name:
        try:
            for program in 'lttng-sessiond', 'cc':
                if not shutil.which(program):
                    raise Missing('no %s (packages lttng-tools, gcc)' % program)
            build(pathlib.Path(name))
            traces = record(pathlib.Path(name))
            check(traces['plain'])
            for kind, trace in traces.items():
                check_lines(trace, kind)
        except Missing as e:
            skip('a program traced by LTTng', str(e))
    return done()


sys.exit(main())
