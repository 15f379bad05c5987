# SPDX-License-Identifier: MIT
# One line for each mistake, with the nearest word; the status is 2, or perf's 129 under --compat.
try() { sonde "$@" 2>&1; echo "exit $?"; }
try hlep
try qqqqqqqqqq
try help --completio bash
try help --completoin bash
try help helpp
try help a b
try --compat perf-5.0 version
try --compat perf-6.1 version -x
try --compat perf-6.1 versoin
try version --compat
try version --verbos=1
