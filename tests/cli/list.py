#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""list.py SONDE: the events that `sonde list` prints, compared with `perf list` if perf 6.1 is
installed.
"""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import settled  # noqa: E402, F401

SONDE = os.path.abspath(sys.argv[1])
COMPAT = [SONDE, '--compat', 'perf-6.1']
NOBODY = 65534
results = []
folder = tempfile.mkdtemp(prefix='sonde-list-')
os.chmod(folder, 0o755)
env = {'PATH': os.environ['PATH'], 'HOME': folder, 'LC_ALL': 'C', 'PERF_CONFIG': '/dev/null'}
env.update((k, os.environ[k]) for k in ('ASAN_OPTIONS', 'UBSAN_OPTIONS') if k in os.environ)


def run(words, user=None):
    more = dict(user=user, group=user, extra_groups=[]) if user else {}
    p = subprocess.run(words, env=env, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                       text=True, timeout=600, **more)
    return p.returncode, p.stdout, p.stderr


def ok(what, good, shown=''):
    results.append(bool(good))
    print('%sok %d - %s' % ('' if good else 'not ', len(results), what))
    if not good:
        print('# ' + str(shown)[:600].replace('\n', '\n# '))


def skip(what, why):
    needed = os.environ.get('SONDE_CI') == '1' and 'perf' in why
    results.append(not needed)
    print('%sok %d - %s%s%s' % ('not ' if needed else '', len(results), what,
                                ': ' if needed else ' # SKIP ', why))


def names(*words):
    return [line.split()[0] for line in run([SONDE, 'list', *words])[1].splitlines()]


def user_without_tracefs():
    """(a user who may not read tracepoints, or None; why there is none)."""
    if os.geteuid() == 0:
        if os.stat('/sys/kernel/tracing').st_mode & 0o005:
            return None, 'everybody may read tracepoints here'
        return NOBODY, ''
    if os.access('/sys/kernel/tracing/events', os.R_OK):
        return None, 'this user may read tracepoints'
    return os.geteuid(), ''


# ---- by default ----
status, out, err = run([SONDE, 'list', 'sw'])
lines = out.splitlines()
ok('a name, its kind, its alias', status == 0 and not err and
   ['context-switches', 'software', 'also', 'cs'] in
   [line.split() for line in lines] and all(line.split()[1] == 'software' for line in lines),
   out + err)
ok('sorted', names('sw') == sorted(names('sw')) and 'duration_time' not in out, out)
status, out, err = run([SONDE, 'record', '--dry-run', '-e', ','.join(names('sw', 'hw', 'cache')),
                        'true'])
ok('-e takes each name', status == 0 or 'no right' in err, err)
ok('an event that several words name is listed once',
   names('sw', 'cpu-clock', 'software') == names('sw'))
ok('a part of a name in any case', names('Page-F') == ['page-faults'], names('Page-F'))
ok('an alias', 'cpu-migrations' in names('migrations'))
ok('forms', [len(names(word)) for word in ('raw', 'breakpoint')] == [2, 1] and
   len(names('rhex')) == 0)
status, out, err = run([SONDE, 'list', 'nosuch', 'cs'])
ok('a word without events is reported', status == 1 and 'context-switches' in out and
   "no events for 'nosuch'" in err and
   err.count('\n') == 1 + ('tracepoints' in err), (status, out, err))
ok('--raw-dump', run([SONDE, 'list', '--raw-dump', 'sw', 'raw'])[1].split() == names('sw'))
ok('under --compat both words are globs, and an empty list is no failure',
   run(COMPAT + ['list', 'breakpoint', 'nosuch'])[:2] == (0, ''))

# ---- tracepoints ----
user, why = user_without_tracefs()
may_read = os.access('/sys/kernel/tracing/events/sched', os.R_OK)
if may_read:
    here = {event for event in os.listdir('/sys/kernel/tracing/events/sched')
            if os.path.exists('/sys/kernel/tracing/events/sched/%s/id' % event)}
    ok('a system', {name.partition(':')[2] for name in names('sched:*')} == here, names('sched:*'))
    ok('a system is part of the name', set(names('sched:*')) < set(names('sched')))
    ok('but not under --compat', 'sched:sched_switch' in run(COMPAT + ['list', 'sched'])[1] and
       not run(COMPAT + ['list', 'raw_syscalls'])[1] and names('raw_syscalls') ==
       ['raw_syscalls:sys_enter', 'raw_syscalls:sys_exit'], names('raw_syscalls'))
    ok('-e takes it',
       run([SONDE, 'record', '--dry-run', '-e', names('sched:sched_sw*')[-1], 'true'])[0] == 0)
else:
    skip('a system', 'tracepoints cannot be read here')
if user:
    sonde = os.path.join(folder, 'sonde')
    shutil.copy(SONDE, sonde)
    as_user = user if os.geteuid() == 0 else None
    status, out, err = run([sonde, 'list', 'sched:*'], as_user)
    ok('tracepoints without the right to read them', status == 1 and not out and
       '/sys/kernel/tracing: no right to read' in err, (status, out, err))
    status, out, err = run([sonde, 'list'], as_user)
    ok('the other events are listed', status == 0 and 'page-faults' in out and
       'breakpoint' in out and ' tracepoint' not in out and
       '/sys/kernel/tracing: no right to read' in err, (status, out, err))
    ok('under --compat that is no failure',
       run([sonde, '--compat', 'perf-6.1', 'list', 'tracepoint'], as_user)[:2] == (0, ''))
else:
    skip('tracepoints without the right to read them', why)

# ---- compared with perf ----
perf = shutil.which('perf')
if perf and run([perf, 'version'])[1].startswith('perf version 6.1.'):
    has_metrics = bool(run([perf, 'list', '--raw-dump', 'metric'])[1].split())
    for words in ([], ['sw'], ['hw'], ['cache'], ['hwcache', 'sw', 'sw'], ['pmu'], ['tracepoint'],
                  ['sched:*'], ['sched'], ['c*'],
                  ['CS'], ['TSC'], ['msr'], ['nosuch'], ['*:*_switch'], ['[st]*:sched_[!s]*'],
                  ['sched:'], [''], ['raw'],
                  ['breakpoint'], ['tool'], ['metric'], ['metricgroup'], ['--raw-dump'],
                  ['--raw-dump', 'pmu', 'sched:*'],
                  ['--raw-dump', 'metric'], ['metric', 'metricgroups']):
        if has_metrics and (words in ([], ['--raw-dump']) or 'metric' in words or
                            'metricgroup' in words):
            skip('perf list %s' % ' '.join(words),
                 'this processor has metrics, which sonde does not list')
            continue
        for attempt in range(5):  # other tests make and remove events meanwhile
            theirs, ours = run([perf, 'list', *words]), run(COMPAT + ['list', *words])
            if '--raw-dump' in words:
                lines = [[w for w in r[1].split(' ') if not w.startswith('sdt_')]
                         for r in (theirs, ours)]
            else:  # sonde has no probes of perf's cache, and no events with topics of perf's tables
                lines = [[line for line in r[1].split('\n') if '[SDT event]' not in line]
                         for r in (theirs, ours)]
            if lines[0] == lines[1]:
                break
        ok('perf list %s' % ' '.join(words), lines[0] == lines[1] and theirs[0] == ours[0],
           [theirs[0], ours[0]] + sorted(set(lines[0]) ^ set(lines[1])))
else:
    skip('compared with perf', 'perf 6.1 is not installed')

print('1..%d' % len(results))
shutil.rmtree(folder)
sys.exit(not all(results))
