# SPDX-License-Identifier: MIT
"""The launcher: sets up the environment that perf scripts expect, then delivers the events."""

import os
import sys
from importlib.machinery import (EXTENSION_SUFFIXES, ExtensionFileLoader, ModuleSpec, PathFinder,
                                 SourceFileLoader)

LIB = os.path.dirname(__file__)
HERE = os.path.dirname(LIB)
PACKAGE = HERE + "/module/sonde"
OURS = (HERE + "/prelude.py", __file__, LIB + "/leave_out.py", LIB + "/run.py",
        PACKAGE + "/_program.py")


def quiet(text):
    """Escapes control characters except tab and newline: text with names from recordings may
    reach a terminal."""
    return "".join(c if c in "\n\t" or " " <= c < "\x7f" or "\xa0" <= c < "\udc80" or c > "\udcff"
                   else "\\x%02x" % (ord(c) & 0xff)
                   for c in text)


def say(text):
    try:
        sys.stderr.write("sonde: %s\n" % quiet(text))
    except (OSError, ValueError, AttributeError):
        pass


def verbose(text):
    if "SONDE_PRELUDE_VERBOSE" in os.environ:
        say(text)


def misfits(rules):
    """The function that reports misfits: parameters whose name is no field's. A misfit that gets
    no value ends the script."""
    is_silent = os.environ.pop("SONDE_VERBOSE", "0") == "0" and rules.passes_over_handlers
    reported = set()

    def report(func, handler, sentences, ends):
        code = getattr(func, "__code__", None)
        where = "%s:%d: " % (code.co_filename, code.co_firstlineno) if code is not None else ""
        for line in ("%s%s(): %s" % (where, handler, sentence) for sentence in sentences):
            if line not in reported and not is_silent:
                flush()
                say(line)
            reported.add(line)
        if ends and not rules.binds_by_place:
            rules.exit()

    return report


def with_log(how_read):
    """how_read; in verbose mode it also logs each decision to stderr."""
    if "SONDE_PRELUDE_VERBOSE" not in os.environ:
        return how_read

    def decide(func, name):
        how = how_read(func, name)
        code = getattr(func, "__code__", None)
        say("%s:%s: %s is %s" % (getattr(code, "co_filename", "?"),
                                 getattr(code, "co_firstlineno", "?"), name or "*",
                                 ("built for each event", "left out until somebody reads it",
                                  "read by single keys", "read by single keys")[how]))
        return how

    return decide


interpreter_why = ""


class Rules:
    """The rules of the session, by the names of struct sonde_rules."""

    def __init__(self, values):
        self.__dict__.update(values)

    def exit(self):
        """Ends a failed run: the recording or the script cannot be read, or the script raised."""
        sys.exit(self.status_failed)


# ---- our own parts, by absolute path -------------------------------------------------------------


def load_source(name, path):
    """Loads a module of ours without a name in sys.modules: scripts neither see nor shadow it."""
    module = type(sys)(name)
    module.__file__ = path
    exec(SourceFileLoader(name, path).get_code(name), module.__dict__)
    return module


class OnlyLibrary:
    """Imports in this block come from the standard library, even if the script's folder has a
    dis.py or re.py."""

    def __enter__(self):
        self.path = sys.path[:]
        self.before = set(sys.modules)
        library = os.path.dirname(os.__file__)
        sys.path[:] = [p for p in self.path if p and
                       (p == library or p.endswith((".zip", "/lib-dynload")))]
        return self

    def __exit__(self, *error):
        sys.path[:] = self.path
        self.imported = set(sys.modules) - self.before


def forget_shadowed(names):
    """Forgets modules that we imported if the script's own search finds another one of that
    name."""
    for name in names:
        spec = getattr(sys.modules.get(name), "__spec__", None)
        origin = getattr(spec, "origin", None)
        if "." in name or not origin or origin in ("built-in", "frozen"):
            continue
        found = PathFinder.find_spec(name)
        if found is not None and found.origin != origin:
            del sys.modules[name]


def extension_path():
    """The build for exactly this interpreter, or else the newest limited API that it supports."""
    exact = [PACKAGE + "/_sonde" + s for s in EXTENSION_SUFFIXES if "cpython-" in s]
    limited = [PACKAGE + "/_sonde.abi3.so"]
    if sys.version_info >= (3, 12):
        limited.insert(0, PACKAGE + "/abi3-312/_sonde.abi3.so")
    if ".abi3.so" not in EXTENSION_SUFFIXES:  # a free-threaded Python has no limited API
        limited = []
    for path in exact + limited:
        if os.path.exists(path):
            return path
    raise ImportError("no build of the extension in %s" % PACKAGE)


