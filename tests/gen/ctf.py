# SPDX-License-Identifier: MIT
"""Makes CTF traces bit by bit, without any library.

    ctf.py FOLDER           writes the traces of tests/data/ctf that are swept

    packet = Packet('le').int(MAGIC, 32).int(5, 3).text('x')
    write(folder, '/* CTF 1.8 */ ...', chan_0=packet.sized(), chan_1=...)

Bits of a packet: in the little byte order the lowest bit of a value is first and fills a byte from
its low end; in the big one the highest bit is first and fills a byte from its high end.
"""
import json
import pathlib
import struct
import sys

MAGIC = 0xc1fc1fc1
UUID = '5f1b3a02-9c47-4d1e-8a55-0123456789ab'

# Metadata of a kernel trace of LTTng; %s is trace_block().
SCHED = '''/* CTF 1.8 */
%s
env { domain = "kernel"; tracer_name = "lttng-modules"; tracer_major = 2; tracer_minor = 13;
      hostname = "box"; kernel_release = "6.1.0"; };
clock { name = monotonic; freq = 1000000000; offset_s = 5; };
typealias integer { size = 32; signed = true; } := int;
typealias integer { size = 64; map = clock.monotonic.value; } := stamp_t;
typealias integer { size = 8; encoding = UTF8; } := char;
stream {
  packet.context := struct { integer { size = 32; } content_size; integer { size = 32; }
    packet_size; int cpu_id; };
  event.header := struct { integer { size = 8; } id; stamp_t timestamp; };
};
event { name = "sched_switch"; id = 0; fields := struct { char _prev_comm[16]; int _prev_tid;
  int _prev_prio; integer { size = 64; signed = true; } _prev_state; char _next_comm[16];
  int _next_tid; int _next_prio; }; };
event { name = "syscall_entry_read"; id = 1; fields := struct { integer { size = 32; } _fd;
  integer { size = 64; } _count; }; };
event { name = "syscall_exit_read"; id = 2; fields := struct { integer { size = 64;
  signed = true; } _ret; }; };
'''


# The beginning of the metadata of a program's trace; %s is trace_block().
APP = '''/* CTF 1.8 */
%s
clock { name = c; freq = 1000000000; };
typealias integer { size = 8; align = 8; } := u8;
typealias integer { size = 32; align = 8; } := u32;
typealias integer { size = 64; align = 8; map = clock.c.value; } := stamp;
stream {
  packet.context := struct {
    u32 content_size; u32 packet_size; u32 cpu_id; u32 events_discarded;
  };
  event.header := struct { u8 id; stamp timestamp; };
  event.context := struct { u32 vtid; };
};
'''


class Packet:
    def __init__(self, order='le'):
        self.little, self.bits = order == 'le', []

    def align(self, n):
        self.bits += [0] * (-len(self.bits) % n)
        return self

    def int(self, value, size, align=None):
        """A number, aligned as an integer without `align` is."""
        self.align(align or (8 if size % 8 == 0 else 1))
        places = range(size) if self.little else range(size - 1, -1, -1)
        self.bits += [value >> place & 1 for place in places]
        return self

    def raw(self, data):
        self.align(8)
        for byte in data:
            self.int(byte, 8)
        return self

    def text(self, text):
        return self.raw(text.encode() + b'\0')

    def real(self, value, size):
        form = ('<' if self.little else '>') + ('f' if size == 32 else 'd')
        return self.raw(struct.pack(form, value))

    def leb(self, value, signed=False):
        out = bytearray()
        while True:
            byte, value = value & 0x7f, value >> 7
            if value == (-1 if signed and byte & 0x40 else 0) or (value == 0 and not signed):
                out.append(byte)
                return self.raw(out)
            out.append(byte | 0x80)

    def data(self, size=None):
        """The bytes, filled up to size."""
        bits = self.bits + [0] * (-len(self.bits) % 8)
        out = bytearray()
        for at in range(0, len(bits), 8):
            byte = bits[at:at + 8]
            out.append(sum(bit << (place if self.little else 7 - place)
                           for place, bit in enumerate(byte)))
        return bytes(out) + b'\xee' * ((size or 0) - len(out))


