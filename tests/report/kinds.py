# SPDX-License-Identifier: MIT
"""Recordings that `sonde report` is compared on, and what kinds each of them is of.

    made, missing = make(folder)

The installed perf makes fresh recordings of workload.c. Stored ones are copies from tests/data and
from the corpus and the reference of tests/recordings.py. A copy belongs to the user who runs the
tests: perf refuses files of others.
"""
import pathlib
import shlex
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent)]
import made as branch_stacks  # noqa: E402
from points import run  # noqa: E402
from recordings import CORPUS, NO_CORPUS, NO_REFERENCE, REFERENCE  # noqa: E402

# name: kinds, options of perf record. {w} is the workload. Each recording also has two more kinds:
# its own name, and 'fresh'. Kinds: own (has the workload's names), chains, trace (tracepoints),
# several (events), group, time, cpu, and base (the few recordings that every option set is tried
# on).
FRESH = {
    'fp': ('base own chains lines time', '-e cpu-clock -F 4000 -g {w} spin'),
    'flat': ('own lines time', '-e cpu-clock -F 4000 {w} spin sleep'),
    'dwarf': ('own chains lines time', '-e cpu-clock -F 1500 --call-graph dwarf,4096 {w} spin'),
    'sched': (
        'base trace several time',
        '-e sched:sched_switch,sched:sched_wakeup -a {w} sleep fork',
    ),
    'switches': ('trace chains time', '-e sched:sched_switch -g {w} sleep fork'),
    'syscalls': ('trace several time', '-e raw_syscalls:* {w} touch sleep'),
    'mixed': (
        'base trace own several time',
        '-e sched:sched_switch,cpu-clock,page-faults -c 200000 {w} spin sleep touch',
    ),
    'two': ('base own chains several time', '-e cpu-clock,page-faults -F 4000 -g {w} spin touch'),
    'grouped': (
        'base own chains group several time',
        '-e {{cpu-clock,page-faults,context-switches}} -F 4000 -g {w} spin touch sleep',
    ),
    'system': ('base chains time cpu', '-e cpu-clock -F 2000 -a -g {w} spin'),
    'faults': (
        'own addr time cpu',
        '-e page-faults -c 1 -d -W --phys-data --data-page-size --code-page-size'
        ' --sample-cpu {w} touch fork',
    ),
    'borrowed': (
        'refgraph',
        '-e cpu-clock/call-graph=fp,period=1000000/,page-faults/call-graph=no,period=3/'
        ' {w} spin touch',
    ),
    'jit': ('chains time', '-e cpu-clock -F 4000 -g {w} jit'),
    'children': (
        'own tasks time cpu',
        '-e cpu-clock,page-faults -F 4000 -s --sample-cpu --all-cgroups {w} spin fork threads',
    ),
    'zstd': ('own chains', '-z -e cpu-clock -F 4000 -g {w} spin'),
    'directory': ('own cpu', '--threads -a -e cpu-clock -F 2000 {w} spin'),
    'pipe': ('own chains', '-e cpu-clock -F 4000 -g -o - {w} spin'),
}
# name: kinds, file in tests/data. 'stored' is of all of them.
STORED = {
    'demo': ('', 'demo.data'),
    'exec': ('trace', 'scripts/exec.data'),
    'flags': ('trace', 'scripts/flags.data'),
    'frames': ('trace chains', 'scripts/frames.data'),
    'types': ('trace', 'scripts/types.data'),
    'text-chains': ('trace chains', 'text/chains.data'),
    'text-clock': ('base chains several', 'text/clock.data'),
    'text-faults': ('addr', 'text/faults.data'),
    'text-mixed': ('trace several', 'text/mixed.data'),
    'text-switch': ('base trace several', 'text/switch.data'),
    'text-syscalls': ('trace several', 'text/syscalls.data'),
    'case-addr': ('addr', 'text-cases/addr.data'),
    'case-branches': ('branches chains', 'text-cases/br.data'),
    'case-regs': ('', 'text-cases/bpf.data'),
    'case-switch': ('tasks', 'text-cases/sw.data'),
    'case-dwarf': ('chains', 'text-cases/dw.data'),
    'accesses': ('mem', 'report/memory.data'),
    'task-tree': ('', 'report/tasks.data'),
    'case-chains': ('base trace chains several', 'text-cases/g.data'),
}
# name: kinds, file in the corpus. 'stored' and 'foreign' are of all of them.
FOREIGN = {
    'lbr': ('branches chains', 'perf-file-branch-stack-callchain-k3.4__perfdataconver.data'),
    'branches-hw': ('branches', 'perf-file-branch-stack-k4.14__perfdataconver.data'),
    'branches-lost': (
        'branches',
        'perf-file-simpleperf-branch-stack-lost-k3.13__platformsystem.data',
    ),
    'arm64-branches': (
        'branches several',
        'perf-file-aarch64-branch-stack-3-attrs-k5.4-perf5.15__perfdataconver.data',
    ),
    'arm64-chains': ('base chains', 'perf-file-aarch64-callchain-k6.1__js324.data'),
    'arm64-several': ('several', 'perf-file-aarch64-3-attrs-k4.0__llvmlnt.data'),
    'arm64-simpleperf': (
        'chains',
        'perf-file-aarch64-simpleperf-dwarf-callchain__platformsystem-2.data',
    ),
    'arm32': ('several', 'perf-file-armv7l-6-attrs-k3.4__perfdataconver.data'),
    'several-old': ('base several', 'perf-file-6-attrs-k3.4__perfdataconver.data'),
    'throttled': ('several', 'perf-file-throttle-3-attrs-k3.4__perfdataconver.data'),
    'group-hw': ('group several', 'perf-file-2-attrs-k4.14__perfdataconver.data'),
    'group-read': (
        'group chains several',
        'perf-file-simpleperf-dwarf-callchain-read-group-2-attrs-k5.10__platformsystem.data',
    ),
    'mem-hw': ('mem several', 'perf-file-mem-weight-2-attrs-k5.4__appelmar.data'),
    'cgroup': ('chains', 'perf-file-callchain-cgroup-k4.18__pshoben.data'),
    'chains-old': ('chains', 'perf-file-callchain-k3.4__perfdataconver.data'),
    'zstd-dwarf': (
        'chains',
        'perf-file-zstd-dwarf-callchain-cgroup-k5.6-perf4.18__perfparser.data',
    ),
    'namespaces': ('tasks', 'perf-file-namespaces-k4.14__perfdataconver.data'),
    'old-magic': ('', 'perf-file-magic-v1-k3.2__aholanda.data'),
    'probe': ('trace', 'perf-file-tracepoint-k4.9__perfparser.data'),
    'pipe-group': ('group several', 'perf-pipe-2-attrs-k6.6-perf6.8__perfdataconver.data'),
    'pipe-lost': ('several', 'perf-pipe-lost-3-attrs__perfdataconver.data'),
    'pipe-dwarf': ('chains', 'perf-pipe-dwarf-callchain__perfparser.data'),
    'intel-pt': ('several', 'perf-file-4-attrs-intelpt-k4.14__perfdataconver.data'),
    'fuzz': ('', 'perf-fuzz-711e1370.data'),
}


