#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads CTF traces of types at random, and compares the lines with those of stock babeltrace2.

    ctf_random.py SONDE
"""
import random
import re
import shutil
import sys

sys.dont_write_bytecode = True
from ctfcases import BABELTRACE, TOP, differs, run, script  # noqa: E402
from ctf import MAGIC, packets, trace_block, write  # noqa: E402
from points import FULL, done, say, skip  # noqa: E402

class Random:
    """Types at random, with the values to write. A type is (text, put(p)), put writes a value.

    Left out is what babeltrace2 2.0.4 prints wrongly: numbers of 61 to 63 bits in base 16, and
    empty strings.
    """

    def __init__(self, seed):
        self.rng, self.order = random.Random(seed), random.Random(seed).choice(['le', 'be'])
        self.names = 0

    def name(self):
        self.names += 1
        return '%sf%d' % (self.rng.choice(['', '_']), self.names)

    def integer(self, unsigned=False, most=64):
        rng = self.rng
        size = rng.choice([s for s in (1, 3, 5, 7, 8, 8, 12, 16, 16, 24, 27, 32, 32, 33, 48, 60, 64)
                           if s <= most])
        align = rng.choice([1, 8, 16, 32, 64] if size % 8 == 0 else [1, 1, 4, 8])
        signed = not unsigned and rng.random() < 0.5
        order = rng.choice(['le', 'be']) if size % 8 == 0 and align >= 8 else self.order
        value = [rng.randrange(1 << size), 0, (1 << size) - 1, 1 << (size - 1)]
        text = 'integer { size = %d; align = %d; signed = %s; base = %d; byte_order = %s; }' % (
            size, align, str(signed).lower(), rng.choice([2, 8, 10, 10, 16]), order)

        def put(p, given=None):
            p.align(align)
            v = rng.choice(value) if given is None else given
            if order == self.order:
                p.int(v, size, 1)
            else:
                p.raw(v.to_bytes(size // 8, 'little' if order == 'le' else 'big'))
        return text, put, size

    def text(self):
        return ''.join(self.rng.choice('abc \\"?\t\x01\u00e9') for _ in
                       range(self.rng.randrange(1, 12)))

    def members(self, depth):
        rng, out = self.rng, []
        for _ in range(rng.randrange(1, 6)):
            out += self.member(depth)
        return out

    def member(self, depth):
        """[(declaration, put)]"""
        rng, name = self.rng, self.name()
        kind = rng.randrange(10 if depth < 3 else 6)
        if kind in (0, 1, 2):
            text, put, _ = self.integer()
            return [('%s %s;' % (text, name), put)]
        if kind == 3:
            return [('string %s;' % name, lambda p: p.text(self.text()))]
        if kind == 4:
            size = rng.choice([32, 64])
            text = 'floating_point { exp_dig = %d; mant_dig = %d; align = %d; }' % (
                (8, 24, 32) if size == 32 else (11, 53, 8))
            return [('%s %s;' % (text, name), lambda p: p.align(32 if size == 32 else 8).real(
                rng.choice([0.0, -1.5, 1e9, 3.25e-7, float('inf')]), size))]
        if kind == 5:
            text, put, size = self.integer(most=8)
            signed = 'signed = true' in text
            return [('enum : %s { A, B = 1, "b %s", C = 0 ... 0 } %s;' % (
                text, name, name), lambda p: put(p)) if size > 2 and not signed else
                    ('%s %s;' % (text, name), put)]
        if kind == 6:
            inner, align = self.members(depth + 1), rng.choice(['', ' align(32)'])
            text = 'struct { %s }%s %s;' % (' '.join(t for t, _ in inner), align, name)
            return [(text, self.put_struct(inner, 32 if align else 1))]
        if kind == 7:
            text, put, _ = self.integer()
            n = rng.randrange(4)
            return [('%s %s[%d];' % (text, name, n),
                     lambda p: [p.align(self.align_of(text))] + [put(p) for _ in range(n)])]
        if kind == 8:
            length, put_length, size = self.integer(unsigned=True, most=32)
            text, put, _ = self.integer()
            n = min(rng.randrange(4), (1 << size) - 1)

            def put_all(p):
                p.align(self.align_of(text))
                for _ in range(n):
                    put(p)
            return [('%s len_%s;' % (length, name.strip('_')), lambda p: put_length(p, n)),
                    ('%s %s[len_%s];' % (text, name, name.strip('_')), put_all)]
        options = [self.member(3)[0] for _ in range(3)]
        chosen = rng.randrange(3)
        named = [(t[:t.rindex(' ')] + ' O%d;' % i) for i, (t, _) in enumerate(options)]
        return [('enum : integer { size = 8; } { O0, O1, O2 } tag_%s;' % name.strip('_'),
                 lambda p: p.int(chosen, 8)),
                ('variant <tag_%s> { %s } %s;' % (name.strip('_'), ' '.join(named), name),
                 options[chosen][1])]

    @staticmethod
    def align_of(text):
        """The largest alignment of the members in a text; variants do not count."""
        while 'variant' in text:
            at = text.index('variant')
            end, depth = text.index('{', at), 0
            while True:
                depth += {'{': 1, '}': -1}.get(text[end], 0)
                end += 1
                if not depth:
                    break
            text = text[:at] + text[end:]
        aligns = [int(n) for n in re.findall(r'align(?: = |\()(\d+)', text)]
        implied = [8] if 'string' in text or re.search(r'size = 8; }', text) else []
        return max(aligns + implied + [1])

    def put_struct(self, members, least=1):
        align = max([least] + [self.align_of(text) for text, _ in members])

        def put(p):
            p.align(align)
            for _, put_member in members:
                put_member(p)
        return put

    def trace(self, folder):
        rng = self.rng
        contexts = self.members(2) if rng.random() < 0.5 else []
        events = [self.members(0) for _ in range(4)]
        text = '/* CTF 1.8 */\n' + trace_block(self.order, 'integer { size = 32; } magic;')
        text += 'stream { packet.context := struct { integer { size = 32; } content_size; ' \
            'integer { size = 32; } packet_size; }; event.header := struct { ' \
            'integer { size = 8; } id; };'
        if contexts:
            text += ' event.context := struct { %s };' % ' '.join(t for t, _ in contexts)
        text += ' };\n'
        for i, members in enumerate(events):
            text += 'event { name = e%d; id = %d; fields := struct { %s }; };\n' % (
                i, i, ' '.join(t for t, _ in members))
        data = b''
        for _ in range(3):
            state = rng.getstate()

            def body(p):
                rng.setstate(state)
                for _ in range(12):
                    i = rng.randrange(4)
                    p.align(8).int(i, 8)
                    if contexts:
                        self.put_struct(contexts)(p)
                    self.put_struct(events[i])(p)
            data += packets(self.order, lambda p: p.int(MAGIC, 32),
                            lambda p, c, t: p.int(c, 32).int(t, 32), body)
        return write(folder, text, stream=data)


def check_random():
    if not BABELTRACE:
        return skip('random traces, by babeltrace2', 'no babeltrace2', may=False)
    for seed in range(200 if FULL else 12):
        folder = Random(seed).trace(TOP / 'random')
        ours, theirs = script(folder, '--format', 'babeltrace'), run(BABELTRACE, folder)
        say(theirs[0] == 0 and ours[1] == theirs[1] and len(ours[1].splitlines()) == 36,
            'random types, seed %d' % seed, differs(ours[1], theirs[1]) + ours[2] + theirs[2][:600])
    return None


def main():
    try:
        check_random()
    finally:
        shutil.rmtree(TOP)
    return done()


sys.exit(main())
