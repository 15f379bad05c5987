# SPDX-License-Identifier: MIT
"""The floor under a script: its own handlers, called in a plain loop with constant arguments.

    floor.py SCRIPT HANDLER=CALLS...

Several handlers are called in turn as long as each has calls left.
"""
import runpy
import sys

FIELDS = {'common_cpu': 1, 'common_s': 5000, 'common_ns': 123456789, 'common_pid': 1234, 'common_comm': 'workload',
          'common_callchain': [], 'pid': 77, 'prio': 120}
CONSTANTS = dict(FIELDS, event_name='sched__sched_switch', context=object(), fields=FIELDS, sample={'pid': 1234},
                 common_secs=5000, common_nsecs=123456789, comm='workload', prev_comm='workload', next_comm='other')


def loop(handlers, calls):
    """Calls all handlers in turn, `calls` times; compiled, so that no argument is unpacked in the loop."""
    body, scope = [], {'calls': calls}
    for i, h in enumerate(handlers):
        names = h.__code__.co_varnames[:h.__code__.co_argcount]
        scope['h%d' % i] = h
        for name in names:
            scope['a_' + name] = CONSTANTS.get(name, 1)
        body.append('        h%d(%s)' % (i, ', '.join('a_' + n for n in names)))
    # Locals, as an event loop in C has its own.
    code = 'def run(%s):\n    for _ in range(calls):\n%s\n' % (', '.join(scope), '\n'.join(body))
    made = {}
    exec(code, made)
    made['run'](**scope)


def main():
    script = runpy.run_path(sys.argv[1])
    left = {script[name]: int(calls) for name, calls in (word.split('=') for word in sys.argv[2:])}
    while any(left.values()):
        turn = [h for h in left if left[h]]
        calls = min(left[h] for h in turn)
        loop(turn, calls)
        for h in turn:
            left[h] -= calls


main()
