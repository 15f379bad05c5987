#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares recorded stacks, inlined functions, source lines and instructions with stock perf's.

    tests/roundtrip/frames.py SONDE

Programs in C and C++ are compiled with the installed compilers and recorded with perf record
--call-graph dwarf (and fp). sonde --compat perf-6.1 must print the bytes of perf script.
by_default() checks the text without --compat.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import kallsyms  # noqa: E402
from points import IN_CI, done, run, say, skip  # noqa: E402

C = r'''
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
volatile unsigned long sink;
__attribute__((noinline)) void leaf(unsigned long n) { for (unsigned long i = 0; i < n; i++) sink += i * i; }
static inline __attribute__((always_inline)) void inner(unsigned long n) { leaf(n + 1); }
static inline __attribute__((always_inline)) void outer(unsigned long n) { inner(n + 2); sink++; }
__attribute__((noinline)) void caller(unsigned long n) { outer(n); sink += 3; }
__attribute__((noinline)) void growing(unsigned long n) { volatile char *p = __builtin_alloca(n % 500 + 16); p[1] = 1; caller(n); sink += p[1]; }
__attribute__((noinline)) void deep(int n, unsigned long m) { volatile char room[200]; room[n % 200] = 1; if (n) deep(n - 1, m); else growing(m); sink += room[0]; }
static void handler(int s) { (void)s; caller(150000); sink++; }
static int by_number(const void *a, const void *b) { sink++; return *(const int *)a - *(const int *)b; }
int main(void)
{
	int numbers[4000];
	signal(SIGUSR1, handler);
	for (int i = 0; i < 60; i++) {
		for (int k = 0; k < 4000; k++) numbers[k] = k * 7919 % 4001;
		qsort(numbers, 4000, sizeof(int), by_number);
		deep(i, 100000);
		deep(100, 60000);
		raise(SIGUSR1);
	}
	return 0;
}
'''
CPP = r'''
#include <algorithm>
#include <map>
#include <string>
#include <vector>
namespace app {
struct sum { unsigned long v = 0; void add(unsigned long x) { v += x * x ^ (x >> 3); }
	template <class F> void each(const std::vector<int> &a, F f) { for (int x : a) f(x); } };
template <class T> __attribute__((noinline)) T work(const std::vector<T> &a, int n)
{
	sum s;
	for (int i = 0; i < n; i++)
		s.each(a, [&](int x) { s.add(x + i); });
	return (T)s.v;
}
__attribute__((noinline)) int sorted(std::vector<int> a) { std::sort(a.begin(), a.end(), [](int x, int y) { return (x ^ 5) < (y ^ 5); }); return a[0]; }
static int deep(int n, std::map<std::string, int> &m) { m["k" + std::to_string(n)] += n; return n ? deep(n - 1, m) + 1 : (int)m.size(); }
}
int main()
{
	std::vector<int> a;
	std::map<std::string, int> m;
	volatile int r = 0;
	for (int i = 0; i < 3000; i++) a.push_back(i * 7919 % 3001);
	for (int i = 0; i < 20; i++) { r = r + app::work(a, 200) + app::sorted(a) + app::deep(60, m); }
}
'''
PROGRAMS = [
    ('c', C, 'c', ['cc', '-g', '-O1']), ('c-O0', C, 'c', ['cc', '-g', '-O0']),
    ('c-fixed', C, 'c', ['cc', '-g', '-O2', '-no-pie']),
    ('c-stripped', C, 'c', ['cc', '-O2', '-s']),
    ('c-static', C, 'c', ['cc', '-g', '-O2', '-static']),
    ('c-debug-frame', C, 'c',
     ['cc', '-g', '-O2', '-fno-asynchronous-unwind-tables', '-fno-unwind-tables']),
    ('c-dwarf4', C, 'c', ['cc', '-gdwarf-4', '-O2']), ('cpp', CPP, 'cpp', ['c++', '-g', '-O2']),
    ('clang', CPP, 'cpp', ['clang++', '-g', '-O2']),
]
OPTIONS = ['', '--no-inline', '-F ip,sym,srcline', '--no-inline -F +srcline',
           '-F ip,sym,symoff,dso,srcline --full-source-path', '-F comm,ip,sym,srccode',
           # Only for the programs c and cpp:
           '-G -F ip,sym,srcline', '-F +insn,+insnlen', '--max-stack 4', '--stop-bt caller,main']
