#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads traces as the tracers make that barectf generates for small machines.

    barectf.py SONDE

A device without an operating system packs values into as few bits as its configuration says, in
packets of one size, whose rest is unused. The traces are made here in both byte orders; their
values are below. Where it is installed, stock babeltrace2 must print the same lines.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.dont_write_bytecode = True
sys.path[:0] = [str(TESTS / 'gen'), str(TESTS)]
from ctf import MAGIC, UUID, packets, write  # noqa: E402
import points  # noqa: E402
from points import ENV, done, skip  # noqa: E402

SONDE = str(pathlib.Path(sys.argv[1]).resolve())
PACKET_BYTES = 160


def number(size, align=None, signed='false', base='decimal', rest=''):
    return ('integer {\n\t\tsigned = %s;\n\t\tsize = %d;\n\t\talign = %d;\n\t\tbyte_order = '
            '@order@;\n\t\tbase = %s;\n\t\tencoding = none;\n\t\t%s\n\t}' % (
                signed, size, align or (8 if size % 8 == 0 else 1), base, rest))


CLOCK = 'map = clock.default.value;'
METADATA = '''/* CTF 1.8 */

/* Made as a tracer's metadata are. */
typealias %(u8)s := byte_t;

trace {
	major = 1;
	minor = 8;
	uuid = "%(uuid)s";
	byte_order = @order@;
	packet.header := struct {
		%(u32)s magic;
		byte_t uuid[16];
		%(u8)s stream_id;
	} align(8);
};

env {
	domain = "bare";
	tracer_name = "barectf";
	tracer_major = 3;
	tracer_minor = 1;
	tracer_patch = 2;
	barectf_gen_date = "2026-11-29T08:00:00";
	my_board_revision = -2;
	hostname = "board";
};

clock {
	name = default;
	description = "ticks of 8 MHz";
	freq = 8000000;
	precision = 0;
	offset_s = 1500000000;
	offset = 4000000;
	absolute = false;
};

stream {
	id = 3;
	packet.context := struct {
		%(u64)s packet_size;
		%(u64)s content_size;
		%(stamp64)s timestamp_begin;
		%(stamp64)s timestamp_end;
		%(u16)s events_discarded;
		%(u12)s _board;
		%(u5)s _mode;
	} align(8);
	event.header := struct {
		%(u6)s id;
		%(stamp20)s timestamp;
	} align(1);
	event.context := struct {
		%(s3)s _level;
	} align(1);
};

event {
	name = "sensor";
	stream_id = 3;
	id = 0;
	loglevel = 13;
	fields := struct {
		%(u3)s _kind;
		%(s11)s _value;
		%(x23)s _flags;
		enum : %(u4)s {
			"COLD" = 0,
			"FINE" = 1 ... 9,
			"HOT" = 10 ... 15,
			"BOILING" = 15,
		} _state;
		%(u1)s _bits[9];
	} align(1);
};

event {
	name = "reading of all";
	stream_id = 3;
	id = 1;
	context := struct {
		%(u7)s _turn;
	} align(1);
	fields := struct {
		%(u2)s __values_len;
		%(s13)s _values[__values_len];
		string { encoding = UTF8; } _name;
		floating_point { exp_dig = 8; mant_dig = 24; align = 32; byte_order = @order@; } _volts;
		floating_point { exp_dig = 11; mant_dig = 53; align = 1; byte_order = @order@; } _amperes;
		struct {
			%(s9)s _x;
			%(u33)s _y;
		} align(1) _at;
	} align(8);
};

event {
	name = "beat";
	stream_id = 3;
	id = 2;
};
''' % {
    'u8': number(8), 'u16': number(16), 'u32': number(32), 'u64': number(64), 'uuid': UUID,
    'stamp64': number(64, rest=CLOCK), 'stamp20': number(20, rest=CLOCK), 'u12': number(12),
    'u5': number(5), 'u6': number(6), 's3': number(3, signed='true'), 'u3': number(3),
    's11': number(11, signed='true'), 'x23': number(23, base='hexadecimal'), 'u4': number(4),
    'u1': number(1, base='binary'), 'u7': number(7), 'u2': number(2),
    's13': number(13, signed='true'), 's9': number(9, signed='true'), 'u33': number(33)}

