#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares names of functions in user space with stock perf's, for all addresses of a file.

    tests/roundtrip/symbols.py SONDE [made|installed] [--against 6.1|6.12] [--cache FOLDER]
        [--step BYTES] [FILE...]

The test builds a recording with samples at every STEP bytes of a file's code and data. perf and
sonde --compat must print the same. made: programs linked in many ways by the installed compilers,
and maps of JITs. installed: libraries of this machine, with their debug files. FILE: these files.
"""
import argparse
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from points import done, run, say, skip  # noqa: E402
PID = 4242
BASE = 0x7f0000000000
IP, TID, TIME, PERIOD = 1, 2, 4, 256
USER, BUILD_ID = 2, 1 << 14
MMAP2, SAMPLE, COMM = 10, 9, 3
INSTALLED = ['/usr/lib/*/libc.so.6', '/usr/lib/*/ld-linux*.so.2', '/usr/lib/*/libpthread.so.0',
             '/usr/lib/*/libm.so.6', '/usr/lib/*/libstdc++.so.6', '/usr/lib/*/libcrypto.so.3',
             '/usr/bin/bash', '/usr/bin/perl', '/usr/bin/python3', '/usr/lib/*/libelf.so.1',
             '/usr/lib/*/libz.so.1']

PROGRAM = r'''
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
int global_data = 1, global_zero[2000];
static int local_data[4] = { 1 }, local_zero[3000];
static int __attribute__((noinline)) compare(const void *a, const void *b) { return *(int *)a - *(int *)b; }
void strong(void) { qsort(local_data, 4, 4, compare); }
extern void alias(void) __attribute__((alias("strong")));
extern void _alias(void) __attribute__((alias("strong")));
extern void weak_alias(void) __attribute__((weak, alias("strong")));
static void local_alias(void) __attribute__((alias("strong"), used));
static void *chosen(void) { return memcpy; }
void *ifunc(void *, const void *, size_t) __attribute__((ifunc("resolve")));
static void *resolve(void) { return chosen(); }
__asm__(".text\n.type asm_function,@function\nasm_function: nop\nlabel_in_it: nop; nop\nno_size: nop\n.globl glabel\nglabel: nop\n"
        ".size asm_function, .-asm_function\n.section .text.mine,\"ax\"\nin_own_section: nop; nop\n.hidden secret\n.globl secret\n"
        "secret: nop\n.text\n");
int main(int argc, char **argv)
{
	char *p = malloc(100 + argc);
	strong();
	local_zero[argc]++;
	ifunc(p, argv[0], 1);
	printf("%s %ld %f\n", p ? strchr(p, 0) : getenv("x"), (long)time(NULL), sin(argc));
	return strlen(p) + global_data + global_zero[1];
}
'''
CPP = r'''
#include <map>
#include <string>
#include <vector>
namespace outer { namespace {
template <class T> struct S { S(); ~S(); T f(T, const std::string &) const; operator T *() { return &v; } T v; static T counter; };
template <class T> S<T>::S() : v() {}
template <class T> S<T>::~S() {}
template <class T> T S<T>::counter;
template <class T> T S<T>::f(T x, const std::string &s) const { return x + s.size() + counter++; }
} }
template <class... A> auto variadic(A &&...a) -> decltype((a + ...)) { return (a + ...); }
int operator""_km(unsigned long long v) { return v; }
int main(int argc, char **argv)
{
	outer::S<long> s;
	std::map<std::string, std::vector<int>> m;
	auto lambda = [&](auto x) { m["a"].push_back(x); return x; };
	static const char *text = argv[0];
	return (int)s.f(lambda(argc), text) + variadic(1, 2, 3_km) + *(long *)s;
}
'''
RUST = r'''
mod inner { pub struct S<T>(pub T); impl<T: Copy + Into<u64>> S<T> { #[inline(never)] pub fn work(&self) -> u64 { self.0.into() } } }
trait Go { fn go(&self) -> u64; }
impl Go for inner::S<u32> { #[inline(never)] fn go(&self) -> u64 { (0..3).map(|x| x + self.work()).sum() } }
fn main() { println!("{}", std::hint::black_box(inner::S(7u32)).go()); }
'''


# ---- recordings --------------------------------------------------------------------------------

def record(kind, misc, body):
    body += struct.pack('<IIQ', PID, PID, 1) if kind != SAMPLE else b''
    return struct.pack('<IHH', kind, misc, 8 + len(body)) + body


def text(s):
    b = os.fsencode(s) + b'\0'
    return b + bytes(-len(b) % 8)


def mmap(start, size, offset, path, prot=5, build_id=b''):
    body = struct.pack('<IIQQQ', PID, PID, start, size, offset)
    if build_id:
        body += struct.pack('<B3x20s', len(build_id), build_id)
    else:
        body += struct.pack('<IIQQ', 8, 1, 0, 0)
    return record(MMAP2, USER | (BUILD_ID if build_id else 0), body + struct.pack('<II', prot, 2) +
                  text(path))


def recording(records, addresses):
    flags = 1 << 18 | 1 << 23 | 1 << 9 | 1 << 8
    attr = struct.pack('<IIQQQQQ', 1, 128, 0, 1000000, IP | TID | TIME | PERIOD, 0,
                       flags).ljust(128, b'\0')
    data = record(COMM, 0, struct.pack('<II', PID, PID) + text('program')) + b''.join(records)
    data += b''.join(record(SAMPLE, USER, struct.pack('<QIIQQ', ip, PID, PID, 2 + i, 1))
                     for i, ip in enumerate(addresses))
    at = 104 + 144
    header = (b'PERFILE2' + struct.pack('<QQQQQQQQQ', 104, 144, 104, 144, at, len(data), 0, 0, 0) +
              bytes(24))
    return header[:104] + attr + bytes(16) + data


def segments(path):
    """(offset, bytes in the file, flags) of each loaded segment."""
    with open(path, 'rb') as f:
        head = f.read(64)
        if head[:4] != b'\x7fELF':
            return []
        is64, e = head[4] == 2, '<' if head[5] == 1 else '>'
        at, = struct.unpack_from(e + ('Q' if is64 else 'I'), head, 32 if is64 else 28)
        size, n = struct.unpack_from(e + 'HH', head, 54 if is64 else 42)
        f.seek(at)
        table = f.read(size * n)
    found = []
    for i in range(n):
        if is64:
            kind, flags, offset, _, _, length, _, _ = struct.unpack_from(e + 'IIQQQQQQ', table,
                                                                         i * size)
        else:
            kind, offset, _, _, length, _, flags, _ = struct.unpack_from(e + 'IIIIIIII', table,
                                                                         i * size)
        if kind == 1 and length:
            found.append((offset, length, flags))
    return found


def recording_of(path, step, name=None):
    """A recording with samples in all of a file's code and data."""
    maps, addresses, at = [], [], BASE
    for offset, length, flags in segments(path):
        start = offset & ~4095
        size = (offset + length - start + 4095) & ~4095
        maps.append(mmap(at, size, start, name or path, 5 if flags & 1 else 3))
        addresses += range(at + offset % step, at + size, step)
        at += size + 0x10000
    return recording(maps, addresses)


