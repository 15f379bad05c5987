# SPDX-License-Identifier: MIT
"""Counts the rows of a database export with call chains."""
perf_db_export_mode = True
perf_db_export_callchains = True
counts = [0, 0, 0]


def sample_table(*row):
    counts[0] += 1


def call_path_table(*row):
    counts[1] += 1


def symbol_table(*row):
    counts[2] += 1


def trace_end():
    print(counts)
