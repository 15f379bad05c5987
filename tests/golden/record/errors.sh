# SPDX-License-Identifier: MIT
# Wrong command lines: sonde opens nothing, so no privileges are needed.
try() { echo "== $*"; sonde "$@" 2>&1; echo "exit $?"; }
try record --filter x true
try record -c 1 -F 2 true
try record -p 12,x
try record -p 0
try record -m 4X true
try record -c ten true
try record --kernel-callchains --user-callchains true
try record --fail-on-lots true -x
try record --evnt x true
try record -e
ls
