# SPDX-License-Identifier: MIT
"""pip.py SONDE backend|build: `pip install ./bindings/python` without a package index.

backend: what the build backend does without building. build: wheels are built and installed.
"""

import base64
import hashlib
import os
import shutil
import statistics
import sys
import zipfile

from scripttest import BINDINGS, CHAINS, DEMO, HERE, SONDE, Tests, environment, pythons, run

t = Tests()
ROOT = os.path.dirname(os.path.dirname(HERE))
SOURCE = ROOT + "/bindings/python"
LIBSONDE = os.path.dirname(SONDE) + "/src"
PIP = {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": "/dev/null", "PIP_DISABLE_PIP_VERSION_CHECK": "1",
       "HOME": t.dir, "LD_PRELOAD": ""}


# ---- the backend ---------------------------------------------------------------------------------

def backend(code, source=SOURCE, **env):
    return run([t.python, "-c", "import sys; sys.path.insert(0, %r)\nimport build_wheel as b\n" %
                source + code], env=environment(LD_PRELOAD="", **env), cwd=t.dir)


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


def check_backend():
    os.mkdir(t.dir + "/empty")
    r = backend("b.build_wheel('.')", PATH=t.dir + "/empty")
    t.ok(r.rc == 1 and "Traceback" not in r.err and "apt-get install meson ninja-build gcc" in r.err
         and "libzstd-dev" in r.err, "what is missing is named with its package", r.err)
    r = backend("b.has_python_h = lambda python: False\nb.choose({})")
    t.ok(r.rc == 1 and "apt-get install python3-dev" in r.err, "so are missing headers of Python",
         r.err)
    r = backend("b.SYSTEM_PYTHON = '/other'\nb.has_python_h = lambda p: p == '/other'\n"
                "print(b.choose({}), b.choose(None))")
    t.is_(r.out, str(("limited", "/other")) + " " + str(("limited", "/other")) +
          "\n", "without headers of this Python, those of the system's serve", r.err)
    r = backend("b.choose({'abi': 'newest'})")
    t.ok(r.rc == 1 and "'exact' or 'limited'" in r.err, "another ABI is refused", r.err)
    r = backend("b.has_python_h = lambda python: True\nprint(b.choose({'abi': 'limited'})[0], "
                "b.wheel_tag('limited'), b.wheel_tag('exact'))")
    plain = "%d%d" % sys.version_info[:2]
    words = r.out.split()
    t.ok(words[0] == "limited" and words[1].startswith("cp39-abi3-linux_") and
         words[2].startswith("cp3") and words[2].split("-")[0] == words[2].split("-")[1],
         "tags of wheels (this is %s)" % plain, r.out, r.err)
    r = backend("b.build_sdist('.')")
    t.ok(r.rc == 1 and "pip install ./bindings/python" in r.err, "a source distribution is refused",
         r.err)
    shutil.copy(SOURCE + "/build_wheel.py", t.dir + "/empty")
    r = backend("b.build_wheel('.')", source=t.dir + "/empty")
    t.ok(r.rc == 1 and "has no meson.build" in r.err, "so is a backend without the tree", r.err)

    os.mkdir(t.dir + "/src")
    shutil.copy(SOURCE + "/build_wheel.py", t.dir + "/src")
    r = backend("print(b.get_requires_for_build_wheel())", source=t.dir + "/src",
                PYTHONDONTWRITEBYTECODE="")
    t.is_((r.out, os.listdir(t.dir + "/src")), ("[]\n", ["build_wheel.py"]),
          "the backend needs nothing, and leaves nothing compiled behind", r.err)

    t.write("files/one", "1")
    t.write("files/two", "2" * 99)
    r = backend("b.build = lambda folder, settings: ('cp39-abi3-linux_x86_64', "
                "[('sonde/one', 'files/one'), ('sonde/two', 'files/two')])\n"
                "import os; os.mkdir('made')\n"
                "print(b.build_wheel('made')); print(b.prepare_metadata_for_build_wheel('made'))")
    name, info = r.out.split()
    with zipfile.ZipFile(t.dir + "/made/" + name) as z:
        data = {n: z.read(n) for n in z.namelist()}
    record = [line.split(",") for line in data.pop(info + "/RECORD").decode().splitlines()]
    t.is_(sorted(r for r in record if r[1]),
          sorted([n, "sha256=" + digest(d), str(len(d))] for n, d in data.items()),
          "a wheel's RECORD has the digests of its files")
    t.is_(sorted(data), sorted(["sonde/one", "sonde/two", info + "/LICENSE", info + "/METADATA",
                                info + "/WHEEL"]), "a wheel has these files")
    with open(t.dir + "/made/" + info + "/METADATA", "rb") as f:
        t.is_(f.read(), data[info + "/METADATA"], "metadata is the same before the build")
    t.is_(name, "sonde-0.1.0-cp39-abi3-linux_x86_64.whl", "the wheel's name")


