# SPDX-License-Identifier: MIT
"""How many events of each name; neither the fields nor the sample are read."""
counts = {}


def trace_unhandled(event_name, context, fields, sample):
    counts[event_name] = counts.get(event_name, 0) + 1


def trace_end():
    for name in sorted(counts):
        print(name, counts[name])