# name: kinds, file in the reference. All of them also have the kinds 'stored' and 'foreign'.
OTHERS = {
    'ref-directory': ('several', 'fixtures/perf-dir.data'),
    'ref-group': ('group several', 'fixtures/perf-group-read-clockid.data'),
    'ref-lost': ('', 'fixtures/perf-lost.data'),
    'ref-stat': ('', 'fixtures/perf-stat.data'),
    'ref-uprobe': ('trace', 'fixtures/perf-uprobe-tracefs.data'),
    'ref-tasks': ('tasks', 'fixtures/perf-buildid-mmap-ns-cgroup-switch.data'),
}


# name: kinds. Recordings that made.py makes of the workload. 'made' is of all of them.
MADE = {'history': 'branches', 'call-stacks': ''}


class Recording:
    def __init__(self, name, kinds, path):
        self.name, self.path, self.kinds = name, path, set(kinds.split()) | {name, 'any'}

    @property
    def is_stored(self):
        return 'stored' in self.kinds

    @property
    def is_of_machine(self):
        """True if it also holds what other programs did meanwhile."""
        return ' -a ' in FRESH.get(self.name, ('', ''))[1] + ' '


def known():
    """All recordings, whether they can be made here or not."""
    tables = (
        ({name: (kinds, None) for name, kinds in MADE.items()}, 'made'),
        (FRESH, 'fresh'),
        (STORED, 'stored'),
        (FOREIGN, 'stored foreign'),
        (OTHERS, 'stored foreign'),
    )
    found = [
        Recording(name, kinds + ' ' + kind, None)
        for table, kind in tables
        for name, (kinds, _) in table.items()
    ]
    for r in found:
        assert sum(r.name in other.kinds for other in found) == 1, r.name + ' is also a kind'
    return found