# ---- wheels that are built -----------------------------------------------------------------------

WHERE = """
import os, sonde
maps = {line.split()[-1] for line in open('/proc/self/maps') if 'libsonde' in line}
print(os.path.dirname(sonde.__file__), *maps)
"""
COUNT = """
import sonde
print(sum(1 for e in sonde.open(%r)), sum(len(e.callchain) for e in sonde.open(%r)),
      sonde.open(%r).count(by='name'))
print({f.symbol is None for e in sonde.open(%r) for f in e.callchain}, sonde.__version__)
""" % (DEMO, CHAINS, DEMO, CHAINS)


def tree():
    """Files of the source tree, with their times."""
    found = {}
    for top in ("bindings", "cli", "docs", "include", "scripts", "src", "tools"):
        for folder, _, names in os.walk(ROOT + "/" + top):
            for name in names:
                path = os.path.join(folder, name)
                found[path] = os.lstat(path).st_mtime_ns
    return found


def read_only():
    """A command before another one, for which the source tree cannot be written to."""
    command = ["unshare", "-m", "sh", "-c", 'mount --bind "$0" "$0" && '
               'mount -o remount,bind,ro "$0" && cd "$0" && exec "$@"', ROOT]
    works = shutil.which("unshare") and run(
        command + ["sh", "-c", "! touch meson.build"], env=dict(os.environ)).rc == 0
    return command if works else []


def pip(python, *args, before=(), **env):
    return run([*before, python, "-m", "pip", *args], env=environment(**PIP, **env), cwd=ROOT,
               timeout=1500)


def venv(python, name):
    """The Python of a new virtual environment; None if there is no venv."""
    r = run([python, "-m", "venv", t.dir + "/" + name], env=environment(**PIP))
    return t.dir + "/" + name + "/bin/python3" if r.rc == 0 else None


def where(python, **env):
    r = run([python, t.write("where.py", WHERE)], env=environment(LD_PRELOAD="", **env))
    return (r.out.split() + [r.err] * 2)[:2]


def leftovers(folder):
    return [os.path.join(d, n) for d, dirs, files in os.walk(folder) for n in dirs + files
            if "sonde" in n]


