# SPDX-License-Identifier: MIT
try() { echo "== $*"; sonde "$@" 2>&1; echo "exit $?"; }
touch x.py x.pl x.lua x.rb x.foo
try script -s x.py --foo
try script --filds comm
try script -s cobol:x
try script -s x.foo
try script --format evlist
try --compat perf-6.1 script --format x
try script --interpreter python3
try script nosuch
try script nosuch.py
try --compat perf-6.1 script nosuch.py
try --compat perf-6.1 script -s cobol:x
try script -i 'two
lines'
for s in x.lua x.rb; do try script $s; done
mkdir -p lib/python && touch lib/python/prelude.py
export SONDE_LIBDIR=$PWD/lib
try script --interpreter ./none x.py
SONDE_PYTHON=none-such try script x.py
SONDE_LIBDIR=/nonexistent try script x.py