# Ticks of 125 ns from a second and a half of the year 2017 on; they wrap after 20 bits.
WRAP = 1 << 20
PACKETS = (
    (WRAP - 100, WRAP + 5000, 0, 0xabc, 17, (
        ('sensor', WRAP - 90, -4, (5, -1000, 0x5a5a5a, 15, (1, 0, 1, 1, 0, 0, 1, 0, 1))),
        ('beat', WRAP + 7, 3, None),
        ('all', WRAP + 4096, 1, (99, (-4096, 4095, -1), 'a "name"', 3.25, -1e-9,
                                 (-256, 0x1fedcba98))))),
    (WRAP + 5000, 3 * WRAP, 65530, 1, 0, (
        ('all', WRAP + 5001, 0, (0, (), '', 0.5, 2.0, (255, 0))),)),
    (5 * WRAP, 5 * WRAP + 3, 4, 1, 31, (
        ('sensor', 5 * WRAP + 1, 2, (0, 1023, 0, 4, (0,) * 9)),
        ('beat', 5 * WRAP + 2, -1, None))))
LINES = '''\
[02:40:00.631060750] (+?.?????????) board sensor: { board = 2748, mode = 17 }, { level = -4 }, \
{ kind = 5, value = -1000, flags = 0x5A5A5A, state = ( "HOT", "BOILING" : container = 15 ), \
bits = [ [0] = 0b1, [1] = 0b0, [2] = 0b1, [3] = 0b1, [4] = 0b0, [5] = 0b0, [6] = 0b1, [7] = 0b0, \
[8] = 0b1 ] }
[02:40:00.631072875] (+0.000012125) board beat: { board = 2748, mode = 17 }, { level = 3 }
[02:40:00.631584000] (+0.000511125) board reading of all: { board = 2748, mode = 17 }, \
{ level = 1 }, { turn = 99 }, { _values_len = 3, values = [ [0] = -4096, [1] = 4095, [2] = -1 ], \
name = "a \\"name\\"", volts = 3.25, amperes = -1e-09, at = { x = -256, y = 8570845848 } }
[02:40:00.631697125] (+0.000113125) board reading of all: { board = 1, mode = 0 }, \
{ level = 0 }, { turn = 0 }, { _values_len = 0, values = [ ], name = "", volts = 0.5, amperes = 2, \
at = { x = 255, y = 0 } }
[02:40:01.155360125] (+0.523663000) board sensor: { board = 1, mode = 31 }, { level = 2 }, \
{ kind = 0, value = 1023, flags = 0x0, state = ( "FINE" : container = 4 ), bits = [ [0] = 0b0, \
[1] = 0b0, [2] = 0b0, [3] = 0b0, [4] = 0b0, [5] = 0b0, [6] = 0b0, [7] = 0b0, [8] = 0b0 ] }
[02:40:01.155360250] (+0.000000125) board beat: { board = 1, mode = 31 }, { level = -1 }
'''


# ---- making --------------------------------------------------------------------------------------

def put_sensor(p, value):
    kind, reading, flags, state, bits = value
    p.int(kind, 3).int(reading, 11).int(flags, 23).int(state, 4)
    for bit in bits:
        p.int(bit, 1)


def put_all(p, value):
    turn, values, name, volts, amperes, (x, y) = value
    p.int(turn, 7).align(32).int(len(values), 2)
    for v in values:
        p.int(v, 13)
    p.text(name).align(32).real(volts, 32)
    p.real(amperes, 64).int(x, 9).int(y, 33)


