# SPDX-License-Identifier: MIT
# What a report cannot show, and filters that let nothing through.
D=$DATA/demo.data
for options in "-s smy" "-s cgroup_id" "--total-cycles" "--format json --tasks" "--format json --stats" \
	"--format csv --header" "--format folded -D" "--format json --total-cycles"; do
	echo "== $options"
	sonde report $options -i "$D" 2>&1 >/dev/null
	echo "status $?"
done
for options in "-c nobody" "--pid 1" "-c nobody --pid 1 --format csv" "-c find" \
	"--symbol-filter nothing" "--symbol-filter nothing --format json" "-C 0 -c nobody -x" \
	"--socket-filter 7 --tid 1" "--time 10% -c nobody" "--time 1,2" \
	"--where cpu==99 -c nobody"; do
	echo "== $options"
	sonde report $options -i "$D" 2>&1 >/dev/null
	echo "status $?"
done
echo "== --compat perf-6.1 -c nobody"
sonde --compat perf-6.1 report -c nobody -i "$D" 2>&1 >/dev/null
