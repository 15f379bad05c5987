#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the lines of records, dumps and headers with perf's.

    tests/roundtrip/records.py SONDE FIXTURES.PY [stored|live] [--update]

stored: the text of fixtures of tests/data/records must be the stored one; needs no perf. Apart from
bytes, the other byte order must give the same text. live: compares fixtures, all members of attrs,
and recordings of tests/data with stock perf. --update stores the text of the installed perf.
"""
import difflib
import os
import pathlib
import re
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / 'tests' / 'data'
OUT = DATA / 'records' / 'out'
sys.path.insert(0, str(ROOT / 'tests'))
import kallsyms  # noqa: E402
from points import done, run, say  # noqa: E402
from recordings import load_fixtures  # noqa: E402
SHOW = ['--show-%s-events' % what for what in
        'task mmap switch namespace cgroup lost round bpf text-poke'.split()]
RECORDINGS = ['-D', ' '.join(SHOW), ' '.join(s for s in SHOW if 'round' not in s) + ' -F +misc',
              '--header-only -I', '--header', '--dump-unsorted-raw-trace', '-D -C 0',
              '-D --comms nobody']

def text_of(command, folder):
    status, out, _ = run(command, folder)
    return status, out.decode('latin-1')


def normal(text):
    """The text without the modification time of the file."""
    return re.sub(r'^# captured on.*\n', '', text, flags=re.M)


def difference(want, got, names):
    return list(difflib.unified_diff(want.splitlines(), got.splitlines(), *names, lineterm='',
                                     n=1))[:24]


def check(name, want, got, names=('perf', 'sonde')):
    say(want == got, name, '\n'.join(difference(want, got, names)) if want != got else '')


def without_bytes(text):
    """The lines without bytes and offsets, and without flags of branches: bit fields, which
    differ."""
    return [re.sub(r'0x[0-9a-f]+ \[', '[', line) for line in text.splitlines()
            if not re.match(r'\.  [0-9a-f]{4}: |\.{5} .* cycles ', line)]


def options_of(fixture):
    line = re.search(r'^# options: (.*)$', fixture.read_text(), re.M)[1]
    return [o.strip().replace('SHOW', ' '.join(SHOW)).split() for o in line.split('|')]


def fixtures(fx):
    for fixture in sorted((DATA / 'records').glob('*.fix')):
        for case in fx.parse(fixture):
            yield '%s-%s' % (fixture.stem, case.name.replace(' ', '-')), case, options_of(fixture)


def stored(fx, sonde, folder, update):
    for name, case, sets in fixtures(fx):
        for order in ('little', 'big'):
            (folder / (order + '.data')).write_bytes(case.build(order)[0])
        for n, options in enumerate(sets):
            path = OUT / ('%s-%d.txt' % (name, n))
            if update:
                shutil.copy(folder / 'little.data', folder / 'x.data')
                path.write_text(normal(text_of(['perf', 'script'] + options + ['-i', 'x.data'],
                                               folder)[1]), 'latin-1')
                continue
            shutil.copy(folder / 'little.data', folder / 'x.data')
            status, text = text_of([sonde, '--compat', 'perf-6.1', 'script'] + options +
                                   ['-i', 'x.data'], folder)
            check('%s %d' % (name, n), path.read_text('latin-1'), normal(text), ('stored', 'sonde'))
            little = normal(text_of([sonde, 'script'] + options + ['-i', 'x.data'], folder)[1])
            shutil.copy(folder / 'big.data', folder / 'x.data')
            big = normal(text_of([sonde, 'script'] + options + ['-i', 'x.data'], folder)[1])
            # Structs of BPF in the header cannot be swapped.
            if '--header-only' not in options or 'bpf' not in name:
                check('%s %d in the other byte order' % (name, n), '\n'.join(without_bytes(little)),
                      '\n'.join(without_bytes(big)), ('little', 'big'))


MARKED = """@ 0 fe:01 1234 1]: r-xp /bin/a
@ 0 08:01 1234 1]: r-xp /bin/b
@ 0 00:00 1234 0]: r-xp /bin/c
@ 0 <6262626262626262>]: r-xp /bin/d
"""


def marked(fx, sonde, folder):
    """Mappings that the kernel marks as having a build id although they have none: perf crashes."""
    case, = fx.parse(DATA / 'perfdata' / 'mmap2-mark.fix')
    (folder / 'x.data').write_bytes(case.build('little')[0])
    for tool in [sonde], [sonde, '--compat', 'perf-6.1']:
        text = text_of(tool + ['script', '--show-mmap-events', '-i', 'x.data'], folder)[1]
        check('mappings marked as having build ids, %s' % (tool[2:] or ['default'])[0], MARKED,
              re.sub('.*(?=@ 0)', '', text), ('known', 'sonde'))


def attrs_of(fx):
    """(name, options) for each member of an attr and each bit of its words."""
    some = ['ids=1', 'size=128']
    for word, options in (('sample_type', 'IDENTIFIER|IP|%s'), ('read_format', '%s')):
        for bit in fx.WORDS[word]:
            if bit != 'TRANSACTION':  # unknown to perf's text
                yield bit, some + ['type=1', '%s=%s' % (word, options % bit)]
    yield 'all', some + ['type=1', 'sample_type=' + '|'.join(b for b in fx.SAMPLE if b != 'WEIGHT')]
    for bit in range(19):
        yield 'branch%d' % bit, some + ['type=1', 'branch_sample_type=%d' % (1 << bit)]
    for flag in fx.FLAGS:
        if flag != '-':
            yield flag, some + ['type=1', flag]
    for member in fx.ATTR:
        if member not in ('size', 'sample_type', 'read_format', 'branch_sample_type', 'type'):
            for value in (0, 5, 0x1234):
                yield '%s=%d' % (member, value), some + ['type=1', '%s=%d' % (member, value)]
    for kind in range(9):
        for config in (0, 3, 0x10100, 0x20205, 0x400000001):
            yield 'config', some + ['type=%d' % kind, 'config=%d' % config]


def attr_recording(fx, order, attrs):
    case, b = fx.Case('attrs'), fx.Bytes(order, {})
    case.data = 'FINISHED_INIT { }'
    case.attrs.append(['type=1', 'ids=1', 'sample_type=IDENTIFIER'])
    text = '[%d,128:u32]' % len(attrs)
    for name, options in attrs:
        raw, ids = fx.build_attr(b, options)
        text += '[%s:u8] [%d:u32] str "%s" %s\n' % (','.join(map(str, raw)), len(ids), name,
                                                    ''.join('[%d:u64]' % i for i in ids))
    case.features = [(fx.FEATURES['HOSTNAME'], 'str "host"'), (fx.FEATURES['EVENT_DESC'], text)]
    return case.build(order)[0]


# Texts that may differ, and why.
KNOWN = {
    'features-none big': 'perf assumes build ids if it cannot detect the byte order of their list',
    'precise_ip': 'perf swaps the two bits of precise_ip',
    'clockid': 'perf does not swap this member',
    'sample_regs_intr': 'perf does not swap this member',
    'sig_data': 'perf does not swap this member',
}


def of_recording(want, got):
    """perf on AMD names the PMUs of the machine that it runs on if the recording names none."""
    if '\n# pmu mappings: not available\n' in got:
        want, got = (re.sub(r'\n# pmu mappings: .*', '', text) for text in (want, got))
    return want, got


def live(fx, sonde, folder):
    compat = [sonde, '--compat', 'perf-6.1', 'script', '-f']
    for name, case, sets in fixtures(fx):
        for n, options in enumerate(sets):
            for order in ('little', 'big') if name.startswith('features') else ('little',):
                full = '%s %s' % (name, order)
                if full in KNOWN:
                    continue
                (folder / 'x.data').write_bytes(case.build(order)[0])
                want = text_of(['perf', 'script', '-f'] + options + ['-i', 'x.data'], folder)
                got = text_of(compat + options + ['-i', 'x.data'], folder)
                check('%s %d' % (full, n), *of_recording(normal(want[1]), normal(got[1])))
    attrs = list(attrs_of(fx))
    for order in ('little', 'big'):
        for i in range(0, len(attrs), 10):
            some = [a for a in attrs[i:i + 10] if order == 'little' or
                    a[0].split('=')[0] not in KNOWN]
            (folder / 'x.data').write_bytes(attr_recording(fx, order, some))
            want = text_of(['perf', 'script', '--header-only', '-i', 'x.data'], folder)
            got = text_of(compat + ['--header-only', '-i', 'x.data'], folder)
            check('attrs from %s %s' % (some[0][0], order), normal(want[1]), normal(got[1]))
    for path in sorted(DATA.rglob('*.data')):
        for options in RECORDINGS if path.parent.name == 'text' else RECORDINGS[::3]:
            want = text_of(['perf', 'script', '-f'] + options.split() + ['-i', path.name],
                           path.parent)
            got = text_of(compat + options.split() + ['-i', path.name], path.parent)
            if want[0] and not want[1] and '-C' in options:
                continue  # perf knows no cpus if the header does not count them
            if want[0] and got[0]:  # both fail: perf may have printed the beginning of its text
                want = got
            check('%s %s' % (path.relative_to(DATA), options[:40]), only_records(want[1], options),
                  only_records(got[1], options))


def only_records(text, options):
    """Without samples and call chains: text.py and others compare them."""
    if '--header' in options:
        return '\n'.join(line for line in text.splitlines() if line[:1] == '#' and
                         not line.startswith('# captured on'))
    keep = [line for line in text.splitlines() if not line.startswith('\t') and
            not re.search(r'\.\d{6}: .*: ', line) and
            # about a thread that perf makes again: a line of docs/compat.md
            not line.startswith('removing erroneous parent thread ')]
    return '\n'.join(re.sub(r'/tmp/perf-vdso.so-\w+', '[vdso]', line) for line in keep)


def main():
    sonde = os.path.abspath(sys.argv[1])
    part = sys.argv[3] if len(sys.argv) > 3 else 'stored'
    update = '--update' in sys.argv
    if (part == 'live' or update) and not shutil.which('perf'):
        print('1..1\nnot ok 1 - SONDE_CI: no perf' if os.environ.get('SONDE_CI') == '1'
              else '1..0 # SKIP no perf')
        return os.environ.get('SONDE_CI') == '1'
    fx = load_fixtures()
    with tempfile.TemporaryDirectory() as folder:
        if part == 'live':
            kallsyms.thin_out()
            live(fx, sonde, pathlib.Path(folder))
        else:
            stored(fx, sonde, pathlib.Path(folder), update)
            marked(fx, sonde, pathlib.Path(folder))
    return done()


if __name__ == '__main__':
    sys.exit(main())