def make_packet(order, begin, end, lost, board, mode, events):
    def header(p):
        p.int(MAGIC, 32).raw(bytes.fromhex(UUID.replace('-', ''))).int(3, 8)

    def context(p, content, total):
        p.int(total, 64).int(content, 64).int(begin, 64).int(end, 64).int(lost, 16)
        p.int(board, 12).int(mode, 5)

    def body(p):
        for name, time, level, value in events:
            # An event is aligned as the widest alignment in its header, which is 1 bit.
            p.int(('sensor', 'all', 'beat').index(name), 6).int(time % WRAP, 20).int(level, 3)
            if name == 'sensor':
                put_sensor(p, value)
            elif name == 'all':
                put_all(p, value)

    return packets(order, header, context, body, PACKET_BYTES)


def make(folder, order):
    data = b''.join(make_packet(order, *packet) for packet in PACKETS)
    return write(folder, METADATA.replace('@order@', order), stream=data)


# ---- reading -------------------------------------------------------------------------------------

def run(*command):
    p = subprocess.run(list(map(str, command)), env=ENV, capture_output=True, timeout=60)
    return p.returncode, p.stdout.decode(), p.stderr.decode()


def say(ok, name, why):
    points.say(ok, name, '' if ok else why)


def differs(got, want):
    wrong = ['- %s\n+ %s' % (w, g) for g, w in zip(got.splitlines(), want.splitlines()) if g != w]
    return '\n'.join(wrong[:3]) or '%d lines, expected %d' % (len(got.splitlines()),
                                                              len(want.splitlines()))


def check(folder, order):
    trace = make(folder / order, order)
    status, out, err = run(SONDE, 'script', '-i', trace, '--format', 'babeltrace')
    say(status == 0 and out == LINES, 'lines, ' + order, differs(out, LINES) + err)
    # 65530 behind the first packet, then the counter of 16 bits wraps: 10 more.
    say('lost-events: 65540' in err, 'the counter of lost events wraps, ' + order, err)
    if shutil.which('babeltrace2'):
        theirs = run('babeltrace2', trace)[1]
        say(theirs == LINES, 'lines by babeltrace2, ' + order, differs(theirs, LINES))
    else:
        skip('lines by babeltrace2, ' + order, 'no babeltrace2', may=False)
    status, out, err = run(SONDE, 'script', '-i', trace, '--format', 'jsonl')
    values = fields_of(out)
    want = {'kind': 5, 'value': -1000, 'flags': 0x5a5a5a, 
            'state': {'value': 15, 'label': 'HOT'}}
    say(status == 0 and len(values) >= 4 and
        all(values[0].get(k) == v for k, v in want.items()) and
        any(v.get('at') == {'x': -256, 'y': 0x1fedcba98} for v in values) and
        any(v.get('volts') == 3.25 for v in values), 'values as fields, ' + order, out + err)
    status, out, err = run(SONDE, 'script', '-i', trace, '--where', 'value < 0 && level == -4',
                           '-F', 'event,time,trace')
    say(status == 0 and len(out.splitlines()) == 1 and 'sensor' in out and
        '1500000000.631060' in out,
        'a condition on packed fields, ' + order, out + err)
    status, out, err = run(SONDE, 'info', trace)
    say(status == 0 and 'barectf 3.1' in out and 'board' in out, 'sonde info, ' + order, out + err)
    again = folder / (order + '-again')
    status, out, err = run(SONDE, 'convert', '-i', trace, '--to', 'ctf', '-o', again)
    first, second = (run(SONDE, 'script', '-i', t, '--format', 'jsonl')[1] for t in (trace, again))
    say(status == 0 and fields_of(first) == fields_of(second) and fields_of(first),
        'the same values after convert --to ctf, ' + order,
        differs(str(fields_of(second)).replace('}, {', '\n'),
                str(fields_of(first)).replace('}, {', '\n')) + err)


def fields_of(text):
    lines = [json.loads(line) for line in text.splitlines()]
    return [line['fields'] for line in lines if line.get('fields')]


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix='sonde-barectf-'))
    try:
        for order in 'le', 'be':
            check(folder, order)
    finally:
        shutil.rmtree(folder)
    return done()


sys.exit(main())