# ---- comparison --------------------------------------------------------------------------------

class Comparison:
    def __init__(self, opts, perf, work):
        self.opts, self.perf, self.work = opts, perf, work

    def compare(self, name, data, *options):
        path = os.path.join(self.work, 'perf.data')
        with open(path, 'wb') as f:
            f.write(data)
        argv = ['script', '--no-inline', '-F', 'ip,sym,symoff,dso', '-i', path] + list(options)
        status, theirs, _ = run([self.perf] + argv)
        compat = ['--compat', 'perf-' + self.opts.against]
        ours_status, ours, _ = run([self.opts.sonde] + compat + argv)
        theirs, ours = theirs.splitlines(), ours.splitlines()
        wrong = [(a, b) for a, b in zip(theirs, ours) if a != b]
        named = sum(b'[unknown]' not in line for line in theirs)
        why = 'statuses %s, %s; lines %d, %d; %d differ\n' % (status, ours_status, len(theirs),
                                                              len(ours), len(wrong))
        why += ''.join('perf  %s\nsonde %s\n' % (a.decode(errors='replace'),
                                                 b.decode(errors='replace'))
                       for a, b in wrong[:self.opts.show])
        same = status == ours_status and len(theirs) == len(ours) and not wrong and theirs
        say(same, '%s (%d of %d named)' % (name, named, len(theirs)), '' if same else why)