def load_extension(name, path):
    loader = ExtensionFileLoader(name, path)
    spec = ModuleSpec(name, loader, origin=path)
    module = loader.create_module(spec)
    module.__spec__ = spec
    module.__file__ = path
    module.__loader__ = loader
    loader.exec_module(module)
    return module


class OurFinder:
    """`import sonde` in a script gives the package of the extension that runs it, unless the script
    has its own. An installed package is not the script's own: it may be of another version."""

    def __init__(self, extension):
        self.extension = extension

    def find_spec(self, name, path=None, target=None):
        if name != "sonde":
            return None
        found = PathFinder.find_spec(name)
        origin = found.origin or "" if found is not None else ""
        is_wheel = os.path.exists(os.path.dirname(origin) + "/libsonde.so.0")
        # A folder without __init__.py has no origin: it is not a module that somebody meant.
        if origin and not is_wheel and not origin.endswith(
                "/python/module/sonde/__init__.py"):
            return None
        file = PACKAGE + "/__init__.py"
        sys.modules["sonde._sonde"] = self.extension
        spec = ModuleSpec(name, SourceFileLoader(name, file), origin=file, is_package=True)
        spec.submodule_search_locations.append(PACKAGE)
        spec.has_location = True
        return spec


def causes(error):
    """The text of an exception of the extension."""
    if isinstance(error, MemoryError):
        return "out of memory"
    return getattr(error, "strerror", None) or str(error)


# ---- the script ----------------------------------------------------------------------------------


def chosen_by():
    """Takes the reason for choosing this interpreter out of the environment of child processes."""
    global interpreter_why
    interpreter_why = os.environ.pop("SONDE_INTERPRETER_WHY", "")


def say_which_python(error):
    """Another Python may have the missing module: reports which one runs, why, and how to
    choose."""
    if interpreter_why and error.name:
        say("%s (Python %d.%d) has no module %s; it was chosen by: %s; --interpreter PYTHON or "
            "SONDE_PYTHON=PYTHON choose another one" %
            ((sys.executable or "the interpreter",) + sys.version_info[:2] +
             (error.name, interpreter_why)))


def read_session():
    chosen_by()
    fd = int(os.environ.pop("SONDE_SESSION_FD"))
    with open(fd, "rb") as f:
        return f.read().decode("utf-8", "surrogateescape")


def read_config():
    """The configuration: names and values, each ended by a NUL; of equal names the last counts."""
    fd = os.environ.pop("SONDE_CONFIG_FD", None)
    if fd is None:
        return {}
    with open(int(fd), "rb") as f:
        words = f.read().decode("utf-8", "surrogateescape").split("\0")
    return dict(zip(words[0::2], words[1::2]))


def set_stage(main, script, args):
    """Makes __main__ as plain python does."""
    builtins = main["__builtins__"]
    main.clear()
    main.update(__name__="__main__", __doc__=None, __package__=None,
                __loader__=SourceFileLoader("__main__", script), __spec__=None, __annotations__={},
                __builtins__=builtins, __file__=script)
    sys.argv[:] = [script] + args
    sys.path.insert(0, os.path.dirname(os.path.realpath(script)))
    os.environ.setdefault("PERF_EXEC_PATH", LIB)


def compile_script(script, rules):
    try:
        with open(script, "rb") as f:
            source = f.read()
    except OSError as e:
        say("%s: %s" % (script, e.strerror))
        rules.exit()
    return compile_source(script, source, rules)


def compile_source(script, source, rules):
    try:
        return compile(source, script, "exec", dont_inherit=True)
    except SyntaxError as e:
        e.filename = e.filename or script  # unset for NUL bytes
        if not say_python2(script, e, source):
            show(type(e), e, None)
        rules.exit()
    except ValueError as e:  # NUL bytes, in older Pythons
        say("%s: %s" % (script, e))
        rules.exit()


def python2():
    """Loads the knowledge about Python 2, which only failed scripts need."""
    with OnlyLibrary():
        return load_source("sonde_python2", LIB + "/python2.py")


def say_python2(file, error, source=None):
    """True if a file that cannot be compiled is Python 2; reports that."""
    try:
        if source is None:
            with open(file, "rb") as f:
                source = f.read()
    except OSError:
        return False
    old = python2()
    if not old.is_syntax(source, error):
        return False
    say("%s:%d: this is Python 2%s" % (file, error.lineno or 1, old.CONVERT % file))
    return True


