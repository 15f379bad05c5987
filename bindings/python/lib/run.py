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
        self.program, self.broker_fd = one.get("program"), int(one.get("broker", 0))
        self.has_sudo = "sudo" in one or bool(self.broker_fd)
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
    try:
        for unit, factor in (("ms", 1e-3), ("us", 1e-6), ("s", 1), ("m", 60), ("h", 3600)):
            if text.endswith(unit):
                value = float(text[:-len(unit)]) * factor
                break
        else:
            value = float(text)
    except ValueError:
        raise ValueError(text) from None
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
        self.has_come = False

    def opening(self):
        """While events are opened Ctrl-C ends the process at once: nothing is recorded yet."""
        if self.is_default and (self.signal.getsignal(self.signal.SIGINT) is
                                self.signal.default_int_handler):
            self.signal.signal(self.signal.SIGINT, self.signal.SIG_DFL)

    def begin(self, end):
        self.end = end
        if self.is_default:
            self.signal.signal(self.signal.SIGINT, self.stop)
        if self.signal.getsignal(self.signal.SIGTERM) == self.signal.SIG_DFL:
            self.signal.signal(self.signal.SIGTERM, self.stop)

    def stop(self, number, frame):
        self.has_come = True
        self.signal.signal(number, self.signal.default_int_handler if
                           number == self.signal.SIGINT else self.signal.SIG_DFL)
        self.end()


def wrong_words(sonde):
    """The exceptions for what a script or a command line names wrongly: status 2."""
    return sonde.OptionError, sonde.UnknownEvent, sonde.UnknownField


def usage(launch, text):
    launch.say(text)
    sys.exit(2)


# ---- what is recorded ----------------------------------------------------------------------------


def check_perf_event(launch, sonde, package, name, where):
    """Ends the script if this machine does not have the event of a function that is named like
    perf's handlers. If this user may not read tracefs the recorder then reports what is wrong."""
    wrong, _ = package._program.Needs(package._program.Program(), [name]).check_events()
    if wrong:
        usage(launch, where + wrong)


def check_users(launch, needs):
    """Ends the script if an event does not have a field that the script names. Reports types that
    handlers cannot take."""
    wrong, lines = needs.check_users()
    for line in lines:
        launch.say(line)
    if wrong:
        usage(launch, wrong)


def perf_names(launch, sonde, package, stage):
    """The events of functions that are named like perf's handlers."""
    names = []
    for handler in launch.handlers(stage):
        name = handler.replace("__", ":", 1)
        code = getattr(stage[handler], "__code__", None)
        where = "%s:%d: %s() can never be called: " % (
            code.co_filename if code else "?", code.co_firstlineno if code else 0, handler)
        check_perf_event(launch, sonde, package, name, where)
        names.append(name)
    return names


def words_of(sonde, events):
    return [w for w in sonde._words(events) if w]


def split_events(sonde, facts):
    """(names that are recorded completely, what is passed on unchanged): the events of the line
    `# sonde:` and of options. Events with a filter of their own are passed on."""
    names, rest, events = [], [], facts.events
    for i, (text, condition, cgroup) in enumerate(events):
        is_filtered = i + 1 < len(events) and events[i + 1][1] is not None
        if text and not is_filtered:
            names += words_of(sonde, text)
        else:
            rest.append((text, condition, cgroup))
    return names, rest


def all_events(sonde, facts, filters, rest, named):
    """What the recorder is given: (events, filter, cgroup). named: what the script's functions
    name."""
    is_sampled = facts.setting("freq") or facts.setting("count")
    own = {w for text, _, _ in rest if text for w in words_of(sonde, text)}
    events = []
    for name, condition in filters.items():
        if name in own:
            continue
        events.append((name if is_sampled or name not in named else sonde._each_occurrence(name),
                       None, None))
        if condition:
            events.append((None, condition, None))
    return events + [e for e in rest if e[2] is None] + [e for e in rest if e[2] is not None]


def has_target(facts):
    return bool(facts.command or any(e[2] for e in facts.events) or
                any(facts.setting(k) for k in ("all-cpus", "pid", "tid", "cpu")))


def recorder_settings(facts, needed):
    lines = []
    if facts.setting("mmap-pages") is None and (facts.has_sudo or not os.geteuid()):
        lines.append("mmap-pages=8M")
    lines += [line for line in needed.splitlines()
              if facts.setting(line.partition("=")[0]) is None]
    return "\n".join(lines + [facts.settings])


# ---- the script's run ----------------------------------------------------------------------------


def say_lines(launch, live):
    for level, text in live.lines():
        if level == 0:
            launch.flush()
            launch.say(text)