def check_exact(python):
    before = tree()
    r = pip(python, "install", "./bindings/python", before=read_only())
    if not t.ok(r.rc == 0, "pip install, from a tree that is%s read-only" %
                ("" if read_only() else " not"), r.out, r.err):
        return
    t.is_([p for p, when in tree().items() if before.get(p) != when], [],
          "the source tree is as before")
    site = run([python, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))"]).out.strip()
    files = sorted(n for n in os.listdir(site + "/sonde") if not n.startswith("__pycache"))
    t.ok(files[0] == "__init__.py" and {"__init__.pyi", "py.typed", "libsonde.so.0"} < set(files)
         and [n for n in files if n.startswith("_sonde.cpython-")], "the package's files", files)
    ours = run([python, t.write("count.py", COUNT)], env=environment(LD_PRELOAD=""))
    theirs = run([t.python, t.dir + "/count.py"],
                 env=environment(PYTHONPATH=BINDINGS + "/module"))
    t.ok(ours.rc == 0, "it reads recordings", ours.err)
    t.is_(ours.out, theirs.out, "as the module of the build folder does", ours.err, theirs.err)
    if not os.environ.get("SONDE_ASAN"):
        check_neighbours(python, site)
    code = "import time; a = time.process_time(); import sonde; print(time.process_time() - a)"
    ms = statistics.median(float(run([python, "-c", code], env=environment(LD_PRELOAD="")).out)
                           for i in range(21)) * 1000
    t.ok(ms <= 30, "import sonde takes at most 30 ms of CPU time", "%.1f ms" % ms)
    print("# import sonde: %.1f ms, the median of 21" % ms)
    r = pip(python, "uninstall", "-y", "sonde")
    t.is_((r.rc, leftovers(t.dir + "/exact/lib")), (0, []), "pip uninstall leaves nothing", r.err)


def check_neighbours(python, site):
    wheel, built = site + "/sonde", BINDINGS + "/module/sonde"
    for name, env in (("", {}), (" also with LD_LIBRARY_PATH", {"LD_LIBRARY_PATH": LIBSONDE})):
        t.is_(where(python, **env), [wheel, wheel + "/libsonde.so.0"],
              "the wheel finds its own libsonde" + name)
    folder, library = where(t.python, PYTHONPATH=BINDINGS + "/module")
    t.ok(folder == built and library.startswith(LIBSONDE + "/libsonde.so"),
         "so does the module beside a sonde", folder, library)
    r = run([SONDE, "script", "-i", DEMO, "-s", t.write("s.py", WHERE)],
            env=environment(VIRTUAL_ENV=os.path.dirname(os.path.dirname(python))))
    found = [line.split() for line in r.out.splitlines() if "libsonde" in line]
    t.ok(len(found) == 1 and found[0][0] == built and len(found[0]) == 2 and
         found[0][1].startswith(LIBSONDE), "a script of sonde script has the module that runs it",
         r.out, r.err)


def check_limited(python):
    """Without elfutils, for another Python."""
    os.mkdir(t.dir + "/pc")
    pc = run(["pkg-config", "--variable=pcfiledir", "libzstd"]).out.strip() + "/libzstd.pc"
    if not os.path.exists(pc):
        return t.skip("a wheel for the limited API", "there is no libzstd.pc", False)
    shutil.copy(pc, t.dir + "/pc")
    r = pip(python, "wheel", "-w", t.dir + "/wheels", "--config-settings", "abi=limited",
            "./bindings/python", PKG_CONFIG_LIBDIR=t.dir + "/pc", PKG_CONFIG_PATH="")
    wheels = os.listdir(t.dir + "/wheels") if r.rc == 0 else []
    if not t.ok(len(wheels) == 1 and "-cp39-abi3-linux_" in wheels[0],
                "a wheel for the limited API, without elfutils", wheels, r.out, r.err):
        return None
    for name, path in pythons():
        other = venv(path, "limited-" + name.replace(" ", "-"))
        if not other:
            t.skip("the wheel in " + name, "there is no venv", False)
            continue
        r = pip(other, "install", t.dir + "/wheels/" + wheels[0])
        ours = run([other, t.write("count.py", COUNT)], env=environment(LD_PRELOAD=""))
        libraries = run(["ldd", where(other)[1]]).out
        t.ok(r.rc == 0 and ours.rc == 0 and "libdw" not in libraries and "libc.so" in libraries,
             "the wheel in " + name, r.err, ours.err, libraries)
    return None


if sys.argv[2] == "backend":
    check_backend()
else:
    exact = venv(t.python, "exact")
    if not exact:
        t.skip("wheels", "there is no venv (python3-venv)")
    elif not shutil.which("meson") or not shutil.which("ninja"):
        t.skip("wheels", "there is no meson or ninja")
    else:
        check_exact(exact)
        check_limited(exact)
t.done()
