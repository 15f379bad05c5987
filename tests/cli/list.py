#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""list.py SONDE: the events that `sonde list` prints, compared with `perf list` if perf 6.1 is
installed.
"""
import json
import os
import re
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


def run(words, user=None, **variables):
    more = dict(user=user, group=user, extra_groups=[]) if user else {}
    p = subprocess.run(words, env=dict(env, **variables), cwd=folder, stdin=subprocess.DEVNULL,
                       capture_output=True, text=True, timeout=600, **more)
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


def events_of(text):
    """The lines of events, without what describes them."""
    return [line for line in text.splitlines() if line and not line.startswith(' ')]


def names(*words):
    return [line.split()[0] for line in events_of(run([SONDE, 'list', *words])[1])]


def parsed(*words, **variables):
    """The JSON object."""
    status, out, err = run([SONDE, 'list', '--json', *words], **variables)
    try:
        return dict(json.loads(out), status=status)
    except ValueError as e:
        return {'events': [], 'sources': [], 'status': '%s: %s' % (e, out[:300])}


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
lines = events_of(out)
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
out = run([SONDE, 'list', 'sw'])[1]
ok('an event is described below its line',
   re.search(r'^page-faults .*also faults\n {8}Page faults, .*device\.$', out, re.M) and
   len(re.findall(r'^\S.*(?:\n {8}\S.*){0,2}\.$', out, re.M)) == len(events_of(out)) and
   max(map(len, out.splitlines())) <= 80, out)
ok('--no-desc', run([SONDE, 'list', '--no-desc', 'sw'])[1].splitlines() == events_of(out))
ok('-d is the default', run([SONDE, 'list', '-d', 'sw'])[1] == out)
for option in ('-v', '--long-desc', '--details'):
    ok(option + ' adds what an event is', run([SONDE, 'list', option, 'sw'])[1].count('number: 1:')
       == len(events_of(out)) and 'number: 1:3' in run([SONDE, 'list', option, 'cs'])[1])
ok('perf has these options, too', run([SONDE, 'list', '--debug', '--deprecated', 'sw'])[1] == out)
status, shown, err = run([SONDE, 'list', '--cputype', 'nosuch', 'sw'])
ok('--cputype of another machine', status == 2 and not shown and 'cpu_nosuch' in err, err)
status, shown, err = run(COMPAT + ['list', '--cputype', 'nosuch', 'sw'])
ok('--cputype of another machine is a warning for perf',
   status == 0 and shown == run(COMPAT + ['list', 'sw'])[1] and 'cpu_nosuch' in err, err)
TOOLS = ['duration_time', 'user_time', 'system_time']
status, shown, err = run([SONDE, 'list', 'tool'])
ok('events of sonde stat alone', names('tool') == TOOLS and shown.count('Only sonde stat') == 3 and
   names('user_time') == TOOLS[1:2] and names('_time')[:3] == TOOLS, shown)
status, out, err = run([SONDE, 'list', 'nosuch', 'cs'])
if not names('hw'):
    ok('a class without events', run([SONDE, 'list', 'hw']) ==
       (1, '', "sonde: list: this machine has no events for 'hw': its kernel offers no hardware "
        "counters, as in many virtual machines\n"))
ok('a word without events is reported', status == 1 and 'context-switches' in out and
   "no events for 'nosuch'" in err and
   err.count('\n') == 1 + ('tracepoints' in err), (status, out, err))
ok('--raw-dump', run([SONDE, 'list', '--raw-dump', 'sw', 'raw'])[1].split() == names('sw'))
ok('under --compat both words are globs, and an empty list is no failure',
   run(COMPAT + ['list', 'breakpoint', 'nosuch'])[:2] == (0, ''))

# ---- for programs ----
CLASSES = ('hw', 'sw', 'tool', 'cache', 'pmu', 'raw', 'breakpoint', 'tracepoint', 'probe', 'sdt')
may_read = os.access('/sys/kernel/tracing/events/sched', os.R_OK)
for word in CLASSES + ('*',):
    if word in ('tracepoint', 'probe', '*') and not may_read:
        skip('JSON of ' + word, 'tracepoints cannot be read here')
        continue
    got = parsed(*[word] if word != '*' else [])
    # a machine may have no events of some classes; forms are not listed for programs
    status = 0 if got['events'] or word in ('raw', 'breakpoint') else 1
    ok('JSON of ' + word, got['status'] == status and
       (got['events'] or word not in ('sw', 'tracepoint', '*')) and
       all(e['name'] and e['kind'] for e in got['events']), got)
sources = '/sys/bus/event_source/devices'
have = [d for d in (os.listdir(sources) if os.path.isdir(sources) else []) if os.path.isdir(
    '%s/%s/format' % (sources, d)) and d not in ('kprobe', 'uprobe')]
got = parsed('pmu')
ok('JSON of event sources', sorted(x['name'] for x in got['sources']) == sorted(have) and
   all(t['bits'].startswith('config') for x in got['sources'] for t in x['terms']), got)
out = run([SONDE, 'list', 'pmu'])[1]
ok('terms of event sources', all('\n%s/TERM=VALUE,.../' % d in '\n' + out for d in have) and
   all(re.search(r'^ {8}%s +0 to 0x' % re.escape(t['name']), out, re.M)
       for x in got['sources'] for t in x['terms'] if 'max' in t), out)

# ---- tracepoints ----
user, why = user_without_tracefs()
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


def check_one_tracepoint():
    status, out, err = run([SONDE, 'list', 'sched:sched_switch'])
    ok('one tracepoint: its line first', status == 0 and not err and
       out.splitlines()[0].split() == ['sched:sched_switch', 'tracepoint'], out + err)
    with open('/sys/kernel/tracing/events/sched/sched_switch/format') as f:
        fields = re.findall(r'field:.*?(\w+)(?:\[.*?\])?;\toffset:(\d+);\tsize:(\d+);\tsigned:(\d)',
                            f.read())
    ok('its fields', [m[:3] for m in re.findall(r'^ +(\d+) +(\d+)  (\w+)', out, re.M)] ==
       [(offset, size, name) for name, offset, size, _ in fields], out)
    flags = re.search(r' prev_state .*\n +flags: (.*)', out)
    ok('their flags', flags and re.match(r'0x1 S, 0x2 D', flags[1]), out)
    event, = parsed('sched:sched_switch')['events']
    ok('as JSON', [(f['name'], str(f['offset']), str(f['size']), str(int(f['signed'])))
                   for f in event['fields']] == fields and
       {'value': 1, 'name': 'S'} in next(f for f in event['fields']
                                         if f['name'] == 'prev_state')['flags'] and
       [f['name'] for f in event['fields'] if f['shape'] == 'text'] == ['prev_comm', 'next_comm'],
       event)
    ok('a name of a task is filtered first', event['filter'] == 'prev_comm ~ "sh*"', event)
    ok('the same texts', event['record'] in out and event['filter'] in out and
       all('            ' + line in out for line in event['python'].splitlines()), event)
    python = os.path.join(folder, 'handler.py')
    with open(python, 'w') as f:
        f.write(event['python'] + '    print("seen", prev_comm, next_pid)\n    raise SystemExit\n')
    data = os.path.join(folder, 'switch.data')
    words = event['record'].split()
    status, _, err = run([SONDE, *words[1:words.index('--')], '-o', data, '--', 'sleep', '0.1'])
    ok('the line records it', status == 0 and os.path.exists(data), err)
    status, text, err = run([SONDE, 'script', '-i', data, '-s', python])
    ok('the handler in Python is called', text.startswith('seen '), (status, text, err))
    if shutil.which('perl'):
        p = subprocess.run(['perl', '-c', '-e', event['perl']], stderr=subprocess.PIPE, text=True)
        ok('the one in Perl is a sub', p.returncode == 0 and
           'sub sched::sched_switch {' in event['perl'] and '$next_prio' in event['perl'],
           p.stderr)
    else:
        skip('the one in Perl is a sub', 'there is no perl')
    both = parsed('-v', 'sched:sched_w*')['events']
    ok('-v: fields of all', len(both) > 1 and all('fields' in e for e in both), both)
    ok('and else of none', not any('fields' in e for e in parsed('sched:sched_w*')['events']))
    ok('one line under --compat', run(COMPAT + ['list', 'sched:sched_switch'])[1] ==
       '  %-50s [Tracepoint event]\n' % 'sched:sched_switch')


def check_filters():
    """The kernel takes the example of a filter of each tracepoint of some systems."""
    systems = ('sched', 'irq', 'signal', 'task', 'timer', 'kmem', 'block', 'raw_syscalls', 'power',
               'net', 'skb', 'sock', 'writeback', 'workqueue', 'oom', 'module', 'fs_dax', 'btrfs')
    events = [e for s in systems for e in parsed('-v', s + ':*')['events']]
    events += parsed('-v', 'syscalls:sys_*_open*')['events']
    words = []
    for e in events:
        words += ['-e', e['name'], '--filter', e['filter']]
    status, _, err = run([SONDE, 'record', '-o', os.path.join(folder, 'x.data'), *words, 'true'])
    kinds = {re.sub(r'^\S+ (\S+) .*', r'\1', e['filter']) for e in events}
    ok('filters of %d tracepoints' % len(events), status == 0 and len(events) > 100 and
       kinds == {'~', '&', '==', '!=', '>'}, (kinds, err))
    named = [v for e in events for f in e['fields'] for v in f.get('flags', ())]
    ok('values of flags that the kernel gives only by name are left out',
       all(v.get('value') or 'value' not in v or v['name'] in ('R', 'none') for v in named) and
       not any(e['filter'].endswith('& 0x0') for e in events),
       [v for v in named if not v.get('value')])


def append(file, line):
    """Without a seek, which tracefs refuses."""
    fd = os.open(file, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(fd, (line + '\n').encode())
    finally:
        os.close(fd)


def check_probe():
    definition = 'p:sondelist%d/here /bin/sh:0x1000' % os.getpid()
    name = definition[2:].split()[0].replace('/', ':')
    file = '/sys/kernel/tracing/uprobe_events'
    try:
        append(file, definition)
    except OSError as e:
        skip('a probe', 'none can be made: %s' % e)
        return
    try:
        out, event = run([SONDE, 'list', '-v', name])[1], parsed(name)['events'][0]
        ok('a probe', out.split()[:2] == [name, 'probe'] and 'defined by: p:sondelist' in out and
           event['kind'] == 'tracepoint' and
           event.get('probe', '').startswith(definition.split()[0]) and
           [f['name'] for f in event['fields']][-1] == '__probe_ip', (out, event))
        ok('the word for probes', name in names('probe') and
           'sched:sched_switch' not in names('probe'))
        ok('a tracepoint that is none', 'probe' not in parsed('sched:sched_switch')['events'][0])
    finally:
        append(file, '-:' + definition[2:].split()[0])


if may_read and os.geteuid() == 0:
    check_one_tracepoint()
    check_filters()
    check_probe()
else:
    skip('one tracepoint', 'needs root and tracefs')
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

# ---- how often events happen ----


def check_rates():
    status, out, err = run([SONDE, 'list', '--rate', '1', 'sched:sched_*', 'context-switches'])
    rates = [line.split() for line in out.splitlines() if re.match(r' +[0-9.]+ +[0-9]+  ', line)]
    values = [int(r[1]) for r in rates]
    ok('rates, the busiest first', status == 0 and values == sorted(values, reverse=True) and
       {'sched:sched_switch', 'context-switches'} <= {r[2] for r in rates}, out + err)
    ok('nothing that counts nanoseconds', 'sched_stat' not in out, out)
    status, out, err = run([SONDE, 'list', '--rate', '1', '--json', 'sched:sched_switch'])
    got = json.loads(out)
    ok('JSON of rates', status == 0 and got['schema'] == 'sonde-rates' and
       [e['name'] for e in got['events']] == ['sched:sched_switch'] and
       abs(got['events'][0]['count'] / got['seconds'] - got['events'][0]['per_second']) < 0.01, out)
    for words, status in ((['nosuch-event'], 2), (['cycles'], 2), (['sw', 'nosuch-event'], 1)):
        r = run([SONDE, 'list', '--rate', '0.1', *words])
        ok('rates of %s' % ' '.join(words), r[0] == status and 'list' in r[2], r)
    for value in ('0', 'x', '0.001', '1e1', 'nan', '-1', '99999'):
        r = run([SONDE, 'list', '--rate', value, 'sw'])
        ok('--rate %s' % value, r[0] == 2 and '--rate' in r[2] and not r[1], r)


if os.geteuid() == 0 and os.path.exists('/sys/kernel/tracing/events/sched'):
    check_rates()
else:
    skip('rates', 'needs root and tracefs')

# ---- names of vendors ----


def check_pfm():
    skl = {'LIBPFM_FORCE_PMU': 'skl'}
    status, out, err = run([SONDE, 'list', 'pfm'], **skl)
    ok('names of the vendor', status == 0 and not err and
       re.search(r'^pfm:skl::INST_RETIRED:ANY_P +pfm\n {8}\S', out, re.M), out + err)
    ok('the same with --cpu, on any machine', run([SONDE, 'list', '--cpu', 'skl'])[1] == out and
       run([SONDE, 'list', 'pfm', '--cpu', 'SKL'])[1] == out)
    ok('modifiers', 'modifiers: ' in run([SONDE, 'list', '-v', 'pfm'], **skl)[1])
    ok('globs', set(names('--cpu', 'skl', 'pfm:skl::inst_ret*')) ==
       {line.split()[0] for line in events_of(out) if '::INST_RET' in line})
    got = parsed('pfm', '--cpu', 'amd64_fam19h*')['events']
    ok('JSON of pfm', len({e['name'].split('::')[0] for e in got}) > 1 and
       all(e['kind'] == 'pfm' and 'u' in e['modifiers'].split() and e['description']
           for e in got), got[:3])
    status, out, err = run([SONDE, 'list', 'pfm', '--cpu', 'skk'])
    ok('another name of a processor', status == 1 and not out and 'did you mean skl' in err, err)
    unknown = {'LIBPFM_FORCE_PMU': 'perf_raw'}
    status, out, err = run([SONDE, 'list', 'pfm'], **unknown)
    ok('an unknown processor', status == 1 and not out and 'no table of events' in err and
       'perf_raw' in err, err)
    status, out, err = run([SONDE, 'list', 'sw', 'page'], **unknown)
    ok('is nothing to other lists', status == 0 and 'pfm' not in err, err)
    for option in (['-e', 'cs,pfm:INST_RETIRD:ANY_P'], ['--pfm-events', '{INST_RETIRD:ANY_P}'],
                   ['--switch-output-event', 'pfm:INST_RETIRD:ANY_P']):
        status, _, err = run([SONDE, 'record', *option, '-o', 'y.data', 'true'], **skl)
        ok('an event that the processor does not have: ' + option[0], status == 2 and
           "'pfm:INST_RETIRD:ANY_P'" in err and 'did you mean INST_RETIRED or' in err, err)
    for option in (['-e', 'pfm:INST_RETIRED:ANY_P'], ['--pfm-events', 'INST_RETIRED:ANY_P']):
        status, _, err = run([SONDE, 'record', *option, '-o', 'y.data', 'true'], **skl)
        ok('one that it has: ' + option[0], status != 2 and 'libpfm' not in err and
           (status == 0 or 'INST_RETIRED:ANY_P' in err), (status, err))
    ok('not under --compat', not run(COMPAT + ['list', 'pfm'], **skl)[1])


if ' libpfm=' in run([SONDE, '--version', '-v'])[1]:
    check_pfm()
else:
    status, out, err = run([SONDE, 'list', 'pfm'])
    ok('without libpfm', status == 1 and not out and 'libpfm4-dev' in err, err)
    status, _, err = run([SONDE, 'record', '--pfm-events', 'X', 'true'])
    ok('nor events', status == 2 and 'libpfm4-dev' in err, err)

# ---- compared with perf ----
perf = shutil.which('perf')


def cache_markers():
    """Puts programs with markers into perf's cache, some of them in two, one that is gone."""
    for path in ('/usr/bin/python3', '/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0',
                 '/usr/lib/x86_64-linux-gnu/libstdc++.so.6'):
        if os.path.exists(path):
            run([perf, 'buildid-cache', '--add', os.path.realpath(path)])
    gone = os.path.join(folder, 'gone')
    shutil.copy('/usr/lib/x86_64-linux-gnu/libstdc++.so.6', gone)
    run([perf, 'buildid-cache', '--add', gone])
    os.remove(gone)


