#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every kind of defect: a recording with it, the commands that report it, --strict, --fail-on-loss.

    tests/scripts/defects.py SONDE FIXTURES.PY TELL.SO

The kinds are those of src/model/defects.def, and each must have a case here. Each command reads
each recording in both byte orders. It is run with one of the options in one byte order, and with
the other option in the other; SONDE_FULL=1: with both in both.
"""
import gzip
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import zlib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent))
from points import ENV, FULL, done, say, skip  # noqa: E402
from recordings import load_fixtures  # noqa: E402

SONDE, TELL = (str(pathlib.Path(sys.argv[n]).resolve()) for n in (1, 3))
# It is started some hundred times: the one of the distribution, which imports least.
INTERPRETER = '/usr/bin/python3' if os.access('/usr/bin/python3', os.X_OK) else sys.executable

PYTHON = '''
def process_event(p): print("event")
def trace_unhandled(*a): print("event")
def trace_defect(name, severity, count, advice): print("defect", name, severity, count)
def trace_end(): print("end")
'''
PERL = '''
sub process_event { print "event\\n" }
sub trace_unhandled { print "event\\n" }
sub trace_defect { my ($name, $severity, $count) = @_; print "defect $name $severity $count\\n" }
sub trace_end { print "end\\n" }
'''
READING = 'text jsonl dump python perl info info-json check'
LOOKING = 'text jsonl check'  # these look up names
EVERYWHERE = READING + ' evlist buildid-list'

# kind -> outputs that must report it. Others may, and each that does must obey --strict.
REPORTED_BY = {
    'lost-events': READING, 'lost-state': READING, 'truncated': READING, 'bad-size': READING,
    'missing-file': EVERYWHERE, 'trailing-text': READING, 'bad-wrapping': READING,
    'unfinished': EVERYWHERE, 'bad-record': READING, 'unknown-record': READING,
    'unknown-id': READING, 'late': 'text jsonl python perl check', 'no-format': READING,
    'kernel-formats': 'text jsonl python perl', 'bad-format': READING, 'bad-feature': EVERYWHERE,
    'division-by-zero': 'text', 'throttled': READING, 'compressed': READING,
    'trace-not-decoded': READING, 'guest-samples': READING, 'not-unwound': 'text',
    'empty-call-stack': LOOKING, 'other-build': 'text check', 'unknown-symbols': 'text check',
    'no-descriptor': 'text check', 'ended-early': EVERYWHERE, 'missed-cpus': EVERYWHERE,
    'dlfilter-dropped': 'text', 'no-kernel-symbols': 'text check', 'text-pokes': READING,
}
# tests/nomem tests the first, tests/unit/aggregate the second, which only aggregations cause,
# tests/roundtrip/ftracetext.py those of text.
ELSEWHERE = ('no-memory', 'sum-overflow', 'text-only', 'hidden-fields')
OPTIONS = {'kernel-formats': ['--kernel-formats'],
           'dlfilter-dropped': ['--dlfilter', TELL, '--dlarg', 'late=2'],
           'no-kernel-symbols': ['--kallsyms', '/dev/null']}


def table():
    """{kind: (severity, advice)} as the source defines them."""
    text = (ROOT / 'src/model/defects.def').read_text()
    rows = re.findall(r'^DEFECT\(\w+, "([^"]+)", SONDE_(\w+),\s*((?:"[^"]*"\s*)+)\)', text, re.M)
    return {name: (severity.lower().replace('_', '-'), ''.join(re.findall(r'"([^"]*)"', advice)))
            for name, severity, advice in rows if name not in ELSEWHERE}


def command(kind, how, path, scripts):
    options = OPTIONS.get(kind, [])
    where = ['-i', str(path)]
    if how in ('info', 'info-json'):
        return ['info', *where, '--format', how[5:] or 'text']
    if how in ('check', 'evlist', 'buildid-list'):
        mine = options if how == 'check' and kind == 'no-kernel-symbols' else []
        limits = ('--max-unknown 100 --max-cut 100 --max-missing 9 --max-lost 100 '
                  '--max-throttled 9 --max-doubts 9 --max-damage 99').split()
        return [how, *where, *mine, *(limits if how == 'check' else [])]
    how = {'text': [], 'jsonl': ['--format', 'jsonl'], 'dump': ['-D'],
           'python': ['-s', scripts + '/x.py'], 'perl': ['-s', scripts + '/x.pl']}[how]
    return ['script', *where, *options, *how]


def run(words, descriptors=None):
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))
    env = dict(ENV, SONDE_PYTHON=INTERPRETER)
    # An interpreter must load the sanitizer first.
    if '-s' in words and os.environ.get('SONDE_ASAN'):
        env.update(LD_PRELOAD=os.environ['SONDE_ASAN'], ASAN_OPTIONS='detect_leaks=0',
                   PYTHONMALLOC='malloc')
    p = subprocess.run([SONDE] + words, env=env, stdin=subprocess.DEVNULL, capture_output=True,
                       timeout=600,
                       # Without a function to call, no copy of this process is made.
                       preexec_fn=limit if descriptors else None)
    return p.returncode, p.stdout.decode('latin-1'), p.stderr.decode('latin-1')


def kernel_format_case(text):
    """A tracepoint of the running kernel, without its format."""
    try:
        number = int(pathlib.Path('/sys/kernel/tracing/events/sched/sched_switch/id').read_text())
    except (OSError, ValueError):
        return None
    return text % (number, os.uname().release, os.uname().machine, number)


KERNEL_FORMATS = '''=== kernel-formats
--- attr type=tracepoint config=%d sample_type=IDENTIFIER|TIME|RAW ids=7
--- feature EVENT_DESC
[1,64:u32] [0:u64]*8 [0:u32] str "sched:sched_switch"
--- feature OSRELEASE
str "%s"
--- feature ARCH
str "%s"
--- data
SAMPLE { [7:u64] [1000:u64] raw { [%d:u16] [1,2:u8] [55:u32] [0:u8]*56 } }
'''


# More than 4 MiB of code, in records of 65,000 bytes.
TEXT_POKES = '''=== text-pokes
--- attr type=software ids=7 sample_type=IDENTIFIER|TID|TIME
--- data
SAMPLE { [7:u64] [12,12:u32] [1000:u64] }
%s''' % ''.join('TEXT_POKE/kernel { [%d:u64] [0,65024:u16] "%s" pad8 }\n' % (n << 16, 'x' * 65024) for n in range(65))


def recordings(folder, order):
    """{kind: its recording}, and {kind: why it is missing}."""
    fixtures = load_fixtures()
    (folder / 'elf').write_bytes(pathlib.Path(TELL).read_bytes())
    text = (HERE.parent / 'data/defects/kinds.fix').read_text().replace('HERE/', str(folder) + '/')
    text = text.replace('tracing0.6\\0" [0:u8]', 'tracing0.6\\0" [%d:u8]' % (order == 'big'))
    missing = {}
    text += TEXT_POKES
    more = kernel_format_case(KERNEL_FORMATS) if order == sys.byteorder else None
    if more:
        text += more
    else:
        missing['kernel-formats'] = ('the formats of the running kernel cannot be read, '
                                     'or have another byte order')
    (folder / 'kinds.fix').write_text(text)
    made = {}
    for case in fixtures.parse(folder / 'kinds.fix'):
        data, labels = case.build(order)
        for _, options, _ in case.expects:
            data = data[:fixtures.number(options[0][4:], labels)]
        if case.name == 'bad-wrapping':
            data = gzip.compress(data)[:-6]
        made[case.name] = folder / (case.name + '.data')
        if case.name == 'missing-file':
            made[case.name].mkdir(exist_ok=True)
            (made[case.name] / 'data').write_bytes(data)
            (made[case.name] / 'data.1').write_bytes(b'')
        else:
            made[case.name].write_bytes(data)
    return made, missing


def closing(text):
    """The kinds that a closing line names."""
    return [name for name in re.findall(r'(?<=[ ,])([a-z-]+): \d', text) if name in kinds]


def is_reported(how, kind, out, err):
    if how == 'info-json':
        return (out.startswith('{') and
                any(d['name'] == kind and d['count'] for d in json.loads(out)['defects']))
    if how == 'info':
        return kind in closing(out) and kind in closing(err)
    if (how in ('python', 'perl') and 'defect %s ' % kind not in out or how == 'jsonl' and
        '{"defect":"%s"' % kind not in out):
        return False
    return kind in closing(err)


def options_for(kind, how, order):
    """The options that this pair is run with, each with a test of a defect's severity."""
    both = [('--strict', lambda severity: True),
            ('--fail-on-loss', lambda severity: severity != 'info')]
    first = (zlib.crc32((kind + how).encode()) + (order == 'big')) % 2
    return both if FULL else both[first:first + 1]


