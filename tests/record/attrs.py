# SPDX-License-Identifier: MIT
"""The attrs that each option produces are those of perf record."""
import concurrent.futures
import os
import re
import struct

from tap import case, few_symbols, need, perf, run, same, sh, sonde

ID, IDENTIFIER = 1 << 6, 1 << 16

# Sets of options that give perf's attrs, except for the bits that attrs() clears.
SAME = '''
-e cs
-e cs -c 7
-e cs -c 0
-e cs -F 99
-e cs -F 99 --strict-freq
-e cs -F 999999
-F 99
-e sched:sched_switch -c 3
-e cs -g
-e cs --call-graph fp
-e cs --call-graph fp,32
-e cs --call-graph fp,126
-e cs --call-graph fp,127
-e cs --call-graph fp,1000
-e cs --call-graph fp,0
-e cs --call-graph dwarf
-e cs --call-graph dwarf,
-e cs --call-graph dwarf,1
-e cs --call-graph dwarf,100
-e cs --call-graph dwarf,0x100
-e cs --call-graph dwarf,65528
-e cs --call-graph dwarf -g
-e cs -g --call-graph dwarf
-e cs -g --no-call-graph
-e cs --call-graph dwarf --user-callchains
-e cs --call-graph dwarf --kernel-callchains
-e cs --kernel-callchains
-e cs -g --user-callchains
-e cs:k --call-graph dwarf
-e sched:sched_switch --call-graph dwarf
-a -e cs --call-graph dwarf
-a -e sched:sched_switch -g
-e cs -d
-e cs --phys-data
-e cs -d --phys-data --data-page-size --code-page-size
-a -e cs -d --phys-data --data-page-size --code-page-size
-e sched:sched_switch -d
-e cs -T
-e cs --no-timestamp
-a -e cs --no-timestamp
-e sched:sched_switch --no-timestamp
-e cs,sched:sched_switch --no-timestamp
--per-thread -e cs
--per-thread -e cs -T
-C 0 -e cs
-C 0 -e cs -d -s -n
-e cs -P
-e cs --no-period
-e cs -c 10 -P
-e sched:sched_switch --no-period
-a -e sched:sched_switch --no-period
-a -e cs -P
-e cs -s
-a -e cs -s
-e cs --running-time
-e cs -n
-e sched:sched_switch,cs -n
-a -e cs -n
-e cs -n -c 5
-e cs -R
-a -e cs -R
-e cs --no-timestamp -R
-e cs --sample-cpu
-e cs --no-sample-cpu
-e sched:sched_switch --no-sample-cpu
-e cs --sample-identifier
-e cs -W
-a -e cs -W --transaction
-e cs --transaction
-e cs -I
-e cs -Iax,bx
-e cs --intr-regs=AX,R15,ip
-e cs --user-regs
-e cs --user-regs=ax,sp
-e cs --user-regs=ip --call-graph dwarf
-a -e cs -I --user-regs
-e sched:sched_switch -I
-e dummy -I --user-regs
-e dummy -d --call-graph dwarf
-e cs -k monotonic
-e cs -k MONO
-e cs -k 1
-e cs -k raw
-e cs -k CLOCK_MONOTONIC_RAW
-e cs -k boot
-e cs -k clock_boottime
-e cs -k real
-e cs -k tai
-e cs -k 11
-a -e cs,sched:sched_switch -k monotonic
-e cs --namespaces
-e cs --all-cgroups
-e cs --switch-events
-a -e cs --namespaces --all-cgroups --switch-events
-e cs --no-bpf-event
-a -e cs --no-bpf-event
-e cs -i
-a -e cs -i
-e cs,sched:sched_switch -i
-e cs -i --no-timestamp
-e cs --all-user
-e cs --all-kernel
-e cs:u --all-kernel
-e cs:k --all-user
-e sched:sched_switch --all-user
-a -e cs --all-user
-a -e cs --all-kernel
--all-user
-a --all-kernel
-e bpf-output -R -n
'''.strip().splitlines()