FEW_OPTIONS = ['', '--no-inline', '-F ip,sym,symoff,dso,srcline --full-source-path']


def quietly(argv, cwd):
    return subprocess.run(argv, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, timeout=300).returncode == 0


def first_difference(a, b):
    for n, (x, y) in enumerate(zip(a, b)):
        if x != y:
            return 'line %d\nperf  %s\nsonde %s' % (n + 1, x.decode(errors='replace')[:300],
                                                    y.decode(errors='replace')[:300])
    return 'perf has %d lines, sonde %d' % (len(a), len(b))


def compare(sonde, perf, name, data, options_used):
    for options in options_used:
        argv = ['script', '-i', data] + options.split()
        status, theirs, _ = run([perf] + argv)
        ours_status, ours, err = run([sonde, '--compat', 'perf-6.1'] + argv)
        same = (status, theirs) == (ours_status, ours)
        say(same, '%s: %s' % (name, options or 'default'),
            '' if same else 'statuses %s, %s; %s\n%s' % (
                status, ours_status, first_difference(theirs.splitlines(), ours.splitlines()),
                err.decode(errors='replace')))


def frames(text):
    """Chains as lists of (symbol, is inlined)."""
    found = []
    for block in text.decode(errors='replace').split('\n\n'):
        chain = [(m[1], bool(m[2]))
                 for m in re.finditer(r'^\t *[0-9a-f]+ (.*?)\+0x[0-9a-f]+ \((?:(inlined)|.*)\)$',
                                      block, re.M)]
        if chain:
            found.append(chain)
    return found


def by_default(sonde, data):
    """The program in C: only inlined functions are marked as such; signal handlers do not end
    chains."""
    status, text, err = run([sonde, 'script', '-i', data])
    chains = frames(text)
    say(status == 0 and len(chains) > 5, 'default: chains',
        '%d\n%s' % (len(chains), err.decode(errors='replace')))
    marked = {name for chain in chains for name, inlined in chain if inlined}
    others = {'leaf', 'caller', 'main', '__libc_start_main_impl'}
    say(marked >= {'inner', 'outer'} and not marked & others, 'default: functions inlined',
        ' '.join(sorted(marked)))
    in_order = [c for c in chains if c[:4] == [('leaf', False), ('inner', True), ('outer', True),
                                               ('caller', False)]]
    say(bool(in_order), 'default: inlined functions are above the function that holds them')
    handled = [c for c in chains if ('handler', False) in c]
    say(bool(handled) and all(('main', False) in c for c in handled),
        'default: chains through a signal handler reach main',
        '%d of %d' % (sum(('main', False) in c for c in handled), len(handled)))


def after_exec(sonde, perf, path, work):
    """exec drops mappings. perf looks for unwind tables at a file's lowest address, even a dropped
    one."""
    record = [perf, 'record', '-q', '-e', 'cpu-clock:u', '-F', '1000', '--call-graph',
              'dwarf,32768', '-o', path + '-exec.data', 'sh', '-c']
    twice = ['%s; %s; true' % (path, path)]
    if not quietly(record + twice, work):
        return skip('exec', 'perf cannot record here')
    chains = [c for c in frames(run([sonde, 'script', '-i', path + '-exec.data'])[1])
              if c[0][0] == 'leaf']
    say(len(chains) > 5 and all(('main', False) in c for c in chains),
        'default: chains of processes that called exec reach main',
        '%d of %d' % (sum(('main', False) in c for c in chains), len(chains)))
    # Without address randomisation all mappings have the same addresses, and perf finds the tables.
    if not shutil.which('setarch') or not quietly(['setarch', '-R'] + record + twice, work):
        return skip('exec at the same addresses', 'setarch -R does not work here')
    return compare(sonde, perf, 'exec at the same addresses', path + '-exec.data', [''])


