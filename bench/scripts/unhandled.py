# SPDX-License-Identifier: MIT
"""How many events of each name; the fields are not read."""
counts = {}


def trace_unhandled(event_name, context, fields):
    counts[event_name] = counts.get(event_name, 0) + 1


def trace_end():
    for name in sorted(counts):
        print(name, counts[name])
