# SPDX-License-Identifier: MIT
"""The module Core for scripts: tables of flags and symbols, filled by define_*, and their texts."""

from collections import defaultdict


def autodict():
    return defaultdict(autodict)


flag_fields = autodict()
symbolic_fields = autodict()

_TRACE_FLAGS = ((1, "IRQS_OFF"), (2, "IRQS_NOSUPPORT"), (4, "NEED_RESCHED"), (8, "HARDIRQ"),
                (16, "SOFTIRQ"))
_TASK_STATES = {0: "R", 1: "S", 2: "D", 64: "DEAD"}


# ---- called before the first event of a type -----------------------------------------------------


def define_flag_field(event_name, field_name, delim):
    flag_fields[event_name][field_name]["delim"] = delim


def define_flag_value(event_name, field_name, value, field_str):
    flag_fields[event_name][field_name]["values"][value] = field_str


def define_symbolic_field(event_name, field_name):
    pass


def define_symbolic_value(event_name, field_name, value, field_str):
    symbolic_fields[event_name][field_name]["values"][value] = field_str


# ---- called by scripts ---------------------------------------------------------------------------


def flag_str(event_name, field_name, value):
    """Names of the flags in value. Flags are tried in ascending order, and each match removes its
    bits, so names of several bits rarely appear."""
    field = flag_fields[event_name][field_name]
    if not field:
        return ""
    delim = field["delim"]
    text = ""
    first = True
    for flag in sorted(field["values"]):
        if not flag and not value:
            return text + field["values"][flag]
        if flag and value & flag == flag:
            if delim and not first:
                text += " " + delim + " "
            text += field["values"][flag]
            first = False
            value &= ~flag
    return text


def symbol_str(event_name, field_name, value):
    """The name of exactly this value, or ''."""
    names = symbolic_fields[event_name][field_name]["values"]
    return names[value] if value in names else ""


def trace_flag_str(value):
    """Names of the bits of common_flags."""
    if not value:
        return "NONE"
    return " | ".join(name for flag, name in _TRACE_FLAGS if value & flag)


def taskState(state):
    return _TASK_STATES.get(state, "Unknown")


class EventHeaders:
    """The common arguments of a handler in one object."""

    def __init__(self, common_cpu, common_secs, common_nsecs, common_pid, common_comm,
                 common_callchain):
        self.cpu = common_cpu
        self.secs = common_secs
        self.nsecs = common_nsecs
        self.pid = common_pid
        self.comm = common_comm
        self.callchain = common_callchain

    def ts(self):
        """Nanoseconds."""
        return self.secs * 10**9 + self.nsecs

    def ts_format(self):
        """Seconds, a dot, microseconds without leading zeros, as perf writes it."""
        return "%d.%d" % (self.secs, int(self.nsecs / 1000))
