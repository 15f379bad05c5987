# SPDX-License-Identifier: MIT
"""Counts events by task and cpu; reads three values of the dict."""
counts = {}


def trace_unhandled(event_name, context, fields):
    key = fields['common_comm'], fields['common_pid'], fields['common_cpu']
    counts[key] = counts.get(key, 0) + 1


def trace_end():
    print(len(counts), 'tasks on cpus,', sum(counts.values()), 'events,',
          max(counts.values(), default=0), 'the most')
