# SPDX-License-Identifier: MIT
# --pair: tables of events that are made of two, over a recording with four tracepoints.
ln -s $DATA/demo.data .
pair() { echo "== $*"; sonde report -i demo.data -q "$@" 2>&1; echo "exit $?"; }
pair --pair sched_wakeup,sched_switch,pid,next_pid --where 'ns >= 0' -s comm
echo '== times'
sonde report -i demo.data --pair sched_wakeup,sched_switch,pid,next_pid --where 'ns >= 0' \
	--format folded --weight ns 2>/dev/null | sed 's/;.* /;... /'
pair --pair sys_enter_read,sched_switch --where 'ns > 100000' -s comm,next_comm,ns
pair --pair sys_enter_read,sched_switch --where 'ns > 100000' -s next_comm,trace_fields --format csv
echo '== beside the other events'
sonde report -i demo.data --pair sched_wakeup,sched_switch,pid,next_pid -s comm 2>/dev/null |
	grep -A1 '^# Samples'
echo '== mistakes'
pair --pair sys_enter_read
pair --pair sys_enter_read,sched_swich
pair --pair sys_enter_read,sched_switch --format folded --weight nss
