# SPDX-License-Identifier: MIT
"""Counts events by name; does not read the fields."""
counts = {}


def trace_unhandled(event_name, context, fields):
    counts[event_name] = counts.get(event_name, 0) + 1


def trace_end():
    for name in sorted(counts):
        print(name, counts[name])