def own_frames_off(tb):
    """The traceback without our frames."""
    while tb is not None and tb.tb_frame.f_code.co_filename in OURS:
        tb = tb.tb_next
    return tb


def culprit(tb):
    """The file whose code raised: the script, or a module of the user."""
    library = os.path.dirname(os.__file__)
    file = sys.argv[0]
    while tb is not None:
        name = tb.tb_frame.f_code.co_filename
        if os.path.exists(name) and not name.startswith(library):
            file = name
        tb = tb.tb_next
    return file


def show(kind, error, tb):
    flush()
    tb = own_frames_off(tb)
    try:
        sys.excepthook(kind, error.with_traceback(tb), tb)
    except Exception as e:  # the script's hook failed: the output is plain python's
        hooks = own_frames_off(e.__traceback__)
        e.__context__ = None
        sys.stderr.write("Error in sys.excepthook:\n")
        sys.__excepthook__(type(e), e.with_traceback(hooks), hooks)
        sys.stderr.write("\nOriginal exception was:\n")
        sys.__excepthook__(kind, error.with_traceback(tb), tb)
    if isinstance(error, (AttributeError, ImportError, NameError, TypeError)):
        line = python2().advice(error, culprit(tb))
        if line:
            say(line)
        elif isinstance(error, ModuleNotFoundError):
            say_which_python(error)
    elif isinstance(error, SyntaxError) and error.filename:  # in a module of the script
        say_python2(error.filename, error)


def flush():
    try:
        sys.stdout.flush()
    except (OSError, ValueError, AttributeError):
        pass


def comes_live(session):
    """True if a recording is read from a pipe."""
    for path in (line[len("input="):] for line in session.splitlines()
                 if line.startswith("input=")):
        try:
            mode = os.fstat(0).st_mode if path == "-" else os.stat(path).st_mode
        except OSError:
            continue
        if mode & 0o170000 in (0o010000, 0o140000):  # FIFO, socket
            return True
    return False


def show_now():
    """Flushes output while the script waits for events, also to a pipe or a file."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except (OSError, ValueError, AttributeError):
        pass


def wipe_before_writing(wipe):
    """
    The progress line ends with the first byte that the script writes to stderr through Python's own
    object, by whatever function. sys.stderr stays the same object; only its raw file has another
    write() until then. Output of a child or of other code to descriptor 2 appears after the line.
    """
    raw = getattr(sys.stderr, "buffer", None)
    raw = getattr(raw, "raw", raw)

    def write(data):
        del raw.write
        wipe()
        return raw.write(data)

    try:
        raw.write = write
    except AttributeError:  # stderr has no raw file
        wipe()


def nobody_reads(fd):
    with OnlyLibrary():
        import select

    poll = select.poll()
    poll.register(fd, 0)
    return any(events & select.POLLERR for _, events in poll.poll(0))


def stdout_is_closed(asked=False):
    """True if the reader has closed stdout: the script then ends without messages, also at exit."""
    try:
        if not asked:
            sys.stdout.flush()
            return False
        fd = sys.stdout.fileno()
        if not nobody_reads(fd):
            return False
    except BrokenPipeError:
        fd = sys.stdout.fileno()
    except (OSError, ValueError, AttributeError):
        return False
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, fd)
    os.close(null)
    return True


def guarded(step, rules, describe=None, after=None):
    """Calls step(), code of the script. Returns True to go on. An exception ends the script."""

    def failed(error):
        show(type(error), error, error.__traceback__)
        where = describe() if describe else None
        if where:
            say("in the handler of this event: %s" % where)
        if after:
            after()
        rules.exit()

    try:
        step()
        return True
    except SystemExit:
        raise
    except BrokenPipeError as e:
        if stdout_is_closed(asked=True):
            sys.exit(0)
        failed(e)
    except KeyboardInterrupt as e:
        if describe is None:
            show(type(e), e, e.__traceback__)
            sys.exit(rules.status_interrupted)
        return False
    except BaseException as e:
        failed(e)


def call_if_there(main, name):
    func = main.get(name)
    if callable(func):
        func()


# ---- handlers ------------------------------------------------------------------------------------


def handlers(main):
    """Names of the script's tracepoint handlers."""
    for name, value in list(main.items()):
        system, sep, event = name.partition("__")
        if sep and system and event and not name.startswith(("_", "stat__")) and callable(value):
            if not isinstance(value, type) and not name.endswith("__"):
                yield name