def build_workload(folder):
    program = folder / 'workload'
    if not program.exists():
        command = [
            'cc',
            '-g',
            '-O1',
            '-fno-omit-frame-pointer',
            '-o',
            str(program),
            str(HERE / 'workload.c'),
            '-pthread',
        ]
        if run(command, folder)[0] != 0:
            return None
    return program


def keep_jit_map(folder, before):
    """perf reads /tmp/perf-PID.map; a copy serves later runs over the same recording."""
    for path in set(pathlib.Path('/tmp').glob('perf-*.map')) - before:
        if 'first_loop' in path.read_text(errors='replace'):
            shutil.copy(path, folder / path.name)


def record(folder, name, options, workload):
    """'' or why there is no recording."""
    data = folder / (name + '.data')
    words = ['perf', 'record', '-q'] + ([] if '-o ' in options else ['-o', data.name])
    words += shlex.split(options.format(w=workload))
    maps = set(pathlib.Path('/tmp').glob('perf-*.map'))
    status, out, err = run(words, folder)
    if name == 'pipe' and status == 0:
        data.write_bytes(out)
    if name == 'jit':
        keep_jit_map(folder, maps)
    if status != 0 or not data.exists():
        shutil.rmtree(data, ignore_errors=True)
        return (
            'cannot record here: '
            + (err.decode('utf-8', 'replace').strip().splitlines() or ['failed'])[0]
        )
    return ''


def restore_jit_maps(folder):
    """The maps that are in place for the run; remove_jit_maps() takes them away."""
    placed = []
    for path in folder.glob('perf-*.map'):
        there = pathlib.Path('/tmp') / path.name
        shutil.copy(path, there)
        placed.append(there)
    return placed


def remove_jit_maps(placed):
    for path in placed:
        path.unlink(missing_ok=True)


def copy(original, path):
    """Read-only folders and files become the user's own."""
    if original.is_dir():
        path.mkdir()
        for part in original.iterdir():
            shutil.copyfile(part, path / part.name)
    else:
        shutil.copyfile(original, path)


def make(folder):
    """([Recording], {name: why there is none}). Recordings that the folder has are used again."""
    made, missing = [], {}
    workload = build_workload(folder)
    for name, (kinds, options) in FRESH.items():
        data = folder / (name + '.data')
        why = ''
        if not data.exists():
            why = record(folder, name, options, workload) if workload else 'no C compiler'
        if why:
            missing[name] = why
        else:
            made.append(Recording(name, kinds + ' fresh', data))
    for name, kinds in MADE.items():
        data = folder / (name + '.data')
        if not workload:
            missing[name] = 'no C compiler'
            continue
        if not data.exists():
            branch_stacks.make(name, data, workload)
        made.append(Recording(name, kinds + ' made', data))
    sources = (
        (STORED, ROOT / 'tests' / 'data', 'stored', ''),
        (FOREIGN, CORPUS, 'stored foreign', NO_CORPUS),
        (OTHERS, REFERENCE, 'stored foreign', NO_REFERENCE),
    )
    for table, place, kind, why in sources:
        for name, (kinds, file) in table.items():
            data = folder / (name + '.data')
            if not place or not (place / file).exists():
                missing[name] = why or 'no %s in %s' % (file, place)
                continue
            if not data.exists():
                copy(place / file, data)
            made.append(Recording(name, kinds + ' ' + kind, data))
    return made, missing


def values(recording, folder):
    """Names and times of a recording that option sets use: {from}, {to}, {tid}, {comm}, {dso}."""
    command = ['perf', 'script', '-f', '-G', '-F', 'comm,tid,time', '-i', str(recording.path)]
    out = run(command, folder)[1]
    lines = [
        line.rsplit(None, 2)
        for line in out.decode('utf-8', 'replace').splitlines()
        if line.strip().endswith(':')
    ]
    lines = [line for line in lines if len(line) == 3]
    known = {'from': '0', 'to': '1', 'tid': '1', 'comm': 'workload'}
    if lines:
        a, b = lines[len(lines) // 4], lines[3 * len(lines) // 4]
        known = {
            'from': a[2].rstrip(':'),
            'to': b[2].rstrip(':'),
            'tid': b[1],
            'comm': b[0].strip().split('-')[0],
        }
    known['dso'] = 'workload' if 'own' in recording.kinds else '[kernel.kallsyms]'
    return known
