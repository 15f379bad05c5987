#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads traces in the Common Trace Format: made ones, whose values are here, and the corpus.

    ctf.py SONDE

Every trace is printed with --format babeltrace and compared with the lines below and, where it is
installed, with stock babeltrace2. babeltrace2 2.0 does not read CTF 2; its traces have no other
oracle than this file.
"""
import json
import random
import re
import shutil
import struct
import sys

sys.dont_write_bytecode = True
from ctfcases import BABELTRACE, DATA, SONDE, TOP, differs, printed, run, script  # noqa: E402
from ctf import (MAGIC, SCHED, UUID, at, fragments, number, packed, packets,  # noqa: E402
                 structure, trace_block, write)
from points import FULL, done, say, skip  # noqa: E402
from recordings import CORPUS, NO_CORPUS, corpus_files  # noqa: E402

# ---- made traces ---------------------------------------------------------------------------------

TYPES = '''/* CTF 1.8 */
%s
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 16; align = 8; signed = true; } := const short;
typealias integer { size = 64; base = hex; } := void *;
typedef uint8_t byte_t, pair_t[2];
struct point { const short x; const short y; } align(16);
enum colour : uint8_t { RED, GREEN = 4, BLUE = 5 ... 9, "dark blue" = 9, };
stream {
  packet.context := struct {
    integer { size = 32; } content_size;
    integer { size = 32; } packet_size;
  };
  event.header := struct { uint8_t id; };
};
event {
  name = "bits"; id = 0;
  fields := struct {
    integer { size = 3; } a; integer { size = 5; signed = true; } _b;
    integer { size = 12; base = hex; } c; integer { size = 4; signed = true; base = 16; } d;
    integer { size = 33; signed = true; } e; integer { size = 7; base = 2; } f;
    integer { size = 64; align = 1; base = octal; } g;
  };
};
event {
  name = compound; id = 1;
  fields := struct {
    struct point at; byte_t m[2][3]; uint8_t n; pair_t seq[n]; void *p;
    enum colour one; enum colour two; enum colour none;
    floating_point { exp_dig = 8; mant_dig = 24; } single;
    floating_point { exp_dig = 11; mant_dig = 53; align = 64; } twice;
  };
};
event {
  name = texts; id = 2;
  fields := struct {
    string s; integer { size = 8; encoding = UTF8; } fixed[4];
    uint8_t __len; integer { size = 8; encoding = UTF8; } counted[__len];
    enum : uint8_t { _A, B, C } tag;
    variant <tag> { string _A; struct point B; integer { size = 4; } C; } v;
    struct { } nothing; uint8_t zero[0]; string list[__len];
  };
};
'''


def put_bits(p):
    p.int(0, 8).align(8)
    for value, size in ((5, 3), (-3, 5), (0xabc, 12), (-1, 4), (-4294967296, 33), (0x55, 7),
                        (-2, 64)):
        p.int(value, size, 1)


def put_compound(p):
    p.int(1, 8).align(64).int(-7, 16).int(1000, 16).raw(range(6)).int(2, 8).raw(b'abcd')
    p.int(0xdead, 64).int(9, 8).int(0, 8).int(2, 8).real(0.1, 32).align(64).real(1e300, 64)


def put_texts(p, tag):
    p.int(2, 8).text('caf\u00e9 "?"\t').raw(b'ab\0c').int(2, 8).raw(b'xy').int(tag, 8)
    if tag == 0:
        p.text('one')
    elif tag == 1:
        p.align(16).int(1, 16).int(-1, 16)
    else:
        p.int(9, 4)
    p.text('p').text('')


def types_trace(folder, order, metadata=None):
    text = TYPES % trace_block(order)

    def body(p):
        put_bits(p)
        put_compound(p)
        for tag in range(3):
            put_texts(p, tag)

    one = packets(order, lambda p: None, lambda p, c, t: p.int(c, 32).int(t, 32), body)
    return write(folder, metadata(text) if metadata else text, stream=one + one, empty=b'')


def check_types():
    texts = '''texts: { s = "caf\u00e9 \\"\\?\\"\\t", fixed = "ab", _len = 2, counted = "xy", tag = \
( %s ), v = { %s }, nothing = { }, zero = [ ], list = [ [0] = "p", [1] = "" ] }
'''
    want = ('''bits: { a = 5, b = -3, c = 0xABC, d = 0xF, e = -4294967296, f = 0b1010101, \
g = 01777777777777777777776 }
compound: { at = { x = -7, y = 1000 }, m = [ [0] = [ [0] = 0, [1] = 1, [2] = 2 ], [1] = [ \
[0] = 3, [1] = 4, [2] = 5 ] ], n = 2, seq = [ [0] = [ [0] = 97, [1] = 98 ], [1] = [ [0] = 99, \
[1] = 100 ] ], p = 0xDEAD, one = ( "BLUE", "dark blue" : container = 9 ), two = ( "RED" : \
container = 0 ), none = ( <unknown> : container = 2 ), single = 0.1, twice = 1e+300 }
''' + texts % ('"_A" : container = 0', '"one"') + texts % ('"B" : container = 1',
                                                           '{ x = 1, y = -1 }') +
            texts % ('"C" : container = 2', '9')) * 2
    for order in 'le', 'be':
        printed('all types, ' + order, types_trace(TOP / order, order), want)
    printed('packets of metadata', types_trace(TOP / 'packed', 'le', packed), want)
    printed('packets of metadata in the other byte order',
            types_trace(TOP / 'other', 'le', lambda t: packed(t, '>')), want)
    by_file = script(TOP / 'le' / 'metadata', '--format', 'babeltrace')[1]
    say(by_file == want, 'the file metadata stands for its folder', differs(by_file, want))
    by_word = run(SONDE, 'script', '--format', 'babeltrace', TOP / 'le')[1]
    say(by_word == want, 'the folder as a word', differs(by_word, want))
    status, out, err = script(TOP / 'be', '--format', 'jsonl')
    fields = [json.loads(line).get('fields') for line in out.splitlines()]
    fields = [f for f in fields if f]
    say(status == 0 and len(fields) == 10 and fields[0] == {
        'a': 5, 'b': -3, 'c': 0xabc, 'd': -1, 'e': -4294967296, 'f': 0x55, 'g': 2**64 - 2} and
        fields[1]['at'] == {'x': -7, 'y': 1000} and abs(fields[1]['single'] - 0.1) < 1e-8 and
        fields[1]['p'] == 0xdead and fields[1]['m'].startswith('[ [0] = [ [0] = 0') and
        fields[2]['counted'] == 'xy' and fields[3]['v'] == '{ { x = 1, y = -1 } }',
        'values as fields', out[:2000] + err)
    for words, lines in ((['--where', 'e < 0'], 2), (['--where', 'counted == "xy"'], 6),
                         (['--where', 'at.y == 1000'], 2)):
        status, out, err = script(TOP / 'le', *words)
        say(status == 0 and len(out.splitlines()) == lines, ' '.join(words), out + err)


COMPACT = '''/* CTF 1.8 */
%s
env { hostname = "host"; procname = "proc"; vpid = 42; }; env { domain = "ust"; };
clock { name = mono; freq = 1000000000; offset_s = 1000; offset = 7; };
typealias integer { size = 27; align = 1; map = clock.mono.value; } := u27_t;
typealias integer { size = 32; align = 8; } := u32_t;
typealias integer { size = 64; align = 8; map = clock.mono.value; } := stamp_t;
stream {
  id = 0;
  packet.context := struct {
    stamp_t timestamp_begin; stamp_t timestamp_end; u32_t content_size; u32_t packet_size;
    u32_t events_discarded; u32_t packet_seq_num; u32_t cpu_id;
  };
  event.header := struct {
    enum : integer { size = 5; align = 1; } { compact = 0 ... 30, extended = 31 } id;
    variant <id> {
      struct { u27_t timestamp; } compact;
      struct { u32_t id; stamp_t timestamp; } extended;
    } v;
  } align(8);
  event.context := struct { u32_t _vtid; integer { size = 8; encoding = UTF8; } procname[4]; };
};
event { name = "p:short"; id = 3; stream_id = 0; fields := struct { u32_t v; }; };
event { name = "p:long"; id = 70000; stream_id = 0; };
'''
HEADER = 'integer { size = 32; } magic; integer { size = 8; } uuid[16]; ' \
         'integer { size = 32; } stream_id; integer { size = 64; } stream_instance_id;'


def stamped(events, begin, end, lost=0, number=0, cpu=1, instance=0, order='le', size=None):
    """A packet of COMPACT. events: (time, id, tid, name, v)"""
    def context(p, content, total):
        p.int(begin, 64).int(end, 64).int(content, 32).int(total, 32)
        p.int(lost, 32).int(number, 32).int(cpu, 32)

    def body(p):
        for time, event, tid, name, v in events:
            p.align(8)
            if event < 31:
                p.int(event, 5).int(time, 27, 1)
            else:
                p.int(31, 5).int(event, 32).int(time, 64)
            p.int(tid, 32).raw(name.ljust(4, '\0').encode())
            if event == 3:
                p.int(v, 32)

    def header(p):
        p.int(MAGIC, 32).raw(bytes.fromhex(UUID.replace('-', ''))).int(0, 32).int(instance, 64)

    return packets(order, header, context, body, size)


def check_clock():
    wrap = 1 << 27
    first = stamped([(wrap - 5, 3, 10, 'aa', 1), (3, 3, 10, 'aa', 2),
                     (wrap + 9, 70000, 11, 'bb', 0), (9, 3, 11, 'bb', 3)], wrap - 10, wrap + 20)
    later = stamped([(5 * wrap + 1, 3, 10, 'cc', 4)], 5 * wrap, 5 * wrap + 2, lost=2**32 - 2,
                    number=3)
    last = stamped([(6 * wrap + 1, 3, 10, 'cc', 5)], 6 * wrap, 6 * wrap + 2, lost=3, number=4)
    other = stamped([(2 * wrap - 1, 3, 12, 'dd', 6)], wrap, 3 * wrap, cpu=0, instance=1)
    folder = write(TOP / 'clock', COMPACT % trace_block('le', HEADER), z_first=first, a_later=later,
                   m_last=last, other=other)
    (folder / 'index').mkdir()
    (folder / '.hidden').write_bytes(b'no packets')
    lines = [('0.134217730', '?.?????????', 'short', 1, 10, 'aa', 1),
             ('0.134217738', '0.000000008', 'short', 1, 10, 'aa', 2),
             ('0.134217744', '0.000000006', 'long', 1, 11, 'bb', None),
             ('0.134217744', '0.000000000', 'short', 1, 11, 'bb', 3),
             ('0.268435462', '0.134217718', 'short', 0, 12, 'dd', 6),
             ('0.671088648', '0.402653186', 'short', 1, 10, 'cc', 4),
             ('0.805306376', '0.134217728', 'short', 1, 10, 'cc', 5)]
    want = ''.join('[00:16:4%s] (+%s) host:proc:(42) p:%s: { cpu_id = %d }, { vtid = %d, '
                   'procname = "%s" }%s\n' % (t, d, name, cpu, tid, comm,
                                              '' if v is None else ', { v = %d }' % v)
                   for t, d, name, cpu, tid, comm, v in lines)
    printed('clocks, headers, parts of a stream, losses', folder, want, defects=1)
    err = script(folder)[2]
    # 2**32 - 2 of the first counter, 5 more after it wrapped, and 2 packets
    say('lost-events: 4294967301 ' in err, 'losses are counted', err)
    status, out, err = script(folder, '-F', 'comm,tid,cpu,time,event,trace')
    say(out.splitlines()[0].split() == ['aa', '10', '[001]', '1000.134217:', 'p:short:', 'v=1'] and
        out.splitlines()[4].split()[:3] == ['dd', '12', '[000]'],
        'tasks and cpus from contexts', out + err)
    status, out, err = script(folder, '--where', 'vtid == 11 && procname == "bb"')
    say(len(out.splitlines()) == 2, 'contexts are fields', out + err)
    ours = script(folder, '--format', 'babeltrace', TZ='Asia/Kolkata')[1]
    say(ours.startswith('[05:46:40.134217730]'), 'the local time zone', ours)


CLOCKS = '''/* CTF 1.8 */
%s
clock { name = a; freq = 1000000000; offset_s = 100; offset = 5; };
clock { name = b; freq = 1000000; offset_s = 99; offset = 1500000; };
typealias integer { size = 32; } := u32;
typealias integer { size = 64; map = clock.a.value; } := stamp_a;
typealias integer { size = 40; align = 8; map = clock.b.value; } := stamp_b;
stream {
  id = 0; event.header := struct { integer { size = 8; } id; stamp_a timestamp; };
  packet.context := struct { stamp_a timestamp_begin; stamp_a timestamp_end; u32 content_size;
    u32 packet_size; };
};
stream {
  id = 1; event.header := struct { integer { size = 8; } id; stamp_b timestamp; };
  packet.context := struct { stamp_b timestamp_begin; stamp_b timestamp_end; u32 content_size;
    u32 packet_size; };
};
event { name = x; id = 0; stream_id = 0; fields := struct { u32 v; }; };
event { name = y; id = 0; stream_id = 1; fields := struct { u32 v; }; };
'''


def clock_packet(stream, begin, end, *events):
    """A packet of CLOCKS. events: (cycles, v)"""
    size = 40 if stream else 64

    def body(p):
        for time, v in events:
            p.int(0, 8).int(time, size).int(v, 32)

    def context(p, content, total):
        p.int(begin, size).int(end, size).int(content, 32).int(total, 32)

    return packets('le', lambda p: p.int(MAGIC, 32).int(stream, 32), context, body)


def check_clocks():
    """Two clocks of a trace, which babeltrace2 refuses to relate; packets that go back in time."""
    text = CLOCKS % trace_block('le', 'integer { size = 32; } magic; integer { size = 32; } '
                                'stream_id;')
    one = clock_packet(0, 0, 3 * 10**9, (10, 1), (10**9, 2), (2 * 10**9, 3))
    two = clock_packet(1, 0, 2 * 10**6, (5, 4), (700000, 5), (1500001, 6))
    printed('two clocks with offsets', write(TOP / 'clocks', text, one=one, two=two, none=b''), '''\
[00:01:40.000000015] (+?.?????????) x: { v = 1 }
[00:01:40.500005000] (+0.500004985) y: { v = 4 }
[00:01:41.000000005] (+0.499995005) x: { v = 2 }
[00:01:41.200000000] (+0.199999995) y: { v = 5 }
[00:01:42.000000005] (+0.800000005) x: { v = 3 }
[00:01:42.000001000] (+0.000000995) y: { v = 6 }
''', compare=False)
    first, last = clock_packet(0, 5, 25, (10, 1), (20, 2)), clock_packet(0, 100, 125, (110, 3))
    folder = write(TOP / 'back', text, one=first + last + clock_packet(0, 40, 60, (50, 9)))
    status, out, err = script(folder)
    say(status == 0 and re.findall(r'v=(\d)', out) == ['1', '2', '3', '9'] and 'late: 1 ' in err,
        'a packet of an earlier time', out + err)
    folder = write(TOP / 'nameless', text.replace('name = x', 'name = ""'), one=first)
    printed('events of an empty name', folder, '''\
[00:01:40.000000015] (+?.?????????) <unknown>: { v = 1 }
[00:01:40.000000025] (+0.000000010) <unknown>: { v = 2 }
''')
    folder = write(TOP / 'more', text, one=first + last)
    for name, data in ('index/one.idx', b'\xc1\xf1\xdc\xc1' + bytes(40)), ('folder/x', b'zz'):
        (folder / name).parent.mkdir()
        (folder / name).write_bytes(data)
    printed('an index and another folder', folder, '''\
[00:01:40.000000015] (+?.?????????) x: { v = 1 }
[00:01:40.000000025] (+0.000000010) x: { v = 2 }
[00:01:40.000000115] (+0.000000090) x: { v = 3 }
''')
    (folder / 'README.txt').write_text('hello')
    status, out, err = script(folder)
    say(status == 0 and len(out.splitlines()) == 3 and 'README.txt' in err,
        'a file that has no packets', out + err)


def check_kernel():
    def comm(text):
        return text.encode().ljust(16, b'\0')

    def body(p):
        p.int(0, 8).int(100, 64).raw(comm('swapper/3')).int(0, 32).int(20, 32).int(0, 64)
        p.raw(comm('cat')).int(77, 32).int(20, 32)
        p.int(1, 8).int(200, 64).int(3, 32).int(4096, 64)
        p.int(2, 8).int(300, 64).int(-11, 64)

    one = packets('le', lambda p: None, lambda p, c, t: p.int(c, 32).int(t, 32).int(3, 32), body)
    folder = write(TOP / 'kernel', SCHED % trace_block('le'), channel0_3=one)
    status, out, err = script(folder, '-F', 'comm,tid,cpu,event,trace')
    want = ['swapper 0 [003] sched:sched_switch: prev_comm=swapper/3 prev_pid=0 prev_prio=120 '
            'prev_state=0 next_comm=cat next_pid=77 next_prio=120',
            'cat 77 [003] syscalls:sys_enter_read: fd=3 count=4096',
            'cat 77 [003] syscalls:sys_exit_read: ret=-11']
    say([' '.join(line.split()) for line in out.splitlines()] == want,
        "LTTng's events have the kernel's names", out + err)
    status, out, err = run(SONDE, 'info', folder)
    say('sched_switch=sched:sched_switch syscall_entry_read=syscalls:sys_enter_read '
        'syscall_exit_read=syscalls:sys_exit_read prev_tid=prev_pid next_tid=next_pid' in
        ' '.join(out.split()) and max(map(len, out.splitlines()[1:])) <= 100 and
        'lttng-modules 2.13' in out and 'kernel 6.1.0' in out,
        'sonde info lists the aliases', out + err)
    printed('the recorded names remain', folder, '''\
[00:00:05.000000100] (+?.?????????) box sched_switch: { cpu_id = 3 }, { prev_comm = "swapper/3", \
prev_tid = 0, prev_prio = 20, prev_state = 0, next_comm = "cat", next_tid = 77, next_prio = 20 }
[00:00:05.000000200] (+0.000000100) box syscall_entry_read: { cpu_id = 3 }, { fd = 3, \
count = 4096 }
[00:00:05.000000300] (+0.000000100) box syscall_exit_read: { cpu_id = 3 }, { ret = -11 }
''')
    both = ['entry', 'exit']
    for option, word, calls in (('--comm', 'cat', both), ('--where', 'fd == 3', both[:1]),
                                ('--tid', '0', []), ('-C', '3', both)):
        out = script(folder, '--format', 'babeltrace', option, word)[1]
        say(re.findall(r' syscall_(\w+)_read:', out) == calls,
            "filters choose among lines of babeltrace's form: " + option, out)
    for command in ('cut', '-o', TOP / 'x.data'), ('split', '--every', '1M', '-o', TOP / 'x'):
        status, out, err = run(SONDE, command[0], '-i', folder, *command[1:])
        say(status == 1 and 'sonde convert' in err, command[0] + ' refuses and names convert', err)


# ---- CTF 2 ---------------------------------------------------------------------------------------

def check_json():
    u8 = number(8)
    payload = structure(
        state=number(8, mappings={'run': [[0, 0]], 'wait': [[1, 3], [9, 9]]}),
        low=number(4, align=1), high=number(4, signed=True, align=1),
        big=number(16, order='big-endian'),
        flag={'type': 'fixed-length-boolean', 'length': 8, 'byte-order': 'little-endian'},
        maybe={'type': 'optional', 'selector-field-location': at('flag'), 'field-class': 'byte'},
        absent={'type': 'optional', 'selector-field-location': at('state'),
                'selector-field-ranges': [[100, 200]], 'field-class': 'byte'},
        either={'type': 'variant', 'selector-field-location': at('state'), 'options': [
            {'name': 'a', 'field-class': 'byte', 'selector-field-ranges': [[0, 0]]},
            {'name': 'b', 'field-class': {'type': 'null-terminated-string'},
             'selector-field-ranges': [[1, 9]]}]},
        inner=structure(n=u8, list={'type': 'dynamic-length-array',
                                    'length-field-location': at('inner', 'n'),
                                    'element-field-class': number(16)}),
        blob={'type': 'static-length-blob', 'length': 2},
        text={'type': 'static-length-string', 'length': 4},
        counted={'type': 'dynamic-length-string', 'length-field-location': at('inner', 'n')},
        real={'type': 'fixed-length-floating-point-number', 'length': 64,
              'byte-order': 'big-endian', 'alignment': 8},
        leb={'type': 'variable-length-unsigned-integer'},
        sleb={'type': 'variable-length-signed-integer'})
    metadata = fragments(
        {'type': 'field-class-alias', 'name': 'byte', 'field-class': u8},
        {'type': 'trace-class', 'environment': {'hostname': 'two'},
         'packet-header-field-class': structure(
             m=number(32, roles=['packet-magic-number']),
             s=number(8, roles=['data-stream-class-id']))},
        {'type': 'clock-class', 'id': 'c', 'frequency': 1000, 'origin': 'unix-epoch',
         'offset-from-origin': {'seconds': 60, 'cycles': 500}},
        {'type': 'data-stream-class', 'id': 4, 'default-clock-class-id': 'c',
         'packet-context-field-class': structure(
             begin=number(32, roles=['default-clock-timestamp']),
             total=number(32, roles=['packet-total-length']),
             content=number(32, roles=['packet-content-length']), cpu_id=u8),
         'event-record-header-field-class': structure(
             id=number(8, roles=['event-record-class-id']),
             time=number(8, roles=['default-clock-timestamp']))},
        {'type': 'event-record-class', 'id': 7, 'data-stream-class-id': 4, 'name': 'all',
         'payload-field-class': payload})

    def body(p):
        for time, state in (250, 0), (4, 9):
            p.int(7, 8).int(time, 8).int(state, 8).int(5, 4).int(-2, 4).raw(b'\x01\x02')
            p.int(state == 0, 8)
            if state == 0:
                p.int(33, 8).int(44, 8)
            else:
                p.text('bee')
            p.int(2, 8).raw(b'\x01\0\x02\0').raw(b'\x0a\xff').raw(b'ab\0\0').raw(b'xy')
            p.raw(struct.pack('>d', -2.5)).leb(300).leb(-300, True)

    one = packets('le', lambda p: p.int(MAGIC, 32).int(4, 8),
                  lambda p, c, t: p.int(1000, 32).int(t, 32).int(c, 32).int(6, 8), body)
    rest = 'inner = { n = 2, list = [ [0] = 1, [1] = 2 ] }, blob = [ [0] = 0xA, [1] = 0xFF ], ' \
        'text = "ab", counted = "xy", real = -2.5, leb = 300, sleb = -300 }\n'
    want = '[00:01:01.%s] (+%s) two all: { cpu_id = 6 }, { state = ( %s ), low = 5, ' \
        'high = -2, big = 258, flag = %d, maybe = { %s}, absent = { }, either = { %s }, ' + rest
    want = want % ('518000000', '?.?????????', '"run" : container = 0', 1, '33 ', '44') + \
        want % ('528000000', '0.010000000', '"wait" : container = 9', 0, '', '"bee"')
    # 1000 is 3 * 256 + 232: 250 is later, and 4 has wrapped.
    printed('CTF 2', write(TOP / 'json', metadata, s=one), want, compare=False)
    status, out, err = script(TOP / 'json', '--where', 'inner.n == 2 && sleb == -300')
    say(len(out.splitlines()) == 2, 'fields of CTF 2', out + err)


def check_sweep():
    """Streams that are cut off anywhere, or have a flipped bit: what is in front of the damage is
    as before."""
    rng, wrong, runs = random.Random(1), [], 0
    for name, stream in (('le', 'stream'), ('be', 'stream'), ('clock', 'z_first'),
                         ('kernel', 'channel0_3'), ('json', 's')):
        whole = (TOP / name / stream).read_bytes()
        metadata = (TOP / name / 'metadata').read_bytes()
        out = script(write(TOP / 'sweep', metadata, stream=whole), '--format', 'jsonl')[1]
        events = [line for line in out.splitlines() if line.startswith('{"event"')]
        for _ in range(400 if FULL else 25):
            at, data = rng.randrange(len(whole)), bytearray(whole)
            is_cut = rng.random() < 0.5
            if is_cut:
                data = data[:at]
            else:
                data[at] ^= 1 << rng.randrange(8)
            runs += 1
            status, out, err = script(write(TOP / 'sweep', metadata, stream=bytes(data)),
                                      '--format', 'jsonl')
            got = [line for line in out.splitlines() if line.startswith('{"event"')]
            same = next((i for i, (g, w) in enumerate(zip(got, events)) if g != w), len(got))
            if status not in (0, 1) or (is_cut and same != len(got)):
                wrong.append('%s, %s at %d: status %s, %d of %d events\n%s' % (
                    name, 'cut' if is_cut else 'flipped', at, status, same, len(got), err))
    say(not wrong, '%d damaged streams' % runs, '\n'.join(wrong[:5]))


def check_session():
    session = TOP / 'session'
    body = packets('le', lambda p: None, lambda p, c, t: p.int(c, 32).int(t, 32).int(3, 32),
                   lambda p: p.int(1, 8).int(200, 64).int(3, 32).int(4096, 64))
    for name in 'kernel', 'ust/uid/1000/64-bit':
        write(session / name, SCHED % trace_block('le'), channel0_3=body)
        (session / name / 'index').mkdir()
        status, out, err = script(session)
        if name == 'kernel':
            say(status == 0 and out.count('sys_enter_read') == 1,
                'a trace below the named folder is found', out + err)
    say(status == 1 and '2 CTF traces' in err and '-i kernel -i ust/uid/1000/64-bit' in err,
        'several traces below a folder are named', out + err)
    (session / 'none').mkdir()
    status, out, err = script(session / 'none')
    say(status == 1 and 'no recording' in err, 'a folder without any is refused', out + err)
    status, out, err = run(SONDE, 'info', write(TOP / 'timeless', BARE % trace_block('le')))
    say('clock        not recorded\n' in out, 'a trace without a clock', out + err)


BARE = '''/* CTF 1.8 */
%s
typealias integer { size = 8; } := byte;
event { name = "e"; fields := struct { byte v; }; };
'''


# ---- other writers -------------------------------------------------------------------------------

def check_writers():
    """Traces that babeltrace2 and perf write: of a trace, and of a recording."""
    made, perf = TOP / 'made', shutil.which('perf')
    for name, command in (
            ('babeltrace2', BABELTRACE and [BABELTRACE, 'convert', DATA / 'ctf' / 'swept',
                                            '--output-format=ctf', '--output=%s' % made]),
            ('perf', perf and BABELTRACE and [perf, 'data', 'convert', '--to-ctf=%s' % made, '-i',
                                              DATA / 'demo.data'])):
        if not command or run(*command)[0]:
            skip('a trace that %s writes' % name, 'no %s that writes CTF' % name)
            continue
        for metadata in made.rglob('metadata'):
            ours, theirs = script(metadata.parent, '--format', 'babeltrace'), run(
                BABELTRACE, metadata.parent)
            say(ours[1] == theirs[1] and len(ours[1].splitlines()) > 30,
                'a trace that %s writes' % name, differs(ours[1], theirs[1]) + ours[2])
        shutil.rmtree(made)


# ---- the corpus ----------------------------------------------------------------------------------

def check_corpus():
    paths = corpus_files('ctf*')
    if not paths:
        return skip('traces of other tracers', NO_CORPUS)
    expect = json.loads((CORPUS / 'EXPECT.json').read_text())
    for path in paths:
        known = expect.get(path.name + '/', {})
        status, out, err = script(path, '--format', 'babeltrace')
        if known.get('rc') == 0:
            lines = len(out.splitlines())
            say(status == 0 and lines == sum(known['events'].values()), path.name,
                '%d lines\n%s' % (lines, err))
        if not BABELTRACE or known.get('rc') != 0:
            continue
        theirs = run(BABELTRACE, path)[1]
        say(out == theirs, path.name + ', by babeltrace2', differs(out, theirs))
    if not BABELTRACE:
        skip('traces of other tracers, by babeltrace2', 'no babeltrace2', may=False)
    out = script(CORPUS / 'ctf-perf-taskset2__tracecompass', '-F', 'comm,tid,event,trace')[1]
    say(' '.join((out.splitlines() or [''] * 5)[4].split()) ==
        'perf 1834 sched:sched_stat_runtime: comm=perf pid=1834 runtime=367034 '
        'vruntime=3017406437', 'a trace converted by perf: its tasks and text', out[:600])
    for name, lines in ('smalltrace', 2), ('succeed1', 7809), ('vl-ints', 1):
        two = CORPUS / ('ctf2-%s__tracecompass' % name)
        out = script(two, '--format', 'babeltrace')[1]
        one = CORPUS / ('ctf-succeed-%s__babeltrace' % name)
        same = not one.exists() or out == script(one, '--format', 'babeltrace')[1]
        say(len(out.splitlines()) == lines and same, two.name, out[:300])
    kernel, user = ['ctf-succeed-multi-domains-%s__babeltrace' % n for n in ('kernel', 'ust')]
    out = script(CORPUS / kernel, '-i', CORPUS / user, '--format', 'babeltrace')[1]
    say(len(out.splitlines()) == 4272, 'two traces of one host', out[:300])
    cut = CORPUS / 'ctf-fail-invalid-packet-size-trace__babeltrace'
    status, out, err = script(cut)
    say(status == 0 and out and 'truncated' in err, 'what babeltrace2 refuses is read', err)
    return None


def main():
    try:
        check_types()
        check_clock()
        check_clocks()
        check_kernel()
        check_json()
        check_session()
        check_sweep()
        check_writers()
        check_corpus()
    finally:
        shutil.rmtree(TOP)
    return done()


sys.exit(main())