def nearest(name, known, find):
    """The handler that was probably meant. Handlers are compared as event names, system:name."""

    def event(handler):
        return handler.replace("__", ":", 1).encode("utf-8", "surrogateescape")

    handlers = {event(handler): handler for handler in known}
    return handlers.get(find(event(name), list(handlers)))


def uses_package(code):
    """True if a script may declare what it needs by the module sonde, as scripts of `sonde run` do:
    it imports the module, and defines no function that is called by name."""
    names = code.co_names
    return "sonde" in names and not any(
        name in CALLED_BY_NAME or "__" in name.strip("_") for name in names)


def refuse_mixture(main, script, extension):
    """Refuses handlers of the module sonde in a script that has functions called by name, too."""
    package = sys.modules.get("sonde")
    if getattr(package, "_sonde", None) is not extension:
        return
    if not package._program.programs(main).is_empty:
        say("%s: it has functions that are called by name, as perf's scripts have, and uses on(), "
            "count() or others of the module sonde: use sonde.on() for all" % script)
        sys.exit(2)


def functions(main, script):
    """Names of the script's own functions, except those that are called by these names."""
    for name, value in list(main.items()):
        code = getattr(value, "__code__", None)
        if (code is not None and code.co_filename == script and code.co_name != "<lambda>" and
            not name.startswith("_")):
            if name not in CALLED_BY_NAME:
                yield name


CALLED_BY_NAME = ("trace_begin", "trace_end", "trace_unhandled", "process_event", "trace_lost",
                  "trace_defect")


def listing(hints, main):
    """Functions with their lines and hints, as reports print them."""
    for name, hint in hints.items():
        code = getattr(main[name], "__code__", None)
        more = ["line %d" % code.co_firstlineno] if code is not None else []
        if hint:
            more.append(hint)
        yield "%s()%s" % (name, " (%s)" % "; ".join(more) if more else "")


def warn_never_called(main, script, schemas, find, met):
    """
    Reports, in one line, handlers of events that the recording does not have. met is None, or, if
    there were samples but the script got none of them, the handlers of those samples. In that case
    the line also has handlers of events that did not happen, and other functions whose names
    resemble a handler's. This is reported at the end, because the schemas of a pipe arrive with
    their events.
    """
    known = [s.name.replace(":", "__", 1) for s in schemas if s.kind == "tracepoint"]
    handled = list(handlers(main))
    # Scripts may have handlers for events of several kernels: those names are no suggestions.
    others = [name for name in known if name not in handled]
    hints = {}

    def add_hint(name, candidates, is_handler):
        meant = nearest(name, candidates, find)
        if meant or is_handler:
            hints[name] = "did you mean %s()?" % meant if meant else None

    for name in handled:
        if name not in known and not getattr(main[name], "may_be_absent", False):
            add_hint(name, others, True)
    if met is None:
        if hints:
            say("%s: never called: %s; no event of this recording has such a name" %
                (script, ", ".join(listing(hints, main))))
        return
    for name in handled:
        if name in known:
            hints[name] = "its event did not happen"
    for name in functions(main, script):
        if name not in hints:
            add_hint(name, others + ["trace_unhandled", "process_event"], False)
    there = [*functions(main, script),
             *(name for name in ("trace_unhandled", "process_event") if callable(main.get(name)))]
    if hints or there:
        what = ("never called: " + ", ".join(listing(hints, main)) if hints
                else "none of its functions is ever called")
        came = sorted(name for name in known if name in met and name not in handled)
        calls = (came[:3] + ["trace_unhandled"] * bool(came) +
                 ["process_event"] * ("process_event" in met))
        say("%s: %s; the events of this recording call %s" %
            (script, what, ", ".join(name + "()" for name in calls)))


# ---- the script's run ----------------------------------------------------------------------------


class Interrupts:
    """
    Ctrl-C. `sonde script` starts Python with SIGINT blocked, so that it cannot interrupt Python's
    own start. Until the script's code runs, SIGINT silently ends the process. While events are
    handled, the current handler finishes and no further event is delivered; a second SIGINT acts
    as in plain python. Before the events SIGINT acts as in plain python, but in a live run as it
    does during the events.
    """

    def __init__(self):
        import _signal
        self.signal = _signal
        self.came = False
        # If not, our parent has SIGINT ignored.
        self.is_default = _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler
        if self.is_default:
            _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
        _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (_signal.SIGINT,))

    def hand_over(self, session, is_live):
        """Called when the script's code starts to run."""
        self.session = session
        if self.is_default:
            self.signal.signal(self.signal.SIGINT,
                               self.stop if is_live else self.signal.default_int_handler)

    def __enter__(self):
        if self.signal.getsignal(self.signal.SIGINT) is self.signal.default_int_handler:
            self.signal.signal(self.signal.SIGINT, self.stop)

    def stop(self, number, frame):
        self.came = True
        self.session.stop()
        self.signal.signal(number, self.signal.default_int_handler)

    def __exit__(self, *error):
        if self.signal.getsignal(self.signal.SIGINT) == self.stop:
            self.signal.signal(self.signal.SIGINT, self.signal.default_int_handler)


