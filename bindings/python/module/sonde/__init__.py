# SPDX-License-Identifier: MIT
"""Events of a Linux machine, in time order, with names and types.

    import sonde
    for e in sonde.open("perf.data", events="sched:sched_switch"):
        print(e.time, e.cpu, e.prev_comm, e.next_comm)

sonde.open() gives a Recording: iterate over it as often as you like, or ask it for counts. Times
are int nanoseconds. An Event is a view that may be kept. Its own attributes are few and win over
fields of the same name: e.pid is the process that ran, e["pid"] and e.f.pid are the field.

Losses and damage are Recording.lost and Recording.defects; on_loss="raise" makes them an exception.
The module prints nothing, installs no signal handler and has no global state.
"""


def _extension():
    """
    The build of the extension for this interpreter: the exact one, or else the newest limited API
    that it supports. `sonde script` has put the one that runs the script into sys.modules.
    """
    import sys

    if sys.version_info < (3, 9):
        raise ImportError("sonde needs Python 3.9 or later, this is %d.%d" % sys.version_info[:2])
    import importlib.machinery as machinery
    import importlib.util as util
    import os

    name = __name__ + "._sonde"
    if name in sys.modules:
        return sys.modules[name]
    here = os.path.dirname(__file__)
    builds = [here + "/_sonde" + s for s in machinery.EXTENSION_SUFFIXES if "cpython-" in s]
    if ".abi3.so" in machinery.EXTENSION_SUFFIXES:  # a free-threaded Python has no limited API
        if sys.version_info >= (3, 12):
            builds.append(here + "/abi3-312/_sonde.abi3.so")
        builds.append(here + "/_sonde.abi3.so")
    for path in builds:
        if os.path.exists(path):
            loader = machinery.ExtensionFileLoader(name, path)
            spec = util.spec_from_file_location(name, path, loader=loader)
            module = util.module_from_spec(spec)
            loader.exec_module(module)
            sys.modules[name] = module
            return module
    raise ImportError("no build of the extension for this Python in %s" % here)


_sonde = _extension()

from ._sonde import (  # noqa: E402
    AccessError, Column, Defect, Error, Event, Field, Fields, FormatError, Frame, InputError,
    InputNotFoundError, LossError, OptionError, Pair, Profile, Sample, Schema, Session, Stack,
    UnknownEvent, UnknownField, __version__, session)
from ._recording import Recording, open, pair, profile  # noqa: E402
from ._table import Table  # noqa: E402
from . import _program  # noqa: E402
from ._aggregate import (  # noqa: E402
    Aggregate, Stats, count, hist, lhist, stats, sum)
from ._live import Live, attach, record  # noqa: E402
from ._program import (  # noqa: E402
    at_end, begin, end, every, exit, lost, on)

__all__ = [
    "AccessError", "Aggregate", "Column", "Defect", "Error", "Event", "Field", "Fields",
    "FormatError", "Frame", "InputError", "InputNotFoundError", "Live", "LossError", "OptionError",
    "Pair", "Profile", "Recording", "Sample", "Schema", "Session", "Stack", "Stats", "Table",
    "UnknownEvent", "UnknownField", "at_end", "attach", "begin", "count", "end", "every", "exit",
    "hist", "lhist", "lost", "on", "open", "pair", "profile", "record", "session", "stats", "sum"]


def __getattr__(name):
    """args: the script's arguments. target: the process of `sonde run -p PID`, None without one.
    is_live: whether the script's events happen now."""
    import sys
    if name == "args":
        return sys.argv[1:]
    if name == "target":
        return vars(sys.modules["__main__"]).get("__sonde_target__")
    if name == "is_live":
        return vars(sys.modules["__main__"]).get("__sonde_is_live__", False)
    raise AttributeError("module 'sonde' has no attribute %r" % name)
