# SPDX-License-Identifier: MIT
# The words that the interpreter gets: the prelude, the script, its arguments, the session's text.
mkdir -p lib/python exec/scripts/python
export SONDE_LIBDIR=$PWD/lib PERF_EXEC_PATH=$PWD/exec
echo '' >lib/python/prelude.py
cat >fake <<'END'
#!/bin/sh
case $* in *version_info*) echo 3.11; exit ;; esac
echo "prelude ${1##*/lib/}"
shift
echo "words $*"
cat <&"$SONDE_SESSION_FD" | grep -E '^(input|compat|callchain|cpu|ns|time)='
echo "strict ${SONDE_STRICT:-unset}"
END
chmod +x fake
touch x.py noext.foo exec/scripts/python/perfs-own.py 'with:colon.py'
printf '#!/usr/bin/env python3\n' >shebang
try() { echo "== $*"; sonde script --interpreter ./fake "$@"; }
try -s x.py a b
try -s x.py -- -a -b
try x.py a -x -- z
try -C 0,2 --ns -i other.data --time 1,2 -G --strict --compat perf-6.1 x.py
try -s py:noext.foo
try -s PYTHON:noext.foo
try shebang
try with:colon.py
try -s none.py -s x.py
try perfs-own.py | sed "s|$PWD|PWD|"
{ try -s x.py -n 1; try -n 1 -s x.py; try -s x.py --nosuch; } 2>&1
