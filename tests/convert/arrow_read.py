# SPDX-License-Identifier: MIT
"""Reads Arrow's IPC format, strictly: what the format forbids or the writer promises is checked.

    table = arrow_read.read('x.arrow')
    table.names                     # ['time', 'cpu', ...]
    table.columns['cpu']            # values of all batches; None for a null
    table.types['comm']             # 'dictionary<int32, utf8>'
    table.batches                   # rows of each batch

Every flatbuffer is checked: alignment, bounds, tables and vectors that are inside. So are the
buffers: inside their body, in order, at multiples of 64 bytes, with zeros between them; offsets
that never decrease; UTF-8; codes inside the dictionary; bitmaps with the number of nulls that is
claimed. A file's footer must name every message, and nothing else may be in the file.
"""
import pathlib
import struct

TYPES = {2: 'int', 3: 'float', 4: 'binary', 5: 'utf8', 6: 'bool', 10: 'timestamp', 12: 'list',
         13: 'struct', 15: 'fixed_binary', 16: 'fixed_list', 18: 'duration', 19: 'large_binary',
         20: 'large_utf8', 21: 'large_list'}
INTS = {(8, True): 'b', (16, True): 'h', (32, True): 'i', (64, True): 'q',
        (8, False): 'B', (16, False): 'H', (32, False): 'I', (64, False): 'Q'}


class Wrong(Exception):
    pass


def need(condition, what, *args):
    if not condition:
        raise Wrong(what % args)


