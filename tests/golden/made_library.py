# SPDX-License-Identifier: MIT
"""Builds shared objects that replace those of the recording machine, with the same build id.

A description has a line for each part; numbers are hexadecimal unless noted:

    build-id    BYTES
    section     NAME ADDRESS SIZE ENTRY-SIZE        the offset in the file is the address
    slot        GOT-ADDRESS name NAME | GOT-ADDRESS at RESOLVER        of the .plt
    symbol, dynamic        ADDRESS SIZE TYPE BIND NAME        FILE symbols come first; "-": no name
    bytes       ADDRESS BYTES
    frame       ADDRESS SIZE DISTANCE REGISTER...        DISTANCE: bytes from the stack pointer to the
                caller's; the registers in the order in which they are pushed
    function    ADDRESS SIZE FILE LINE NAME        for debug information; LINE is decimal
"""
import struct

TYPES = {'NOTYPE': 0, 'OBJECT': 1, 'FUNC': 2, 'FILE': 4, 'IFUNC': 10}
BINDS = {'LOCAL': 0, 'GLOBAL': 1, 'WEAK': 2}
REGISTERS = {'rbx': 3, 'rbp': 6, 'r12': 12, 'r13': 13, 'r14': 14, 'r15': 15}
PROGBITS, SYMTAB, STRTAB, RELA, NOTE, NOBITS, DYNSYM = 1, 2, 3, 4, 7, 8, 11


class Strings:
    def __init__(self):
        self.bytes = b'\0'

    def add(self, s):
        at = len(self.bytes)
        self.bytes += s.encode() + b'\0'
        return at


def uleb(n):
    out = b''
    while n >= 128:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def sleb(n):
    """Encodes a number >= 0: bit 6 of the last byte must be 0, as it is the sign."""
    out = uleb(n)
    return out if out[-1] < 64 else out[:-1] + bytes([out[-1] | 128, 0])


def symbols(entries, place):
    """(.symtab or .dynsym, its strings, the number of local symbols). place(): the section of an
    address."""
    names, table = Strings(), struct.pack('<IBBHQQ', 0, 0, 0, 0, 0, 0)
    entries = sorted(entries, key=lambda e: (e[3] != 'LOCAL', e[2] != 'FILE'))
    for address, size, kind, bind, name in entries:
        section = 0xfff1 if kind == 'FILE' else place(address)
        table += struct.pack('<IBBHQQ', names.add(name) if name != '-' else 0,
                             BINDS[bind] << 4 | TYPES[kind], 0, section, address, size)
    return table, names.bytes, 1 + sum(e[3] == 'LOCAL' for e in entries)


def eh_frame(frames, at):
    """.eh_frame with the state in the middle of each function: a common entry, an entry per
    function."""
    def entry(body):
        body += bytes(-(len(body) + 4) % 8)
        return struct.pack('<I', len(body)) + body
    # version 1, "zR": pointers relative to their own address; cfa = rsp + 8, return address at cfa
    # - 8
    out = entry(struct.pack('<IB', 0, 1) + b'zR\0' + uleb(1) + b'\x78' + uleb(16) + uleb(1) +
                b'\x1b' +
                b'\x0c' + uleb(7) + uleb(8) + b'\x90' + uleb(1))
    for address, size, distance, registers in frames:
        ops = b'\x0e' + uleb(distance)
        for i, register in enumerate(registers):
            ops += bytes([0x80 | REGISTERS[register]]) + uleb(i + 2)
        out += entry(struct.pack('<IiI', len(out) + 4, address - (at + len(out) + 8), size) +
                     uleb(0) + ops)
    return out + bytes(4)


