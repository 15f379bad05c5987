# SPDX-License-Identifier: MIT
"""Payloads for a format: zeroes, all ones, boundaries, small numbers, single bits, random bytes;
always the same ones.
"""
import random
import re
import struct

LIMIT = 24  # of numbers that are lengths, so that printing stays inside the record


def _dynamic(decl):
    return decl.startswith(('__data_loc', '__rel_loc'))


def _lengths(fmt):
    """Fields that are counts of elements or widths.

    Large values make perf read far beyond the record.
    """
    text = fmt.print_fmt
    names = set()
    for call in re.finditer(r'__print_(?:hex|hex_str|array|hex_dump)\s*\(', text):
        names.update(re.findall(r'REC->(\w+)',
                                text[call.end():call.end() + 200].split('__print')[0]))
    if re.search(r'%[-0-9.]*\*', text):
        names.update(re.findall(r'REC->(\w+)', text))
    return names


def _indices(fmt):
    return set(re.findall(r'\[\s*REC->(\w+)', fmt.print_fmt))


def _text(rng, n):
    """n bytes that end in a NUL: a printable string, or one with odd bytes in it."""
    length = rng.randrange(n) if n else 0
    if rng.random() < 0.8:
        body = bytes(rng.randrange(32, 127) for _ in range(length))
    else:
        body = bytes(rng.choice([9, 10, 27, 127, 128, 195, 169, 65, 66]) for _ in range(length))
    return body.ljust(n, b'\0')[:n]


def _number(rng, kind, i, size, signed):
    bits = 8 * size
    top = (1 << bits) - 1
    if kind in ('lowest', 'highest'):
        half = 1 << (bits - 1)
        return (half if signed else 0) if kind == 'lowest' else (half - 1 if signed else top)
    if kind == 'minus':  # like returned errors and small differences
        return -rng.choice([1, 2, 3, 11, 100, 4095]) & top
    if kind in ('long', 'unended', 'empty'):
        kind = rng.choice(['small', 'bit', 'bits'])
    if kind == 'zero':
        return 0
    if kind == 'ones':
        return top
    if kind == 'boundary':
        return [1 << (bits - 1), (1 << (bits - 1)) - 1, top, 1][i % 4]
    if kind == 'small':
        return rng.randrange(12)
    if kind == 'bit':
        return 1 << rng.randrange(min(bits, 24))
    if kind == 'bits':
        return rng.getrandbits(min(bits, 16))
    return rng.getrandbits(bits)


# In the order of the samples, because perf remembers of a sample (a text field that was not
# printable) for later ones.
# Texts of these are kept.
STORED = ['zero', 'ones', 'boundary', 'small', 'bit', 'bits', 'random', 'random', 'dynamic-odd']
KINDS = STORED + ['lowest', 'highest', 'minus', 'long', 'unended', 'empty', 'long', 'small']
MOST = 48000  # bytes of one payload: the size of a record has 16 bits


def _dynamic_bytes(rng, kind, is_text, elem, room):
    """The bytes of a field of dynamic length."""
    if kind == 'empty':
        return b''
    if kind == 'zero' and is_text:
        return b'\0'
    if is_text:
        if kind == 'long':
            n = min(rng.choice([255, 256, 1023, 4095, 4096, 9000]), room)
            return bytes(rng.randrange(32, 127) for _ in range(n)) + b'\0'
        if kind == 'unended':  # the bytes of the next field, or the padding, continue it
            return bytes(rng.randrange(32, 127) for _ in range(rng.randrange(1, 12)))
        return _text(rng, rng.randrange(1, 24))
    n = (elem * rng.randrange(0, 5) if kind != 'long'
         else min(elem * rng.choice([64, 128, 500, 1024]), room - room % elem))
    return bytes(rng.getrandbits(8) if kind != 'ones' else 255 for _ in range(n))


def payloads(fmt, seed, kinds=None):
    """The samples of a format. Nothing printed reaches beyond a payload: its last byte is 0."""
    out = []
    lengths, indices = _lengths(fmt), _indices(fmt)
    e = '>' if fmt.big else '<'
    codes = {1: 'B', 2: 'H', 4: 'I', 8: 'Q'}
    fixed = max([offset + size for _, _, offset, size, _ in fmt.fields] + [8])
    # A field without size runs to the end of the record.
    tail = any(size == 0 for _, _, _, size, _ in fmt.fields)
    for kind in kinds or KINDS:
        rng = random.Random('%s %s %d' % (seed, kind, len(out)))
        body = bytearray(fixed)
        behind = bytearray()
        if tail:
            behind += _text(rng, 32)
        for i, (name, decl, offset, size, signed) in enumerate(fmt.fields):
            if name.startswith('common_'):
                continue
            if _dynamic(decl):
                continue
            if '[' in decl and size:
                if kind == 'unended' and 'char' in decl:
                    value = bytes(rng.randrange(32, 127) for _ in range(size))
                elif re.search(r'char|u8|s8', decl) and kind not in ('ones', 'random'):
                    value = bytes(size) if kind == 'zero' else _text(rng, size)
                elif kind == 'ones':
                    value = b'\xff' * size
                elif kind == 'zero':
                    value = bytes(size)
                else:
                    value = bytes(rng.getrandbits(8) for _ in range(size))
                body[offset:offset + size] = value
            elif size in codes:
                v = _number(rng, kind, i, size, signed)
                if name in indices:
                    v %= 4
                elif name in lengths:
                    v = v % LIMIT
                body[offset:offset + size] = struct.pack(e + codes[size], v)
            else:
                body[offset:offset + size] = bytes(rng.getrandbits(8) for _ in range(size))
        for name, decl, offset, size, signed in fmt.fields:
            if not _dynamic(decl) or size != 4:
                continue
            elem = (8 if re.search(r'long|64|cpumask', decl) else 4 if re.search(r'int|32', decl)
                    else 2 if '16' in decl else 1)
            if re.search(r'long|cpumask', decl):
                elem = fmt.long_bytes
            data = _dynamic_bytes(rng, kind, 'char' in decl, elem,
                                  max(MOST - fixed - len(behind), 0) // 2)
            at = fixed + len(behind)
            length = len(data)
            if kind == 'dynamic-odd':  # not where it should be, but in the record
                at, length = rng.choice([(8, 4), (4, 0), (at, 0), (8, 1), (fixed, 0)])
                data = b''
            behind += data
            base = offset + 4 if decl.startswith('__rel_loc') else 0
            if at < base + 4:  # never at the event's number, which differs between recordings
                at = base + 4
            body[offset:offset + size] = struct.pack(e + 'I', length << 16 | (at - base))
        payload = bytes(body + behind)
        # perf reads some texts up to a NUL, which must be there. Hex helpers print up to LIMIT
        # elements.
        payload += bytes(8 + (8 * LIMIT if lengths else 0))
        payload += bytes(-(len(payload) + 4) % 8)
        out.append(payload)
    return out
