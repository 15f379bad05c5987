# SPDX-License-Identifier: MIT
"""Runs a perf script in this interpreter over a session; started by `sonde script -s x.py`, never by hand.

    SONDE_SESSION_FD=N python3 /abs/path/prelude.py SCRIPT [ARGS...]

SONDE_SESSION_FD       a descriptor (pipe or memfd) holding the session's text form; read to its end and closed
SONDE_CONFIG_FD        another one, holding names and values of configuration, each ended by a NUL; may be absent
SONDE_STRICT=1         exit status 3 when anything is wrong with the recording (sonde script --strict);
                       =loss: when data was lost or damaged (--fail-on-loss)
SONDE_EAGER=1          every argument is built, also where a handler cannot see it
SONDE_VERBOSE=N        reports parameters that are named like no field under --compat too, unless N is 0 (sonde script -v)
SONDE_PRELUDE_VERBOSE  set: says on stderr which build of the extension was loaded and what was left out

The script then runs as __main__, as with plain python: its folder is sys.path[0], sys.argv begins with its path, stdin
is its own. Exit status: 0; 1 when it raised (or was not Python 3); what it gave sys.exit().
"""


def _begin():
    import os
    import sys
    from os.path import abspath, dirname, realpath
    from importlib.machinery import SourceFileLoader

    here = dirname(realpath(__file__))
    # Our folder must not stand where the script's belongs (nor be searched at all).
    sys.path[:] = [p for p in sys.path if not p or realpath(abspath(p)) != here]
    if os.stat(here).st_uid != os.geteuid():
        sys.dont_write_bytecode = True  # root leaves no files in somebody's build folder
    launch = type(sys)("sonde_launch")
    launch.__file__ = here + "/lib/launch.py"
    exec(SourceFileLoader("sonde_launch", launch.__file__).get_code("sonde_launch"), launch.__dict__)
    return launch


_begin().main(globals())