def debug(functions, low, size):
    """.debug_abbrev, .debug_info, .debug_line (DWARF 4): one unit, its functions, one line row for
    each."""
    def abbrev(code, tag, children, *attrs):
        return (uleb(code) + uleb(tag) + bytes([children]) + b''.join(uleb(a) for a in attrs) +
                b'\0\0')
    name, low_pc, high_pc, lines, language = ((0x03, 0x08), (0x11, 0x01), (0x12, 0x07),
                                              (0x10, 0x17), (0x13, 0x0b))
    abbrevs = abbrev(1, 0x11, 1, *name, *low_pc, *high_pc, *lines, *language)
    abbrevs += abbrev(2, 0x2e, 0, *name, *low_pc, *high_pc) + b'\0'
    # C: names are not mangled
    info = uleb(1) + b'made.c\0' + struct.pack('<QQIB', low, size, 0, 0x0c)
    files, rows = [], b''
    for address, length, file, line, function in functions:
        info += uleb(2) + function.encode() + b'\0' + struct.pack('<QQ', address, length)
        if file not in files:
            files.append(file)
        # address, file
        rows += b'\0\x09\x02' + struct.pack('<Q', address) + b'\x04' + uleb(files.index(file) + 1)
        rows += b'\x03' + sleb(line - 1) + b'\x01'  # line, row
        rows += b'\x02' + uleb(length) + b'\0\x01\x01'  # advance to the end, end of sequence
    info = struct.pack('<HIB', 4, 0, 8) + info + b'\0'
    header = (struct.pack('<BBBbBB', 1, 1, 1, -5, 14, 13) +
              bytes([0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1]) + b'\0')
    header += b''.join(f.encode() + b'\0\0\0\0' for f in files) + b'\0'
    line = struct.pack('<HI', 4, len(header)) + header + rows
    return abbrevs, struct.pack('<I', len(info)) + info, struct.pack('<I', len(line)) + line


def read(path):
    made = {'section': {}, 'slot': [], 'symbol': [], 'dynamic': [], 'bytes': [], 'frame': [],
            'function': []}
    for line in path.read_text().splitlines():
        word, *rest = line.split()
        if word == '#':
            continue
        if word == 'build-id':
            made['build-id'] = bytes.fromhex(rest[0])
        elif word == 'section':
            made['section'][rest[0]] = tuple(int(n, 16) for n in rest[1:])
        elif word == 'slot':
            made['slot'].append((int(rest[0], 16), rest[1], rest[2]))
        elif word in ('symbol', 'dynamic'):
            made[word].append((int(rest[0], 16), int(rest[1], 16), *rest[2:]))
        elif word == 'bytes':
            made['bytes'].append((int(rest[0], 16), bytes.fromhex(rest[1])))
        elif word == 'frame':
            made['frame'].append((*(int(n, 16) for n in rest[:3]), rest[3:]))
        elif word == 'function':
            made['function'].append((int(rest[0], 16), int(rest[1], 16), rest[2], int(rest[3]),
                                     rest[4]))
    return made