def main(stage):
    if "SONDE_RUN_FD" in os.environ:
        ours = type(sys)("sonde_launch")
        ours.__dict__.update(globals())
        load_source("sonde_run", LIB + "/run.py").main(stage, ours)
    interrupts = Interrupts()
    import atexit

    script, args = sys.argv[1], sys.argv[2:]
    text = read_session()
    config = read_config()
    with OnlyLibrary() as library:
        leave_out = load_source("sonde_leave_out", LIB + "/leave_out.py")
    path = extension_path()
    verbose("Python %d.%d.%d (%s), extension %s" % (sys.version_info[:3] + (sys.executable, path)))
    sonde = load_extension("sonde._sonde", path)
    rules = Rules(sonde._rules(text.encode("utf-8", "surrogateescape")))
    context = load_extension("perf_trace_context", path)
    sys.modules["perf_trace_context"] = context
    context._config.update(config)
    sys.meta_path.insert(0, OurFinder(sonde))
    atexit.register(stdout_is_closed)  # registered first, so that it runs last
    if getattr(sys.stdout, "errors", None) == "strict":
        # Bytes of the recording that are not UTF-8 pass through.
        sys.stdout.reconfigure(errors="surrogateescape")

    set_stage(stage, script, args)
    forget_shadowed(library.imported)
    code = compile_script(script, rules)
    is_live = comes_live(text)
    is_executed = uses_package(code)
    if is_executed:
        ours = type(sys)("sonde_launch")
        ours.__dict__.update(globals())
        load_source("sonde_run", LIB + "/run.py").run_if_declared(
            stage, ours, sonde, rules, context, interrupts, text, code)
    if is_live or "\nprogress=1\n" not in text:
        sonde._wipe_progress()
    else:
        wipe_before_writing(sonde._wipe_progress)
        if interrupts.is_default:
            sonde._wipe_at_interrupt()
    try:
        session = sonde.session(text + "events=all\n")
    except (sonde.Error, MemoryError) as e:
        say(causes(e))
        rules.exit()
    interrupts.hand_over(session, is_live)
    run = sonde._run(session, stage, with_log(leave_out.how_read), misfits(rules),
                     leave_out.is_traced, os.environ.get("SONDE_EAGER", "0") not in ("", "0"),
                     show_now if is_live else None)
    context._rules, context._arch = rules, session.info("arch")  # for Util and our analyses

    def unmatched():
        # After an interrupt the list of event types may be incomplete.
        if not rules.passes_over_handlers and not (is_live and interrupts.came):
            warn_never_called(stage, script, session.schemas, sonde._nearest,
                              run.met if run.is_idle else None)

    if not is_executed:
        guarded(lambda: exec(code, stage), rules)
        refuse_mixture(stage, script, sonde)
    if rules.drops_file_name:
        stage.pop("__file__", None)
    context.perf_script_context = stage["perf_script_context"] = run.context
    guarded(lambda: call_if_there(stage, "trace_begin"), rules)
    with interrupts:
        guarded_run(sonde, run, session, rules, unmatched)
    unmatched()
    line = session.defects_line
    strict = os.environ.pop("SONDE_STRICT", "")
    nothing = session.filters_line
    fails = any(strict == "1" or strict == "loss" and d.severity != "info"
                for d in session.defects)
    fails = (fails or strict == "1" and
             (nothing != "" or run.is_idle and not rules.passes_over_handlers))
    session.close()
    guarded(lambda: call_if_there(stage, "trace_end"), rules)
    for text in (nothing, line):
        if text:
            flush()
            say(text)
    if fails:
        sys.exit(3)


def guarded_run(sonde, run, session, rules, after):
    def events():
        try:
            run.run()
        except sonde.Error as e:
            if own_frames_off(e.__traceback__) is not None or run.describe():
                raise  # raised by the script, for a session that it opened
            say(causes(e))
            if session.defects_line:
                say(session.defects_line)
            rules.exit()
        finally:
            sonde._wipe_progress()

    return guarded(events, rules, run.describe, after)
