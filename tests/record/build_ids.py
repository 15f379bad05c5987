# SPDX-License-Identifier: MIT
"""Build ids of files with samples, of all mapped files and in MMAP2 records; the build id cache."""
import glob
import os
import re
import shutil
import struct
import subprocess
import time

from tap import PERF_ENV, SONDE, Skip, case, is_asleep, need, perf, run, same, sh, sonde, wait_until

BUSY = 'i=0; while [ $i -lt 150000 ]; do i=$((i + 1)); done'
CLOCK = ['-e', 'cpu-clock', '-c', '100000']
SPIN = '''
#include <stdlib.h>
#include <time.h>
volatile unsigned long turns;
__attribute__((noinline)) void spin(double seconds)
{
	clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
	while (clock() < end)
		for (int i = 0; i < 10000; i++)
			turns++;
}
int main(int argc, char **argv)
{
	spin(argc > 1 ? atof(argv[1]) : 0.1);
}
'''


def env(**more):
    return dict(PERF_ENV, HOME=os.getcwd(), **more)


def record(*options, work=('sh', '-c', BUSY), out='x.data', **more):
    # The buffers are large enough for everything.
    r = sonde('record', '-q', '-m', '8M', '-o', out, *options, '--', *work, env=env(**more))
    same((r.returncode, r.stderr), (0, ''), 'sonde record %r' % (options,))


def listed(name='x.data'):
    """{path: build id} of the header as perf lists it; None if the header has no list."""
    header = sh(perf(), 'report', '--header-only', '-i', name).stdout
    if ' BUILD_ID' in header:
        return None
    r = sh(perf(), 'buildid-list', '-i', name)
    same(r.returncode, 0, r.stderr)
    return {line.split(None, 1)[1]: line.split()[0] for line in r.stdout.splitlines()}


def files_of_samples(name='x.data'):
    """The files that perf finds in samples and their call chains."""
    text = sh(perf(), 'script', '-i', name, '-F', 'ip,dso').stdout
    return set(re.findall(r'\((/[^)]+)\)$', text, re.M))


def cached(root):
    return sorted(os.path.relpath(os.path.join(at, f), root) for at, _, files in os.walk(root)
                  for f in files)


def build(name='spin', text=SPIN):
    cc = shutil.which('cc') or shutil.which('gcc')
    if not cc:
        raise Skip('no C compiler')
    with open(name + '.c', 'w') as f:
        f.write(text)
    subprocess.run([cc, '-O1', '-g', '-Wl,--build-id', '-o', name, name + '.c'], check=True)
    return os.path.abspath(name)


@case('files with samples have build ids, also those of forked children that did not exec')
def _():
    for work in (BUSY, '(%s); ls / > /dev/null' % BUSY,
                 '%s; ls -lR /usr/include > /dev/null' % BUSY):
        record(*CLOCK, work=('sh', '-c', work))
        ids, seen = listed(), files_of_samples()
        need(any(name.startswith('/usr/bin/') for name in seen), 'samples in %r' % seen)
        same(set(ids) - {'[kernel.kallsyms]', '[vdso]'}, seen, 'files of %r' % work)
        need('[kernel.kallsyms]' in ids and '[vdso]' in ids, ids)


@case('the same build ids as perf record, and no other files')
def _():
    work = ('sh', '-c', BUSY)
    for name, tool in (('p.data', perf()), ('s.data', SONDE)):
        r = sh(tool, 'record', '-q', '-N', '-o', name, *CLOCK, '--', *work, env=env())
        same(r.returncode, 0, r.stderr)
    theirs, ours = listed('p.data'), listed('s.data')
    for path in set(theirs) & set(ours):
        same(ours[path], theirs[path], path)
    # A file that runs for a moment only may have a sample in one recording and none in the other.
    need('[kernel.kallsyms]' in ours and
         set(theirs) ^ set(ours) <= {p for p in set(theirs) | set(ours) if 'lib' in p},
         '%r\n%r' % (theirs, ours))


@case('files in call chains have build ids (not so in perf 6.1); with copied stacks all files of '
      'the process have')
