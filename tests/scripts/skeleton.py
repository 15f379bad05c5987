#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`sonde script -g python`: skeletons compile, and print every event as under stock perf.

    tests/scripts/skeleton.py SONDE

The recordings: those of tests/data, some with odd names, and some with one event of every format of
this machine (if tracefs can be read) and of tests/data/formats.
"""
import ast
import builtins
import importlib.machinery
import importlib.util
import keyword
import os
import re
import sys

import scripttest
from scripttest import (CHAINS, DATA, DEMO, EXEC, FLAGS, MIXED, SONDE, Tests, environment,
                        perf_version, run)

GEN = os.path.join(os.path.dirname(DATA), "gen")
sys.path.insert(0, GEN)
from payloads import payloads  # noqa: E402
from recording import Format, recording  # noqa: E402


def load_formats():
    loader = importlib.machinery.SourceFileLoader("formats", GEN + "/formats")
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("formats", loader))
    loader.exec_module(module)
    return module.installed(), module.shipped()


def made(name, *fields, fmt='"x"'):
    """A format with these declarations: (declaration, size)."""
    lines, offset = [], 8
    for i, (declaration, size) in enumerate((("unsigned short common_type", 2),
                                             ("unsigned char common_flags", 1),
                                             ("unsigned char common_preempt_count", 1),
                                             ("int common_pid", 4)) + fields):
        at = (0, 2, 3, 4)[i] if i < 4 else offset
        offset += size if i >= 4 else 0
        lines.append("\tfield:%s;\toffset:%d;\tsize:%d;\tsigned:0;\n" % (declaration, at, size) +
                     ("\n" if i == 3 else ""))
    return Format(name, "name: %s\nID: 1\nformat:\n%s\nprint fmt: %s\n" %
                  (name.split(":")[1], "".join(lines), fmt))


class Skeletons(Tests):
    def generate(self, data, *options):
        """(text of the skeleton, messages)."""
        r = run([SONDE] + list(options) + ["script", "-i", data, "-g", "python", "-o", "-"], None,
                environment(), self.dir)
        if r.rc or r.err:
            self.ok(False, "a skeleton of %s" % os.path.basename(data), r)
        return r.out

    def compiles(self, text, name):
        try:
            tree = ast.parse(text)
            compile(text, name, "exec")
        except SyntaxError as e:
            self.ok(False, "%s compiles" % name, e, text)
            return {}
        return {f.name: f for f in tree.body if isinstance(f, ast.FunctionDef)}

    def prints_like_perf(self, data, name, compat=True):
        """Compares the text under sonde, lazy and eager, with that under perf."""
        text = self.generate(data)
        functions = self.compiles(text, name)
        ours = self.script(text, data, compat="perf-6.1")
        self.ok(ours.rc == 0 and ours.out, "%s: runs" % name, ours)
        plain = self.script(text, data)
        self.ok(plain.rc == 0 and len(plain.out.splitlines()) == len(ours.out.splitlines()),
                "%s: runs without --compat" % name, plain)
        theirs = self.perf(text, data)
        if theirs is None:
            self.skip("%s: as under perf" % name, "no perf 6.1")
        else:
            self.ok((ours.out, ours.rc) == (theirs.out, theirs.rc), "%s: as under perf" % name,
                    *self.difference(ours, theirs))
        return text, functions, plain.out


def of_tests_data(t):
    for data, name in ((DEMO, "demo.data"), (CHAINS, "chains.data"), (FLAGS, "flags.data"),
                       (EXEC, "exec.data"), (DATA + "/text/syscalls.data", "syscalls.data")):
        t.prints_like_perf(data, name)
    text, functions, out = t.prints_like_perf(FLAGS, "flags.data")
    t.is_([f for f in functions if "__" in f], sorted(f for f in functions if "__" in f),
          "handlers are sorted")
    t.ok({"irq__softirq_entry", "kmem__kmalloc", "sched__sched_switch",
          "raw_syscalls__sys_enter"} ==
         {f for f in functions if "__" in f}, "a handler for each event", list(functions))
    t.ok("process_event" not in functions, "no process_event without such samples")
    t.ok(re.search(r"gfp_flags=__GFP_IO \| .*\(3264\)", out), "flags by name", out)
    r = t.script(t.generate(DEMO), DEMO)
    t.ok(re.search(r"prev_state=[SDR]\(\d\) next_comm=", r.out),
         "flags by name: a value without flags has a name", r.out)
    doc = ast.get_docstring(functions["kmem__kmalloc"])
    t.has(doc, "bytes_req: int (size_t, 8 bytes)", "docstrings have types")
    t.ok(re.search(r"gfp_flags: int \(unsigned long, 8 bytes\); flags:.* 0x\w+ GFP_KERNEL", doc,
                   re.S), "docstrings have flags", doc)
    t.has(" ".join(ast.get_docstring(functions["irq__softirq_entry"]).split()),
          "symbols: 0 HI, 1 TIMER, 2 NET_TX", "docstrings have symbols")
    t.has(ast.get_docstring(functions["raw_syscalls__sys_enter"]),
          "id_: int (id: long, 8 bytes, signed)", "docstrings have the recorded names of fields")


def other_samples(t):
    text = t.generate(MIXED)
    functions = t.compiles(text, "mixed.data")
    t.ok("process_event" in functions, "process_event for other samples")
    t.has(ast.get_docstring(functions["process_event"]), "cpu-clock",
          "the docstring of process_event names the other samples")
    theirs = t.perf(text, MIXED)
    if theirs is None:
        t.skip("process_event runs under perf", "no perf 6.1")
    else:
        t.ok(theirs.rc == 0 and "cpu-clock" in theirs.out,
             "process_event runs under perf", theirs)


def odd_names(t):
    words = keyword.kwlist + [n for n in dir(builtins) if n[0] != "_" and n[0].islower()] + [
        "print", "exec", "__debug__", "event_name", "context", "common_cpu", "common_comm",
        "perf_sample_dict", "named", "plain", "show_event", "show_sample", "flag_str", "symbol_str",
        "self", "from_", "os", "sys", "x"]
    events = [made("odd:names%d" % i, *[("int " + w, 4) for w in words[i:i + 40]])
              for i in range(0, len(words), 40)]
    events += [made("with-dash:event", ("int a", 4)), made("with_dash:event", ("int a", 4)),
               made("odd:two", ("int from", 4), ("int from_", 4)), made("odd:none"),
               made("odd:texts", ("int a", 4), ("int b", 4),
                    fmt=r'"%s %s", __print_symbolic(REC->a, { 0, "a \"quoted\" \\ %s" }), '
                        r'__print_flags(REC->b, "\"", { 1, "%d" })'),
               made("for:class", ("int def", 4))]
    data = t.write("odd.data", recording(events, [[payloads(f, f.name)[0]] for f in events]))
    text, functions, out = t.prints_like_perf(data, "odd names")
    bad = [a.arg for f in functions.values() for a in f.args.args
           if keyword.iskeyword(a.arg) or (hasattr(builtins, a.arg) and a.arg != "event_name")]
    t.is_(bad, [], "no parameter is a keyword or a builtin")
    for w in ("from", "id", "context", "named", "print", "def", "perf_sample_dict"):
        t.has(out, w + "=0", "%s is printed by its own name" % w)
    t.has(out, "with-dash__event", "the handler of an event whose name is no identifier is called")
    t.is_([a.arg for a in functions["odd__two"].args.args[8:]],
          ["from_", "from__", "perf_sample_dict"], "fields named from and from_")
    t.ok("with_dash_event" in functions and "with_dash__event" in functions,
         "fields with the same name get different parameters", list(functions))
    t.ok(r'a=a \"quoted' in out, "quotes in names", out)


def bound_by_name(t):
    """A skeleton of another kernel binds each parameter to its own field."""
    old = made("a:b", ("int from", 4), ("int id", 4))
    new = made("a:b", ("int added", 4), ("int from", 4), ("int id", 4))
    text = t.generate(t.write("old.data", recording([old], [[]])))
    payload = bytes(8) + b"".join(i.to_bytes(4, "little") for i in (1, 2, 3, 0))
    r = t.script(text, t.write("new.data", recording([new], [[payload]])))
    t.has(r.out, "from=2 id=3", "renamed parameters are bound by name")


# Formats whose values differ from those under perf, for known reasons outside of skeletons.
def compares(f):
    own = [d for name, d, offset, size, signed in f.fields if not name.startswith("common_")]
    if any("cpumask_t" in d for d in own):
        return False  # perf passes the offset of the data, not the data
    if any(not size for name, d, offset, size, signed in f.fields):
        return False  # perf passes nothing of a field that extends to the end of the record
    return len(own) <= 40  # perf crashes if there are more than 56


def every_format(t):
    installed, shipped = load_formats()
    if not installed:
        t.skip("formats of this machine", "tracefs cannot be read", installable=False)
    groups = {}
    for f in installed + shipped:
        groups.setdefault((f.big, f.long_bytes, compares(f)), []).append(f)
    for (big, long_bytes, comparable), formats in sorted(groups.items()):
        for i in range(0, len(formats), 150):
            part = formats[i:i + 150]
            name = "formats %d to %d, %s-endian, long of %d bytes" % (i, i + len(part),
                                                                      "big" if big else "little",
                                                                      long_bytes)
            data = t.write("formats.data", recording(part, [payloads(f, f.name)[:1] for f in part]))
            if comparable:
                functions = t.prints_like_perf(data, name)[1]
            else:
                text = t.generate(data)
                functions = t.compiles(text, name)
                r = t.script(text, data)
                t.ok(r.rc == 0, name + ": runs", r)
            missing = [f.name for f in part
                       if re.sub(r"\W", "_", f.name.replace(":", "__")) not in functions]
            t.is_(missing, [], name + ": a handler for each")


def lazy(t):
    """A handler without prints gets only values that it uses."""
    text = t.generate(CHAINS)
    body = re.sub(
        r"(?ms)^    show_event\(event_name, common_cpu.*?^    show_sample\(perf_sample_dict, "
        r"common_callchain\)\n",
                  "    global n\n    n += 1\n", text)
    t.ok("n += 1" in body and "show_sample(perf_sample_dict, common_callchain)" not in
         body.split("def trace_unhandled")[0],
         "prints are replaced")
    leave_out = os.path.join(os.path.dirname(SONDE), "bindings", "python", "lib")
    source = os.path.join(os.path.dirname(os.path.dirname(DATA)), "bindings", "python", "lib")
    check = body.split("\n\n\ndef trace_unhandled")[0].replace("from perf_trace_context import *",
                                                               "").replace(
                                                                   "from Core import *", "") + (
            "\nsys.path[:0] = %r\nimport leave_out\nfor f in [f for n, f in "
            "dict(globals()).items() "
            "if '__' in n and type(f) is leave_out.Function]:\n"
            "    print(f.__name__, leave_out.may_leave_out(f, 'perf_sample_dict'), "
            "leave_out.may_leave_out(f, 'common_callchain'))\n") % [leave_out, source]
    r = run([t.python, t.write("check.py", check)], None,
            environment(PERF_EXEC_PATH="/nonexistent"), t.dir)
    t.is_(r.out, "sched__sched_switch True True\n",
          "a handler that only counts needs no dict and no chain", r.err)


def main():
    t = Skeletons()
    for part in (of_tests_data, other_samples, odd_names, bound_by_name, lazy, every_format):
        part(t)
    t.done()


if __name__ == "__main__":
    main()
