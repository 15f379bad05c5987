# SPDX-License-Identifier: MIT
"""Keys of configuration files that concern recordings have perf's effect; --proc-map-timeout."""
import os
import re
import subprocess

import perfdata
from tap import PERF_ENV, case, few_symbols, is_asleep, need, perf, run, same, sh, sonde, wait_until

BUILD_ID = 2


def record(*options, text='', ours='', tool=sonde, **env):
    """Records with these configuration files: text is perf's, ours is sonde's."""
    with open('perfconfig', 'w') as f:
        f.write(text)
    with open('config', 'w') as f:
        f.write(ours)
    env = dict(PERF_ENV, PERF_CONFIG=os.path.abspath('perfconfig'),
               SONDE_CONFIG=os.path.abspath('config'), HOME=os.getcwd(), **env)
    if os.path.exists('x.data'):
        os.unlink('x.data')
    words = ('record', '-o', 'x.data', '-e', 'cs', *options, '--', 'true')
    return tool(*words, env=env) if tool is sonde else sh(perf(), *words, env=env)


def attrs():
    """(bits of call chains, size of copied stacks, whether mappings have build ids) of the attr."""
    text = sh(perf(), 'evlist', '-v', '-i', 'x.data').stdout
    types = re.search(r'sample_type: ([A-Z_|]+)', text).group(1).split('|')
    # ADDR is left out: if a file says dwarf, sonde sets it for -g, too, perf only for --call-graph.
    size = re.search(r'sample_stack_user: (\d+)', text)
    return (sorted(set(types) & {'CALLCHAIN', 'REGS_USER', 'STACK_USER'}), size and size.group(1),
            'build_id: 1' in text)


def as_perf(*options, text, chains=None):
    """attrs() of a recording with this file, after a check that perf's recording has the same."""
    r = record(*options, text=text, tool=perf)
    same(r.returncode, 0, 'perf: ' + r.stderr)
    wanted = attrs()
    r = record(*options, text=text)
    same(r.returncode, 0, r.stderr)
    same(attrs(), wanted, repr(text))
    return wanted


@case('record.call-graph, call-graph.record-mode and dump-size: what -g means')
def _():
    same(as_perf(text='[record]\ncall-graph = dwarf\n')[0], [], 'without -g')
    same(as_perf('-g', text='[record]\ncall-graph = dwarf\n')[1], '8192')
    need('ADDR|' in sh(perf(), 'evlist', '-v', '-i', 'x.data').stdout,
         'addresses of data: sonde differs from perf')
    same(as_perf('-g', text='[call-graph]\nrecord-mode = dwarf\ndump-size = 4096\n')[1], '4096')
    same(as_perf('-g', text='[call-graph]\nrecord-mode = dwarf\n[record]\ncall-graph = fp\n')[0],
         ['CALLCHAIN'])
    same(as_perf('-g', text='[record]\ncall-graph = dwarf\n[call-graph]\nrecord-mode = fp\n')[1],
         '8192')
    same(as_perf('-g', text='[call-graph]\nrecord-mode = dwarf,1024\n')[1], '1024')
    same(as_perf('--call-graph', 'fp', text='[record]\ncall-graph = dwarf\n')[0], ['CALLCHAIN'])
    same(as_perf('-g', '--no-call-graph', text='[record]\ncall-graph = dwarf\n')[0], [])


@case('record.build-id: cache, no-cache, skip, mmap')
def _():
    for word in ('cache', 'no-cache', 'skip', 'mmap'):
        text = '[record]\nbuild-id = %s\n' % word
        same(as_perf(text=text)[2], word == 'mmap', word)
        same(BUILD_ID in perfdata.File('x.data').features, word not in ('skip', 'mmap'),
             'feature with ' + word)
    # An option overrides the files.
    same(record('--buildid', text='[record]\nbuild-id = skip\n').returncode, 0)
    need(BUILD_ID in perfdata.File('x.data').features, '--buildid')


@case('a wrong value is reported with file and line, and nothing is recorded')
def _():
    for text in ('[record]\nbuild-id = bogus\n', '[record]\ncall-graph = bogus\n',
                 '[call-graph]\nrecord-mode = bogus\n', '[call-graph]\ndump-size = x\n',
                 '[core]\nproc-map-timeout = x\n'):
        for files in ({'text': text}, {'ours': text}):
            r = record(**files)
            same(r.returncode, 1, text + r.stderr)
            need(re.search(r'config:2: .*, not \'(bogus|x)\'', r.stderr), r.stderr)
            need(not os.path.exists('x.data'), 'a file was left')