def open_session(launch, sonde, package, facts, program, names, text):
    """(the recorder or None, the session, {name: filter of the kernel})"""
    own = package._program
    given, rest = split_events(sonde, facts)
    needs = own.Needs(program, given + names if facts.is_live else ())
    filters = needs.wants() if facts.is_live else {}
    if not filters and not rest and program.timers and has_target(facts):
        filters = {"dummy": None}  # timers without events end with the command
    if not facts.is_live:
        session = sonde.session(text + needs.lines())
        needs.learn(session)
        check_users(launch, needs)
        return None, session, {}
    if len([name for name in filters if sonde._is_glob(name)]) > 1 and not sonde._tracepoints():
        usage(launch, "run: several patterns may name one event twice, and you have no right to "
              "read the list of events: name the events, or give one pattern")
    wrong, may_read = needs.check_events()
    if wrong:
        usage(launch, wrong)
    if may_read:
        check_users(launch, needs)
    users = program.handlers + program.aggregates
    events = all_events(sonde, facts, filters, rest, {p for user in users for p in user.events})
    if not any(e[0] for e in events):
        if program.timers and not facts.is_dry:
            return None, None, {}
        if facts.command or facts.is_dry:
            usage(launch, "run: the script needs no event, so there is nothing to record%s" % (
                "; %s was not started" % facts.command[0] if facts.command else ""))
        return None, None, {}
    settings = recorder_settings(facts, needs.settings())
    if facts.is_dry:
        print(sonde._record_line(events, settings, facts.command, facts.output))
        sys.exit(0)
    if not has_target(facts):
        usage(launch, "run: say what to record: -a, -p PID, -t TID, -G CGROUP, -C CPUS, or a "
                      "command behind --; -i FILE reads a recording")
    live = sonde._live(events, settings, facts.command or None, facts.latency, facts.output,
                       *package._live.starter(facts.has_sudo))
    say_lines(launch, live)
    if own.use_clock(program):
        needs = own.Needs(program)
    session = live.session(text + needs.lines())
    needs.learn(session)  # also of events that are no tracepoints
    check_users(launch, needs)
    return live, session, filters


def load_package(launch, sonde):
    """The package sonde over this extension, as `import sonde` in the script gives it."""
    from importlib.machinery import PathFinder
    try:
        package = __import__("sonde")
    except Exception:
        package = None  # it imports itself for sonde
    if getattr(package, "_sonde", None) is not sonde:
        found = PathFinder.find_spec("sonde")
        launch.say("%s is in the way of the module sonde: give it another name" % (
            getattr(found, "origin", None) or "a module of the script's folder"))
        sys.exit(1)
    return package


def declaration_is_wrong(launch, package, error):
    """Ends the script: one of its lines gave a wrong value to a function of the module sonde."""
    own, place, tb = os.path.dirname(package.__file__), "", error.__traceback__
    while tb is not None:
        file = tb.tb_frame.f_code.co_filename
        if file not in launch.OURS and not file.startswith(own):
            place = "%s:%d: " % (file, tb.tb_lineno)
        tb = tb.tb_next
    usage(launch, place + launch.causes(error))


def run_statements(launch, sonde, package, rules, interrupts, code, stage):
    """Executes the script's own statements. Returns what it declares. exit() ends the process."""
    exits = []

    def top_level():
        try:
            exec(code, stage)
        except package._program.Exit as e:
            exits.append(e.status)
        except sonde.OptionError as e:
            declaration_is_wrong(launch, package, e)

    sonde._wipe_progress()
    if interrupts.is_default:
        interrupts.signal.signal(interrupts.signal.SIGINT, interrupts.signal.default_int_handler)
    launch.guarded(top_level, rules)
    if exits:
        sys.exit(exits[0])
    return package._program.programs(stage)


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
    facts.is_pipe = launch.comes_live(text)
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
    if facts.broker_fd:
        os.set_inheritable(facts.broker_fd, False)
    package._live.Rights.program = facts.program
    package._live.Rights.broker_fd = facts.broker_fd
    target = facts.setting("pid") or ""
    stage["__sonde_target__"] = int(target) if target.isdigit() else None
    stage["__sonde_is_live__"] = facts.is_live
    stage["__sonde_output__"] = facts.format, facts.top  # for our analyses
    if facts.code is not None:
        sys.argv[0], sys.path[0] = "-e", ""  # as python -c does
        del stage["__file__"]
        stage.update((name, getattr(package, name)) for name in package.__all__
                     if name[0].islower())
        stage.update(sonde=package, args=sys.argv[1:], target=stage["__sonde_target__"],
                     is_live=facts.is_live)
    context._rules, context._arch = rules, os.uname().machine  # for our analyses
    if facts.code is None:
        code = launch.compile_script(script, rules)
    else:
        source = (facts.code + "\n").encode("utf-8", "surrogateescape")
        code = launch.compile_source("-e", source, rules)
    program = run_statements(launch, sonde, package, rules, interrupts, code, stage)
    is_own = not program.is_empty
    perf_style = list(launch.handlers(stage))
    if perf_style and not program.is_empty:
        usage(launch, "run: %s() has the name of an event, as handlers of `sonde script` have, and "
              "the script also uses functions of the module sonde: use sonde.on() for all" %
              perf_style[0])
    if facts.setting("output") or facts.setting("compression-level"):
        usage(launch, "run: the line '# sonde: record' cannot name an output; -o of sonde run does")
    if facts.is_live:
        launch.flush()
        stop.opening()
    names = perf_names(launch, sonde, package, stage) if facts.is_live else []
    try:
        live, session, kernel = open_session(launch, sonde, package, facts, program, names, text)
    except (sonde.Error, MemoryError) as e:
        launch.say(launch.causes(e))
        is_missing = facts.command and isinstance(e, FileNotFoundError)
        is_usage = isinstance(e, wrong_words(sonde)) or (
            getattr(e, "errno", 0) == 53)  # EBADR: an event or a filter is wrong
        sys.exit(127 if is_missing else 2 if is_usage else rules.status_failed)
    try:
        status = run_all(launch, sonde, package, facts, program, stage, stop, rules, leave_out,
                         context, live, session, kernel, is_own)
    except KeyboardInterrupt:  # the second Ctrl-C, while the script was ending
        status = rules.status_interrupted
    sys.exit(status)


