# SPDX-License-Identifier: MIT
# Exit statuses, and the message: one line on stderr.
try() {
	echo "== $*"
	sonde "$@" >out 2>err
	echo "exit $?, $(($(wc -l <out) > 0)) text, $(wc -l <err) told"
}
cp "$DATA/demo.data" whole.data
head -c 40000 whole.data >cut.data
echo 'no recording' >text.data
try script -i whole.data
try script -i whole.data --strict
try script -i cut.data
try script -i cut.data --strict
try --compat perf-6.1 script -i none.data
try script
try script -i text.data
try script -i /
try script -i whole.data --time 1,x
try script -i whole.data -C x
try script -i whole.data -F nosuchfield
sonde script -i whole.data >/dev/full 2>err
echo "full: exit $?, $(wc -l <err) told"
for c in 'script -i whole.data' 'script -i whole.data --header-only' 'evlist -i whole.data' 'version'; do
	sonde --compat perf-6.1 $c >/dev/full 2>err
	echo "full, as perf: exit $?, $(wc -l <err) told | $c"
done
sonde script -i whole.data | head -n 1 | wc -l
