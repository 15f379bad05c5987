#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each option of the installed `perf report -h` is one of sonde report's, or docs/compat.md says
why not.

    tests/report/options.py SONDE

docs/compat.md names the options that are not taken in the first column of a table under the heading
"Options of perf report"; the second column is the reason. An option may not be in both.
"""
import pathlib
import re
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from points import done, run, say, skip  # noqa: E402

COMPAT = HERE.parents[1] / 'docs' / 'compat.md'
HEADING = 'Options of perf report'
# An option at the start of a line of a help: '-x, --name' or '    --name'.
OPTION = re.compile(r'^ {2,4}(?:(-\w), |    )--([\w-]+)', re.M)


def options_of(help_text):
    """{--name: -x or ''}"""
    return {'--' + name: letter or '' for letter, name in OPTION.findall(help_text)}


def excused(page):
    """{--name: reason}"""
    part = re.search(r'^#+ %s$(.*?)(?=^#|\Z)' % HEADING, page, re.M | re.S)
    found = {}
    for line in part[1].splitlines() if part else ():
        cells = [cell.strip() for cell in line.strip('|').split('|')]
        if line.startswith('|') and len(cells) > 1:
            found.update((name, cells[1]) for name in re.findall(r'`(--[\w-]+)`', cells[0]))
    return found


def main():
    sonde = pathlib.Path(sys.argv[1]).resolve()
    ours = options_of(run([str(sonde), 'report', '-h'])[1].decode())
    reasons = excused(COMPAT.read_text())
    say(len(ours) > 5, 'the help of sonde report lists options', '%d found' % len(ours))
    for name in sorted(reasons):
        why = '' if reasons[name] else 'no reason'
        say(
            not why and name not in ours,
            'docs/compat.md excuses ' + name,
            why or ('sonde report takes it' if name in ours else ''),
        )
    if not shutil.which('perf'):
        skip('options of perf report', 'no perf here', may=False)
        return done()
    status, out, err = run(['perf', 'report', '-h'])
    theirs = options_of((out + err).decode())
    say(len(theirs) > 50, 'the help of perf report lists options', '%d found' % len(theirs))
    for name, letter in sorted(theirs.items()):
        if name in reasons:
            continue
        why = '' if name in ours else 'neither taken nor named in docs/compat.md'
        if not why and letter != ours[name]:
            why = "perf's letter is %s, ours %s" % (letter or 'none', ours[name] or 'none')
        say(not why, ' '.join(filter(None, (letter, name))), why)
    return done()


if __name__ == '__main__':
    sys.exit(main())