def run_all(launch, sonde, package, facts, program, stage, stop, rules, leave_out, context, live,
            session, kernel, is_own):
    """Calls everything; returns the exit status."""
    try:
        run = package._program.Run(program, session, live, facts, kernel)
    except sonde.Error as e:
        usage(launch, launch.causes(e))
    if session is None:
        stop.begin(run.stop)
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
    is_whole = True
    if is_own:
        is_whole = launch.guarded(lambda: run_own(launch, sonde, rules, run), rules, run.describe,
                                  lambda: run_failed(live))
    else:
        run_perf_style(launch, sonde, facts, stage, rules, leave_out, context, live, session)
    is_stopped = stop.has_come or run.has_exited or bool(facts.seconds)
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
            return rules.status_failed
        except KeyboardInterrupt:
            return rules.status_interrupted
    if line:
        launch.say(line)
    if status and facts.command and not (is_stopped and status == 128 + 15):
        launch.say("%s ended with status %d" % (facts.command[0], status))
    return run.status if is_whole else rules.status_interrupted


# ---- sonde script --------------------------------------------------------------------------------


class NoFacts:
    """`sonde script` has no options of `sonde run`."""
    format = seconds = None
    top = 0


def run_if_declared(stage, launch, sonde, rules, context, interrupts, text, code):
    """For `sonde script`: executes a script that imports the module sonde. If it declares handlers
    or aggregations, reads the events for them and ends the process; otherwise returns."""
    context._rules, context._arch = rules, os.uname().machine  # for our analyses
    stage["__sonde_is_live__"] = launch.comes_live(text)
    package = load_package(launch, sonde)
    program = run_statements(launch, sonde, package, rules, interrupts, code, stage)
    if not program.is_empty:
        sys.exit(run_declared(launch, sonde, package, program, rules, interrupts, text))


def run_declared(launch, sonde, package, program, rules, interrupts, text):
    """Returns the exit status."""
    try:
        session = sonde.session(text + package._program.Needs(program).lines())
    except (sonde.Error, MemoryError) as e:
        launch.say(launch.causes(e))
        return rules.status_failed
    stop = Stop(interrupts)
    try:
        run = package._program.Run(program, session, None, NoFacts,
                                   is_live=launch.comes_live(text))
    except sonde.Error as e:
        usage(launch, launch.causes(e))
    stop.begin(session.stop)
    is_whole = launch.guarded(lambda: run_own(launch, sonde, rules, run), rules, run.describe)
    line, nothing = session.defects_line, session.filters_line
    strict = os.environ.pop("SONDE_STRICT", "")
    fails = any(strict == "1" or strict == "loss" and d.severity != "info"
                for d in session.defects) or strict == "1" and nothing != ""
    session.close()
    for words in (nothing, line):
        if words:
            launch.flush()
            launch.say(words)
    return 3 if fails else run.status if is_whole else rules.status_interrupted


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
        sys.exit(2 if isinstance(e, wrong_words(sonde)) else rules.status_failed)


def run_perf_style(launch, sonde, facts, stage, rules, leave_out, context, live, session):
    run = sonde._run(session, stage, launch.with_log(leave_out.how_read), launch.misfits(rules),
                     leave_out.is_traced, os.environ.get("SONDE_EAGER", "0") not in ("", "0"),
                     launch.show_now if live else None)
    context._rules, context._arch = rules, session.info("arch")
    context.perf_script_context = stage["perf_script_context"] = run.context

    def report():
        launch.warn_never_called(stage, sys.argv[0], session.schemas, sonde._nearest, None)

    # A live run has reported it before; the event types of a pipe come with its events.
    if not live and not facts.is_pipe:
        report()
    launch.guarded(lambda: launch.call_if_there(stage, "trace_begin"), rules)
    launch.guarded_run(sonde, run, session, rules, lambda: None)
    if not live and facts.is_pipe:
        report()
    launch.guarded(lambda: launch.call_if_there(stage, "trace_end"), rules)
