# SPDX-License-Identifier: MIT
try() { echo "== $*"; sonde report -i "$DATA/demo.data" "$@" 2>&1; echo "exit $?"; }
try -s comm
try -s comm,pid -n --show-total-period
try -s comm -t, -n
try -s comm -q -w 12,4
try -s comm --percent-limit 20
try -F sample,comm
try --hierarchy -s comm,pid
try -s nosuch
try -s com,cpuu
try -g
sonde --compat perf-6.1 report -i "$DATA/demo.data" -s nosuch 2>&1; echo "exit $?"
try -s comm,pid --format json | sed 's,"sonde":"[^"]*","sonde":"...",'
try -s comm,pid --format csv
# Symbols of a stored map: those of the running kernel are not the same everywhere.
cp "$DATA/text/kallsyms" map
try -s comm,pid --format folded --kallsyms map
try --format folded --weight period --kallsyms map
try --format folded --weight count --kallsyms map
try --format folded --weight samples -s comm --kallsyms map
try --format folded --weight coun
try --weight period
try --format json --weight period
try -p '['
try --ignore-callees '('
sonde --compat perf-6.1 report -i "$DATA/demo.data" -p '[' 2>&1; echo "exit $?"
sonde --compat perf-6.1 report -i "$DATA/demo.data" --ignore-callees '(' 2>&1; echo "exit $?"
try --format xml
try -c cat -s comm,pid
try -c cat,grep -s comm --percentage relative
try -s sched:sched_switch.next_comm
try -s comm,prev_state
try -s sched_wakeup.nofield
try -F overhead,next_comm
try -s parent
try --group -s comm
try --no-group -s comm --hierarchy -q
try -F overhead,sample -q
try --percent-type local
try --prefix-strip 2
try --itrace=@
try --samples x
