# SPDX-License-Identifier: MIT
"""The build backend (PEP 517) of `pip install ./bindings/python`.

It needs no package of an index: meson, ninja, a C compiler and headers of the distribution build
libsonde and the extension in a temporary folder. The source tree is not written to. The wheel has
libsonde beside the extension, which finds it there before any other one.

The extension is the exact one of the Python that pip runs, if its headers are installed: it is the
fastest. Otherwise, and with `pip install --config-settings abi=limited`, it is built for the
limited API with the headers of /usr/bin/python3, and the wheel fits every Python from 3.9 on.
"""
import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TAG = "python-runtime"  # of the files that meson installs for the wheel
SYSTEM_PYTHON = "/usr/bin/python3"

if os.path.isfile(globals().get("__cached__") or ""):  # pip lets Python compile this file
    os.unlink(__cached__)  # noqa: F821
    if not os.listdir(os.path.dirname(__cached__)):  # noqa: F821
        os.rmdir(os.path.dirname(__cached__))  # noqa: F821


def fail(*lines):
    sys.stderr.write("".join("sonde: %s\n" % line for line in lines))
    sys.exit(1)


def version():
    try:
        with open(ROOT + "/meson.build") as f:
            return re.search(r"version: '([^']+)'", f.read()).group(1)
    except OSError:
        fail("%s has no meson.build: the package is built inside of sonde's complete source tree "
             "(pip 21.3 or later does so)" % ROOT)


# ---- what the build needs ------------------------------------------------------------------------


def environment():
    """pip hides installed packages from every Python; meson is one of them."""
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONNOUSERSITE")}
    return dict(env, PYTHONDONTWRITEBYTECODE="1")


def compiler():
    return next((c for c in os.environ.get("CC", "").split()[:1] + ["cc", "gcc", "clang"]
                 if shutil.which(c)), None)


def has_header(name):
    cc = compiler()
    return cc is not None and not subprocess.run(
        [cc, "-E", "-"], input=b"#include <%s>\n" % name.encode(), stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL).returncode


def has_python_h(python):
    """Whether this Python's headers are installed."""
    if python == sys.executable:
        return os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))
    code = "import os, sysconfig; os.stat(sysconfig.get_path('include') + '/Python.h')"
    return os.path.exists(python) and not subprocess.run(
        [python, "-c", code], env=environment(), stderr=subprocess.DEVNULL).returncode


def missing():
    """The Debian packages of what the build needs and this machine does not have."""
    needs = [("meson", shutil.which("meson")), ("ninja-build", shutil.which("ninja")),
             ("gcc", compiler()), ("libc6-dev", has_header("stdio.h")),
             ("pkg-config", shutil.which("pkg-config") or shutil.which("pkgconf")),
             ("libzstd-dev", has_header("zstd.h"))]
    return [package for package, is_there in needs if not is_there]


def choose(settings):
    """(abi, python): 'exact' or 'limited', and the Python whose headers are used."""
    abi = (settings or {}).get("abi", "exact")
    if abi not in ("exact", "limited"):
        fail("abi is 'exact' or 'limited', not %r" % abi)
    if sys.version_info < (3, 9) or sys.implementation.name != "cpython":
        fail("CPython 3.9 or later is needed, not %s" % sys.version.split("\n")[0])
    is_free = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    if is_free and abi == "limited":
        fail("a free-threaded Python has no limited API: leave abi=limited out")
    if has_python_h(sys.executable):
        return abi, sys.executable
    if has_python_h(SYSTEM_PYTHON) and not is_free:
        return "limited", SYSTEM_PYTHON
    fail("the headers of Python %d.%d are not installed; in Debian:" % sys.version_info[:2],
         "    apt-get install python3-dev")


def wheel_tag(abi):
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    if abi == "limited":
        return "cp39-abi3-" + platform
    python = "cp%d%d" % sys.version_info[:2]
    return "%s-%s%s-%s" % (python, python, "t" if sysconfig.get_config_var("Py_GIL_DISABLED")
                           else "", platform)


# ---- building ------------------------------------------------------------------------------------


def run(*command):
    """Runs a program, whose output is shown only if it fails."""
    r = subprocess.run(command, env=environment(), stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, encoding="utf-8", errors="replace")
    if r.returncode:
        fail(*r.stdout.splitlines()[-40:], "%s failed" % " ".join(command[:2]))


def build(folder, settings):
    """Builds below folder. Returns the tag and the files as (name in the wheel, path)."""
    packages = missing()
    if packages:
        fail("the build needs programs or headers that are not installed; in Debian:",
             "    apt-get install " + " ".join(packages))
    abi, python = choose(settings)
    out, dest = folder + "/build", folder + "/installed"
    run("meson", "setup", out, ROOT, "--prefix=/usr", "--libdir=lib", "-Dwheel=" + abi,
        "-Dbindings=python", "-Dpython=" + python, "-Dtests=disabled", "-Dman=disabled",
        "-Dsqlite=disabled", "-Dlibpfm=disabled", "-Ddebug=false", "-Doptimization=2")
    run("ninja", "-C", out, "wheel")
    run("meson", "install", "-C", out, "--no-rebuild", "--tags", TAG, "--destdir", dest)
    package = dest + "/usr/lib/sonde/python/module/sonde"
    return wheel_tag(abi), [("sonde/" + name, package + "/" + name)
                            for name in sorted(os.listdir(package))]


# ---- the wheel -----------------------------------------------------------------------------------


def metadata():
    return ("Metadata-Version: 2.1\nName: sonde\nVersion: %s\n"
            "Summary: Events of a Linux machine, in time order, with names and types\n"
            "License: MIT\nLicense-File: LICENSE\nRequires-Python: >=3.9\n"
            "Classifier: Operating System :: POSIX :: Linux\nClassifier: Typing :: Typed\n"
            % version())


def dist_info():
    return "sonde-%s.dist-info" % version()


def get_requires_for_build_wheel(config_settings=None):
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    os.mkdir(os.path.join(metadata_directory, dist_info()))
    with open(os.path.join(metadata_directory, dist_info(), "METADATA"), "w") as f:
        f.write(metadata())
    return dist_info()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    info = dist_info()
    with tempfile.TemporaryDirectory(prefix="sonde-wheel-") as folder:
        tag, files = build(folder, config_settings)
        name = "sonde-%s-%s.whl" % (version(), tag)
        contents = []
        for inside, path in files + [(info + "/LICENSE", ROOT + "/LICENSE")]:
            with open(path, "rb") as f:
                contents.append((inside, f.read()))
    contents.append((info + "/METADATA", metadata().encode()))
    contents.append((info + "/WHEEL", ("Wheel-Version: 1.0\nGenerator: sonde %s\n"
                                       "Root-Is-Purelib: false\nTag: %s\n"
                                       % (version(), tag)).encode()))
    record = ""
    for inside, data in contents:
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        record += "%s,sha256=%s,%d\n" % (inside, digest, len(data))
    record += info + "/RECORD,,\n"
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as z:
        for inside, data in contents + [(info + "/RECORD", record.encode())]:
            z.writestr(inside, data)
    return name


def build_sdist(sdist_directory, config_settings=None):
    fail("there is no source distribution of the Python package alone: it is built inside of "
         "sonde's source tree, with pip install ./bindings/python")
