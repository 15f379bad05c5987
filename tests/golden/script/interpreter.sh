# SPDX-License-Identifier: MIT
# The choice of Python: the first rule that applies, which -v prints.
mkdir -p lib/python venv/bin path other empty
export SONDE_LIBDIR=$PWD/lib
touch lib/python/prelude.py
fake() { printf '#!/bin/sh\ncase $* in *version_info*) echo %s ;; *) echo "%s runs" ;; esac\n' "$2" "$1" >$1; chmod +x $1; }
fake venv/bin/python3 3.11
fake path/python3 3.11
fake other/python3.12 3.12
fake other/python 3.10
fake other/python2 2.7
fake other/pythonold 3.8
printf '#!%s/other/python\n' "$PWD" >new.py
printf '#!/usr/bin/env -S %s/other/python -u\n' "$PWD" >env.py
printf '#!%s/other/python2\n' "$PWD" >two.py
printf '#!%s/other/pythonold\n' "$PWD" >old.py
printf '#!/bin/sh\n' >shell.py
printf '#!/usr/bin/env nosuchpython\n' >gone.py
export PATH=$PWD/path:$PATH
try() { { echo "== $*"; env "$@" 2>&1; } | sed "s|$PWD|PWD|"; }
try sonde script -v new.py
try sonde script -v env.py
try sonde script -v two.py
try sonde script -v old.py
try sonde script -v shell.py
try sonde script -v gone.py
try VIRTUAL_ENV=$PWD/venv sonde script -v new.py
try VIRTUAL_ENV=$PWD/empty sonde script -v two.py
try SONDE_PYTHON=other/python3.12 VIRTUAL_ENV=$PWD/venv sonde script -v new.py
try SONDE_PYTHON=python3 sonde script -v new.py
try SONDE_PYTHON=other/python3.12 sonde script -v --interpreter other/python2 new.py
try SONDE_PYTHON=other/python2 sonde script new.py
try SONDE_PYTHON=perl sonde script new.py
try sonde script --interpreter /bin/true new.py
try sonde script --interpreter other/pythonold new.py
