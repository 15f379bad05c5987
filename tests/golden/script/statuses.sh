# SPDX-License-Identifier: MIT
# Exit statuses by default and under --compat; perf 6.1 has the latter.
elsewhere='/^sonde: \(unknown\|no-kernel\)-symbols: /d' # reported where neither kernel nor files are those of the recordings
try() {
	sonde script "$@" >out 2>err
	plain=$?
	sonde --compat perf-6.1 script "$@" >compat.out 2>/dev/null
	echo "$plain, as perf $?, $(($(wc -l <out) > 0)) text | $*"
	sed "s,$DATA,DATA,g; $elsewhere" err | cut -c 1-150
}
ln -s "$DATA/text" text

echo '== columns'
for f in cpu,event sw:cpu,event sw:addr,event,ip +addr sw:+addr sw: trace: symoff 'event ip'; do
	try -i text/clock.data -F "$f"
done
for f in addr sw: sw:addr,event sw:symoff; do
	try -i text/switch.data -F "$f"
done
echo '== windows, cpus, processes'
try -i text/switch.data --time foo
try -i text/switch.data --time 1,2,3
try -i none.data --time foo
for c in x 99999 77 0,0; do
	try -i text/switch.data -C "$c"
done
try -i text/clock.data -C 0
try -i text/switch.data --pid x