def packets(order, header, context, body, size=None):
    """One packet: header(p), then context(p, content, size) twice, to know the content's bits."""
    content = total = 0
    for _ in range(2):
        p = Packet(order)
        header(p)
        context(p, content, total)
        body(p)
        content = len(p.bits)
        total = 8 * (size or (content + 7) // 8 + 2)
    return p.data(total // 8)


def app_packet(order, body, cpu=0, discarded=0):
    """A packet of APP."""
    def context(p, content, size):
        for number in content, size, cpu, discarded:
            p.int(number, 32, 8)

    return packets(order, lambda p: None, context, body)


def trace_block(order, header='', rest=''):
    packet = 'packet.header := struct { %s };' % header if header else ''
    return 'trace { major = 1; minor = 8; byte_order = %s; uuid = "%s"; %s %s };\n' % (
        order, UUID, packet, rest)


def fragments(*objects):
    """CTF 2's metadata."""
    preamble = {'type': 'preamble', 'version': 2}
    return b''.join(b'\x1e' + json.dumps(o).encode() + b'\n' for o in (preamble, *objects))


def packed(text, order='<', at=300):
    """The metadata text in packets of `at` bytes of text."""
    text, out = text.encode() if isinstance(text, str) else text, b''
    for i in range(0, len(text), at):
        piece = text[i:i + at]
        out += struct.pack(order + 'I16sIIIBBBBB', 0x75d11d57, bytes(16), 0,
                           8 * (37 + len(piece)), 8 * (37 + at + 11), 0, 0, 0, 1, 8)
        out += piece + bytes(at + 11 - len(piece))
    return out


def write(folder, metadata, **streams):
    folder.mkdir(parents=True, exist_ok=True)
    data = metadata.encode() if isinstance(metadata, str) else metadata
    (folder / 'metadata').write_bytes(data)
    for name, stream in streams.items():
        (folder / name).write_bytes(stream)
    return folder


# ---- field classes of CTF 2 ----------------------------------------------------------------------

def number(size, signed=False, order='little-endian', align=8, **rest):
    return dict({'type': 'fixed-length-%s-integer' % ('signed' if signed else 'unsigned'),
                 'length': size, 'byte-order': order, 'alignment': align},
                **{key.replace('_', '-'): value for key, value in rest.items()})


def structure(**members):
    return {'type': 'structure', 'member-classes': [{'name': name, 'field-class': of}
                                                    for name, of in members.items()]}


def at(*path, origin='event-record-payload'):
    return {'origin': origin, 'path': list(path)}


# ---- traces for tests/sweep ----------------------------------------------------------------------

SWEPT = '''/* CTF 1.8 */
%s
env { hostname = "box"; };
clock { name = c; freq = 1000000000; };
typealias integer { size = 8; align = 8; } := u8;
typealias integer { size = 32; align = 8; } := u32;
typealias integer { size = 64; align = 8; map = clock.c.value; } := stamp;
stream {
  packet.context := struct { stamp timestamp_begin; stamp timestamp_end; u32 content_size;
    u32 packet_size; u32 events_discarded; u32 cpu_id; };
  event.header := struct { u8 id; stamp timestamp; };
  event.context := struct { u32 vtid; integer { size = 8; align = 8; encoding = UTF8; }
    procname[4]; };
};
event { name = "p:numbers"; id = 0; fields := struct { u32 v; u8 n; u32 list[n];
  enum : u8 { ONE = 1, MORE = 2 ... 9 } kind; }; };
event { name = "p:texts"; id = 1; fields := struct { string s; enum : u8 { A, B } tag;
  variant <tag> { string A; u32 B; } either; }; };
'''


def swept_json():
    text, stamp = {'type': 'null-terminated-string'}, 'default-clock-timestamp'
    return fragments(
        {'type': 'trace-class', 'environment': {'hostname': 'box'},
         'packet-header-field-class': structure(magic=number(32, roles=['packet-magic-number']))},
        {'type': 'clock-class', 'id': 'c', 'frequency': 1000000000},
        {'type': 'data-stream-class', 'id': 0, 'default-clock-class-id': 'c',
         'packet-context-field-class': structure(
             begin=number(64, roles=[stamp]),
             end=number(64, roles=['packet-end-' + stamp]),
             content=number(32, roles=['packet-content-length']),
             total=number(32, roles=['packet-total-length']),
             lost=number(32, roles=['discarded-event-record-counter-snapshot']), cpu_id=number(32)),
         'event-record-header-field-class': structure(
             id=number(8, roles=['event-record-class-id']), time=number(64, roles=[stamp])),
         'event-record-common-context-field-class': structure(
             vtid=number(32), procname={'type': 'static-length-string', 'length': 4})},
        {'type': 'event-record-class', 'id': 0, 'data-stream-class-id': 0, 'name': 'p:numbers',
         'payload-field-class': structure(
             v=number(32), n=number(8),
             list={'type': 'dynamic-length-array', 'length-field-location': at('n'),
                   'element-field-class': number(32)},
             kind=number(8, mappings={'ONE': [[1, 1]], 'MORE': [[2, 9]]}))},
        {'type': 'event-record-class', 'id': 1, 'data-stream-class-id': 0, 'name': 'p:texts',
         'payload-field-class': structure(
             s=text, tag=number(8),
             either={'type': 'variant', 'selector-field-location': at('tag'), 'options': [
                 {'name': 'A', 'field-class': text, 'selector-field-ranges': [[0, 0]]},
                 {'name': 'B', 'field-class': number(32), 'selector-field-ranges': [[1, 1]]}]})})


def swept_stream(order, cpu):
    """Three packets of six events; events are lost between them."""
    def body(p, nr):
        for i in range(6 * nr, 6 * nr + 6):
            p.int(i % 2, 8).int(1000 * i + 300 * cpu, 64).int(10 + i % 3, 32)
            p.raw((b'aa', b'bb', b'cc')[i % 3].ljust(4, b'\0'))
            if i % 2:
                p.text('text %d' % i).int(i // 2 % 2, 8)
                if i // 2 % 2:
                    p.int(i, 32)
                else:
                    p.text('either')
            else:
                p.int(i * 77, 32).int(i % 4, 8)
                for n in range(i % 4):
                    p.int(n, 32)
                p.int(1 + i % 9, 8)

    def context(p, nr, content, total):
        p.int(6000 * nr, 64).int(6000 * (nr + 1) - 1, 64).int(content, 32).int(total, 32)
        p.int(5 * nr * (cpu + 1), 32).int(cpu, 32)

    return b''.join(packets(order, lambda p: p.int(MAGIC, 32),
                            lambda p, c, t, nr=nr: context(p, nr, c, t),
                            lambda p, nr=nr: body(p, nr)) for nr in range(3))


def write_swept(folder):
    for name, order, metadata in (('swept', 'le', SWEPT), ('swept-big', 'be', SWEPT),
                                  ('swept-json', 'le', None)):
        text = metadata % trace_block(order, 'integer { size = 32; align = 8; } magic;') \
            if metadata else swept_json()
        write(folder / name, text, cpu_0=swept_stream(order, 0), cpu_1=swept_stream(order, 1))


if __name__ == '__main__':
    write_swept(pathlib.Path(sys.argv[1]))