@case("sonde's file overrides perf's; unknown keys in it are reported")
def _():
    r = record('-g', text='[record]\ncall-graph = dwarf\n',
               ours='[record]\ncall-graph = fp\nbuild-idd = skip\n')
    same(r.returncode, 0, r.stderr)
    need("no key record.build-idd (nearest: record.build-id)" in r.stderr, r.stderr)
    same(attrs()[0], ['CALLCHAIN'])
    r = record('-F', 'x', ours='[record]\ncompat = perf-6.1\n[script]\ncompat = perf-6.12\n')
    same(r.returncode, 129, r.stderr)
    r = record('-F', 'x', ours='[script]\ncompat = perf-6.12\n')
    same(r.returncode, 2, r.stderr)


@case('configuration files in the home directory')
def _():
    env = dict(PERF_ENV, HOME=os.getcwd())
    del env['PERF_CONFIG']
    with open('.perfconfig', 'w') as f:
        f.write('[record]\nbuild-id = skip\n')
    r = sonde('record', '-q', '-o', 'x.data', '-e', 'cs', '--', 'true', env=env)
    same((r.returncode, r.stderr), (0, ''))
    need(BUILD_ID not in perfdata.File('x.data').features, '.perfconfig')
    os.makedirs('.config/sonde')
    with open('.config/sonde/config', 'w') as f:
        f.write('[record]\nbuild-id = no-cache\n')
    r = sonde('record', '-q', '-B', '--buildid', '-o', 'x.data', '-e', 'cs', '--', 'true', env=env)
    same((r.returncode, r.stderr), (0, ''))
    need(BUILD_ID in perfdata.File('x.data').features, '.config/sonde/config')


@case('buildid.dir is the cache, unless --buildid-dir or --no-buildid-cache')
def _():
    def files(folder):
        return sum((names for _, _, names in os.walk(folder)), [])
    r = record('-a', text='[buildid]\ndir = %s/cache\n' % os.getcwd())
    same(r.returncode, 0, r.stderr)
    need(files('cache') and not os.path.exists('.debug'), 'the cache: %r' % os.listdir('.'))
    r = record('-a', '--buildid-dir', os.path.abspath('other'),
               text='[buildid]\ndir = %s/cache2\n' % os.getcwd())
    same(r.returncode, 0, r.stderr)
    need(files('other') and not os.path.exists('cache2'), '--buildid-dir: %r' % os.listdir('.'))
    r = record('-a', '-N', text='[buildid]\ndir = %s/cache3\n' % os.getcwd())
    need(not files('cache3'), '-N')


@case('--proc-map-timeout and core.proc-map-timeout: mappings that were not read are reported')
def _():
    sleeper = subprocess.Popen(['sleep', '600'])
    wait_until('it sleeps', lambda: is_asleep(sleeper.pid))
    try:
        def maps(*options, **files):
            r = record('-p', str(sleeper.pid), *options, **files)
            same(r.returncode, 0, r.stderr)
            f = perfdata.File('x.data')
            return r.stderr, sum(kind == perfdata.MMAP2 and
                                 int.from_bytes(f.data[at + 8:at + 12], 'little') == sleeper.pid
                                 for kind, misc, at, size in f.records())
        reported, nr = maps()
        need(nr > 2 and 'proc-map-timeout' not in reported, reported)
        same(maps('--proc-map-timeout', '10000')[1], nr)
        for options, text in ((['--proc-map-timeout', '0'], ''),
                              ([], '[core]\nproc-map-timeout = 0\n')):
            reported, some = maps(*options, text=text)
            need(some < nr and 'mappings of 1 processes are not all known' in reported, reported)
        same(maps('--proc-map-timeout', '5000', text='[core]\nproc-map-timeout = 0\n')[1], nr)
        for bad in ('x', '-1', '99999999999'):
            same(record('--proc-map-timeout', bad).returncode, 2, bad)
    finally:
        sleeper.kill()
        sleeper.wait()


few_symbols()
run()
