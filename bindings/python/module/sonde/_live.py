# SPDX-License-Identifier: MIT
"""record() and attach(): what happens now, as an open recording."""
import os

from . import _sonde
from ._recording import Recording, _line, _option_error, _path


class Live(Recording):
    """What happens now: a Recording that is read once, while it is made.

    Made by record() and attach(). Events are in time order, and arrive within latency. Iterating
    ends with the command, with stop(), or when the processes have ended. A program that reads too
    slowly loses events: Recording.lost counts them.
    """

    _kind = "a live recording"
    _kept = None  # the defects, once it is closed

    def stop(self):
        """Ends the recording: iterating delivers the events before this call, then ends."""
        self._use["live"].stop()

    def wait(self):
        """Waits for the end of the recording and of a command, and returns the command's status, 0
        without one. Events that were not read are passed over."""
        s = self._last
        if s is None and not self._use["is_read"]:
            s = self._session()
        while s is not None and not self._is_closed and s._poll() is not False:
            for e in s:
                pass
        return self._use["live"].result()[0]

    @property
    def messages(self):
        """list of str: what the recorder has reported since the last call, warnings only."""
        return [text for level, text in self._use["live"].lines() if level == 0]

    def close(self):
        """Ends the recording. A command gets SIGTERM. Events already delivered stay valid, and lost
        and defects are those until now."""
        self._use["live"].stop()
        if self._last is not None and not self._is_closed:
            self._kept = self._last.defects
        super().close()
        self._use["live"].close()

    @property
    def defects(self):
        """list of Defect: losses and damage met so far, complete after the last event."""
        return super().defects if self._kept is None else self._kept

    def __repr__(self):
        return "<sonde.Live>"


def _names(events):
    """The events as (names, filter, cgroup) of the recorder."""
    return [(events, None, None)] if isinstance(events, str) else [(e, None, None) for e in events]


def settings_of(keys):
    """Lines for the recorder; None is left out."""
    return "".join(_line(key.replace("_", "-"), value) for key, value in keys.items()
                   if value is not None and value is not False)


class Rights:
    """How a recorder gets more rights. `sonde run` sets both."""

    program = None  # the path of the program sonde
    broker_fd = 0   # a socket of `sonde run` under sudo


def starter(sudo):
    """(path of the program sonde or None, socket or 0), for _live()."""
    if not sudo or not os.geteuid():
        return None, 0
    if Rights.broker_fd:
        return None, Rights.broker_fd
    program = Rights.program
    if program is None:
        import shutil
        # a build folder has the program above the bindings
        own = os.path.realpath(os.path.join(os.path.dirname(__file__), *[".."] * 4, "sonde"))
        program = own if os.access(own, os.X_OK) and os.path.isfile(own) else shutil.which("sonde")
    if program is None:
        raise _option_error("sudo=True starts the program sonde, which is not in PATH")
    return os.path.abspath(program), 0


def _callchain(value):
    return "fp" if value is True else value or None


def _milliseconds(latency):
    if not 0.001 <= latency <= 60:
        raise _option_error("latency is 0.001 to 60 seconds, not %r" % (latency,))
    return int(latency * 1000)


def record(events, *, pid=None, tid=None, command=None, system=False, cpu=None, cgroup=None,
           filter=None, callchain=False, latency=0.1, buffer=None, output=None, sudo=False,
           on_loss="report", **settings):
    """Records what happens now, in this process: a Live, an open recording.

    events     names or patterns as for `sonde record -e`: "sched:sched_switch", ["sched:*",
               "cpu-clock"]
    pid tid    running processes or threads, one or a list, with what they start
    command    a command with its arguments, started now: ["ls", "-l"]
    system     True: all processes; also if only cpu= is given
    cpu        only these: 0, [0, 2], "0-3"
    cgroup     only tasks of this control group
    filter     a condition in the kernel's filter language for the events that precede it; the
               kernel drops all others
    callchain  True, or a mode of `sonde record --call-graph`: "dwarf"
    latency    seconds until an event can be delivered, at most
    buffer     memory for each cpu, from which the kernel drops events if it is full: "16M"; by
               default "8M" for root, what the kernel allows for others
    output     this file gets a copy of the recording
    sudo       True: `sonde record -o -` is started through sudo or pkexec, and records with their
               rights. The command, and this program, keep their own
    on_loss    'raise': LossError as soon as a loss is known
    settings   other keys of sonde_recorder_open(3), with '_' for '-': freq=99, clockid="monotonic"

    Raises AccessError if rights are missing (the causes say which), OptionError for wrong
    arguments, InputNotFoundError for a command that does not exist, and Error for an event, a
    filter or a setting that the recorder refuses. It takes no pairs: name both events.

        for e in sonde.record("sched:sched_switch", command=["make"]):
            print(e.time, e.next_comm)
    """
    if on_loss not in ("report", "raise"):
        raise _option_error("on_loss is 'report' or 'raise', not %r" % (on_loss,))
    if not (system or command or cgroup) and all(v is None for v in (pid, tid, cpu)):
        raise _option_error("say what to record: command=, pid=, tid=, cgroup=, or system=True")
    named = _names(events)
    if filter is not None:
        named.append((None, filter, None))
    if cgroup is not None:
        named.append((None, None, cgroup))
    if buffer is None and (sudo or not os.geteuid()):
        buffer = "8M"
    settings = dict(settings, pid=pid, tid=tid, cpu=cpu, mmap_pages=buffer,
                    all_cpus=system or cgroup is not None,
                    call_graph=_callchain(callchain))
    if isinstance(command, (str, bytes, os.PathLike)):
        raise _option_error("a command is a list: the program, then its arguments")
    live = _sonde._live(named, settings_of(settings), command, _milliseconds(latency),
                        None if output is None else _path(output), *starter(sudo))
    live.start()
    return Live((), {}, {}, on_loss, {"is_read": False, "live": live})


def attach(pid, events, **keys):
    """record(events, pid=pid, ...)"""
    return record(events, pid=pid, **keys)
