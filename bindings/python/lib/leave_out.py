# SPDX-License-Identifier: MIT
"""Which arguments a handler cannot miss.

Some arguments cost far more than the call itself. One may be left out (a lazy object takes its place) when the handler
is a plain function whose code never mentions the parameter, and in which nothing could look at its locals by another
way. Any doubt means: build it.
"""

import dis
import sys

# What looks into frames, or runs code we cannot see.
LOOKERS = frozenset(("locals", "vars", "dir", "eval", "exec", "globals", "_getframe", "currentframe", "settrace",
                     "breakpoint"))
# The Pythons that the tests ran. A later one may have new ways.
TESTED = (3, 13)
# *args, **kw, generator, coroutine, iterable coroutine, async generator
FLAGS = 0x04 | 0x08 | 0x20 | 0x80 | 0x100 | 0x200

Function = type(lambda: None)
Code = type((lambda: None).__code__)


def _mentions(code, name):
    """Whether any instruction of any kind is about that name."""
    for instruction in dis.get_instructions(code):
        about = instruction.argval
        if about == name or isinstance(about, tuple) and name in about:
            return True
    return False


def _looks_around(code):
    if not LOOKERS.isdisjoint(code.co_names) or not LOOKERS.isdisjoint(code.co_varnames):
        return True
    if not LOOKERS.isdisjoint(code.co_freevars):
        return True
    for constant in code.co_consts:
        if isinstance(constant, Code) and _looks_around(constant):
            return True
        if isinstance(constant, str) and constant in LOOKERS:  # getattr(sys, "_getframe")
            return True
    return False


def may_leave_out(func, name):
    if type(func) is not Function or sys.version_info[:2] > TESTED:
        return False
    code = func.__code__
    if code.co_flags & FLAGS or name in code.co_cellvars:
        return False
    return not _mentions(code, name) and not _looks_around(code)


def is_traced():
    """Whether a debugger, a profiler or a coverage tool watches."""
    if sys.gettrace() is not None or sys.getprofile() is not None:
        return True
    monitoring = getattr(sys, "monitoring", None)
    return monitoring is not None and any(monitoring.get_tool(i) for i in range(6))