def make(command, cwd):
    return subprocess.run(command, cwd=cwd, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


WAYS = {
    'pie': ['cc', '-O1'], 'fixed': ['cc', '-O1', '-no-pie'], 'static': ['cc', '-O1', '-static'],
    'static-pie': ['cc', '-O1', '-static-pie'], 'lazy': ['cc', '-O1', '-Wl,-z,lazy'],
    'ibt': ['cc', '-O1', '-fcf-protection=full', '-Wl,-z,ibtplt'],
    'no-plt': ['cc', '-O1', '-fno-plt'], 'one-segment': ['cc', '-O1', '-Wl,-z,noseparate-code'],
    'gold': ['cc', '-O1', '-fuse-ld=gold'], 'lld': ['cc', '-O1', '-fuse-ld=lld'],
    'lld-fixed': ['cc', '-O1', '-fuse-ld=lld', '-no-pie'],
    'no-build-id': ['cc', '-O1', '-Wl,--build-id=none'], 'md5': ['cc', '-O1', '-Wl,--build-id=md5'],
    'gnu2': ['cc', '-O1', '-Wl,-z,now', '-Wl,--hash-style=sysv'], 'm32': ['cc', '-O1', '-m32'],
}


def made(c, work):
    src = os.path.join(work, 'program.c')
    pathlib.Path(src).write_text(PROGRAM)
    pathlib.Path(work, 'program.cpp').write_text(CPP)
    pathlib.Path(work, 'program.rs').write_text(RUST)
    programs = []
    for name, command in WAYS.items():
        path = os.path.join(work, name)
        if make(command + ['-o', path, src, '-lm'], work):
            programs.append(path)
        else:
            skip(name, 'cannot be linked')
    for name, command in (('cpp', ['c++', '-O1', '-o', 'cpp', 'program.cpp']),
                          ('cpp0', ['c++', '-std=c++20', '-o', 'cpp0', 'program.cpp']),
                          ('rust', ['rustc', '-O', '-o', 'rust', 'program.rs']),
                          ('rust-v0', ['rustc', '-C', 'symbol-mangling-version=v0', '-o', 'rust-v0',
                                       'program.rs'])):
        if shutil.which(command[0]) and make(command, work):
            programs.append(os.path.join(work, name))
        else:
            skip(name, 'cannot be compiled')
    pie = os.path.join(work, 'pie')
    if pie in programs and shutil.which('objcopy'):
        make(['objcopy', '--only-keep-debug', 'pie', 'linked.debug'], work)
        make(['objcopy', '--strip-all', '--add-gnu-debuglink=linked.debug', 'pie', 'linked'], work)
        make(['objcopy', '--strip-all', 'pie', 'stripped'], work)
        make(['objcopy', '--strip-debug', '--only-section=.text', 'pie', 'text-only'], work)
        programs += [os.path.join(work, p) for p in ('linked', 'stripped')]
    for path in programs:
        step = 1 if os.path.getsize(path) < 40000 else c.opts.step
        c.compare(os.path.basename(path), recording_of(path, step))
    if pie in programs:
        c.compare('pie, --no-demangle', recording_of(pie, 1), '--no-demangle')
    jit(c)


def jit(c):
    """Maps of JITs: entries that overlap or repeat, have no size or name, and lines that are no
    entry."""
    start = BASE
    lines = ['%x 40 first' % start, '%x 40 second one(int, char)' % (start + 0x40),
             '%x 20 inside' % (start + 0x50), '%x 0 empty' % (start + 0x100),
             '%x 400 wide' % (start + 0x200), '%x 10 w1' % (start + 0x210), '%x 10 w2' %
             (start + 0x220), '%x 10 w3' % (start + 0x230), '%x 100 again' % (start + 0x700),
             '%x 100 again2' % (start + 0x700), '%x 80 again3' % (start + 0x780), 'nonsense', '',
             '%x' % start, '%x 10' % start, '%x 10 ' % (start + 0x900),
             '%X 1F UPPER' % (start + 0xa00), '0x%x 0x10 prefixed' % (start + 0xb00),
             '%x 10 _ZN3foo3barEv' % (start + 0xc00), '%x 1 last' % (start + 0xd00)]
    path = pathlib.Path('/tmp/perf-%d.map' % PID)
    if path.exists():
        skip('jit', '%s exists' % path)
        return
    for name, body in (('jit', '\n'.join(lines)), ('jit, one line', lines[0] + '\n'),
                       ('jit, empty', '')):
        path.write_text(body)
        try:
            data = recording([mmap(start, 0x1000, 0, '//anon', 7),
                              mmap(start + 0x10000, 0x1000, 0, '[heap]', 7),
                              mmap(start + 0x20000, 0x1000, 0, '//anon', 3)],
                             list(range(start, start + 0x1000)) +
                             [start + 0x10010, start + 0x20010])
            c.compare(name, data)
        finally:
            path.unlink()


def installed(c):
    found = set()
    for pattern in INSTALLED:
        for path in sorted(pathlib.Path('/').glob(pattern[1:])):
            found.add(str(path.resolve()))
    for path in sorted(found):
        c.compare(path, recording_of(path, max(c.opts.step, os.path.getsize(path) // 200000)))


def main():
    p = argparse.ArgumentParser()
    p.add_argument('sonde')
    p.add_argument('what', nargs='?', default='made')
    p.add_argument('files', nargs='*')
    p.add_argument('--against', default='6.1')
    p.add_argument('--cache', default='')
    p.add_argument('--step', type=int, default=16)
    p.add_argument('--show', type=int, default=5)
    opts = p.parse_args()
    perf, why = shutil.which('perf'), 'no perf 6.1'
    if opts.against == '6.12':
        q = subprocess.run([HERE.parent.parent / 'tools' / 'perf-6.12', opts.cache],
                           capture_output=True, text=True)
        perf, why = (None if q.returncode else q.stdout.strip()), q.stderr.strip()
    elif perf and b' 6.1.' not in run([perf, 'version'])[1]:
        perf = None
    if not perf:
        skip(opts.what, why, may=opts.against != '6.1')
    else:
        with tempfile.TemporaryDirectory() as work:
            c = Comparison(opts, perf, work)
            if opts.what == 'made':
                made(c, work)
            elif opts.what == 'installed':
                installed(c)
            else:
                for path in [opts.what] + opts.files:
                    c.compare(path, recording_of(os.path.realpath(path), opts.step))
    return done()


if __name__ == '__main__':
    sys.exit(main())
