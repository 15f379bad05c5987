#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares sonde --compat with stock perf, byte for byte, for many recordings and sets of options.

    tests/roundtrip/matrix.py SONDE [--against 6.1|6.12] [--cache FOLDER] [--all]
        [--only RECORDING] [--options 'OPTIONS'] [--keep FOLDER]

perf record makes some recordings, others are in tests/data. --keep stores the new ones in a folder
and uses those that it holds. Each set of options is tried on one recording, another one for each
version of perf; with --all (or SONDE_FULL=1), --only or --options on all. tools/perf-6.12 unpacks
perf 6.12 in the cache.
"""
import argparse
import concurrent.futures
import itertools
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / 'data'
sys.path.insert(0, str(HERE.parent))
import kallsyms  # noqa: E402
from points import ENV, FULL, done, run, say, skip  # noqa: E402

BURN = r'''
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
namespace shapes { struct box { volatile unsigned long n; void grow(int by) { for (int i = 0; i < by; i++) n += i ^ n; } }; }
static inline __attribute__((always_inline)) void twice(shapes::box *b, int by) { b->grow(by); b->grow(by / 2); }
__attribute__((noinline)) void outer(shapes::box *b, int by) { twice(b, by); b->n++; }
static void start_events(const char *control, const char *answer)
{
	char ack[8];
	int to = open(control, O_WRONLY), from = open(answer, O_RDONLY);

	if (write(to, "enable\n", 7) != 7 || read(from, ack, sizeof(ack)) <= 0)
		exit(1);
}
int main(int argc, char **argv)
{
	shapes::box b = { 1 };
	int turns = argc > 1 ? atoi(argv[1]) : 20;
	char *p = (char *)malloc(1 << 20);

	if (argc > 3)
		start_events(argv[2], argv[3]);
	for (int i = 0; i < turns; i++) {
		outer(&b, 200000);
		memset(p + 4096 * (i % 256), i, 1);
	}
	free(p);
	return 0;
}
'''

# name: arguments of perf record. {burn} is the program above.
RECORDINGS = {
    'sched': '-e sched:sched_switch,sched:sched_wakeup -a sleep 0.02',
    'syscalls': '-e raw_syscalls:* cat /etc/hostname',
    'chains': '-g -e sched:sched_switch,cpu-clock -F 2000 {burn} 10',
    'clock': '-e cpu-clock -F 3000 {burn} 10',
    # perf 6.12 does not unwind frames of the dynamic linker, where a slow start may be sampled:
    # the program enables the events.
    'dwarf': '-e cpu-clock -F 500 --call-graph dwarf,4096 -D -1 --control fifo:control,answer '
             '{burn} 10 control answer',
    'faults': '-e page-faults -c 1 -d -W --phys-data --data-page-size --code-page-size '
              '--sample-cpu {burn} 2',
    'tasks': '--switch-events --namespaces --all-cgroups -e cpu-clock -F 2000 sh -c "ls / | wc -l"',
    'regs': '-e cpu-clock --intr-regs=ax,ip --user-regs=sp,ip -F 2000 {burn} 5',
    'tod': '-k CLOCK_MONOTONIC -e cpu-clock -F 2000 -a sleep 0.01',
    'mixed': '-e sched:sched_switch,cpu-clock,page-faults,raw_syscalls:sys_enter sh -c "ls / & '
             'wait"',
    'group': '-e {{cpu-clock,page-faults}}:S -F 2000 {burn} 5',
    'thread': '--per-thread -e cpu-clock {burn} 5',
    'buildids': '--buildid-mmap -e cpu-clock -F 2000 -g sh -c "ls /"',
    'untimed': '--no-timestamp -e cpu-clock {burn} 5',
}
OPTIONS = [
    '', '--ns', '--reltime', '--deltatime', '-G', '-L', '-I --header', '--header', '--header-only',
    '-D', '-d -F comm', '-f', '-F comm,tid,pid,time,cpu,event', '-F +misc', '-F +period,+pid',
    '-F -time,-cpu', '-F comm,ip,sym,symoff,dso', '-F ip,sym', '-F comm,dso', '-F event,trace',
    '-F +insn,+insnlen', '-F comm,ip,insn', '-F addr,event', '-F +addr',
    '-F comm,addr,phys_addr,data_page_size,code_page_size', '-F comm,weight,data_src,ins_lat',
    '-F iregs,uregs', '-F +tod', '-F comm,ip,srcline', '-F sw:+srcline', '-F ip,sym,srccode',
    '-F +callindent', '-F +flags', '-F +metric', '-F +ipc', '-F brstack', '-F +brstacksym',
    '-F comm,bpf-output', '-F +synth', '-F +machine_pid,+vcpu', '-F +cgroup', '-F hw:comm',
    '-F sw:comm,event -F trace:comm,trace', '-F trace:', '-F sw:', '-F synth:comm',
    '-F raw:comm,event', '-F ""', '-F comm,+pid', '-F nonsense', '-F break:ip', '--max-stack 2',
    '--max-stack 0', '--stop-bt main', '--hide-call-graph', '--inline', '--no-inline',
    '--no-demangle', '--demangle-kernel', '--full-source-path -F ip,sym,srcline',
    '--show-kernel-path', '--show-task-events', '--show-mmap-events', '--show-switch-events',
    '--show-namespace-events', '--show-lost-events', '--show-round-events', '--show-bpf-events',
    '--show-cgroup-events', '--show-text-poke-events', '--show-task-events --show-mmap-events '
                                                       '--show-switch-events -F +misc',
    '--tid {tid}', '--pid {tid}', '--pid {tid},1', '--tid nobody', '--comms {comm}',
    '--comms nobody,sh', '--cpu 0', '--cpu 0-1', '--cpu 999', '-C x', '--dsos burn',
    '--dsos [kernel.kallsyms]', '--symbols main', '-S outer,main', '--symbols main --addr-range 64',
    '--addr-range 64', '--time {from},{to}', '--time {from},', '--time ,{to}', '--time 10%/2',
    '--time 0%-30%', '--time 10%-20%,40%-50%', '--time 200%', '--time x',
    '--time {from},{to} --reltime', '--reltime --deltatime', '--switch-on page-faults',
    '--switch-off cpu-clock', '--switch-on sched:sched_switch --switch-off cpu-clock '
                              '--show-on-off-events', '--switch-on nosuch',
    '--kallsyms /proc/kallsyms', '--symfs /nonexistent', '--vmlinux /nonexistent', '--itrace=i100',
    '--insn-trace', '--call-trace', '--call-ret-trace', '--graph-function main', '--stitch-lbr',
    '--guestmount /nonexistent', '--guest-code', '--max-blocks 3', '--list-dlfilters',
    '--dlfilter nosuch.so', '--dlarg x', '--nonsense', '--time', '--show-info', '-v --ns',
]
# Pairs whose texts differ, and why.
KNOWN = {
    ('thread', '--time 10%/2'): 'samples without a time',
    ('thread', '--time 0%-30%'): 'samples without a time',
    ('thread', '--time 10%-20%,40%-50%'): 'samples without a time',
    ('thread', '--time 0,1 --reltime'): 'samples without a time',
    (None, '-F +insn,+insnlen'): 'perf 6.12 reads instructions from files of debug information',
    (None, '-F comm,ip,insn'): 'the same', (None, '--insn-trace'): 'the same',
    (None, '--list-dlfilters'): 'perf 6.12 lists filters in its own folder',
    (None, '-v --ns'): 'perf -v prints parameters after names of functions',
    ('mixed', '-F sw:+srcline'): 'perf 6.12 prints the file and address of a sample at the first '
                                 'instruction of some functions',
    ('dwarf', '--max-stack 0'): 'perf shows the address of the sample',
    ('dwarf', '--symfs /nonexistent'): 'perf does not unwind if no mapped file is found',
}
STORED = ['demo.data', 'scripts/types.data', 'scripts/flags.data', 'scripts/frames.data',
          'text/chains.data', 'text/mixed.data', 'text/clock.data', 'text-cases/br.data',
          'text-cases/addr.data', 'text-cases/bpf.data', 'text-cases/sw.data']


def make(folder, only):
    """{name: recording}, {name: why it is missing}"""
    burn = folder / 'burn'
    if not burn.exists():
        (folder / 'burn.cc').write_text(BURN)
        if run(['c++', '-g', '-O1', '-fno-omit-frame-pointer', '-o', str(burn), 'burn.cc'],
               folder)[0] != 0:
            burn = None
    for fifo in 'control', 'answer':
        if not (folder / fifo).exists():
            os.mkfifo(folder / fifo)
    made, missing = {}, {}
    for name, args in RECORDINGS.items():
        data = folder / (name + '.data')
        if only and only != name:
            continue
        if not burn and '{burn}' in args:
            missing[name] = 'no C++ compiler'
            continue
        if not data.exists():
            status, _, err = run(['perf', 'record', '-q', '-o', data.name] +
                                 shlex.split(args.format(burn=burn)), folder)
            if status != 0 or not data.exists():
                lines = err.decode('utf-8', 'replace').strip().splitlines() or ['failed']
                missing[name] = 'perf cannot record: ' + lines[0]
                continue
        made[name] = data
    for name in STORED:
        if not only or only == name:
            made[name] = DATA / name
    return made, missing


def values(data, cwd):
    """Values for placeholders in options: times in the middle of the recording, one of its
    tasks."""
    lines = run(['perf', 'script', '-f', '-F', 'tid,time', '-G', '-i', str(data)],
                cwd)[1].decode('utf-8', 'replace').splitlines()
    words = [l.replace(':', '').split() for l in lines if len(l.split()) == 2]
    comms = run(['perf', 'script', '-f', '-F', 'comm', '-G', '-i', str(data)],
                cwd)[1].decode('utf-8', 'replace').split()
    if not words:
        return {'from': '0', 'to': '1', 'tid': '1', 'comm': 'x'}
    a, b = words[len(words) // 4], words[3 * len(words) // 4]
    return {'from': a[1], 'to': b[1], 'tid': b[0], 'comm': comms[-1] if comms else 'x'}


def first_difference(want, got):
    want, got = want.split(b'\n'), got.split(b'\n')
    at = next((i for i, line in enumerate(want) if i >= len(got) or got[i] != line), len(want))
    show = lambda lines: repr(lines[at].decode('utf-8',
                                               'replace')) if at < len(lines) else 'nothing'
    return 'line %d of %d\nperf:  %s\nsonde: %s (%d lines)' % (at + 1, len(want), show(want),
                                                               show(got), len(got))


def compare(perf, sonde, data, options, cwd):
    """'' or what differs."""
    words = ['script', '-i', str(data)] + shlex.split(options)
    status, want, err = run([perf] + words, cwd)
    ours, got, our_err = run(sonde + words, cwd)
    why = ''
    if (isinstance(status, int) and (status < 0 or status > 128 and status - 128 in (6, 11)) and
        ours == 0):
        return ''  # perf crashes, sonde must not
    if status != ours:
        why = 'exit status: perf %s (%s)\nsonde %s (%s)\n' % (
            status, err.decode('utf-8', 'replace').strip()[:300], ours,
            our_err.decode('utf-8', 'replace').strip()[:300])
    if want != got and (status == 0 or ours == 0):
        why += first_difference(want, got)
    return why


def kernel_hidden(perf, cwd):
    """'', or the reason why perf names no address of the kernel although /proc/kallsyms has them.

    perf decides by two settings and its capabilities; sonde reads the file.
    """
    out = run([perf, 'script', '-f', '-F', 'ip,sym', '-i', str(DATA / 'scripts' / 'frames.data')],
              cwd)[1].decode('utf-8', 'replace')
    kernel = [line for line in out.splitlines() if line.strip().startswith('ffffffff')]
    with open('/proc/kallsyms') as f:
        is_shown = any(int(line.split()[0], 16) for line in itertools.islice(f, 100))
    if not is_shown or not kernel or any('[unknown]' not in line for line in kernel):
        return ''
    setting = lambda name: pathlib.Path('/proc/sys/kernel', name).read_text().strip()
    caps = next(line.split()[1] for line in open('/proc/self/status') if line.startswith('CapEff:'))
    return ('perf names no kernel address: kptr_restrict %s, perf_event_paranoid %s, capabilities '
            '%s'
            % (setting('kptr_restrict'), setting('perf_event_paranoid'), caps))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('sonde', type=pathlib.Path)
    ap.add_argument('--against', choices=['6.1', '6.12'], default='6.1')
    ap.add_argument('--cache', default='build/perf-6.12')
    ap.add_argument('--all', action='store_true')
    ap.add_argument('--only')
    ap.add_argument('--options')
    ap.add_argument('--keep', type=pathlib.Path)
    opts = ap.parse_args()
    kallsyms.thin_out()
    perf, why = shutil.which('perf', path=ENV['PATH']), 'no perf'
    if perf and opts.against == '6.12':
        p = subprocess.run([HERE.parents[1] / 'tools' / 'perf-6.12', opts.cache],
                           stdin=subprocess.DEVNULL, capture_output=True)
        perf, why = p.stdout.decode().strip(), p.stderr.decode().strip()
    if not perf:
        skip('matrix', why, may=opts.against == '6.12')
        return done()
    sonde = [str(opts.sonde.resolve()), '--compat', 'perf-' + opts.against]
    with tempfile.TemporaryDirectory(prefix='sonde-matrix-') as temp:
        folder = opts.keep.resolve() if opts.keep else pathlib.Path(temp)
        folder.mkdir(exist_ok=True)
        made, missing = make(folder, opts.only)
        for name, why in missing.items():
            skip(name, why, may=not 'perf' in why)
        # Each set of options is tried on one recording, another one for each version of perf.
        every = 1 if FULL or opts.all or opts.only or opts.options is not None else len(made)
        hidden = kernel_hidden(perf, folder)
        first = 0 if opts.against == '6.1' else every // 2
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
            for i, (name, data) in enumerate(made.items()):
                known = values(data, folder)
                sets = [opts.options] if opts.options is not None else OPTIONS
                sets = [o.format(**known) for j, o in enumerate(sets)
                        if (first + i + j) % every == 0]
                for o, why in zip(sets, pool.map(lambda o: compare(perf, sonde, data, o, folder),
                                                 sets)):
                    if why and ((name, o) in KNOWN or (None, o) in KNOWN and
                                ('insn' not in o and 'list' not in o or opts.against == '6.12')):
                        skip(('%s %s' % (name, o)).strip(),
                             'known: ' + (KNOWN.get((name, o)) or KNOWN[None, o]))
                        continue
                    if why and hidden and 'ffffffff' in why:
                        skip(('%s %s' % (name, o)).strip(), hidden)
                        continue
                    say(not why, ('%s %s' % (name, o)).strip(), why)
    return done()


if __name__ == '__main__':
    sys.exit(main())
