# SPDX-License-Identifier: MIT
# A recording of `perf record --kcore` is a folder with the kernel's symbols, where perf reads them.
mkdir -p kcore.data/kcore_dir
cp "$DATA/text/chains.data" kcore.data/data
sed 's/ __schedule$/ recorded_schedule/' "$DATA/text/kallsyms" >kcore.data/kcore_dir/kallsyms
named() {
	sonde script "$@" 2>err | grep -c ' recorded_schedule+'
}
for compat in none perf-6.1; do
	echo "$compat: $(named --compat $compat -i kcore.data | sed 's/[1-9][0-9]*/some/') of the recording's" \
		"$(named --compat $compat -i kcore.data --kallsyms "$DATA/text/kallsyms") of the file that is named"
	sonde --compat $compat script -i kcore.data >beside 2>/dev/null
	sonde --compat $compat script -i kcore.data --kallsyms kcore.data/kcore_dir/kallsyms >named 2>/dev/null
	cmp beside named && echo 'the same as with --kallsyms'
done
mv kcore.data/kcore_dir/kallsyms elsewhere
ln -s ../../elsewhere kcore.data/kcore_dir/kallsyms
echo "$(named -i kcore.data) by a link that leads out of the recording"
