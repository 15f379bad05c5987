# SPDX-License-Identifier: MIT
"""Decides which arguments a handler cannot miss.

Some arguments cost far more than the call itself. An argument may be omitted (a lazy object takes
its place) if the handler is a plain function whose code never mentions the parameter, and if
nothing in it can read its locals in another way. In any doubt the argument is built.

An argument that is mentioned may be read key by key if the code only reads keys of it (`d["comm"]`,
`"comm" in d`, `d.get("comm")`): the object itself is then passed nowhere, and nobody can see its
other keys.
"""

import dis
import sys

# Functions that read frames, or run code that is not visible here.
LOOKERS = frozenset(("locals", "vars", "dir", "eval", "exec", "globals", "_getframe",
                     "currentframe", "settrace", "breakpoint"))
# The newest Python that the tests ran. A later one may have new ways.
TESTED = (3, 13)
REST = 0x04  # *args
# *args, **kw, generator, coroutine, iterable coroutine, async generator
FLAGS = REST | 0x08 | 0x20 | 0x80 | 0x100 | 0x200

Function = type(lambda: None)
Code = type((lambda: None).__code__)


def _mentions(code, name):
    """True if any instruction of any kind refers to that name."""
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


# Results of how_read(); enum reading in plan_keep.h.
AT_ONCE = 0
NEVER = 1
BY_KEY = 2
BY_KEYS_2 = 3
LOADS = frozenset(("LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW"))
NO_STEPS = frozenset(("CACHE", "PRECALL", "EXTENDED_ARG", "NOP"))


def _is_subscript(at):
    """True if these instructions begin with a subscript, by a constant text, of the stack's top."""
    return (len(at) >= 2 and at[0].opname == "LOAD_CONST" and type(at[0].argval) is str and
            (at[1].opname == "BINARY_SUBSCR" or at[1].opname == "BINARY_OP" and
             at[1].argrepr == "[]"))


def _is_asking_method(instruction):
    """True for get and setdefault if they are called at once; since 3.12 a bit in LOAD_ATTR's
    argument marks a method that is called."""
    called = instruction.opname == "LOAD_METHOD" or (
        sys.version_info >= (3, 12) and instruction.opname == "LOAD_ATTR" and instruction.arg & 1)
    return called and instruction.argval in ("get", "setdefault")


def _by_key(code, name):
    """
    The instruction after the load of the parameter uses it, whatever jumps there from elsewhere: so
    each load must be followed directly by an instruction that reads a key.
    """
    how = BY_KEYS_2
    key_at = -1  # sample["sample"]: the key is not the parameter
    steps = [i for i in dis.get_instructions(code) if i.opname not in NO_STEPS]
    for n, step in enumerate(steps):
        about = step.argval
        if n == key_at or about != name and not (isinstance(about, tuple) and name in about):
            continue
        at = steps[n + 1:n + 5]
        if step.opname not in LOADS or not at:
            return AT_ONCE
        if _is_asking_method(at[0]):
            how = BY_KEY
        elif _is_subscript(at):
            key_at = n + 1
            if at[0].argval == "sample" and not _is_subscript(at[2:]):
                how = BY_KEY  # that dict may be passed anywhere
        elif at[0].opname != "CONTAINS_OP":
            return AT_ONCE
    return how


def how_read(func, name):
    """The answer for a parameter; for the values that *args gets, if name is None."""
    if type(func) is not Function or sys.version_info[:2] > TESTED:
        return AT_ONCE
    code = func.__code__
    if name is None:
        rest = code.co_varnames[code.co_argcount + code.co_kwonlyargcount:][:1]
        if (code.co_flags & FLAGS != REST or rest[0] in code.co_cellvars or
                _looks_around(code) or _mentions(code, rest[0])):
            return AT_ONCE
        return NEVER
    if code.co_flags & FLAGS or name in code.co_cellvars or _looks_around(code):
        return AT_ONCE
    return _by_key(code, name) if _mentions(code, name) else NEVER


def may_leave_out(func, name):
    return how_read(func, name) == NEVER


# Looked up once: before 3.12 each failure makes an exception, and is_traced() runs often.
MONITORING = getattr(sys, "monitoring", None)


def is_traced():
    """True if a debugger, a profiler or a coverage tool is active."""
    if sys.gettrace() is not None or sys.getprofile() is not None:
        return True
    return MONITORING is not None and any(MONITORING.get_tool(i) for i in range(6))
