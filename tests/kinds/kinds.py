#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fields of every kind, tasks by cpu, names without a time, in text, JSON lines, scripts; prints
TAP.

    tests/kinds/kinds.py SONDE LIBSONDE BINDINGS

SONDE and LIBSONDE are linked with the input of source.c. This test makes a recording for it.
"""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import settled  # noqa: E402, F401

SONDE, LIBSONDE, BINDINGS = (os.path.abspath(p) for p in sys.argv[1:4])
KINDS, SWITCH, NAME = range(3)
nr = failed = 0


def is_(got, want, name):
    global nr, failed
    nr += 1
    failed += got != want
    print('%sok %d - %s' % ('' if got == want else 'not ', nr, name))
    if got != want:
        print('\n'.join('# ' + line for line in ('got  %r\nwant %r' % (got, want)).split('\n')))


def record(kind, time_ns, cpu, pid, tid, payload):
    return struct.pack('=IIQiiiI', 32 + len(payload), kind, time_ns, cpu, pid, tid, 0) + payload


def kinds(single, precise, state, port, bits, plain, x, y, word):
    return (struct.pack('<fxxxxxxxxh', single, state)[:4] + struct.pack('>d', precise) +
            struct.pack('<h', state) +
            struct.pack('>H', port) + bits + struct.pack('=h', plain) + struct.pack('<Bf', x, y) +
            word)


FIRST = kinds(1.5, -0.1, -2, 0x1234, b'\xa5\x3c', -5, 7, 0.25, b'abc\0')
SECOND = kinds(float('inf'), float('nan'), 7, 80, b'\xff\xff', 1, 0, -0.0, b'\0\0\0\0')


def recording(path):
    with open(path, 'wb') as f:
        f.write(b'SNDKINDS')
        f.write(record(NAME, 0, -1, 20, 21, b'worker\0'))
        f.write(record(KINDS, 1000, 0, -1, -1, FIRST))      # the running task is unknown
        f.write(record(SWITCH, 2000, 0, -1, -1, struct.pack('=i', 21)))
        f.write(record(KINDS, 3000, 0, -1, -1, FIRST))      # task 21 runs
        f.write(record(KINDS, 4000, 1, -1, -1, FIRST))      # on another cpu
        f.write(record(SWITCH, 5000, 0, -1, -1, struct.pack('=i', 0)))  # an event of task 21 itself
        f.write(record(KINDS, 6000, 0, 30, 30, SECOND))     # with a task of its own


def run(program, *argv, **env):
    p = subprocess.run((program,) + argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       stdin=subprocess.DEVNULL, timeout=600,
                       env=dict(PATH=os.environ['PATH'], HOME='/nonexistent', LC_ALL='C.UTF-8',
                                TZ='UTC', PERF_CONFIG='/dev/null', PYTHONDONTWRITEBYTECODE='1',
                                **env))
    return p.stdout.decode() + p.stderr.decode()


def install(folder):
    """Copies the program to a place where it finds its bindings and its perf, as in the build
    folder.
    """
    global SONDE
    program = folder + '/sonde'
    shutil.copy(SONDE, program)
    os.makedirs(folder + '/cli/perf-path')
    os.symlink('../../sonde', folder + '/cli/perf-path/perf')
    os.symlink(BINDINGS, folder + '/bindings')
    SONDE = program


def script(path, suffix, text, **env):
    name = path + suffix
    with open(name, 'w') as f:
        f.write(text)
    return run(SONDE, 'script', '-i', path, '-s', name, LD_PRELOAD=LIBSONDE, **env)


NESTED = {'at': {'x': 7, 'y': 0.25}, 'state': -2, 'word': 'abc'}
FIELDS = {'single': 1.5, 'precise': -0.1, 'state': -2, 'port': 0x1234, 'low': 5, 'across': -27,
          'high': 5, 'plain': -5, 'outer': NESTED}
TEXT = ('single=1.5 precise=-0.1 state=BELOW port=4660 low=5 across=-27 high=5 plain=-5 '
        'outer={at={x=7 y=0.25} state=BELOW word=abc}')

PYTHON = '''
import os, sys
sys.path.append(os.environ["PERF_EXEC_PATH"] + "/scripts/python/Perf-Trace-Util/lib/Perf/Trace")
from Core import *

def test__kinds(event_name, context, cpu, secs, nsecs, pid, comm, chain, single, precise, state, port, low, across, high, plain,
                outer, perf_sample_dict):
    if nsecs == 3000:
        print(cpu, pid, comm, [single, precise, state, port, low, across, high, plain, outer])
        print(symbol_str(event_name, "state", state), symbol_str(event_name, "state", 1))
        outer["x"] = 1

def trace_unhandled(event_name, context, fields, sample):
    if fields["common_ns"] == 2000:
        print(event_name, fields["next_pid"], fields["common_pid"])
'''
UNHANDLED = '''
import copy, json, pickle

def trace_unhandled(event_name, context, fields, sample):
    if event_name == "test__kinds" and fields["common_ns"] == %d:
        print(%s)
'''
READS = ['sorted(fields.items(), key=str)',
         'fields["outer"]["at"]["y"], type(fields["single"]).__name__', 'fields == dict(fields)',
         'repr(copy.deepcopy(fields))', 'pickle.loads(pickle.dumps(fields)) == dict(fields)',
         'json.dumps(fields)',
         'fields["outer"] is fields["outer"], fields.get("precise"), len(fields)']
MODULE = '''
import sonde, sys
for ev in sonde.open(sys.argv[1]):
    if ev.time_ns == 3000:
        print(ev.pid, ev.tid, ev.comm, ev.single, ev.outer["at"], ev["high"], ev.fields)
'''
PERL = '''
sub test::kinds {
    my ($event_name, $context, $cpu, $secs, $nsecs, $pid, $comm, $chain, $single, $precise, $state, $port, $low, $across, $high,
        $plain, $outer) = @_;
    push @kept, $outer;
    return if $nsecs != 3000;
    print join(" ", $cpu, $comm, $single, $precise, $state, $port, $low, $across, $high, $plain, $outer->{word},
               $outer->{at}{x}, $outer->{at}{y}, $outer->{state}), "\\n";
}
sub trace_end { print join(" ", map { $_->{at}{x} } @kept), "\\n"; }
'''


def main():
    with tempfile.TemporaryDirectory() as folder:
        install(folder)
        path = folder + '/recording'
        recording(path)
        lines = run(SONDE, 'script', '-i', path, '-F', 'comm,pid,tid,cpu,event,trace').split('\n')
        is_([' '.join(line.split()) for line in lines if line],
            [':-1 -1/-1 [000] test:kinds: ' + TEXT,
             ':-1 -1/-1 [000] test:switch: next_pid=21',
             'worker 20/21 [000] test:kinds: ' + TEXT,
             ':-1 -1/-1 [001] test:kinds: ' + TEXT,
             'worker 20/21 [000] test:switch: next_pid=0',
             ':30 30/30 [000] test:kinds: single=inf precise=nan state=7 port=80 low=7 across=-1 '
             'high=7 plain=1 '
             'outer={at={x=0 y=-0.0} state=7 word=}'], 'text')
        for window, want in (('0.000003,', [21, -1, 21, 30]), ('0.0000055,', [30])):
            lines = run(SONDE, 'script', '-i', path, '--time', window, '-F', 'tid').split()
            is_([int(w) for w in lines], want, 'switches before --time %s count' % window)
        is_(run(SONDE, 'script', '-i', path, '--tid', '21', '-F', 'event').split(),
            ['test:kinds:', 'test:switch:'], '--tid finds events by their cpu')
        events = [json.loads(line) for line in run(SONDE, 'script', '-i', path, '--format',
                                                   'jsonl').split('\n') if line]
        events = [e for e in events if e.get('event') == 'test:kinds']
        below = {'value': -2, 'label': 'BELOW'}
        is_((events[1]['pid'], events[1]['tid'], events[1]['comm']), (20, 21, 'worker'),
            'JSON: the task of the cpu')
        is_(events[1]['fields'], dict(FIELDS, state=below, outer=dict(NESTED, state=below)),
            'JSON: fields')
        is_([events[3]['fields'][k] for k in ('single', 'precise', 'state')],
            ['Infinity', 'NaN', {'value': 7, 'label': None}],
            'JSON: infinity, NaN, a value without a label')
        for eager in ('0', '1'):
            is_(script(path, '.py', PYTHON, SONDE_EAGER=eager).split('\n'),
                ['test__switch 21 -1', '0 21 worker %r' % list(FIELDS.values()), 'BELOW SLEEPING',
                 ''],
                'Python: parameters, SONDE_EAGER=' + eager)
        for read in READS:
            for ns in (3000, 6000):
                lazy, eager = (script(path, '.py', UNHANDLED % (ns, read), SONDE_EAGER=e)
                               for e in '01')
                is_(lazy, eager, 'lazy dicts, %d: %s' % (ns, read))
                is_('Traceback' in lazy or not lazy.strip(), False, 'the script printed a result')
        with open(folder + '/module.py', 'w') as f:
            f.write(MODULE)
        is_(run(sys.executable, folder + '/module.py', path, LD_PRELOAD=LIBSONDE,
                PYTHONPATH=BINDINGS + '/python/module'),
            '20 21 worker 1.5 %r 5 %r\n' % (NESTED['at'], FIELDS), 'Python: the module')
        is_(script(path, '.pl', PERL).split('\n'),
            ['0 worker 1.5 -0.1 -2 4660 5 -27 5 -5 abc 7 0.25 -2', '7 7 7 0', ''], 'Perl')
        for language, suffix in (('python', '.py'), ('perl', '.pl')):
            run(SONDE, 'script', '-i', path, '-g', language, '-o', folder + '/skeleton' + suffix)
            made = [n for n in os.listdir(folder) if n.startswith('skeleton')]
            is_(len(made), 1, 'skeleton in ' + language)
            out = run(SONDE, 'script', '-i', path, '-s', '%s/%s' % (folder, made[0]),
                      LD_PRELOAD=LIBSONDE)
            is_('state=BELOW' in out and 'single=1.5 ' in out and 'HASH' not in out.split('at=')[0],
                True, 'the skeleton prints labels: %r' % out[:200])
            os.unlink(folder + '/' + made[0])
    print('1..%d' % nr)
    sys.exit(failed > 0)


main()
