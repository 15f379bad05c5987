# SPDX-License-Identifier: MIT
# --where: the kernel's language of filters over a recording with four tracepoints.
ln -s $DATA/demo.data .
count() { printf '%s: ' "$1"; sonde script -i demo.data --where "$1" 2>&1 | wc -l; }
try() { echo "== $*"; sonde "$@" 2>&1; echo "exit $?"; }
count 'prev_pid > 0'
count 'prev_pid > 0 || count == 32768'
count 'prev_state & 1 && next_pid != 0'
count '!(prev_state & 1) && prev_prio == 120'
count 'count >= 0x1000 && cpu & CPUS{1}'
count 'prev_comm ~ "s*" || comm ~ "s*"'
count 'common_pid >= 0'
echo '== the same events'
sonde script -i demo.data -F event,trace --where 'count & 0x4000 && fd != 3' | sort | uniq -c |
	head -n 5
sonde script -i demo.data --format jsonl --where 'target_cpu == 1' | grep -c wakeup
sonde script -i demo.data -i demo.data --where 'target_cpu == 1' | wc -l
sonde cut -i demo.data -o cut.data --where 'target_cpu == 1' && sonde script -i cut.data | wc -l
echo '== a field that only some events have, of a pattern and of named events'
sonde cut -i demo.data -o cut.data -e 'sched:*' --where 'next_prio == 120' && echo cut
try cut -i demo.data -o cut.data -e 'sched_switch,sched_wakeup' --where 'next_prio == 120'
try cut -i demo.data -o cut.data -e 'sched_switch,sys*read' --where 'count == 1'
echo '== mistakes'
for e in 'next_pri == 120' 'prev_pid = 1' 'prev_comm == bash' 'prev_comm == 1' 'prev_pid == "1"' \
	'count == -1' 'buf == "x"' 'pid == 1 &&' '(pid == 1' 'cpu & CPUS{x}' 'ip == 1' 'id == 1' ''; do
	try script -i demo.data --where "$e"
done
echo '== no event'
try script -i demo.data --where 'prev_pid == 99999999'
