# SPDX-License-Identifier: MIT
# Filters: the events that perf 6.1 and the default show, and wrong options.
elsewhere='/^sonde: \(unknown\|no-kernel\)-symbols: /d' # reported where neither kernel nor files are those of the recordings
both() {
	for as in none perf-6.1; do
		sonde --compat $as script -F "${fields:-time,event}" "$@" >out 2>err
		echo "$? $as: $(wc -l <out) lines | $*"
		sed "s,$DATA,DATA,g; $elsewhere" err | cut -c 1-170
	done
}
ln -s "$DATA/text" text
# A copy without the times of the first and last sample in its header: bit 21 of its features is
# cleared, and the table of sections, which follows the data, loses that row.
python3 - text/mixed.data untimed.data <<'END'
import struct, sys
b = bytearray(open(sys.argv[1], 'rb').read())
size, = struct.unpack_from('<Q', b, 8)
data_off, data_size = struct.unpack_from('<QQ', b, 40)
bits, = struct.unpack_from('<Q', b, 72)
row = bin(bits & (1 << 21) - 1).count('1')
nr = bin(bits).count('1')
table = data_off + data_size
rows = [b[table + 16 * i:table + 16 * i + 16] for i in range(nr)]
del rows[row]
b[table:table + 16 * nr] = b''.join(rows) + bytes(16)
struct.pack_into('<Q', b, 72, bits & ~(1 << 21))
open(sys.argv[2], 'wb').write(b)
END

echo '== time'
both -i untimed.data --time 10%/10
both -i untimed.data --reltime --time 0.0001,0.0002
both -i text/mixed.data --reltime --time 0.0001,
both -i text/mixed.data --reltime --time 50%-60%
both -i text/mixed.data --time 20%-10%
both -i text/mixed.data --time '1,2 3'
echo '== events, names'
fields=event
both -i text/switch.data --switch-on sched:sched_swich
both -i text/switch.data --switch-off x
both -i text/switch.data --switch-off sched:sched_switch
both -i text/switch.data --comms sleep,sleep
both -i text/switch.data --comms file:///nosuch
both -i text/clock.data -S file:///nosuch
both -i text/clock.data --dsos x,x
both -i text/clock.data --stop-bt x,x
both -i text/clock.data --addr-range x
echo '== a file per event type'
cp text/switch.data text/mixed.data .
ln -s /nosuch/x switch.data.sched:sched_wakeup.dump
for f in switch mixed; do
	for as in none perf-6.1; do
		sonde --compat $as script -i $f.data --per-event-dump -F comm,time,event
		echo "status $?"
		wc -c -l $f.data.*
		rm -f $f.data.?*
	done
done 2>&1
sonde script -i switch.data --per-event-dump -F event --comms sleep --time 2975.921,
cat switch.data.sched:sched_switch.dump
echo '== order'
sonde script -i switch.data -d 2>&1