# Options that both tools refuse: (options, part of sonde's message, perf's status).
# sonde's status is 1 where perf's is 255 and for --strict-freq, else 2.
REFUSED = [
    ('-c 100 -F 99', 'exclude each other', 234),
    ('-F 999999 --strict-freq', '--strict-freq', 234),
    ('--call-graph no', "dwarf[,BYTES] or lbr, not 'no'", 129),
    ('--call-graph DWARF', "not 'DWARF'", 129),
    ('--call-graph dwarf,0', 'from 1 to 65528 bytes', 129),
    ('--call-graph dwarf,65529', 'from 1 to 65528 bytes', 129),
    ('--call-graph dwarf,1k', 'from 1 to 65528 bytes', 129),
    ('--all-user --all-kernel', '--all-kernel excludes --all-user', 129),
    ('--intr-regs=xx', "no register 'xx'", 129),
    ('--intr-regs=ax,,bx', "no register ''", 129),
    ('--user-regs=ax,no', "no register 'no'", 129),
    ('-I?', 'available registers: ', 129),
    ('--user-regs=?', 'available registers: ', 129),
    ('-j none', "no branch type 'none'", 129),
    ('-j any,', "no branch type ''", 129),
    ('-j any -b', 'already', 129),
    ('-b -j any', 'already', 129),
    ('-j any -j u', 'already', 129),
    ('-b', 'cs: cannot be recorded with branches', 255),
    ('-j any_call,any_ret,u,k,hv', 'cs: cannot be recorded with branches', 255),
    ('--call-graph lbr', 'cs: cannot be recorded with branches', 255),
    ('-k x', 'the clocks are monotonic', 129),
    ('-k 2', 'does not stamp events with this clock', 255),
    ('-k 99', 'this clock cannot be read', 255),
    ('-k -1', 'this clock cannot be read', 255),
    ('-S', 'the processor writes', 234),
    ('--aux-sample', 'the processor writes', 234),
]


def attrs(path):
    """The attrs of a file as bytes, with ID and IDENTIFIER cleared: sonde always sets IDENTIFIER,
    perf one or neither.
    """
    with open(path, 'rb') as f:
        d = f.read()
    entry, at, size = struct.unpack_from('<QQQ', d, 16)
    out = []
    for p in range(at, at + size, entry):
        a = bytearray(d[p:p + entry - 16])
        (kind,) = struct.unpack_from('<Q', a, 24)
        struct.pack_into('<Q', a, 24, kind & ~(ID | IDENTIFIER))
        out.append(bytes(a))
    return out


def both(n, options):
    """(perf's text of the attrs, the attrs as bytes) of a recording by perf and of one by sonde."""
    out = []
    for tool, name in ((sh, 'perf%d.data' % n), (sonde, 'sonde%d.data' % n)):
        argv = ('perf', 'record') if tool is sh else ('record',)
        r = tool(*argv, '-B', '-N', '-o', name, *options.split(), '--', 'true', timeout=600)
        same(r.returncode, 0, '%s: %s' % (options, r.stderr))
        words = re.sub(r'\|(ID|IDENTIFIER)\b', '', sh('perf', 'evlist', '-v', '-i', name).stdout)
        out.append((words, attrs(name)))
        os.unlink(name)
    return out


@case('perf evlist -v: %d sets of options give the attrs of perf record' % len(SAME))
def _():
    perf()
    wrong = []
    # Recordings mostly wait: perf sleeps for a second, and the kernel is slow to open and close
    # events.
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        for options, (theirs, ours) in zip(SAME, pool.map(both, range(len(SAME)), SAME)):
            if theirs != ours:
                wrong.append('%s\nperf:  %s\nsonde: %s' % (options, *(
                    ''.join(one[0]) + ' '.join(a.hex() for a in one[1]) for one in (theirs, ours))))
    need(not wrong, '\n'.join(wrong))


@case('options that perf refuses are refused with a message that names them')
def _():
    def one(options, says, status):
        r = sh('perf', 'record', '-o', 'perf.data', '-e', 'cs', *options.split(), '--', 'touch',
               'ran')
        same(r.returncode, status, 'perf %s: %s' % (options, r.stderr))
        r = sonde('record', '-o', 'x.data', '-e', 'cs', *options.split(), '--', 'touch', 'ran')
        if (says not in r.stderr or r.stderr.count('\n') != 1 or
            r.returncode != (1 if status == 255 or 'strict' in options else 2)):
            wrong.append('%s: %d %s' % (options, r.returncode, r.stderr))

    perf()
    wrong = []
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda r: one(*r), REFUSED))
    need(not wrong, '\n'.join(wrong))
    same(sonde('--compat', 'perf-6.1', 'record', '-e', 'cs', '-I?', '--', 'true').returncode, 129,
         '-I? under --compat')
    need('ran' not in os.listdir() and 'x.data' not in os.listdir(), 'files: %r' % os.listdir())


few_symbols()
run()
