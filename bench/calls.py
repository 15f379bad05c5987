#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Compares ways to call a handler for each event, without sonde.

    bench/calls.py [-n RUNS]

    C        a loop in C calls the function, as the extension does: map(), whose results
             collections.deque drops, less the cost of the iterators that give it the arguments
             (the same with zip())
    tuple    a loop in Python unpacks a tuple that C made once and gives out again and again
             (itertools.repeat()): the least that a loop in Python over an iterator in C can cost
    star     the same with f(*args)

The handlers, of 3 parameters, are that of bench/scripts/unhandled.py and an empty one. Figures are
medians of nanoseconds (user and system) of a call. The interpreter that runs this script is the one
that is measured.
"""
import argparse
import collections
import itertools
import statistics
import sys
import time

CALLS = 500_000


def make(text, **scope):
    exec(text, scope)
    return scope['f']


HANDLERS = {
    'counts by name': make('def f(event_name, context, fields):\n'
                           '    counts[event_name] = counts.get(event_name, 0) + 1\n', counts={}),
    'empty': make('def f(a, b, c):\n    pass\n')}
ARGS = ('sched__sched_switch', 1234, 5678)


def by_c(f, args):
    collections.deque(map(f, itertools.repeat(args[0], CALLS), *map(itertools.repeat, args[1:])), 0)


def no_call(f, args):
    collections.deque(zip(itertools.repeat(args[0], CALLS), *map(itertools.repeat, args[1:])), 0)


def by_tuple(f, args):
    for a, b, c in itertools.repeat(args, CALLS):
        f(a, b, c)


def by_star(f, args):
    for a in itertools.repeat(args, CALLS):
        f(*a)


def main():
    parser = argparse.ArgumentParser(description='Compares ways to call a handler.')
    parser.add_argument('-n', type=int, default=9, metavar='RUNS',
                        help='turns; default %(default)s')
    n = parser.parse_args().n
    print('Python %s, ns a call: C, tuple, star' % sys.version.split()[0])
    for name, f in HANDLERS.items():
        costs = {way: [] for way in (by_c, no_call, by_tuple, by_star)}
        for _ in range(n):
            for way in costs:
                begin = time.process_time_ns()
                way(f, ARGS)
                costs[way].append((time.process_time_ns() - begin) / CALLS)
        c, none, *others = map(statistics.median, costs.values())
        print('%-22s' % name, *('%6.1f' % ns for ns in (c - none, *others)))


main()
