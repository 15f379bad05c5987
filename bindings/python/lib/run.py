# SPDX-License-Identifier: MIT
"""Runs a script that says what it needs, live or over recordings. launch.py calls main() if
`sonde run` has set SONDE_RUN_FD (cli/script.h lists the facts in it)."""

import os
import sys


class Facts:
    """What the command line and the script's own line say."""

    def __init__(self, fd):
        with open(fd, "rb") as f:
            words = f.read().decode("utf-8", "surrogateescape").split("\0")
        pairs = list(zip(words[0::2], words[1::2]))
        one = dict(pairs)
        self.is_live = "live" in one
        self.is_dry = "dry-run" in one
        self.code, self.output, self.format = one.get("code"), one.get("output"), one.get("format")
        self.top = int(one.get("top", 0))
        self.latency = int(one.get("latency", 0))
        self.seconds = seconds(one["for"]) if "for" in one else None
        self.settings = "\n".join(v for k, v in pairs if k == "settings")
        self.command = [v for k, v in pairs if k == "command"]
        texts = iter(v or None for k, v in pairs if k in ("event", "filter", "cgroup"))
        self.events = list(zip(texts, texts, texts))

    def setting(self, key):
        values = [line[len(key) + 1:] for line in self.settings.splitlines()
                  if line.startswith(key + "=")]
        return values[-1] if values else None


def seconds(text):
    """A time as --for takes it: 10s, 500ms, 2m, 1h. Raises ValueError."""
    for unit, factor in (("ms", 1e-3), ("us", 1e-6), ("s", 1), ("m", 60), ("h", 3600)):
        if text.endswith(unit):
            value = float(text[:-len(unit)]) * factor
            break
    else:
        value = float(text)
    if not 0 < value < 1e9:
        raise ValueError(text)
    return value


class Stop:
    """Ctrl-C: the events so far are delivered, and the functions of end() called. A second one acts
    as in plain Python."""

    def __init__(self, interrupts):
        self.signal = interrupts.signal
        self.is_default = interrupts.is_default
        self.end = None

    def begin(self, end):
        self.end = end
        if self.is_default:
            self.signal.signal(self.signal.SIGINT, self.stop)

    def stop(self, number, frame):
        self.signal.signal(number, self.signal.default_int_handler)
        self.end()


def usage(launch, text):
    launch.say(text)
    sys.exit(2)


# ---- what is recorded ----------------------------------------------------------------------------


def is_plain_tracepoint(name):
    system, colon, event = name.partition(":")
    return bool(colon) and not any(c in name for c in "*?[/,") and system not in ("pfm",)


def check_events(launch, sonde, package, program, names, stage):
    """Ends the run if this machine does not have an event or a field that the script names."""
    for name in names:
        if not is_plain_tracepoint(name):
            continue
        try:
            full, fields = sonde._tracepoint(name.partition("/")[0])
        except (sonde.Error, OSError) as e:
            users = [h.where() for h in program.handlers if name in h.events]
            usage(launch, "%s%s" % (users[0] + ": " if users else "", launch.causes(e)))
        for h in program.handlers:
            for field in h.fields if h.events == (name,) else ():
                if field not in fields:
                    near = sonde._nearest(os.fsencode(field), [os.fsencode(f) for f in fields])
                    usage(launch, "%s: %s has no field '%s'%s" % (
                        h.where(), full, field,
                        "; did you mean '%s'?" % os.fsdecode(near) if near else ""))


def perf_names(launch, sonde, stage):
    """The events of functions that are named like perf's handlers."""
    names = []
    for handler in launch.handlers(stage):
        name = handler.replace("__", ":", 1)
        try:
            sonde._tracepoint(name)
        except (sonde.Error, OSError) as e:
            code = getattr(stage[handler], "__code__", None)
            usage(launch, "%s:%d: %s() can never be called: %s" % (
                code.co_filename if code else "?", code.co_firstlineno if code else 0, handler,
                launch.causes(e)))
        names.append(name)
    return names


