# SPDX-License-Identifier: MIT
"""The rows of the bench: commands of sonde, of perf and of the floor, and the goals."""
import filecmp
import os
import shutil
import sys

import measure

PYTHON, PERL = '/usr/bin/python3', '/usr/bin/perl'
PERFS_SCRIPTS = '/usr/lib/perf-core/scripts/python'
BENCH = os.path.dirname(os.path.abspath(__file__))
MEMORY_GOAL = 64_000_000
REPORT_GOAL = 200_000_000


class Row:
    """One line of the table. Commands are lists; costs are filled in by the runs."""

    def __init__(self, name, sonde, perf=None, floor=(), beside_perf=None, beside_floor=None,
                 wall_ms=None, memory=None, null=False, script=None, more_runs=1,
                 as_perf=False):
        self.name, self.commands = name, {'sonde': sonde, 'perf': perf}
        self.floor = list(floor)          # commands whose CPU seconds are added up
        self.beside_perf, self.beside_floor = beside_perf, beside_floor  # goals
        self.wall_ms = wall_ms            # goal
        self.memory = memory              # goal, bytes
        self.as_perf = as_perf            # goal: no more memory than perf
        self.null = null                  # output goes to /dev/null, else to a file
        # 'python', 'perl': for the comparison with the floor, the cost of an idle interpreter is
        # subtracted.
        self.script = script
        self.more_runs = more_runs        # a short command is run several times
        self.costs = {'sonde': [], 'perf': []}
        self.floors = []
        self.wrong = {}
        self.equal = None                 # True if both tools print the same; None: not compared

    def run(self, tool, folder):
        stdout = os.devnull if self.null else os.path.join(folder, 'out.' + tool)
        if not self.commands[tool] or tool in self.wrong:
            return
        try:
            for _ in range(self.more_runs):
                self.costs[tool].append(measure.run(self.commands[tool], stdout,
                                                    memory=self.more_runs == 1))
        except measure.Failed as e:
            self.wrong[tool] = str(e)

    def compare(self, folder):
        if not self.null and self.costs['perf'] and self.costs['sonde']:
            self.equal = filecmp.cmp(*(os.path.join(folder, 'out.' + tool)
                                       for tool in ('perf', 'sonde')), shallow=False)

    def run_floor(self):
        if self.floor:
            self.floors.append(sum(measure.run(c, memory=False).cpu for c in self.floor))


def mixed_rows(recs, mixed):
    """Rows that read a recording of everything, with their floors."""
    reading = os.path.join(recs.tools, 'bench-reading')
    unhandled = os.path.join(BENCH, 'scripts', 'unhandled.py')
    walk = [reading, 'walk', mixed]
    counts = recs.counted(mixed)
    events = sum(counts.values()) - counts['lost']
    return [
        Row('mixed: order', [reading, 'order', mixed], floor=[walk]),
        Row('mixed: order, decode and deliver', [reading, 'count', mixed], floor=[walk]),
        Row('mixed: text to /dev/null', [recs.sonde, 'script', '-i', mixed], floor=[walk],
            memory=MEMORY_GOAL, null=True),
        Row('mixed: trace_unhandled, dict not read',
            [recs.sonde, 'script', '-i', mixed, '-s', unhandled],
            floor=[walk, [PYTHON, os.path.join(BENCH, 'floor.py'), unhandled,
                          'trace_unhandled=%d' % events]], script='python', memory=MEMORY_GOAL)]


