# SPDX-License-Identifier: MIT
"""For tests of the analyses: runs them over a recording, by sonde and by perf; makes recordings.

    t = Analyses("irq-times.py")
    t.prints(trace, ["softirq  ...", ...], "what the case is about")
    t.is_(t.json(trace)["softirqs"][0]["count"], 3, "...")
    path = t.record(["-e", "irq:softirq_entry"], ["sleep", "1"], "...")  # None if not permitted
    t.done()
"""
import json
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "tests", "scripts"))
from scripttest import SONDE, Tests, environment, perf_version, run  # noqa: E402

SCRIPTS = os.path.join(ROOT, "scripts")


class Analyses(Tests):
    def __init__(self, script):
        super().__init__()
        self.script_path = os.path.join(SCRIPTS, script)
        self.made = 0

    def path(self, recording):
        """The path of a recording that is a path already, or a known.Trace, which is written to a
        file.
        """
        if isinstance(recording, str):
            return recording
        self.made += 1
        return recording.write(os.path.join(self.dir, "%d.data" % self.made))

    def analyse(self, recording, *args, options=(), stdin=None):
        """Runs the analysis with sonde; its result must be the same with SONDE_EAGER=1."""
        path = self.path(recording)
        results = [run([SONDE, "script", "-i", path, *options, self.script_path, *args], stdin,
                       environment(SONDE_PYTHON=self.python, SONDE_EAGER=eager), self.dir)
                   for eager in "01"]
        if results[0][:3:2] != results[1][:3:2]:
            self.ok(False, "the same with SONDE_EAGER=1", "lazy:", results[0], "eager:", results[1])
        return results[0]

    def json(self, recording, *args):
        r = self.analyse(recording, "--json", *args)
        try:
            return json.loads(r.out)
        except ValueError:
            self.ok(False, "%s: one JSON object" % " ".join(args), r.out, r.err)
            return {}

    def prints(self, recording, lines, name, *args, by_perf=True):
        """Checks the complete text, by sonde and, if it is installed, by perf 6.1 (which reports no
        losses to scripts). by_perf=False: not by perf, for scripts that need the module sonde.
        """
        path = self.path(recording)
        r = self.analyse(path, *args)
        self.ok(r.out.splitlines() == lines and not r.rc, name, "got:", r.out, "expected:", *lines,
                r.err)
        if not by_perf:
            same = run([SONDE, "run", "-i", path, self.script_path, *(["--"] if args else []),
                        *args], None, environment(SONDE_PYTHON=self.python), self.dir)
            return self.is_(same.out, r.out, name + ", by sonde run", same.err)
        if not (perf_version() or "").startswith("6.1."):
            return self.skip(name + ", by perf", "no perf 6.1")
        env = environment()
        for v in ("LD_PRELOAD", "ASAN_OPTIONS", "PYTHONMALLOC"):
            env.pop(v, None)
        theirs = run(["perf", "script", "-i", path, self.script_path, *args], None, env, self.dir)
        return self.is_(theirs.out, r.out, name + ", by perf", theirs.err)

    def record(self, options, command, needs, **run_options):
        """The path of a new recording; None after a skip of the test `needs` if recording is not
        permitted.
        """
        path = os.path.join(self.dir, "live.data")
        r = run([SONDE, "record", "-q", "-o", path, *options, "--", *command], env=dict(os.environ),
                **run_options)
        if not os.path.exists(path):
            self.skip(needs, "cannot record: " + (r.err.strip().splitlines() or ["?"])[0],
                      installable=False)
            return None
        if r.rc:
            self.ok(False, needs, "the command failed", r.err)
            return None
        return path
