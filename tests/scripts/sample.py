# SPDX-License-Identifier: MIT
"""The dict of process_event for samples of all kinds, also those that only some hardware records.

    tests/scripts/sample.py SONDE [stored|perf-6.1|perf-6.12] [--update]

stored: compares with tests/data/sample-dicts/COMPAT.txt under each --compat, with SONDE_EAGER=0 and
1, and with another Python. --update writes perf's output there; for "none" (no --compat) it writes
sonde's own, which must be reviewed. perf-6.1, perf-6.12: compares more recordings with perf.
"""

import os
import pathlib
import sys

from scripttest import NO_SANITIZER, SONDE, Tests, environment, pythons, run

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests" / "roundtrip"), str(ROOT / "tests" / "gen")]
import columns  # noqa: E402
from columns import BASE, HARDWARE, SOFTWARE, start  # noqa: E402
from samples import *  # noqa: E402,F403

DATA = ROOT / "tests" / "data" / "sample-dicts"
# perf leaves a hole in `values` if no lost count was recorded.
DUMP = """
def show(d, ind):
    for k, v in d.items():
        if isinstance(v, dict):
            print(ind + k)
            show(v, ind + '  ')
        elif isinstance(v, list) and v and isinstance(v[0], dict):
            print(ind + k, len(v))
            for x in v:
                show(x, ind + '  ')
        elif k == 'attr':
            print(ind + k, len(v), v.rstrip(bytes(1)).hex())
        else:
            print(ind + k, type(v).__name__, repr(v).replace('<NULL>', '0'))
def process_event(d):
    print('event')
    show(d, '  ')
"""


def group():
    r, t = start()
    every = ENABLED | RUNNING | READ_ID | GROUP | LOST
    a = r.attr(SOFTWARE, 0, BASE | READ, read_format=every, name="a")
    b = r.attr(SOFTWARE, 1, BASE | READ, read_format=every, name="b")
    r.comm(10, "work")
    for one, two in (100, 0), (150, 7), (150, 9), (151, 9):
        r.sample(a, ip=0x400100, time=next(t), enabled=one * 2, running=one,
                 read=[(one, a, 1), (two, b, 2)])
    return r


def counted():
    r, t = start()
    a = r.attr(SOFTWARE, 0, BASE | READ, read_format=READ_ID | LOST | ENABLED, name="a")
    b = r.attr(SOFTWARE, 1, BASE, read_format=READ_ID | GROUP | RUNNING, name="b")
    c = r.attr(SOFTWARE, 2, BASE | READ, read_format=READ_ID, name="c")
    r.comm(10, "work")
    for n, value in (a, 5), (b, 0), (c, 9), (a, 8):
        r.sample(n, ip=0x400100, time=next(t), enabled=77, read=[(value, n, 3)])
    return r


def user_memory():
    r, t = start()
    a = r.attr(HARDWARE, 0, BASE | REGS_USER | STACK_USER | TRANSACTION | STREAM_ID | ID,
               user_regs=0x1c0, user_stack=16)
    b = r.attr(HARDWARE, 1, BASE | REGS_USER | REGS_INTR, user_regs=0x1c0, intr_regs=0x100)
    r.comm(10, "work")
    r.sample(a, ip=0x400100, time=next(t), user_regs=[1, 2, 3], user_stack=b"0123456789abcdef",
             transaction=5, stream_id=6, id=1)
    r.sample(b, ip=0x400100, time=next(t), user_regs=[1 << 60, 2 << 60, 3 << 60],
             intr_regs=[4 << 60])
    return r


RECORDINGS = {"group": group, "counted": counted, "user-memory": user_memory,
              **{name: columns.RECORDINGS[name]
                 for name in ("few-branches", "memory", "raw", "classes", "branch-trace", "modes")}}
# perf crashes at these, or refuses them.
NOT_LIVE = {"data_src", "no-address", "speaking"}


def dump(tool, t, name, **env):
    if tool[0] != SONDE:
        env["LD_PRELOAD"] = ""  # the sanitizer is for sonde
    return run(tool + ["script", "-i", os.path.join(t.dir, name + ".data"), "-s",
                       os.path.join(t.dir, "dump.py")],
               env=environment(**env))


def all_dumps(tool, t, **env):
    return "".join("== %s\n%s" % (name, dump(tool, t, name, **env).out) for name in RECORDINGS)


def stored(t):
    for compat in ("perf-6.1", "perf-6.12", "none"):
        sonde = [SONDE] + (["--compat", compat] if compat != "none" else [])
        path = DATA / (compat + ".txt")
        if "--update" in sys.argv:
            DATA.mkdir(exist_ok=True)
            tool = columns.perf_of(compat)[0][:1] if compat != "none" else sonde
            path.write_text(all_dumps(tool, t, SONDE_PYTHON="/usr/bin/python3"))
        want = path.read_text()
        for eager in ("0", "1"):
            got = all_dumps(sonde, t, SONDE_PYTHON=t.python, SONDE_EAGER=eager)
            t.ok(got == want, "compat %s, SONDE_EAGER=%s" % (compat, eager), difference(want, got))
    others = [(py, python) for py, python in pythons() if python != t.python]
    if not others:
        t.skip("in another Python", "no other Python is installed", installable=False)
    for py, python in sorted(others, key=lambda o: [int(n) for n in o[0].split()[-1].split(".")])[
            -1:]:
        got = all_dumps(sonde, t, SONDE_PYTHON=python, SONDE_EAGER="0")
        t.ok(got == want, "in %s" % py, difference(want, got))


def difference(want, got):
    a, b = want.splitlines(), got.splitlines()
    at = next((i for i in range(max(len(a), len(b))) if a[i:i + 1] != b[i:i + 1]), 0)
    return "line %d, wanted %s, got %s" % (at + 1, a[at:at + 1], b[at:at + 1])


def live(t, compat):
    perf, why = columns.perf_of(compat)
    if not perf:
        t.skip("compared with " + compat, why)
        return
    for name in sorted((set(RECORDINGS) | set(columns.RECORDINGS)) - NOT_LIVE):
        theirs = dump(perf[:1], t, name, **NO_SANITIZER)
        ours = dump([SONDE, "--compat", compat], t, name, SONDE_PYTHON=t.python)
        t.ok((theirs.out, theirs.rc) == (ours.out, ours.rc), "%s: %s" % (compat, name),
             difference(theirs.out, ours.out), ours.err[-500:])
    # Build ids that are not recorded: perf reads those of the files that it finds.
    made = run(["perf", "record", "-q", "-B", "-N", "-d", "-e", "page-faults:u", "-c", "1", "-o",
                "ids.data", "true"],
               env=environment(**NO_SANITIZER), cwd=t.dir)
    if made.rc:
        t.skip("build ids that are not recorded", "perf cannot record here")
        return
    theirs, ours = (dump(perf[:1], t, "ids", **NO_SANITIZER),
                    dump([SONDE, "--compat", compat], t, "ids", SONDE_PYTHON=t.python))
    t.ok((theirs.out, theirs.rc) == (ours.out, ours.rc) and " dso_bid str '" in ours.out,
         "%s: build ids that are not recorded" % compat, difference(theirs.out, ours.out),
         ours.err[-500:])


if __name__ == "__main__":
    t = Tests()
    part = sys.argv[2] if len(sys.argv) > 2 else "stored"
    t.write("dump.py", DUMP)
    for name, make in {**columns.RECORDINGS, **RECORDINGS}.items():
        t.write(name + ".data", make().bytes())
    if part == "stored":
        stored(t)
    else:
        live(t, part)
    t.done()
