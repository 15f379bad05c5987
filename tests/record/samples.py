# SPDX-License-Identifier: MIT
"""Decodes every field of samples, and the trailers of other records, by their attr; remaining bytes
are an error.
"""
import struct

from perfdata import SAMPLE, Broken, File

BITS = {name: 1 << n for n, name in enumerate(
    'ip tid time addr read callchain id cpu period stream_id raw branch_stack regs_user '
    'stack_user weight data_src '
    'identifier transaction regs_intr phys_addr aux cgroup data_page_size code_page_size '
    'weight_struct'.split())}
TRAILER = BITS['tid'] | BITS['time'] | BITS['id'] | BITS['stream_id'] | BITS['cpu'] | BITS[
    'identifier']
ENABLED, RUNNING, ID, GROUP, LOST = 1, 2, 4, 8, 16


class Attr:
    """The members of an attr that decide the layout of records."""

    def __init__(self, data, at):
        (self.type, self.size, self.config, self.period, self.sample_type, self.read_format,
         self.flags) = struct.unpack_from('<IIQQQQQ', data, at)
        self.branch_type, self.regs_user, self.stack_user, self.clockid, self.regs_intr = \
            struct.unpack_from('<QQIiQ', data, at + 72)
        self.trailer_bytes = (8 * bin(self.sample_type & TRAILER).count('1') if self.flags >> 18 & 1
                              else 0)

    def has(self, name):
        return bool(self.sample_type & BITS[name])


class Cursor:
    def __init__(self, data, at, end):
        self.data, self.at, self.end = data, at, end

    def take(self, fmt):
        size = struct.calcsize('<' + fmt)
        if self.at + size > self.end:
            raise Broken('a record of %d bytes is too short' % (self.end - self.at))
        out = struct.unpack_from('<' + fmt, self.data, self.at)
        self.at += size
        return out if len(out) > 1 else out[0]

    def bytes(self, size):
        if self.at + size > self.end:
            raise Broken('%d bytes run over the end of the record' % size)
        self.at += size
        return self.data[self.at - size:self.at]


def read_values(c, fmt):
    """{'enabled': ..., 'values': [(value, id, lost)]}"""
    nr = c.take('Q') if fmt & GROUP else 1
    out = {'values': []}

    def times():
        if fmt & ENABLED:
            out['enabled'] = c.take('Q')
        if fmt & RUNNING:
            out['running'] = c.take('Q')

    if fmt & GROUP:
        times()
    for _ in range(nr):
        value = c.take('Q')
        if not fmt & GROUP:
            times()
        out['values'].append((value, c.take('Q') if fmt & ID else None, c.take('Q') if fmt & LOST
                              else None))
    return out


def registers(c, mask):
    abi = c.take('Q')
    return abi, {n: c.take('Q') for n in range(64) if mask >> n & 1} if abi else {}


def decode(attr, data, at, end):
    c, s = Cursor(data, at, end), {'attr': attr}
    for name in ('identifier', 'ip'):
        if attr.has(name):
            s[name] = c.take('Q')
    if attr.has('tid'):
        s['pid'], s['tid'] = c.take('II')
    for name in ('time', 'addr', 'id', 'stream_id'):
        if attr.has(name):
            s[name] = c.take('Q')
    if attr.has('cpu'):
        s['cpu'] = c.take('II')[0]
    if attr.has('period'):
        s['period'] = c.take('Q')
    if attr.has('read'):
        s['read'] = read_values(c, attr.read_format)
    if attr.has('callchain'):
        s['callchain'] = [c.take('Q') for _ in range(c.take('Q'))]
    if attr.has('raw'):
        s['raw'] = c.bytes(c.take('I'))
    if attr.has('branch_stack'):
        nr = c.take('Q')
        if attr.branch_type >> 17 & 1:
            c.take('Q')
        s['branches'] = [c.take('QQQ') for _ in range(nr)]
    if attr.has('regs_user'):
        s['regs_user_abi'], s['regs_user'] = registers(c, attr.regs_user)
    if attr.has('stack_user'):
        size = c.take('Q')
        stack = c.bytes(size)
        s['stack_size'], s['stack'] = size, stack[:c.take('Q')] if size else b''
    for name in ('weight', 'weight_struct', 'data_src', 'transaction'):
        if attr.has(name):
            s[name] = c.take('Q')
    if attr.has('regs_intr'):
        s['regs_intr_abi'], s['regs_intr'] = registers(c, attr.regs_intr)
    for name in ('phys_addr', 'cgroup', 'data_page_size', 'code_page_size'):
        if attr.has(name):
            s[name] = c.take('Q')
    if c.at != end:
        raise Broken('a sample has %d bytes too many' % (end - c.at))
    return s


class Recording(File):
    def read_attrs(self):
        super().read_attrs()
        entry = struct.unpack_from('<Q', self.data, 16)[0]
        self.full, self.full_by_id = [], {}
        for at in range(self.attrs_at, self.attrs_at + self.attrs_size, entry):
            attr = Attr(self.data, at)
            ids_at, ids_size = struct.unpack_from('<QQ', self.data, at + entry - 16)
            self.full.append(attr)
            for (one,) in struct.iter_unpack('<Q', self.data[ids_at:ids_at + ids_size]):
                self.full_by_id[one] = attr

    def decoded(self):
        """A dict for each sample, whose id must be in the header."""
        for kind, misc, at, size in self.records():
            if kind == SAMPLE:
                (number,) = struct.unpack_from('<Q', self.data, at + 8)
                yield decode(self.full_by_id[number], self.data, at + 8, at + size)

    def others(self):
        """(type, misc, body, trailer) of each record of the kernel's types but samples, also of
        synthesized ones.
        """
        for kind, misc, at, size in self.records():
            if kind == SAMPLE or kind >= 64:
                continue
            (number,) = struct.unpack_from('<Q', self.data, at + size - 8)
            # Synthesized records have the id 0 and the trailer of the first event.
            attr = self.full_by_id[number] if number else self.full[0]
            end = at + size - attr.trailer_bytes
            if end < at + 8:
                raise Broken('record %d at %#x is too short for its trailer' % (kind, at))
            yield kind, misc, self.data[at + 8:end], self.data[end:at + size]