def make_rows(recs, sched, syscalls, chains, files, large=False, mixed=None):
    """recs: the tools of a build; sched, syscalls, chains, files: paths of recordings; large: rows
    that read a recording ten times as large as the first; mixed: reports read this recording of
    everything instead of the first."""
    tools, sonde, perf = recs.tools, recs.sonde, recs.perf
    reading = os.path.join(tools, 'bench-reading')
    few, all_sched = recs.counted(syscalls), recs.counted(sched)
    events = sum(all_sched.values()) - all_sched['lost']
    report_chains = recs.report_chains()
    tenth = recs.beginning(sched, 'sched-tenth.data', os.path.getsize(sched) // 10)
    small = recs.beginning(sched, 'sched-100k.data', 100_000 - small_overhead(sched))

    def text(path, *options):
        return ([sonde, 'script', '-i', path, *options],
                perf and [perf, 'script', '-i', path, *options])

    def script(path, name, *compat):
        name = os.path.join(BENCH, 'scripts', name)
        return ([sonde, *compat, 'script', '-i', path, '-s', name],
                perf and [perf, 'script', '-i', path, '-s', name])

    def floor(path, name, **calls):
        return [[reading, 'walk', path],
                [PYTHON, os.path.join(BENCH, 'floor.py'), os.path.join(BENCH, 'scripts', name)] +
                ['%s=%s' % c for c in calls.items()]]

    def perl_row(name, path, beside_perf):
        subs = ['%s=%d' % (event.replace(':', '::'), n)
                for event, n in sorted(recs.counted(files).items()) if event != 'lost']
        lib = os.path.join(recs.build, 'bindings', 'perl', 'lib')
        return Row(name, [sonde, 'script', '-i', files, '-s', path],
                   perf and [perf, 'script', '-i', files, '-s', path],
                   [[reading, 'walk', files],
                    ['/usr/bin/env', 'PERF_EXEC_PATH=' + lib, PERL,
                     os.path.join(BENCH, 'floor.pl'), path, *subs]],
                   beside_perf, 1.25, script='perl', memory=MEMORY_GOAL)

    def report(name, path, beside_perf, *options):
        # -q: perf's last line is a tip chosen by the time of day.
        options = ['report', '-i', path, '--stdio', '-q', *options]
        return Row(name, [sonde, '--compat', 'perf-6.1', *options], perf and [perf, *options],
                   [[reading, 'walk', path]], beside_perf, memory=REPORT_GOAL, as_perf=True)

    def functions_row():
        made, symbolizer = recs.functions(), shutil.which('llvm-symbolizer')
        if not made:
            return []
        data, program, addresses = made
        return [Row('functions and lines of 20,000 addresses (perf: llvm-symbolizer)',
                    [sonde, 'report', '-i', data, '--stdio', '-s', 'sym,srcline'],
                    symbolizer and ['/bin/sh', '-c', '"$0" --obj="$1" <"$2"', symbolizer, program,
                                    addresses],
                    beside_perf=0.5, memory=REPORT_GOAL, null=True)]

    def handlers(counts):
        return {n.replace(':', '__'): counts.get(n, 0)
                for n in ('sched:sched_wakeup', 'sched:sched_switch')}

    perl = []
    if os.path.exists(PERL) and os.path.exists(os.path.join(recs.build, 'bindings', 'perl', 'lib',
                                                            'Sonde.pm')):
        perl = [perl_row('Perl: rw-by-pid.pl',
                         os.path.join(os.path.dirname(BENCH), 'scripts', 'rw-by-pid.pl'), 3.5),
                perl_row('Perl: a counting script, all arguments named',
                         os.path.join(BENCH, 'scripts', 'count.pl'), 4)]
        installed = '/usr/lib/perf-core/scripts/perl/rw-by-pid.pl'
        if os.path.exists(installed):
            perl.append(perl_row("Perl: perf's own rw-by-pid.pl", installed, 3.5))
    dbexport = os.path.join(BENCH, 'scripts', 'dbexport.py')
    perfs_own = []
    if os.path.isdir(PERFS_SCRIPTS):
        collapse, counts = (os.path.join(PERFS_SCRIPTS, 'stackcollapse.py'),
                            os.path.join(PERFS_SCRIPTS, 'syscall-counts.py'))
        perfs_own = [
            # Under --compat, since frames and system calls have other names by default.
            Row("perf's stackcollapse.py", *script(chains, collapse, '--compat', 'perf-6.1'),
                floor(chains, collapse, process_event=recs.counted(chains)['cpu-clock']), 4, 1.25,
                script='python'),
            Row("perf's syscall-counts.py", *script(syscalls, counts, '--compat', 'perf-6.1'),
                floor(syscalls, counts, raw_syscalls__sys_enter=few['raw_syscalls:sys_enter']), 6,
                1.25, script='python', memory=MEMORY_GOAL)]
    ten_times = []
    if large:
        path = recs.repeated(sched, 'sched-large.data', 10)
        ten_times = [Row('text of ten times as much to /dev/null', [sonde, 'script', '-i', path],
                         memory=MEMORY_GOAL, null=True),
                     Row('trace_unhandled, dict not read, ten times as much',
                         script(path, 'unhandled.py')[0], script='python', memory=MEMORY_GOAL)]
    return ten_times + perl + [
        Row('order the records, nothing else (floor: walk them)', [reading, 'order', sched],
            floor=[[reading, 'walk', sched]], beside_floor=2),
        Row('text to /dev/null', *text(sched), beside_perf=15, memory=MEMORY_GOAL, null=True),
        Row('text of the first tenth to /dev/null', *text(tenth), memory=MEMORY_GOAL, null=True),
        Row('text to a file', *text(sched), beside_perf=10, memory=MEMORY_GOAL),
        Row('text of -F comm,tid,time,event to /dev/null',
            *text(sched, '-F', 'comm,tid,time,event'), beside_perf=15, memory=MEMORY_GOAL,
            null=True),
        Row('JSON lines to /dev/null', [sonde, 'script', '-i', sched, '--format', 'jsonl'],
            memory=MEMORY_GOAL, null=True),
        Row('JSON lines of system calls to /dev/null',
            [sonde, 'script', '-i', syscalls, '--format', 'jsonl'],
            memory=MEMORY_GOAL, null=True),
        # As perf prints them: by default frames of user space have addresses.
        Row('text of call chains with symbols',
            [sonde, '--compat', 'perf-6.1', 'script', '-i', chains], text(chains)[1], beside_perf=6,
            memory=MEMORY_GOAL),
        Row('trace_unhandled, 3 parameters, dict not read', *script(sched, 'unhandled.py'),
            floor(sched, 'unhandled.py', trace_unhandled=events), 30, 1.0, script='python',
            memory=MEMORY_GOAL),
        Row('trace_unhandled, 3 parameters, dict read', *script(sched, 'unhandled_read.py'),
            floor(sched, 'unhandled_read.py', trace_unhandled=events), 9, 1.5, script='python',
            memory=MEMORY_GOAL),
        Row('trace_unhandled, 4 parameters, not read', *script(sched, 'unhandled_sample.py'),
            floor(sched, 'unhandled_sample.py', trace_unhandled=events), 60, 1.0, script='python',
            memory=MEMORY_GOAL),
        Row('process_event, call chains, dict not read', *script(chains, 'process_event.py'),
            floor(chains, 'process_event.py',
                  process_event=recs.counted(chains).get('cpu-clock', 0)), 15, 1.25,
            script='python', memory=MEMORY_GOAL),
        Row('wake-up latency, few events handled', *script(syscalls, 'wakeup_latency.py'),
            floor(syscalls, 'wakeup_latency.py', **handlers(few)), 12, 1.5, script='python',
            memory=MEMORY_GOAL),
        Row('wake-up latency, all events handled', *script(sched, 'wakeup_latency.py'),
            floor(sched, 'wakeup_latency.py', **handlers(all_sched)), 8, 1.4, script='python',
            memory=MEMORY_GOAL),
        Row('database export with call chains, rows counted', *script(chains, 'dbexport.py'),
            floor(chains, 'dbexport.py', sample_table='%d*25' % recs.counted(chains)['cpu-clock'],
                  call_path_table='%d*4' % recs.call_paths(chains, dbexport)), 3, 1.25,
            script='python'),
        Row('skeleton that counts, samples not read', *script(sched, 'skeleton_unread.py'),
            floor(sched, 'skeleton_unread.py', **handlers(all_sched)), 25, 1.3, script='python',
            memory=MEMORY_GOAL),
        Row('skeleton that counts, samples read', *script(sched, 'skeleton_read.py'),
            floor(sched, 'skeleton_read.py', **handlers(all_sched)), 8, 1.5, script='python',
            memory=MEMORY_GOAL),
        Row('skeleton that counts, without samples', *script(sched, 'skeleton.py'),
            floor(sched, 'skeleton.py', **handlers(all_sched)), 8, 1.3, script='python',
            memory=MEMORY_GOAL),
        report('report by comm', mixed or sched, 5, '-s', 'comm'),
        report('report by comm, dso and sym', mixed or sched, 6, '-s', 'comm,dso,sym'),
        # The smaller recording: perf takes 10 GB for it, and 17 GB for the larger one.
        report('report of call chains, children', chains, 8, '-g'),
        Row('report of 400,000 call chains, children',
            report('', report_chains, None, '-g').commands['sonde'], memory=REPORT_GOAL),
        report('report of call chains, no children', report_chains, 8, '-g', '--no-children'),
        report('report of copied stacks', recs.stacks(), 7, '-g'),
        *functions_row(),
        Row('folded call chains (perf: perf script and a script that folds)',
            [sonde, 'report', '-i', report_chains, '--format', 'folded'],
            perf and ['/bin/sh', '-c', '"$0" script -i "$1" | "$2" "$3"', perf,
                      report_chains, PYTHON, os.path.join(BENCH, 'scripts', 'fold.py')],
            [[reading, 'walk', report_chains]], 15, memory=REPORT_GOAL, null=True),
        *perfs_own,
        Row('text of a 100 kB recording', *text(small), wall_ms=20, more_runs=4),
        Row('import sonde (python -c; the process)',
            [PYTHON, '-c', 'import sys; sys.path[:0] = %r; import sonde' %
               [os.path.join(recs.build, 'bindings/python/module')]],
            wall_ms=30, more_runs=4),
    ]


def small_overhead(path):
    """The bytes of a recording that are not records."""
    with open(path, 'rb') as f:
        f.seek(48)
        return os.path.getsize(path) - int.from_bytes(f.read(8), sys.byteorder)