def write(description, path):
    """Writes the file of a description; bytes that it does not give are zero."""
    made = read(description)
    section = made['section']
    text_at, text_size, _ = section['.text']
    first = section['.plt'][0] & ~0xfff
    last = text_at + text_size

    undefined = [name for _, how, name in made['slot'] if how == 'name']
    dynamic = made['dynamic'] + [(0, 0, 'NOTYPE', 'GLOBAL', name) for name in undefined]
    number = {e[4]: i + 1 for i, e in enumerate(sorted(dynamic, key=lambda e: e[3] != 'LOCAL'))}
    rela = b''.join(struct.pack('<QQq', got, number[what] << 32 | 7, 0) if how == 'name' else
                    struct.pack('<QQq', got, 37, int(what, 16)) for got, how, what in made['slot'])

    given = [n for n in section if n != '.rela.plt']  # .plt, .text, .data and others
    order = ['', '.note.gnu.build-id', '.dynsym', '.dynstr', '.rela.plt', *given, '.eh_frame',
             '.debug_abbrev', '.debug_info', '.debug_line', '.symtab', '.strtab', '.shstrtab']
    index = {name: i for i, name in enumerate(order)}

    def place(address):
        inside = [index[n] for n in given if section[n][0] <= address < section[n][0] +
                  section[n][1]]
        return inside[0] if address and inside else 0

    dynsym, dynstr, dynlocals = symbols(dynamic, place)
    symtab, strtab, locals_ = symbols(made['symbol'], place)
    note = struct.pack('<III', 4, len(made['build-id']), 3) + b'GNU\0' + made['build-id']
    abbrevs, info, lines = debug(made['function'], text_at, text_size)
    # the page after all sections
    at = 0x1000 + -(-max(a + n for a, n, _ in section.values()) // 0x1000) * 0x1000
    frames = eh_frame(made['frame'], at)
    names = Strings()
    at = {'.eh_frame': at}
    end = at['.eh_frame'] + len(frames)
    tables, chunks = {}, []
    for name, kind, flags, data, link, info_, align, entry in (
            ('.note.gnu.build-id', NOTE, 2, note, 0, 0, 4, 0),
            ('.dynsym', DYNSYM, 2, dynsym, index['.dynstr'], dynlocals, 8, 24),
            ('.dynstr', STRTAB, 2, dynstr, 0, 0, 1, 0),
            ('.rela.plt', RELA, 2, rela, index['.dynsym'], index['.plt'], 8, 24),
            ('.eh_frame', PROGBITS, 2, frames, 0, 0, 8, 0),
            ('.debug_abbrev', PROGBITS, 0, abbrevs, 0, 0, 1, 0),
            ('.debug_info', PROGBITS, 0, info, 0, 0, 1, 0),
            ('.debug_line', PROGBITS, 0, lines, 0, 0, 1, 0),
            ('.symtab', SYMTAB, 0, symtab, index['.strtab'], locals_, 8, 24),
            ('.strtab', STRTAB, 0, strtab, 0, 0, 1, 0)):
        if name == '.note.gnu.build-id':
            place = 0x200
        elif name == '.dynsym':
            place = 0x240
        elif name == '.dynstr':
            place = 0x240 + len(dynsym)
        elif name in section:
            place = section[name][0]
        elif name == '.eh_frame':
            place = at[name]
        else:
            place, end = -(-end // 8) * 8, -(-end // 8) * 8 + len(data)
        chunks.append((place, data))
        tables[name] = (kind, flags, place if flags else 0, place, len(data), link, info_, align,
                        entry)
    for name in given:
        where, size, entry = section[name]
        code = name in ('.plt', '.plt.got', '.text')
        tables[name] = (PROGBITS if code else NOBITS, 6 if code else 3, where, where, size, 0, 0,
                        16, entry)
    name_at = {n: names.add(n) for n in order if n}
    end = -(-end // 8) * 8
    chunks.append((end, names.bytes))
    tables['.shstrtab'] = (STRTAB, 0, 0, end, len(names.bytes), 0, 0, 1, 0)
    headers_at = -(-(end + len(names.bytes)) // 8) * 8
    headers = bytes(64)
    for n in order[1:]:
        kind, flags, address, place, size, link, info_, align, entry = tables[n]
        headers += struct.pack('<IIQQQQIIQQ', name_at[n], kind, flags, address, place, size, link,
                               info_, align, entry)
    segments = [(1, 4, 0, 0, 0x200 + 0x100, 0x1000), (1, 5, first, first, last - first, 0x1000),
                (1, 4, at['.eh_frame'], at['.eh_frame'], len(frames), 0x1000),
                (4, 4, 0x200, 0x200, len(note), 4)]
    elf = b'\x7fELF\2\1\1' + bytes(9) + struct.pack('<HHIQQQIHHHHHH', 3, 62, 1, 0, 64, headers_at,
                                                    0, 64, 56, len(segments), 64, len(order),
                                                    index['.shstrtab'])
    elf += b''.join(struct.pack('<IIQQQQQQ', kind, flags, offset, address, address, size, size,
                                align)
                    for kind, flags, offset, address, size, align in segments)
    with open(path, 'wb') as f:
        f.write(elf)
        for place, data in chunks + made['bytes'] + [(headers_at, headers)]:
            f.seek(place)
            f.write(data)