def all_events(facts, filters, names):
    """What the recorder is given: (events, filter, cgroup)."""
    events = [e for e in facts.events if e[2] is None]
    given = {e[0] for e in events}
    for name in names:
        if name not in filters:
            filters[name] = None
    for name, condition in filters.items():
        if name not in given or condition:
            events.append((name, None, None))
            if condition:
                events.append((None, condition, None))
    return events + [e for e in facts.events if e[2] is not None]


def record_line(facts, events, settings):
    """The `sonde record` command line that records the same."""
    import shlex
    words = ["sonde", "record"]
    for line in settings.splitlines():
        key, _, value = line.partition("=")
        if key and key != "mmap-pages" or value != "8M":
            if key:
                words.append("--%s" % key if value in ("1", "") else "--%s=%s" % (key, value))
    for name, condition, cgroup in events:
        words += (["-e", name] if name else []) + (["--filter", condition] if condition else [])
        words += ["-G", cgroup] if cgroup else []
    words += ["--"] + facts.command if facts.command else []
    return " ".join(shlex.quote(w) for w in words)


def has_target(facts):
    return bool(facts.command or any(e[2] for e in facts.events) or
                any(facts.setting(k) for k in ("all-cpus", "pid", "tid", "cpu")))


def recorder_settings(facts, needs_chains):
    lines = []
    if facts.setting("mmap-pages") is None:
        lines.append("mmap-pages=8M")
    if needs_chains and facts.setting("call-graph") is None:
        lines.append("call-graph=fp")
    return "\n".join(lines + [facts.settings])


# ---- the run -------------------------------------------------------------------------------------


def say_lines(launch, live):
    for level, text in live.lines():
        if level == 0:
            launch.flush()
            launch.say(text)


def open_session(launch, sonde, package, facts, program, names, text):
    """(the recorder or None, the session)"""
    filters, needs_chains = package._program.needs(program)
    pairs = package._program.pairs(program)
    lines = "".join("pair=%s\n" % p[len("pair("):-1] for p in pairs)
    chosen = [p for user in program.handlers + program.aggregates for p in user.events]
    is_perf_style = not chosen
    if is_perf_style or program.losses:
        lines += "events=all\n"
    elif chosen:
        lines += "event=%s\n" % ",".join(dict.fromkeys(chosen))
    if not facts.is_live:
        return None, sonde.session(text + lines)
    check_events(launch, sonde, package, program, list(filters), None)
    events = all_events(facts, filters, names)
    settings = recorder_settings(facts, needs_chains)
    if facts.is_dry:
        print(record_line(facts, events, settings))
        sys.exit(0)
    if not events:
        return None, None
    if not has_target(facts):
        usage(launch, "run: say what to record: -a, -p PID, -G CGROUP, -C CPUS, or a command "
                      "behind --; -i FILE reads a recording")
    live = sonde._live(events, settings, facts.command or None, facts.latency, facts.output)
    say_lines(launch, live)
    session = live.session(text + lines)
    return live, session


def load_package(launch, sonde):
    """The package sonde over this extension, as `import sonde` in the script gives it."""
    package = __import__("sonde")
    if getattr(package, "_sonde", None) is not sonde:
        launch.say("the script's folder has a module sonde of its own, which is in the way")
        sys.exit(1)
    return package


def finish_live(launch, live):
    """The status of the command, None without one."""
    status, samples, lost = live.result()
    say_lines(launch, live)
    return status


