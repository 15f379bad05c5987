# SPDX-License-Identifier: MIT
sonde version
sonde --version
sonde --version -v | sed 's/=[a-z.0-9]*/=X/g; s/ .*//' | tail -n 1
sonde version --help | head -n 1
