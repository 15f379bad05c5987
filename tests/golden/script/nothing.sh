# SPDX-License-Identifier: MIT
# A recording that damage makes unreadable has the same status in every command and format; the
# status is 0 if no event happened.
printf 'def trace_begin():\n    print("begins")\n' >h.py
printf 'sub trace_begin { print "begins\\n"; }\n' >h.pl
python3 - "$DATA" <<'END'
import struct
import sys

whole = open(sys.argv[1] + '/demo.data', 'rb').read()
data, size = struct.unpack_from('<QQ', whole, 40)


def save(name, records):
    with open(name, 'wb') as f:
        f.write(whole[:data] + records.ljust(size, b'\0')[:size] + whole[data + size:])


save('zeros.data', b'')
save('ones.data', b'\xff' * size)
save('ids.data', b''.join(struct.pack('<IHHQ', 9, 2, 128, 12345).ljust(128, b'\1') for i in range(size // 128)))
attr = struct.pack('<II', 1, 64) + struct.pack('<7Q', 0, 1, 0x10006, 0, 0x40000, 0, 0) + struct.pack('<Q', 7)
stream = b'PERFILE2' + struct.pack('<Q', 16) + struct.pack('<IHH', 64, 0, 8 + len(attr)) + attr
comm = struct.pack('<IHHII8s', 3, 0, 24, 12, 12, b'sh')
open('none.data', 'wb').write(stream + comm)
open('cut.data', 'wb').write(stream + comm + struct.pack('<IHH', 9, 2, 32))
# The number of lost events is known at the end of reading, and reported as a defect once more.
lost = struct.pack('<IHHQIIQQ', 13, 0, 40, 0, 12, 12, 1000, 7)
open('lost.data', 'wb').write(stream + comm + lost + struct.pack('<IHH', 9, 2, 32))
END
# An interpreter must load the sanitizer's library first.
asan=
test "${SONDE_ASAN:-0}" = 0 || asan="env LD_PRELOAD=$(cc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc"
for file in zeros ones ids cut lost none; do
	echo "== $file"
	for c in script 'script --time 0,' 'script --format jsonl' 'script -D' 'script -s h.py' 'script -s h.pl' info 'info --format json' \
		evlist 'evlist -v' 'evlist --json' check buildid-list 'buildid-list -H' 'buildid-list --json' 'cut -o o.data' \
		'info --no-events' 'script --header-only'; do
		case $c in 'script -s'*) pre=$asan ;; *) pre= ;; esac
		$pre sonde $c -i $file.data >out 2>err
		echo "$?, $(($(wc -l <out) > 0)) text, $(grep -c 'could be read' err), $(wc -l <err) told | $c"
		grep -o '"complete":[a-z]*' out
		rm -f o.data
	done
done
sonde info zeros.data 2>&1 | tail -n 3 | cut -c 1-60
sonde --compat perf-6.1 evlist -i zeros.data >out 2>err
echo "as perf: $?, $(($(wc -l <out) > 0)) text | evlist"
# Events outside of the window were read.
head -c 40000 "$DATA/demo.data" >some.data
sonde script -i some.data --time 0,1 2>err
echo "$?, $(grep -c 'could be read' err), $(wc -l <err) told"
