# SPDX-License-Identifier: MIT
# --pair: events that are made of two, over a recording with four tracepoints.
ln -s $DATA/demo.data .
pair() { echo "== $*"; sonde script -i demo.data "$@" 2>&1; echo "exit $?"; }
first() { pair "$@" | head -n 4; }
first --pair sched_switch,sched_switch,next_pid,prev_pid --where 'ns > 1000000'
first --pair sched_wakeup,sched_switch,pid,next_pid --where 'ns >= 0' -F comm,time,event,trace
first --pair sys_enter_read,sched_switch --pair sys_enter_read,sys_enter_read,comm --where 'ns >= 0'
echo '== jsonl'
sonde script -i demo.data --pair sys_enter_read,sched_switch --where 'ns >= 0' --format jsonl |
	sed -n '/"pair/{p;q;}'
echo '== the filters of tasks come first'
sonde script -i demo.data --pair sys_enter_read,sched_switch -c xargs --where 'ns >= 0' 2>&1 |
	tail -n 1
echo '== mistakes'
for p in sys_enter_read sys_enter_read, 'sys_*,sched_switch' sys_enter_read,sched_swich \
	sched_wakeup,sched_switch,pid sched_switch,sched_wakeup,next_pid,comm \
	sched_switch,sched_switch,next_pud; do
	pair --pair "$p"
done
pair --pair sys_enter_read,sched_switch -D
pair --pair sys_enter_read,sched_switch --dlfilter x.so
