# SPDX-License-Identifier: MIT
"""The module Util for scripts: times, statistics, names of errors and system calls."""

import errno
import os
import sys

FUTEX_WAIT = 0
FUTEX_WAKE = 1
FUTEX_PRIVATE_FLAG = 128
FUTEX_CLOCK_REALTIME = 256
FUTEX_CMD_MASK = ~(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME)

NSECS_PER_SEC = 1000000000


def avg(total, n):
    return total / n


def nsecs(secs, nsecs):
    return secs * NSECS_PER_SEC + nsecs


def nsecs_secs(nsecs):
    """A float, as in perf since its scripts run on Python 3."""
    return nsecs / NSECS_PER_SEC


def nsecs_nsecs(nsecs):
    return nsecs % NSECS_PER_SEC


def nsecs_str(nsecs):
    """A tuple of one text, because scripts index it."""
    return ("%5u.%09u" % (nsecs_secs(nsecs), nsecs_nsecs(nsecs)),)


def add_stats(dict, key, value):
    """Keeps (min, max, avg, count) per key; avg is the mean of the last value and the previous avg,
    as in perf."""
    if key not in dict:
        dict[key] = (value, value, value, 1)
        return
    low, high, mean, count = dict[key]
    dict[key] = (min(low, value), max(high, value), (mean + value) / 2, count + 1)


def clear_term():
    print("\x1b[H\x1b[2J")


def strerror(nr):
    try:
        return errno.errorcode[abs(nr)]
    except KeyError:
        return "Unknown %d errno" % nr


# ---- names of system calls -----------------------------------------------------------------------
# perf uses the audit module, and reports on stdout if it is missing; output that is compared with
# perf's has those lines. Our names come from a table for the recorded machine.

_MISSING_AUDIT = {
    1: """Install the audit-libs-python package to get syscall names.
For example:
  # apt-get install python-audit (Ubuntu)
  # yum install audit-libs-python (Fedora)
  etc.
""",
    2: """Install the python-audit package to get syscall names.
For example:
  # apt-get install python3-audit (Ubuntu)
  # yum install python3-audit (Fedora)
  etc.
""",
}


def _host():
    context = sys.modules.get("perf_trace_context")
    return (getattr(getattr(context, "_rules", None), "syscall_names", 0),
            getattr(context, "_arch", None) or os.uname()[4])


def _names_of_audit(place):
    try:
        import audit

        machines = {"x86_64": audit.MACH_86_64, "aarch64": getattr(audit, "MACH_AARCH64", None),
                    "alpha": audit.MACH_ALPHA, "ia64": audit.MACH_IA64, "ppc": audit.MACH_PPC,
                    "ppc64": audit.MACH_PPC64, "ppc64le": audit.MACH_PPC64LE,
                    "s390": audit.MACH_S390, "s390x": audit.MACH_S390X}
        machines.update(dict.fromkeys(("i386", "i486", "i586", "i686"), audit.MACH_X86))
        machine = machines[os.uname()[4]]
    except Exception:
        print(_MISSING_AUDIT[place])
        return None
    return lambda number: audit.audit_syscall_to_name(number, machine)


def _names_of_table(machine):
    from importlib.machinery import SourceFileLoader

    names = {}
    path = os.path.join(os.path.dirname(__file__), "syscall_names.py")
    exec(SourceFileLoader("syscall_names", path).get_code("syscall_names"), names)
    return names["table"](machine).get


_place, _arch = _host()
_lookup = None
if _place:
    _lookup = _names_of_audit(_place)
else:
    _lookup = _names_of_table(_arch)


def syscall_name(id):
    name = _lookup(id) if _lookup else None
    return str(id) if name is None else name