def one(kind, how, path, order, scripts, must, descriptors=None):
    """The mistakes, a line each."""
    words = command(kind, how, path, scripts)
    status, out, err = run(words, descriptors)
    if status:
        return '%s: ends with %s: %s\n' % (how, status, err)
    if must and not is_reported(how, kind, out, err):
        return '%s: does not report it: %s %s\n' % (how, out[-500:], err)
    wrong = ''
    names = closing(err)
    if len([line for line in err.splitlines() if closing(line)]) > 1:
        wrong += '%s: more than one closing line: %s' % (how, err)
    for option, counts in options_for(kind, how, order):
        want = 3 * any(counts(kinds[name][0]) for name in names)
        got = run(words[:1] + [option] + words[1:], descriptors)
        if got[0] != want:
            wrong += '%s %s: %s, not %d; %s\n' % (how, option, got[0], want, got[2])
        if how not in ('info', 'info-json') and got[1] != out:
            wrong += '%s %s: another output\n' % (how, option)
    return wrong


kinds = table()


def few_descriptors(path):
    """A number of descriptors with which the recording can be read, but not the file that it
    names."""
    for n in range(4, 16):
        status, out, err = run(command('no-descriptor', 'text', path, ''), n)
        if status == 0 and 'no-descriptor' in err:
            return n
    return None


