#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records a program of its own with LTTng in user space, and reads the trace.

    lttng.py SONDE

The fields' values are known; stock babeltrace2 must print the same lines. babeltrace2 2.0.4 prints
the text of an earlier event in place of an empty string, so no text is empty.
"""
import json
import pathlib
import shutil
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


def record(folder):
    """The folder of the trace that a session of LTTng makes of the program."""
    env = dict(ENV, HOME=str(folder), LTTNG_HOME=str(folder), LTTNG_UST_REGISTER_TIMEOUT='5000')
    steps = [['create', 't', '--output=%s' % (folder / 'out')],
             ['enable-event', '-u', 'sonde_test:*'],
             ['add-context', '-u', '-t', 'vpid', '-t', 'vtid', '-t', 'procname'], ['start'],
             None, ['stop'], ['destroy']]
    daemon = subprocess.Popen(['lttng-sessiond', '--no-kernel'], env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(50):
            if run('lttng', 'list', env=env).returncode == 0 or daemon.poll() is not None:
                break
            time.sleep(0.1)
        if daemon.poll() is not None:
            raise Missing('lttng-sessiond does not start here (is another one running?)')
        for step in steps:
            p = run('lttng', *step, env=env) if step else run(folder / 'program', env=env)
            if p.returncode:
                raise Missing('LTTng does not record here: %s' % (p.stderr or p.stdout).strip())
    finally:
        daemon.terminate()
        daemon.wait(30)
    return next((folder / 'out').rglob('metadata')).parent


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
    if not shutil.which('babeltrace2'):
        return skip('lines of babeltrace2', 'no babeltrace2', may=False)
    ours = run(SONDE, 'script', '-i', trace, '--format', 'babeltrace', env=ENV).stdout
    theirs = run('babeltrace2', trace, env=ENV).stdout
    wrong = ['- %s\n+ %s' % (t, o) for o, t in zip(ours.splitlines(), theirs.splitlines())
             if o != t][:3]
    return say(ours == theirs and ours, 'lines of babeltrace2', '\n'.join(wrong))


def main():
    with tempfile.TemporaryDirectory(prefix='sonde-lttng-') as name:
        try:
            for program in 'lttng-sessiond', 'cc':
                if not shutil.which(program):
                    raise Missing('no %s (packages lttng-tools, gcc)' % program)
            build(pathlib.Path(name))
            check(record(pathlib.Path(name)))
        except Missing as e:
            skip('a program traced by LTTng', str(e))
    return done()


sys.exit(main())