def main(stage, launch):
    interrupts = launch.Interrupts()
    stop = Stop(interrupts)
    import atexit

    script, args = sys.argv[1], sys.argv[2:]
    text = launch.read_session()
    config = launch.read_config()
    try:
        facts = Facts(int(os.environ.pop("SONDE_RUN_FD")))
    except ValueError as e:
        usage(launch, "run: --for takes a time as 10s, 500ms or 2m, not '%s'" % e)
    with launch.OnlyLibrary() as library:
        leave_out = launch.load_source("sonde_leave_out", launch.LIB + "/leave_out.py")
    sonde = launch.load_extension("sonde._sonde", launch.extension_path())
    rules = launch.Rules(sonde._rules(text.encode("utf-8", "surrogateescape")))
    context = launch.load_extension("perf_trace_context", launch.extension_path())
    sys.modules["perf_trace_context"] = context
    context._config.update(config)
    sys.meta_path.insert(0, launch.OurFinder(sonde))
    atexit.register(launch.stdout_is_closed)
    if getattr(sys.stdout, "errors", None) == "strict":
        sys.stdout.reconfigure(errors="surrogateescape")

    launch.set_stage(stage, script, args)
    launch.forget_shadowed(library.imported)
    package = load_package(launch, sonde)
    if facts.code is not None:
        sys.argv[0] = "-e"
        stage.update((name, getattr(package, name)) for name in package.__all__
                     if name[0].islower())
        stage["sonde"] = package
    code = launch.compile_script(script, rules)
    sonde._wipe_progress()
    exits = []

    def top_level():
        try:
            exec(code, stage)
        except package._program.Exit as e:
            exits.append(e.status)

    if interrupts.is_default:
        interrupts.signal.signal(interrupts.signal.SIGINT, interrupts.signal.default_int_handler)
    launch.guarded(top_level, rules)
    if exits:
        sys.exit(exits[0])
    program = package._program.programs(stage)
    is_own = bool(program.handlers or program.aggregates)
    names = perf_names(launch, sonde, stage) if facts.is_live and not is_own else []
    try:
        live, session = open_session(launch, sonde, package, facts, program, names, text)
    except (sonde.Error, MemoryError) as e:
        launch.say(launch.causes(e))
        is_missing = facts.command and isinstance(e, FileNotFoundError)
        sys.exit(127 if is_missing else rules.status_failed)
    if session is None and program.timers:
        usage(launch, "run: every() needs events: name one with on() or count()")
    status = run_all(launch, sonde, package, facts, program, stage, stop, rules, leave_out, context,
                     live, session, is_own, misfit=launch.misfits)
    sys.exit(status)


def run_all(launch, sonde, package, facts, program, stage, stop, rules, leave_out, context, live,
            session, is_own, misfit):
    """Calls everything; returns the exit status."""
    run = package._program.Run(program, session, live, facts)

    def describe():
        return run.describe()

    if session is None:
        launch.guarded(lambda: run.run_without_events(), rules)
        return run.status
    stop.begin(live.stop if live else session.stop)
    timer = None
    if live:
        live.start()
        if facts.seconds:
            import threading
            timer = threading.Timer(facts.seconds, live.stop)
            timer.daemon = True
            timer.start()
    if is_own:
        failed = lambda: run_failed(live)  # noqa: E731
        launch.guarded(lambda: run_own(launch, sonde, rules, run), rules, describe, failed)
    else:
        run_perf_style(launch, sonde, facts, stage, rules, leave_out, context, live, session)
    if timer:
        timer.cancel()
    if live:
        live.stop()
    line = session.defects_line
    launch.flush()
    status = None
    if live:
        try:
            status = finish_live(launch, live)
        except sonde.Error as e:
            launch.say(launch.causes(e))
            return getattr(e, "status", 1)
    if line:
        launch.say(line)
    if status and facts.command:
        launch.say("%s ended with status %d" % (facts.command[0], status))
    return run.status


def run_failed(live):
    if live:
        live.stop()


def run_own(launch, sonde, rules, run):
    try:
        run.run()
    except sonde.Error as e:
        if launch.own_frames_off(e.__traceback__) is not None and run.current is not None:
            raise
        launch.say(launch.causes(e))
        sys.exit(rules.status_failed)


def run_perf_style(launch, sonde, facts, stage, rules, leave_out, context, live, session):
    run = sonde._run(session, stage, launch.with_log(leave_out.how_read), launch.misfits(rules),
                     leave_out.is_traced, os.environ.get("SONDE_EAGER", "0") not in ("", "0"),
                     launch.show_now if live else None)
    context._rules, context._arch = rules, session.info("arch")
    context.perf_script_context = stage["perf_script_context"] = run.context
    launch.guarded(lambda: launch.call_if_there(stage, "trace_begin"), rules)
    launch.guarded_run(sonde, run, session, rules, lambda: None)
    launch.guarded(lambda: launch.call_if_there(stage, "trace_end"), rules)