def _():
    record('-g', '-e', 'raw_syscalls:sys_enter', work=('ls', '/'))
    ids, seen = listed(), files_of_samples()
    need(seen, 'no user frames')
    same(set(ids) - {'[kernel.kallsyms]', '[vdso]'}, seen, 'files')
    record('--call-graph', 'dwarf', '-e', 'raw_syscalls:sys_enter', work=('ls', '/'))
    need(any('libc' in name for name in listed()) and '/usr/bin/ls' in listed(), listed())


@case('tracepoints without call chains give no file a build id')
def _():
    record('-e', 'raw_syscalls:sys_enter', work=('ls', '/'))
    same(set(listed()), {'[kernel.kallsyms]', '[vdso]'}, 'files')
    same(cached('.debug'), ['[kernel.kallsyms]/%s/kallsyms' % listed()['[kernel.kallsyms]'],
                            '[vdso]/%s/vdso' % listed()['[vdso]']], 'cache')


@case('--buildid-all: everything that is mapped')
def _():
    record('--buildid-all', '-e', 'raw_syscalls:sys_enter', work=('ls', '/'))
    need({'/usr/bin/ls', '[vdso]', '[kernel.kallsyms]'} < set(listed()), listed())
    need(any('ld-linux' in name for name in listed()), listed())


@case('-B: no build ids, no cache; -N: no cache')
def _():
    record('-B', *CLOCK)
    same(listed(), None, 'list')
    need(not os.path.exists('.debug'), 'a cache')
    record('-N', *CLOCK)
    need(len(listed()) > 2, listed())
    need(not os.path.exists('.debug'), 'a cache')


@case("--buildid-mmap: mappings have build ids, also the kernel's and those made before the "
      "recording")
def _():
    sleeper = subprocess.Popen(['sleep', '600'])
    wait_until('it sleeps', lambda: is_asleep(sleeper.pid))
    try:
        for name, tool in (('p.data', perf()), ('s.data', SONDE)):
            r = sh(tool, 'record', '-q', '-a', '--buildid-mmap', '-o', name, *CLOCK, '--', 'ls',
                   '/', env=env())
            same(r.returncode, 0, r.stderr)
        text = {}
        for name in ('p.data', 's.data'):
            need(' BUILD_ID' in sh(perf(), 'report', '--header-only', '-i', name).stdout,
                 'a list in ' + name)
            need('build_id: 1' in sh(perf(), 'evlist', '-v', '-i', name).stdout, 'the attr')
            text[name] = re.findall(r'MMAP2 (?:-1/0|%d/%d): .*' % (sleeper.pid, sleeper.pid),
                                    sh(perf(), 'script', '--show-mmap-events', '-i', name).stdout)
        # perf has no file for the vdso, so it prints no build id for it.
        theirs, ours = ([line for line in text[name] if '[vdso]' not in line]
                        for name in ('p.data', 's.data'))
        same(ours, theirs, 'mappings')
        need(any('/usr/bin/sleep' in line and re.search(r'<[0-9a-f]{40}>', line) for line in ours),
             ours)
        text = sonde('script', '--show-mmap-events', '-i', 's.data').stdout
        need(re.search(r'MMAP2 .* <[0-9a-f]{40}>\]: r-xp /usr/bin/ls', text),
             'the mapping of ls, by the kernel')
        need(not os.path.exists('.debug'), 'a cache')
    finally:
        sleeper.kill()
        sleeper.wait()


@case('beside a recorder with --buildid-mmap: mappings that the kernel wrongly marks as having '
      'build ids')
