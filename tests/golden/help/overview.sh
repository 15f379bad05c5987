# SPDX-License-Identifier: MIT
sonde help
echo ==
sonde 2>&1 >/dev/null | head -n 1
sonde >/dev/null 2>&1
echo "exit $?"
sonde --help | head -n 1
sonde record --help | head -n 1
sonde --help script | head -n 1