def main():
    say(set(REPORTED_BY) == set(kinds), 'a case for each kind',
        ' '.join(set(REPORTED_BY) ^ set(kinds)))
    for order in 'little', 'big':
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / 'x.py').write_text(PYTHON)
            (folder / 'x.pl').write_text(PERL)
            made, missing = recordings(folder, order)
            for kind in kinds:
                point, descriptors = '%s, %s' % (kind, order), None
                if kind in missing:
                    skip(point, missing[kind])
                    continue
                if kind == 'no-descriptor':
                    descriptors = few_descriptors(made[kind])
                    if not descriptors:
                        say(False, point, 'no limit of descriptors causes it')
                        continue
                must = REPORTED_BY[kind].split()
                wrong = ''.join(one(kind, how, made[kind], order, name, how in must, descriptors)
                                for how in (must if descriptors else EVERYWHERE.split()))
                say(not wrong, point, wrong)
            for how in 'python', 'perl':
                out = run(command('', how, made['in order'], name))[1]
                want = ['event', 'defect bad-record error 1', 'event', 'defect bad-record error 2',
                        'end', '']
                say(out.split('\n') == want,
                    'scripts get defects and events in order, %s, %s' % (how, order), out)
            wrong = ''
            for how in EVERYWHERE.split():
                for option in '--strict', '--fail-on-loss':
                    words = command('', how, made['dlfilter-dropped'], name)
                    status, out, err = run(words[:1] + [option] + words[1:])
                    wrong += '%s %s: %s %s\n' % (how, option, status, err) if status or err else ''
            say(not wrong, '--strict and --fail-on-loss without a defect, ' + order, wrong)
    return done()


if __name__ == '__main__':
    sys.exit(main())
