# SPDX-License-Identifier: MIT
"""The floor of a script: a plain loop that calls its handlers with constant arguments.

    floor.py SCRIPT HANDLER=CALLS[*ARGUMENTS]...

Handlers are called in turn as long as each has calls left. ARGUMENTS is the number of arguments
for a handler that takes any number.
"""
import os
import runpy
import sys
import types

# perf's scripts import modules from a folder below PERF_EXEC_PATH: the one beside their own.
os.environ['PERF_EXEC_PATH'] = os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(sys.argv[1]))))
sys.modules['perf_trace_context'] = types.ModuleType('perf_trace_context')

FIELDS = {'common_cpu': 1, 'common_s': 5000, 'common_ns': 123456789, 'common_pid': 1234,
          'common_comm': 'workload', 'common_callchain': [], 'pid': 77, 'prio': 120}
FRAMES = [{'ip': 0x401000 + n, 'sym': {'start': 0, 'end': 64, 'binding': 0, 'name': 'step_%d' % n},
           'sym_off': 5, 'dso': '/usr/bin/x'} for n in range(19)]
SAMPLE = {'pid': 1234, 'tid': 1234, 'cpu': 1}
CONSTANTS = dict(FIELDS, param_dict={'comm': 'workload', 'sample': SAMPLE, 'callchain': FRAMES},
                 perf_sample_dict={'comm': 'workload', 'sample': SAMPLE},
                 event_name='sched__sched_switch', context=object(), fields=FIELDS,
                 sample={'pid': 1234}, common_secs=5000, common_nsecs=123456789, comm='workload',
                 prev_comm='workload', next_comm='other')


def loop(handlers, calls, nr_more):
    """Calls all handlers in turn, `calls` times. The loop is compiled, so it unpacks no
    arguments."""
    body, scope = [], {'calls': calls}
    for i, h in enumerate(handlers):
        names = h.__code__.co_varnames[:h.__code__.co_argcount]
        names += tuple('more%d' % n for n in range(nr_more.get(h, len(names)) - len(names)))
        scope['h%d' % i] = h
        for name in names:
            scope['a_' + name] = CONSTANTS.get(name, 1)
        body.append('        h%d(%s)' % (i, ', '.join('a_' + n for n in names)))
    # Local variables, as in an event loop in C.
    code = 'def run(%s):\n    for _ in range(calls):\n%s\n' % (', '.join(scope), '\n'.join(body))
    made = {}
    exec(code, made)
    made['run'](**scope)


def main():
    words = [word.split('=') for word in sys.argv[2:]]
    del sys.argv[2:]
    script = runpy.run_path(sys.argv.pop(1))
    left = {script[name]: int(calls.split('*')[0]) for name, calls in words}
    nr_more = {script[name]: int(calls.split('*')[1]) for name, calls in words if '*' in calls}
    while any(left.values()):
        turn = [h for h in left if left[h]]
        calls = min(left[h] for h in turn)
        loop(turn, calls, nr_more)
        for h in turn:
            left[h] -= calls


main()