def _():
    other = subprocess.Popen([SONDE, 'record', '-q', '-a', '--buildid-mmap', '-e', 'dummy', '-o',
                              'other.data', '--', 'sleep', '600'], env=env())
    try:
        wait_until('the other one records', lambda: os.path.exists('other.data') and
                   os.path.getsize('other.data') > 4096)
        record(*CLOCK)
        record(*CLOCK, '--overwrite', out='o.data')
    finally:
        other.terminate()
        other.wait()
    shell = os.path.realpath('/bin/sh')
    for name in 'x.data', 'o.data':
        r = sh(perf(), 'script', '--show-mmap-events', '-i', name)
        same(r.returncode, 0, 'perf reads %s: %s' % (name, r.stderr))
        at = os.stat(shell)
        need(re.search(r'MMAP2 .* %02x:%02x %d \d+\]: r-xp %s' %
                       (os.major(at.st_dev), os.minor(at.st_dev), at.st_ino, shell),
                       r.stdout), 'the file of the shell in %s: %s' % (name, r.stdout))
    need(shell in listed(), 'build ids')


@case('the cache: its layout, links and hard links; perf lists it; it has the symbols of removed '
      'programs')
def _():
    path = build()
    record(*CLOCK, work=(path, '0.2'))
    ident = listed()[path]
    link = '.debug/.build-id/%s/%s' % (ident[:2], ident[2:])
    same(os.readlink(link), '../..%s/%s' % (path, ident), 'link')
    need(os.path.samefile(link + '/elf', path), 'a hard link')
    for name, what in (('[kernel.kallsyms]', 'kallsyms'), ('[vdso]', 'vdso')):
        one = listed()[name]
        need(os.path.getsize('.debug/.build-id/%s/%s/%s' % (one[:2], one[2:], what)) > 4096, name)
    for name, one in listed().items():
        text = sh(perf(), 'buildid-cache', '-l', env=env()).stdout
        need(name == '[vdso]' or '%s %s' % (one, name) in text, '%s in %s' % (name, text))
    os.unlink(path)
    for tool in (perf(), SONDE):
        text = sh(tool, 'script', '-i', 'x.data', '-F', 'ip,sym,dso', env=env()).stdout
        need(len(re.findall(r'\bspin \(%s\)' % path, text)) > 100,
             '%s names %s' % (tool, text[:200]))
        text = sh(tool, 'script', '-i', 'x.data', '-F', 'ip,sym,dso').stdout
        need('spin (' not in text, 'names are not from the cache')


@case("the cache has perf's files, except for `probes`, which lists markers in programs")
def _():
    path = build()
    for tool, name in ((perf(), 'p'), (SONDE, 's')):
        os.mkdir(name)
        r = sh(tool, 'record', '-q', '-o', 'x.data', *CLOCK, '--', path, '0.2',
               env=dict(PERF_ENV, HOME=os.path.abspath(name)))
        same(r.returncode, 0, r.stderr)
    theirs, ours = ([f for f in cached(name + '/.debug') if not f.endswith('/probes') and
                     ('spin' in f or '[' in f)]
                    for name in 'ps')
    same(ours, theirs, 'files')
    for f in ours:
        a, b = (os.stat('%s/.debug/%s' % (name, f)) for name in 'ps')
        same(a.st_size, b.st_size, f)
        need(not f.endswith('/elf') or a.st_ino == b.st_ino, f)


@case('the cache: files that exist are not written again')
def _():
    path = build()
    record(*CLOCK, work=(path,))
    ident = listed()[path]
    before = {f: os.stat('.debug/' + f).st_ctime_ns for f in cached('.debug')}
    os.unlink('.debug%s/%s/elf' % (path, ident))
    record(*CLOCK, work=(path,))
    after = {f: os.stat('.debug/' + f).st_ctime_ns for f in cached('.debug')}
    need(os.path.samefile('.debug%s/%s/elf' % (path, ident), path), 'a missing file is made again')
    for f in before:
        need('spin' in f or before[f] == after[f] or f.endswith(('/elf', '/debug')),
             '%s was written again' % f)
    same([f for f in after if re.search(r'\.\d+$', f.rsplit('/', 1)[1]) and '.so.' not in f], [],
         'left over')


