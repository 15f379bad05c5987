# SPDX-License-Identifier: MIT
"""What is told, and options of perf record that change nothing here or are refused for good."""
import os

import perfdata
from tap import case, need, run, same, sonde


def recorded(*options, status=0):
    if os.path.exists('x.data'):
        os.unlink('x.data')
    r = sonde('record', '-o', 'x.data', '-e', 'cs', *options, '--', 'true')
    same(r.returncode, status, '%r: %s' % (options, r.stderr))
    same(os.path.exists('x.data'), not status, 'a file is there')
    if not status:
        perfdata.File('x.data').check()
    return r.stderr


@case('-q tells nothing but warnings, -v tells more')
def _():
    same(recorded('-q'), '')
    same(recorded('--quiet', '-v'), '')
    plain = recorded()
    need('Captured and wrote' in plain, plain)
    same(recorded('-q', '--no-quiet').count('\n'), plain.count('\n'), 'lines after -q --no-quiet')
    r = sonde('record', '-q', '-m', '1', '-e', 'raw_syscalls:*', '-o', 'x.data', '--', 'dd', 'if=/dev/zero', 'of=/dev/null',
              'bs=1', 'count=200000', 'status=none')
    same(r.returncode, 0, r.stderr)
    need(not r.stderr or 'events were lost' in r.stderr, r.stderr)


@case('--vmlinux changes nothing; the file must be there')
def _():
    same(recorded('-q', '--vmlinux', '/bin/true'), '')
    same(recorded('-q', '--vmlinux', '/no/such', '--no-vmlinux', status=2), 'sonde: record: --vmlinux /no/such: No such file or '
         'directory\n')


@case('--debuginfod changes nothing, and a line says so')
def _():
    for option in ('--debuginfod', '--debuginfod=http://127.0.0.1:1/'):
        need('nothing from servers' in recorded(option), option)
        same(recorded('-q', option), '')
    need('servers' not in recorded('--debuginfod', '--no-debuginfod'), 'taken back')


@case('--off-cpu, --clang-path and --clang-opt are refused with the reason')
def _():
    need('BPF program' in recorded('--off-cpu', status=2), 'off-cpu')
    for option in ('--clang-path', '--clang-opt'):
        need('not compiled' in recorded(option, 'x', status=2), option)
    same(recorded('-q', '--no-off-cpu', '--no-clang-path', '--no-clang-opt'), '')


run()