WORK = '''int volatile v;
__attribute__((noinline)) int work(int n) { for (int i = 0; i < n; i++) v += i;
 return v; }
'''
MAIN = '''int work(int);
int volatile u;
int main(void) { for (int i = 0; i < 100000; i++) { for (int k = 0; k < 1000; k++) u += k;
 work(1000); } return 0; }
'''


def relative_folders(sonde, perf, work):
    """Files of a build with relative folder names (-ffile-prefix-map), as Debian's are."""
    for folder, name, text in (('io', 'main.c', MAIN), ('sysdeps', 'work.c', WORK)):
        os.makedirs(os.path.join(work, folder), exist_ok=True)
        pathlib.Path(work, folder, name).write_text(text)
    for dwarf in '45':
        data = os.path.join(work, 'relative%s.data' % dwarf)
        command = ['cc', '-g', '-gdwarf-' + dwarf, '-O1', '-fdebug-prefix-map=%s=.' % work,
                   '../sysdeps/work.c', 'main.c', '-o', 'x' + dwarf]
        if not quietly(command, os.path.join(work, 'io')) or not quietly(
                [perf, 'record', '-q', '-e', 'cpu-clock:u', '-F', '250', '-o', data,
                 os.path.join(work, 'io', 'x' + dwarf)], work):
            skip('relative folders, DWARF ' + dwarf, 'cannot be compiled or recorded')
            continue
        compare(sonde, perf, 'relative folders, DWARF ' + dwarf, data,
                ['-F ip,sym,srcline --full-source-path', '-F ip,sym,srcline'])
        _, text, _ = run([sonde, 'script', '-i', data, '-F', 'ip,sym,srcline',
                          '--full-source-path'])
        found = set(re.findall(r'^ *(\S*\.c):\d+$', text.decode(), re.M))
        # a sample may be in the start of the C library
        found = {name for name in found if name.endswith(('/work.c', '/main.c'))}
        say(found == {'./io/../sysdeps/work.c', './io/main.c'},
            'default: relative folders, DWARF ' + dwarf, ' '.join(sorted(found)))


def main():
    kallsyms.thin_out()
    sonde = sys.argv[1]
    _, features, _ = run([sonde, '--version', '-v'])
    perf = shutil.which('perf')
    if not perf and IN_CI:
        say(False, 'frames', 'perf is not installed')
    elif not perf:
        skip('frames', 'perf is not installed')
    elif b'libdw=' not in features or b'capstone=' not in features:
        skip('frames', 'this build misses libdw or capstone')
    else:
        with tempfile.TemporaryDirectory(prefix='sonde-frames-') as work:
            all_programs(sonde, perf, work)
            relative_folders(sonde, perf, work)
    return done()


def all_programs(sonde, perf, work):
    for name, source, suffix, command in PROGRAMS:
        path, src = os.path.join(work, name), os.path.join(work, 'program.' + suffix)
        pathlib.Path(src).write_text(source)
        if not shutil.which(command[0]) or not quietly(command + ['-o', path, src], work):
            skip(name, 'cannot be compiled: ' + ' '.join(command))
            continue
        for kind in ['dwarf', 'fp'] if name in ('c', 'cpp') else ['dwarf']:
            data = '%s-%s.data' % (path, kind)
            if not quietly([perf, 'record', '-q', '-e', 'cpu-clock:u', '-F', '250', '--call-graph',
                            kind, '-o', data, path], work):
                skip('%s %s' % (name, kind), 'perf cannot record here')
                continue
            compare(sonde, perf, '%s %s' % (name, kind), data, OPTIONS if name in ('c', 'cpp')
                    else FEW_OPTIONS)
            if name == 'c' and kind == 'dwarf':
                after_exec(sonde, perf, path, work)
            # This recording has so many samples that perf would need too long to name them.
            if name == 'c' and kind == 'dwarf' and quietly([perf, 'record', '-q', '-e',
                                                            'cpu-clock:u', '-F', '4000',
                                                            '--call-graph', kind, '-o', data, path],
                                                           work):
                by_default(sonde, data)


if __name__ == '__main__':
    sys.exit(main())
