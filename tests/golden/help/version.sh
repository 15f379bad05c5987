# SPDX-License-Identifier: MIT
sonde version
sonde --version
sonde --version -v | sed -n '2{s/=[a-z.0-9]*/=X/g; s/ .*//; p}; 3{s/=[a-z]*/=X/g; p}'
sonde version --help | head -n 1
