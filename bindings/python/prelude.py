# SPDX-License-Identifier: MIT
"""Runs a perf script in this interpreter over a session. Only `sonde script -s x.py` starts it.

    SONDE_SESSION_FD=N python3 /abs/path/prelude.py SCRIPT [ARGS...]

SONDE_SESSION_FD       a descriptor (pipe or memfd) with the session's text form; read to its end,
                       then closed
SONDE_CONFIG_FD        another one with names and values of the configuration, each ended by a NUL;
                       optional
SONDE_STRICT=1         exit status 3 if anything is wrong with the recording (sonde script
                       --strict); =loss: if data was lost or damaged (--fail-on-loss)
SONDE_EAGER=1          build every argument, also if a handler cannot see it
SONDE_VERBOSE=N        report parameters whose name is no field's also under --compat, unless N is 0
                       (sonde script -v)
SONDE_PRELUDE_VERBOSE  if set: report on stderr which build of the extension is used and which
                       arguments are omitted

The script then runs as __main__, as with plain python: its folder is sys.path[0], sys.argv begins
with its path, and stdin belongs to it. Exit status: 0; 1 if it raised (or was not Python 3); the
argument of its sys.exit().
"""


def _begin():
    import os
    import sys
    from os.path import abspath, dirname, realpath
    from importlib.machinery import SourceFileLoader

    here = dirname(realpath(__file__))
    # Our folder must not be in the place of the script's folder, nor be searched at all.
    sys.path[:] = [p for p in sys.path if not p or realpath(abspath(p)) != here]
    if os.stat(here).st_uid != os.geteuid():
        sys.dont_write_bytecode = True  # root leaves no files in another user's build folder
    launch = type(sys)("sonde_launch")
    launch.__file__ = here + "/lib/launch.py"
    exec(SourceFileLoader("sonde_launch", launch.__file__).get_code("sonde_launch"),
         launch.__dict__)
    return launch


_begin().main(globals())