if perf and run([perf, 'version'])[1].startswith('perf version 6.1.'):
    cache_markers()
    events = parsed('sdt')['events']
    if events:
        shown = run([SONDE, 'list', 'sdt'])[1]
        ok('markers in programs', all(e['kind'] == 'sdt' and e['file'] in e['description'] and
                                      len(e['build_id']) == 40 for e in events) and
           len(events_of(shown)) == len(events) and
           not any('gone' in e['file'] for e in events), events[:3])
        ok('no events to record', run([SONDE, 'record', '--dry-run', '-e', events[0]['name'],
                                       'true'])[0] == 2)
    else:
        skip('markers in programs', 'no program here has any')
    has_metrics = bool(run([perf, 'list', '--raw-dump', 'metric'])[1].split())
    for words in ([], ['sw'], ['hw'], ['cache'], ['hwcache', 'sw', 'sw'], ['pmu'], ['tracepoint'],
                  ['sdt'], ['sdt_*:*'], ['sdt_python:gc*', 'catch'], ['--raw-dump', 'sdt'],
                  ['-v', 'sw'], ['--details', 'sw'], ['--no-desc', 'sdt'], ['-d', 'cs'],
                  ['--debug', 'sw'], ['--deprecated', 'sw'], ['--long-desc', 'pmu'],
                  ['--cputype', 'core', 'sw'],
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
            lines = [r[1].split(' ' if '--raw-dump' in words else '\n') for r in (theirs, ours)]
            if lines[0] == lines[1]:
                break
        ok('perf list %s' % ' '.join(words), lines[0] == lines[1] and theirs[0] == ours[0],
           [theirs[0], ours[0]] + sorted(set(lines[0]) ^ set(lines[1])))
else:
    skip('compared with perf', 'perf 6.1 is not installed')

print('1..%d' % len(results))
shutil.rmtree(folder)
sys.exit(not all(results))
