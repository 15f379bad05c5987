# SPDX-License-Identifier: MIT
# Symbols and lines are those of the program that the recordings were made of.
mkdir -p root/opt && cp "$DATA/text-cases/wl" root/opt/wl
try() { file=$1; shift; echo "== $*"; sonde report -i "$DATA/report/$file.data" --symfs root "$@" 2>&1; echo "exit $?"; }
try history --total-cycles
try history --total-cycles -q --percent-limit 8
try history --total-cycles -t, --percent-limit 8
try history -s comm,mispredict
try history --branch-history -s comm --no-children -g callee,20
try history --branch-history -s comm --no-children -g flat,20
try history -s ipc_lbr
try history -s symbol_to --percent-limit 20
try call-stacks --stitch-lbr -s comm -g caller,80
try call-stacks -s comm -g caller,80
try call-stacks --total-cycles -s comm -g none
sonde report -i "$DATA/demo.data" --branch-history 2>&1; echo "exit $?"
