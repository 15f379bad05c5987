#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads damaged CTF traces: mistakes in metadata, large metadata, streams with wrong sizes.

    ctf_damage.py SONDE
"""
import shutil
import struct
import sys

sys.dont_write_bytecode = True
from ctfcases import SONDE, TOP, run, script  # noqa: E402
from ctf import fragments, number, packed, packets, trace_block, write  # noqa: E402
from points import done, say  # noqa: E402

SMALL = '''/* CTF 1.8 */
%s
stream { packet.context := struct { integer { size = 32; } content_size;
  integer { size = 32; } packet_size; };
  event.header := struct { integer { size = 8; } id; }; };
event { name = e; id = 0; fields := struct { integer { size = 64; } n;
  integer { size = 8; } s[n]; }; };
event { name = deep; id = 1; fields := struct { integer { size = 64; } n;
  struct { } s[n]; struct { } t[n]; }; };
'''
BAD_METADATA = [
    ('no block trace', 'event { name = e; };', 'there is no block'),
    ('an old version', 'trace { major = 1; minor = 7; byte_order = le; };', ':2:20: the minor'),
    ('a bracket', 'trace { major = 1; minor = 8; byte_order = le; ];', ':2:48: expected'),
    ('no semicolon', 'trace { major = 1 };', "2:19: expected ';', found '}'"),
    ('an unknown type', 'event { name = e; fields := struct { nix a; }; };',
     "2:38: no type 'nix' is defined"),
    ('an endless comment', 'trace /* ...', '2:7: the comment has no end'),
    ('an endless string', 'trace { uuid = "x', '2:16: the string has no end'),
    ('a NUL', 'trace \0', '2:7: the byte 0x00'),
    ('65 bits', 'typealias integer { size = 65; } := x;', '1 to 64 bits'),
    ('no size', 'typealias integer { align = 8; } := x;', 'no size'),
    ('an odd alignment', 'typealias integer { size = 8; align = 3; } := x;', 'a power of 2'),
    ('a strange float', 'typealias floating_point { exp_dig = 5; mant_dig = 11; } := x;',
     'exp_dig'),
    ('a name twice', 'typealias integer { size = 8; } := x; typealias integer { size = 8; } := x;',
     'twice'),
    ('a member twice', 'struct s { string a; string a; };', "two members are called 'a'"),
    ('an unknown clock', 'typealias integer { size = 8; map = clock.c.value; } := x;', 'clock'),
    ('too deep', 'typealias ' + 'struct { ' * 70 + 'string a; ' + '} a; ' * 69 + '} := x;',
     'more than 64 deep'),
    ('an enum of nothing', 'enum e { A };', "no type 'int'"),
    ('a label out of range', 'enum e : integer { size = 8; } { A = -1 };', 'negative'),
    ('a number of 65 bits', 'env { a = 18446744073709551616; };', '64 bits'),
]
OWN = 'trace { major = 1; minor = 8; byte_order = le; };'
# each of these types has twice the fields of the one before
DOUBLED = 'struct t0 { string a; }; ' + ''.join(
    'struct t%d { struct t%d a; struct t%d b; }; ' % (n, n - 1, n - 1) for n in range(1, 60))
CHAINED = ''.join('typedef %s t%d[2]; ' % ('string' if not n else 't%d' % (n - 1), n)
                  for n in range(200))
BAD_METADATA.append(('2 ** 59 fields', OWN + DOUBLED +
                     'event { name = e; fields := struct { struct t59 a; }; };',
                     'more than 1048576 fields'))
BAD_TYPES = [
    ('a length that is no field', 'string s[n];', "'n' is no field"),
    ('a length behind', 'string s[n]; integer { size = 8; } n;', "'n' is no field"),
    ('a signed length', 'integer { size = 8; signed = true; } n; string s[n];', 'unsigned'),
    ('a length of text', 'string n; string s[n];', 'unsigned'),
    ('a tag that is no enum', 'integer { size = 8; } t; variant <t> { string a; } v;', 'no enum'),
    ('a variant without a tag', 'variant { string a; } v;', 'without a tag'),
    ('a length of env', 'string s[env.n];', 'no number of env'),
    ('arrays of arrays', CHAINED + 't199 a;', 'more than 64 deep'),
]


def check_bad_metadata():
    (TOP / 'bad').mkdir()
    bad = [(n, '/* CTF 1.8 */\n' + text, word) for n, text, word in BAD_METADATA]
    bad += [(n, '/* CTF 1.8 */ %s event { name = e; fields := struct { %s }; };' % (OWN, text),
             word) for n, text, word in BAD_TYPES]
    bad += [('JSON: ' + n, fragments(o), word) for n, o, word in (
        ('an unknown fragment', {'type': 'x'}, "2:2: 'x' is no type"),
        ('an extension', {'type': 'trace-class', 'extensions': {'a': {'b': 1}}}, 'extensions'),
        ('no field class', {'type': 'trace-class', 'packet-header-field-class': {}}, 'no type'),
        ('no structure', {'type': 'trace-class', 'packet-header-field-class': number(8)},
         'a structure'),
        ('128 bits', {'type': 'field-class-alias', 'name': 'x', 'field-class': number(128)},
         '128 bits'))]
    bad += [('JSON: cut off', fragments()[:-4], 'expected'),
            ('JSON: too deep', b'\x1e{"a":' + b'[' * 300, 'at most 256'),
            ('a packet of a wrong size', packed('x')[:28] + bytes(7) + b'\1\x08', 'content'),
            ('a compressed packet', packed('x')[:32] + b'\1' + packed('x')[33:], 'compressed')]
    for name, text, word in bad:
        (TOP / 'bad' / 'metadata').write_bytes(text.encode() if isinstance(text, str) else text)
        status, out, err = run(SONDE, 'script', '-i', TOP / 'bad')
        say(status == 1 and not out and word in err and err.count('\n') == 1,
            'refused: ' + name, err)


def check_large_metadata():
    """The limit of 64 MiB."""
    path = write(TOP / 'large', '/* CTF 1.8 */') / 'metadata'
    with open(path, 'r+b') as f:
        f.truncate((64 << 20) + 1)
    status, out, err = script(path.parent)
    say(status == 1 and not out and 'at most 67108864 of metadata' in err, 'refused: 64 MiB', err)
    path.write_text('/* CTF 1.8 */ %s\n' % OWN + ''.join(
        'event { name = e%d; id = %d; };\n' % (n, n) for n in range((1 << 16) + 1)))
    status, out, err = script(path.parent)
    say(status == 1 and not out and 'metadata:65538:7: there are more than 65536 events' in err,
        'refused: 65537 events', err)


def check_damage():
    def one(p):
        p.int(0, 8).int(3, 64).raw(b'abc')

    def packet(body, content=None, total=None):
        return packets('le', lambda p: None, lambda p, c, t: p.int(
            c if content is None else content, 32).int(t if total is None else total, 32), body)

    good, text = packet(one), SMALL % trace_block('le')
    cases = [
        ('cut off', good + good[:-8], 1, 'truncated'),
        ('cut off in a header', good + good[:6], 1, 'beyond the content'),
        ('a packet of no size', good + packet(one, 0, 0), 1, 'the size of a packet is 0'),
        ('content beyond its packet', good + packet(one, 8000, 64), 1, 'larger than its packet'),
        ('content inside of the header', good + packet(one, 8), 1, 'ends inside'),
        ('an unknown event', packet(lambda p: p.int(9, 8)) + good, 1, 'an id that the metadata'),
        ('a length beyond the packet', packet(lambda p: p.int(0, 8).int(1 << 60, 64)) + good, 1,
         'beyond the content'),
        ('a length of nothing', packet(lambda p: p.int(1, 8).int(1 << 60, 64)) + good, 1,
         'more than 16777216 elements'),
    ]
    for name, data, lines, word in cases:
        folder = write(TOP / 'damage', text, stream=data)
        status, out, err = script(folder)
        say(status == 0 and len(out.splitlines()) == lines and word in err, 'damage: ' + name,
            out + err)
    long = SMALL % trace_block('le')
    for size in 3 << 20, 5 << 20:
        text = b'x' * size
        folder = write(TOP / 'long', long, stream=packet(
            lambda p: p.int(0, 8).int(3, 64).raw(b'abc')) + struct.pack(
                '<IIBQ', 8 * (17 + size), 8 * (17 + size), 0, size) + text + good)
        status, out, err = script(folder, '--where', 'n > 3')
        say(status == 0 and 'n=%d' % size in out and 'more than 65535 bytes' in err,
            'an event of %d bytes' % size, out[:200] + err)
    empty = '/* CTF 1.8 */ %s event { name = e; };' % trace_block('le')
    status, out, err = script(write(TOP / 'damage', empty, stream=b'abc'))
    say(status == 1 and not out and 'an event has no size' in err, 'damage: events of no size',
        out + err)
    two = SMALL % trace_block('le', 'integer { size = 32; } magic;')
    status, out, err = script(write(TOP / 'damage', two, stream=bytes(64)))
    say(status == 1 and not out and 'magic' in err, 'damage: no magic number', out + err)


def main():
    try:
        check_bad_metadata()
        check_large_metadata()
        check_damage()
    finally:
        shutil.rmtree(TOP)
    return done()


sys.exit(main())
