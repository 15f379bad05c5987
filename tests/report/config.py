#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Keys of configuration files change a report as they change perf's, and options override them.

    tests/report/config.py SONDE
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from points import ENV, done, say, skip  # noqa: E402

CHAINS = HERE.parent / 'data' / 'text' / 'clock.data'
MIXED = HERE.parent / 'data' / 'text' / 'mixed.data'
SONDE = pathlib.Path(sys.argv[1]).resolve()
# (section, key = value, options); the effect is the same as perf's.
AS_PERF = [
    ('report', 'sort_order = sym', []),
    ('report', 'sort_order = sym', ['-s', 'comm']),
    ('report', 'sort_order = sym', ['-s', '+pid']),
    ('report', 'sort_order = nonsense', []),
    ('report', 'percent-limit = 10', []),
    ('report', 'percent-limit = 10', ['--percent-limit', '0']),
    ('report', 'percent-limit = abc', []),
    ('report', 'children = false', []),
    ('report', 'children = 0', ['--children']),
    ('report', 'children = perhaps', []),
    ('report', 'group = false', []),
    ('report', 'queue-size = abc', []),
    ('report', 'nonsense = 1', []),
    ('call-graph', 'print-type = flat', []),
    ('call-graph', 'print-type = fol', []),
    ('call-graph', 'print-type = flat', ['-g', 'caller']),
    ('call-graph', 'print-type = none', []),
    ('call-graph', 'print-type = nonsense', []),
    ('call-graph', 'order = callee', []),
    ('call-graph', 'order = caller', ['--no-children']),
    ('call-graph', 'order = nonsense', []),
    ('call-graph', 'sort-key = nonsense', []),
    ('call-graph', 'threshold = 20', []),
    ('call-graph', 'threshold = 20', ['-g']),
    ('call-graph', 'threshold = nonsense', []),
    ('call-graph', 'print-limit = 2', []),
    ('call-graph', 'print-limit = nonsense', []),
    ('call-graph', 'nonsense = 1', []),
    ('hist', 'percentage = nonsense', []),
]
# (section, key = value, options); the effect is that of the options.
AS_OPTIONS = [
    ('report', 'sort_order = dso', ['-s', 'dso']),
    ('report', 'skip-empty = no', ['--no-skip-empty']),
    ('call-graph', 'sort-key = address', ['-g', 'address']),
    ('call-graph', 'sort-key = srcline', ['-g', 'srcline']),
    ('hist', 'percentage = relative', ['--percentage', 'relative']),
]
# The second of two files counts, and within a file the later key.
BOTH = '[call-graph]\n\tthreshold = 1\n[report]\n\tpercent-limit = 30\n'


def report(tool, options, perfs='', ours='', data=CHAINS):
    """(status, stdout, stderr) with these files."""
    with tempfile.TemporaryDirectory() as folder:
        files = {'PERF_CONFIG': perfs, 'SONDE_CONFIG': ours}
        for name, text in files.items():
            (pathlib.Path(folder) / name).write_text(text)
        env = dict(ENV, **{name: folder + '/' + name for name in files})
        p = subprocess.run([*tool, 'report', '--stdio', '-q', '-i', str(data), *options], env=env,
                           stdin=subprocess.DEVNULL, capture_output=True, timeout=600)
    return p.returncode, p.stdout, p.stderr.decode('utf-8', 'replace')


def as_perf():
    for section, line, options in AS_PERF:
        text = '[%s]\n\t%s\n' % (section, line)
        want = report(['perf'], options, perfs=text)
        got = report([SONDE, '--compat', 'perf-6.1'], options, perfs=text)
        say(want[:2] == got[:2], '%s.%s %s' % (section, line, ' '.join(options)),
            '' if want[:2] == got[:2] else 'status %s and %s\n%s' % (want[0], got[0], got[2]))
    want = report(['perf'], [], perfs=BOTH)
    got = report([SONDE, '--compat', 'perf-6.1'], [], perfs=BOTH)
    say(want[:2] == got[:2], 'report.percent-limit changes call-graph.threshold, too')


def main():
    if shutil.which('perf'):
        as_perf()
    else:
        skip('the keys compared with perf', 'no perf here', may=False)
    plain = report([SONDE], [])
    for section, line, options in AS_OPTIONS:
        filtered = ['--dso', '[kernel.kallsyms]'] if section == 'hist' else []
        got = report([SONDE], filtered, ours='[%s]\n\t%s\n' % (section, line))
        want = report([SONDE], options + filtered)[1]
        say(got[1] == want and (want != plain[1] or 'empty' in line), '%s.%s is %s' %
            (section, line, ' '.join(options)), got[2])
    ours = report([SONDE], [], perfs='[report]\nsort_order = dso\n',
                  ours='[report]\nsort_order = comm\n')
    say(ours[1] == report([SONDE], ['-s', 'comm'])[1] != plain[1],
        "sonde's file overrides perf's", ours[2])
    status, out, err = report([SONDE], [], ours='[report]\nchildren = perhaps\n')
    say(status == 2 and not out and "report.children is true or false, not 'perhaps'" in err
        and 'SONDE_CONFIG:2' in err, 'a wrong value names file, line and what it takes', err)
    status, out, err = report([SONDE], [], ours='[report]\nchildrne = 1\n')
    say(status == 0 and 'nearest: report.children' in err, 'an unknown key names the nearest', err)
    status, out, err = report([SONDE], [], ours='[report]\ncompat = perf-6.1\n', data=MIXED)
    say(out == report([SONDE, '--compat', 'perf-6.1'], [], data=MIXED)[1], 'report.compat', err)
    return done()


if __name__ == '__main__':
    sys.exit(main())