class Flat:
    """A table of a flatbuffer."""

    def __init__(self, data, at):
        self.data, self.at = data, at
        need(at % 4 == 0 and at + 4 <= len(data), 'table at %d', at)
        self.vtable = at - struct.unpack_from('<i', data, at)[0]
        need(self.vtable >= 0 and self.vtable % 2 == 0, 'vtable at %d', self.vtable)
        size, self.size = struct.unpack_from('<HH', data, self.vtable)
        need(size >= 4 and size % 2 == 0 and self.vtable + size <= len(data), 'vtable size')
        need(self.size >= 4 and at + self.size <= len(data), 'table size')
        self.slots = struct.unpack_from('<%dH' % (size // 2 - 2), data, self.vtable + 4)
        need(all(4 <= s < self.size for s in self.slots if s), 'field outside its table')

    @classmethod
    def root(cls, data):
        return cls(data, struct.unpack_from('<I', data)[0])

    def number(self, slot, form, default=0):
        if slot >= len(self.slots) or not self.slots[slot]:
            return default
        at, size = self.at + self.slots[slot], struct.calcsize('<' + form)
        need(at % size == 0 and self.slots[slot] + size <= self.size, 'number at %d', at)
        return struct.unpack_from('<' + form, self.data, at)[0]

    def target(self, slot):
        offset = self.number(slot, 'I', None)
        if offset is None:
            return None
        at = self.at + self.slots[slot] + offset
        need(offset and at % 4 == 0 and at + 4 <= len(self.data), 'reference to %d', at)
        return at

    def table(self, slot):
        at = self.target(slot)
        return None if at is None else Flat(self.data, at)

    def text(self, slot):
        at = self.target(slot)
        if at is None:
            return None
        size = struct.unpack_from('<I', self.data, at)[0]
        need(at + 4 + size < len(self.data) and not self.data[at + 4 + size], 'string at %d', at)
        return self.data[at + 4:at + 4 + size].decode()

    def tables(self, slot):
        at = self.target(slot)
        if at is None:
            return []
        nr = struct.unpack_from('<I', self.data, at)[0]
        need(at + 4 + 4 * nr <= len(self.data), 'vector at %d', at)
        items = [at + 4 + 4 * i for i in range(nr)]
        return [Flat(self.data, i + struct.unpack_from('<I', self.data, i)[0]) for i in items]

    def structs(self, slot, form):
        at = self.target(slot)
        if at is None:
            return []
        nr, size = struct.unpack_from('<I', self.data, at)[0], struct.calcsize('<' + form)
        need((at + 4) % 8 == 0 and at + 4 + size * nr <= len(self.data), 'structs at %d', at)
        return [struct.unpack_from('<' + form, self.data, at + 4 + size * i) for i in range(nr)]

    def pairs(self, slot):
        return {t.text(0): t.text(1) for t in self.tables(slot)}


class Field:
    def __init__(self, flat):
        self.name, self.nullable = flat.text(0), flat.number(1, 'B')
        need(flat.number(2, 'B') in TYPES, 'type %d', flat.number(2, 'B'))
        self.kind, about = TYPES[flat.number(2, 'B')], flat.table(3)
        need(about, 'field %s has no type', self.name)
        self.meta, self.form, self.index, self.id = flat.pairs(6), None, None, None
        self.text = self.kind
        if self.kind == 'int':
            bits, signed = about.number(0, 'i'), bool(about.number(1, 'B'))
            self.form, self.text = INTS[bits, signed], ('int%d' if signed else 'uint%d') % bits
        elif self.kind == 'float':
            self.form = {1: 'f', 2: 'd'}[about.number(0, 'h')]
            self.text = 'float' if self.form == 'f' else 'double'
        elif self.kind in ('timestamp', 'duration'):
            need(about.number(0, 'h', 1) == 3, 'unit of %s', self.name)
            self.form, self.text = 'q', self.kind + '[ns]'
            if self.kind == 'timestamp' and about.text(1):
                self.text += ' ' + about.text(1)
        elif self.kind in ('fixed_binary', 'fixed_list'):
            self.fixed = about.number(0, 'i')
            self.text += str(self.fixed)
        self.children = [Field(c) for c in flat.tables(5)]
        need(len(self.children) == 1 if 'list' in self.kind else
             self.kind == 'struct' or not self.children, 'children of %s', self.name)
        if self.children:
            self.text += '<%s>' % ', '.join(c.text for c in self.children)
        encoding = flat.table(4)
        if encoding:
            self.id = encoding.number(0, 'q')
            index = encoding.table(1)
            self.index = INTS[index.number(0, 'i'), bool(index.number(1, 'B'))]
            self.text = 'dictionary<%s, %s>' % ({'i': 'int32'}.get(self.index, self.index),
                                                self.text)

    def fields(self):
        yield self
        for c in self.children:
            yield from c.fields()


class Body:
    """The nodes and buffers of a RecordBatch, taken one by one."""

    def __init__(self, flat, body):
        self.length, self.body = flat.number(0, 'q'), body
        self.nodes, self.buffers = flat.structs(1, 'qq'), flat.structs(2, 'qq')
        end = 0
        for at, size in self.buffers:
            need(at % 64 == 0 and at >= end and at + size <= len(body), 'buffer at %d', at)
            need(not any(body[end:at]), 'padding is not zero')
            end = at + size
        need(not any(body[end:]) and len(body) - end < 64, 'the end of a body')

    def node(self, length):
        nr, nulls = self.nodes.pop(0)
        need(nr == length, 'node of %d rows, not %d', nr, length)
        bits = self.buffer()
        if not bits:
            need(not nulls, 'nulls without a bitmap')
            return None
        need(len(bits) == (nr + 7) // 8, 'bitmap of %d bytes', len(bits))
        valid = [bits[i // 8] >> i % 8 & 1 for i in range(nr)]
        need(nr - sum(valid) == nulls, '%d nulls, not %d', nr - sum(valid), nulls)
        need(nr % 8 == 0 or not bits[-1] >> nr % 8, 'bits behind the bitmap')
        return valid

    def buffer(self):
        at, size = self.buffers.pop(0)
        return self.body[at:at + size]

    def numbers(self, form, nr):
        data = self.buffer()
        need(len(data) == nr * struct.calcsize(form), '%d bytes for %d numbers', len(data), nr)
        return list(struct.unpack('<%d%s' % (nr, form), data))

    def offsets(self, form, nr):
        found = self.numbers(form, nr + 1)
        need(found[0] == 0 and all(a <= b for a, b in zip(found, found[1:])), 'offsets')
        return found

    def values(self, field, length, dictionaries):
        valid = self.node(length)
        if field.index and dictionaries is not None:
            values = self.numbers(field.index, length)
            words = dictionaries[field.id]
            need(all(0 <= v < len(words) for i, v in enumerate(values) if not valid or valid[i]),
                 'a code outside the dictionary of %s', field.name)
            found = [words[v] if not valid or valid[i] else None for i, v in enumerate(values)]
        else:
            found = self.plain(field, length, dictionaries)
        return [None if valid and not valid[i] else v for i, v in enumerate(found)]

    def plain(self, field, length, dictionaries):
        kind = field.kind
        if field.form:
            return self.numbers(field.form, length)
        if kind == 'bool':
            bits = self.buffer()
            return [bool(bits[i // 8] >> i % 8 & 1) for i in range(length)]
        if kind == 'struct':
            members = [self.values(c, length, dictionaries) for c in field.children]
            return [{c.name: m[i] for c, m in zip(field.children, members)}
                    for i in range(length)]
        if kind == 'fixed_binary':
            data = self.buffer()
            return [data[i * field.fixed:(i + 1) * field.fixed] for i in range(length)]
        if kind == 'fixed_list':
            items = self.values(field.children[0], length * field.fixed, dictionaries)
            return [items[i * field.fixed:(i + 1) * field.fixed] for i in range(length)]
        offsets = self.offsets('q' if kind.startswith('large') else 'i', length)
        if kind.endswith('list'):
            items = self.values(field.children[0], offsets[-1], dictionaries)
        else:
            items = self.buffer()
            need(len(items) == offsets[-1], '%d bytes, not %d', len(items), offsets[-1])
        found = [items[a:b] for a, b in zip(offsets, offsets[1:])]
        return [b.decode() for b in found] if kind.endswith('utf8') else found

    def finish(self):
        need(not self.nodes and not self.buffers, 'nodes or buffers that no field has')


class Table:
    def __init__(self, data):
        self.is_file = data[:6] == b'ARROW1'
        self.dictionaries, self.batches, self.deltas = {}, [], 0
        self.meta = self.facts = None
        self.blocks = {2: [], 3: []}
        end = self.read_messages(data, 8 if self.is_file else 0)
        if self.is_file:
            need(data[6:8] == b'\0\0' and data[-6:] == b'ARROW1', 'magic')
            size = struct.unpack_from('<i', data, len(data) - 10)[0]
            need(len(data) - 10 - size == end, 'bytes in front of the footer')
            self.read_footer(Flat.root(data[end:end + size]))
        else:
            need(end == len(data), 'bytes behind the end of the stream')
        self.columns = {f.name: [] for f in self.fields}
        for length, body in self.bodies:
            for f in self.fields:
                self.columns[f.name] += body.values(f, length, self.dictionaries)
            body.finish()
        self.names = [f.name for f in self.fields]
        need(len(set(self.names)) == len(self.names), 'two columns of one name')
        self.types = {f.name: f.text for f in self.fields}

    def read_messages(self, data, at):
        self.bodies, self.schema_bytes = [], None
        while True:
            mark, size = struct.unpack_from('<Ii', data, at)
            need(mark == 0xffffffff and at % 8 == 0, 'message at %d', at)
            if not size:
                return at + 8
            need(at == (8 if self.is_file else 0) or at % 64 == 0, 'message at %d', at)
            meta = data[at + 8:at + 8 + size]
            need((at + 8 + size) % 64 == 0 and len(meta) == size, 'metadata of %d bytes', size)
            message = Flat.root(meta)
            need(message.number(0, 'h') == 4, 'version of the metadata')
            length = message.number(3, 'q')
            body = data[at + 8 + size:at + 8 + size + length]
            need(len(body) == length and length % 64 == 0, 'body of %d bytes', length)
            self.read_message(message.number(1, 'B'), message.table(2), body,
                              (at, 8 + size, length))
            at += 8 + size + length

    def read_message(self, kind, header, body, block):
        if kind == 1:
            need(self.schema_bytes is None and not body, 'a second schema')
            self.schema_bytes = True
            self.read_schema(header)
            return
        need(self.schema_bytes and kind in (2, 3), 'message of kind %d', kind)
        self.blocks[kind].append(block)
        if kind == 3:
            b = Body(header, body)
            self.batches.append(b.length)
            if not self.is_file:  # with the dictionaries so far
                self.columns_now(b)
            else:
                self.bodies.append((b.length, b))
            return
        number, is_delta, batch = header.number(0, 'q'), header.number(2, 'B'), header.table(1)
        need(number in self.by_id, 'dictionary %d of no field', number)
        need(bool(is_delta) == (number in self.dictionaries), 'delta of dictionary %d', number)
        need(not self.is_file or not is_delta, 'a delta in a file')
        b = Body(batch, body)
        values = b.plain(self.by_id[number], b.length, self.dictionaries) \
            if b.node(b.length) is None else need(False, 'nulls in a dictionary')
        b.finish()
        need(values or not is_delta, 'an empty delta')
        self.deltas += is_delta
        self.dictionaries[number] = self.dictionaries.get(number, []) + values
        words = [tuple(v) if isinstance(v, list) else v for v in self.dictionaries[number]]
        need(len(set(words)) == len(words), 'a value twice in dictionary %d', number)

    def columns_now(self, body):
        # A dictionary is only needed for rows that refer to it.
        known = {i: self.dictionaries.get(i, []) for i in self.by_id}
        found = {f.name: body.values(f, body.length, known) for f in self.fields}
        body.finish()
        self.bodies.append((body.length, Done(found)))

    def read_schema(self, schema):
        need(schema.number(0, 'h') == 0, 'byte order')
        self.fields = [Field(f) for f in schema.tables(1)]
        self.meta = schema.pairs(2)
        self.by_id = {f.id: f for top in self.fields for f in top.fields() if f.index}
        need(sorted(self.by_id) == list(range(len(self.by_id))), 'ids of dictionaries')

    def read_footer(self, footer):
        need(footer.number(0, 'h') == 4, 'version of the footer')
        before = [(f.name, f.text, f.meta) for f in self.fields], self.meta
        self.read_schema(footer.table(1))
        need(before == ([(f.name, f.text, f.meta) for f in self.fields], self.meta),
             'the schema of the footer is another one')
        for slot, kind in (2, 2), (3, 3):
            found = [(at, meta, body) for at, meta, body in footer.structs(slot, 'qi4xq')]
            need(found == self.blocks[kind], 'blocks of the footer: %r', found)
        need(set(self.dictionaries) == set(self.by_id), 'dictionaries that are missing')
        self.facts = footer.pairs(4)


class Done:
    """Values of a batch of a stream, which were read with the dictionaries of their time."""

    def __init__(self, found):
        self.found = found

    def values(self, field, length, dictionaries):
        return self.found[field.name]

    def finish(self):
        pass


def parse(data):
    try:
        return Table(data)
    except (struct.error, IndexError, KeyError, UnicodeDecodeError) as e:
        raise Wrong('%s: %s' % (type(e).__name__, e)) from e


def read(path):
    return parse(pathlib.Path(path).read_bytes())