@case('a cache on another file system gets copies')
def _():
    path = build()
    where = '/dev/shm/sonde-cache-%d' % os.getpid()
    try:
        record(*CLOCK, work=(path,), PERF_BUILDID_DIR=where)
        copy = '%s%s/%s/elf' % (where, path, listed()[path])
        with open(copy, 'rb') as a, open(path, 'rb') as b:
            need(a.read() == b.read(), 'another file')
        need(not os.path.samefile(copy, path) and os.access(copy, os.X_OK),
             'a copy that can be run')
    finally:
        shutil.rmtree(where, ignore_errors=True)


@case('the folder of the cache: --buildid-dir, PERF_BUILDID_DIR, buildid.dir; /dev/null: no cache')
def _():
    here = os.getcwd()
    with open('perfconfig', 'w') as f:
        f.write('[buildid]\n\tdir = %s/file\n' % here)
    with open('none', 'w') as f:
        f.write('[buildid]\n\tdir = /dev/null\n')
    record(*CLOCK, PERF_CONFIG='perfconfig')
    need(os.path.isdir('file/.build-id'), 'buildid.dir')
    record(*CLOCK, PERF_CONFIG='perfconfig', PERF_BUILDID_DIR=here + '/environment')
    need(os.path.isdir('environment/.build-id'), 'PERF_BUILDID_DIR')
    r = sonde('--buildid-dir', here + '/option', 'record', '-q', '-o', 'x.data', *CLOCK, '--',
              'true', env=env(PERF_CONFIG='perfconfig', PERF_BUILDID_DIR=here + '/environment2'))
    same(r.returncode, 0, r.stderr)
    need(os.path.isdir('option/.build-id'), '--buildid-dir: %r' % os.listdir())
    record(*CLOCK, PERF_CONFIG='none')
    same(sorted(glob.glob('*/.build-id') + glob.glob('.debug')),
         ['environment/.build-id', 'file/.build-id', 'option/.build-id'], 'caches')
    r = sonde('record', '-q', '-o', 'y.data', *CLOCK, '--', 'true',
              env=dict(PERF_ENV, HOME='/nonexistent/x'))
    same((r.returncode, r.stderr, os.path.exists('/nonexistent')), (0, '', False),
         'a home that does not exist')


def runs(path):
    for exe in glob.glob('/proc/[0-9]*/exe'):
        try:
            if os.readlink(exe) == path:
                return True
        except OSError:
            pass
    return False


@case('a file that was replaced while it ran has no build id')
def _():
    path = build()
    build('other', SPIN.replace('turns++', 'turns += 2'))
    p = subprocess.Popen([SONDE, 'record', '-q', '-o', 'x.data', *CLOCK, '--', path, '1'],
                         env=env())
    wait_until('it runs', lambda: runs(path))
    time.sleep(0.1)
    os.rename('other', path)
    same(p.wait(60), 0, 'status')
    need(path in files_of_samples(), 'samples in the file')
    need(path not in listed(), 'the id of another file')
    need(not os.path.exists('.debug' + path), 'another file in the cache')


@case('--kcore is refused by name, with the reason')
def _():
    r = sonde('record', '--kcore', '-o', 'x.data', '--', 'true')
    same((r.returncode, os.listdir()), (2, []), r.stderr)
    need("--kcore is not taken, because the file holds the kernel's symbols itself" in r.stderr,
         r.stderr)


@case('a pipe: build ids at its end, no cache, as perf')
def _():
    with open('x.data', 'wb') as f:
        r = subprocess.run([SONDE, 'record', '-q', '-o', '-', *CLOCK, '--', 'sh', '-c', BUSY],
                           env=env(), stdout=f)
    same(r.returncode, 0, 'status')
    with open('x.data', 'rb') as f:
        data, at, names = f.read(), 16, []
    while at + 8 <= len(data):
        kind, misc, size = struct.unpack_from('<IHH', data, at)
        if kind == 66:
            size += struct.unpack_from('<I', data, at + 8)[0]
        if kind == 67:
            names.append(data[at + 36:at + size].split(b'\0')[0].decode())
        at += size
    need('[kernel.kallsyms]' in names and any(n.startswith('/usr/bin/') for n in names), names)
    need(not os.path.exists('.debug'), 'a cache')


run()
