# SPDX-License-Identifier: MIT
"""The interactive shell over recordings. Only `sonde shell` starts it.

    python3 [-i] /abs/path/lib/shell.py FILE...

IPython runs if this Python has it, else Python itself. `sonde` is the package beside this file, and
`rec` the open recording. Without a terminal (no -i) standard input is a program with these names.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.join(os.path.dirname(HERE), "module", "sonde")


def load_sonde():
    """Our package, also if another one is installed."""
    from importlib.util import module_from_spec, spec_from_file_location
    spec = spec_from_file_location("sonde", PACKAGE + "/__init__.py",
                                   submodule_search_locations=[PACKAGE])
    module = module_from_spec(spec)
    sys.modules["sonde"] = module
    spec.loader.exec_module(module)
    return module


# ---- completion ----------------------------------------------------------------------------------


def quoted(before):
    """(the text before an open quote, the text behind it); None outside of quotes."""
    quote, at = None, 0
    for i, c in enumerate(before):
        if quote is None and c in "\"'":
            quote, at = c, i
        elif c == quote:
            quote = None
    return None if quote is None else (before[:at], before[at + 1:])


def value_of(expression, names):
    """The value of names joined by dots; None if there is none."""
    first, *rest = expression.split(".")
    value = names.get(first)
    try:
        for name in rest:
            value = getattr(value, name)
    except Exception:  # whatever an attribute raises
        return None
    return value


class Words:
    """The words between quotes: names of event types and of fields."""

    OWN = ("name", "cpu", "pid", "tid", "comm", "index")  # keys of count()

    def __init__(self, rec, names):
        self.rec, self.names = rec, names

    def events(self):
        try:
            return sorted(self.rec.schemas)
        except Exception:  # closed, or a pipe
            return []

    def fields(self, event=None):
        schemas = self.rec.schemas if self.events() else {}
        chosen = [s for name, s in schemas.items()
                  if event in (None, name, name.partition(":")[2])]
        return sorted({field for s in chosen for field in s.fields})

    def of_subscript(self, expression):
        keys = getattr(value_of(expression, self.names), "keys", None)
        f = value_of(expression, self.names)
        if type(f).__name__ == "Fields":
            return dir(f)
        try:
            return [k for k in keys() if isinstance(k, str)] if keys else self.fields()
        except Exception:  # an object that is not one of ours
            return []

    def candidates(self, context):
        """The words for a quote that follows the context."""
        import re
        m = re.search(r"([A-Za-z_][\w.]*)\[\s*$", context)
        if m:
            return self.of_subscript(m.group(1))
        m = re.search(r"\b(?:table|batches)\(\s*(['\"])([^'\"]*)\1\s*,[^()]*\(?[^()]*$", context)
        if m:
            return self.fields(m.group(2))
        if re.search(r"\b(?:select|table|batches)\(\s*(?:\[[^\]]*)?$|\bevents\s*=\s*[\[(]?[^\])]*$",
                     context):
            return self.events()
        if re.search(r"\bwhere\s*=\s*$", context):
            return self.fields()
        if re.search(r"\bcount\(\s*(?:by\s*=\s*)?[\[(]?[^\])]*$", context):
            return [*self.OWN, *self.fields()]
        if re.search(r"\.(?:get|names)\(\s*$", context):
            return self.fields()
        return []

    def complete(self, before, text):
        """The possible words for `text`, with which the line `before` the cursor ends. It may begin
        at the quote or behind it."""
        import re
        found = quoted(before)
        if found is None or not before.endswith(text):
            return []
        fragment = re.split(r"[,\s&|!()<>=~]+", found[1])[-1]
        return [text + word[len(fragment):] for word in self.candidates(found[0])
                if word.startswith(fragment)]


def use_readline(words):
    """Completion in Python's own shell: names between quotes, otherwise Python's."""
    try:
        import re
        import readline
        import rlcompleter
    except ImportError:
        return
    others = rlcompleter.Completer(words.names)
    found = []

    def complete(text, state):
        if state == 0:
            found[:] = words.complete(readline.get_line_buffer()[:readline.get_endidx()], text)
        if found:
            return found[state] if state < len(found) else None
        return others.complete(text, state)

    readline.set_completer(complete)
    # A quote at which a word begins would be repeated behind it.
    readline.set_completer_delims(re.sub("[\"']", "", readline.get_completer_delims()))
    bind = "bind ^I rl_complete" if "libedit" in (readline.__doc__ or "") else "tab: complete"
    readline.parse_and_bind(bind)


# ---- shells --------------------------------------------------------------------------------------


def banner(sonde, rec, paths):
    what = "events known when they are read"
    if not rec._is_pipe:
        what = "%d event types in rec.schemas" % len(rec.schemas)
    return ("sonde %s in Python %d.%d: rec = sonde.open(%r)\n%s; Tab completes names of events and "
            "fields; help(sonde)" % (sonde.__version__, *sys.version_info[:2],
                                     paths[0] if len(paths) == 1 else paths, what))


def complete_in(shell, words):
    """Completion in IPython."""
    def complete(completer, fragment):
        return words.complete(completer.text_until_cursor, fragment)
    shell.set_custom_completer(complete)


def ipython(words, text):
    """Runs IPython, if there is one. Returns whether it ran."""
    try:
        from IPython.terminal.ipapp import TerminalIPythonApp
    except ImportError:
        return False
    app = TerminalIPythonApp.instance(display_banner=False)
    app.initialize(["--no-banner"])
    app.shell.push({k: words.names[k] for k in ("rec", "sonde")})
    words.names = app.shell.user_ns
    complete_in(app.shell, words)
    print(text)
    app.start()
    return True


def run_program(names):
    """Runs the program on standard input. A traceback begins in it, not here."""
    try:
        exec(compile(sys.stdin.read(), "<stdin>", "exec"), names)
    except Exception as e:
        import traceback
        traceback.print_exception(type(e), e, e.__traceback__.tb_next)
        sys.exit(1)


def fail(text):
    sys.stderr.write("".join("sonde: %s\n" % line for line in text.splitlines()))
    sys.stderr.flush()
    os._exit(1)  # -i would go on after sys.exit()


def main(names, paths):
    """Opens the recordings and leaves nothing in names but what the user gets."""
    sonde = load_sonde()
    if "-" in paths:
        fail("shell: standard input is for commands: name a file")
    try:
        rec = sonde.open(paths if len(paths) > 1 else paths[0])
    except (sonde.Error, MemoryError) as e:
        text = e.strerror if isinstance(e, OSError) and e.strerror else str(e) or "out of memory"
        fail(text)
    builtins = names["__builtins__"]
    names.clear()
    names.update(__name__="__main__", __builtins__=builtins, __doc__=None, rec=rec, sonde=sonde)
    sys.argv[:] = [""]
    if not sys.stdin.isatty():
        sys.path.insert(0, "")
        run_program(names)
        return
    words, text = Words(rec, names), banner(sonde, rec, paths)
    if ipython(words, text):
        os._exit(0)
    print(text)
    # The shell of Python 3.13 completes with a list of its own.
    os.environ["PYTHON_BASIC_REPL"] = "1"
    use_readline(words)
    sys.path.insert(0, "")


def begin():
    """Runs main() with functions that are not in the user's names."""
    del sys.path[0]  # our folder
    module = type(sys)("sonde_shell")
    module.__file__ = __file__
    with open(__file__, encoding="utf-8") as f:
        exec(compile(f.read(), __file__, "exec"), module.__dict__)
    module.main(globals(), sys.argv[1:])


if __name__ == "__main__":
    begin()
