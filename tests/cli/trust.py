#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hostile recordings: sonde opens files that they name only for symbols, and writes, runs and
fetches nothing. Text of recordings reaches a terminal without control characters.

    tests/cli/trust.py SONDE FIXTURES.PY ELF
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent))
from points import ENV, NO_LEAKS, UNDER_ASAN, done, on_pty, say, skip  # noqa: E402
from recordings import load_fixtures  # noqa: E402

SONDE, ELF = (str(pathlib.Path(sys.argv[n]).resolve()) for n in (1, 3))
ENV = dict(ENV, **NO_LEAKS, TERM='xterm', SONDE_PYTHON=sys.executable,
           DEBUGINFOD_URLS='http://127.0.0.1:9/ https://debuginfod.elfutils.org/')
PID = 4194304 + os.getpid() % 1000000  # larger than that of any process
EVIL = 'x\\x1b[2J\\x07\\xc2\\x9b31m\\x9b1m\\x7f\\r\\b'
SPEAKS = re.compile(rb'[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]'
                    rb'|(?<![\xc2-\xf4\x80-\xbf])[\x80-\x9f]|\r(?!\n)')
COLUMNS = 'comm,pid,tid,cpu,time,event,trace,ip,sym,symoff,dso,srcline,cgroup'
COMMANDS = [['script', '-F', COLUMNS], ['script', '-F', '+insn,+srccode'], ['script', '-D'],
            ['script', '--header'], ['script', '--header-only', '-I'],
            ['script', '--show-mmap-events', '--show-task-events', '--show-bpf-events',
             '--show-cgroup-events'],
            ['script', '--format', 'jsonl'], ['info'], ['info', '--format', 'json'], ['evlist'],
            ['evlist', '-v'], ['evlist', '--trace-fields'],
            ['buildid-list'], ['buildid-list', '-H'], ['check', '--max-unknown', '0'],
            ['report', '--header-only']]
SCRIPTS = {'x.py': 'def trace_unhandled(*a): pass\n', 'x.pl': 'sub trace_unhandled { }\n'}
MAPPED = """--- attr type=software ids=7 sample_type=IDENTIFIER|IP|TID|TIME|CALLCHAIN
--- feature OSRELEASE
str "x/../../..%(folder)s/release"
--- data
MMAP2/user { [12,12:u32] [0x1000,0x100000,0:u64] [8,1:u32] [0,0:u64] [5,2:u32] "%(path)s\\0" pad8 }
SAMPLE/user { [7:u64] [0x%(ip)x:u64] [12,12:u32] [1000:u64] [2:u64] [0xfffffffffffffe00,0x%(ip)x:u64] }
SAMPLE/kernel { [7:u64] [0xffffffff81000010:u64] [12,12:u32] [1001:u64] [2:u64] [0xffffffffffffff80,0xffffffff81000010:u64] }
"""


def build(folder, text, order=sys.byteorder):
    fixtures = load_fixtures()
    (folder / 'x.fix').write_text(text)
    path = folder / 'x.data'
    path.write_bytes(fixtures.parse(folder / 'x.fix')[0].build(order)[0])
    return path


def run(words, before=(), **env):
    try:
        p = subprocess.run([*before, SONDE, *words], env=dict(ENV, **env), stdin=subprocess.DEVNULL,
                           capture_output=True, timeout=600)
    except subprocess.TimeoutExpired:
        return 'hangs', b'', b''
    return p.returncode, p.stdout, p.stderr


def on_terminal(words):
    return on_pty([SONDE, *words], env=ENV)[1]


def spoken(shown):
    return ['%r' % shown[max(0, m.start() - 40):m.end() + 10] for m in SPEAKS.finditer(shown)][:3]


def terminals(folder):
    """Output and errors of every command on a terminal have no control characters."""
    text = (HERE.parent /
            'data/defects/hostile.fix').read_text().replace('EVIL', EVIL).replace('PID', str(PID))
    path = build(folder, text)
    evil = folder / 'evil\x1b[2J.data'
    shutil.copy(path, evil)
    (folder / 'kallsyms').write_bytes(
        b'ffffffff81000000 T _text\nffffffff81000000 T ev\x1b[2Jil\nffffffff82000000 T _etext\n')
    jit = pathlib.Path('/tmp/perf-%d.map' % PID)
    try:
        jit.write_bytes(b'1000 100 jit\x1b[2J\x07\n')
        for words in COMMANDS:
            more = ['--no-pager'] + (['--no-color'] if words[0] == 'script' and 'jsonl' not in words
                                     else [])
            if words[0] in ('script', 'check') and 'jsonl' not in words:
                more += ['--kallsyms', str(folder / 'kallsyms')]
            shown = on_terminal(words + more + ['-i', str(evil)])
            say(len(shown) > 40 and not spoken(shown), ' '.join(words),
                '\n'.join(spoken(shown)) or repr(shown[:300]) * (len(shown) < 40))
        for name, body in ({} if UNDER_ASAN else SCRIPTS).items():
            (folder / name).write_text(body)
            shown = on_terminal(['script', '-i', str(evil), '-s', str(folder / name)])
            say(b'bad-record' in shown and not spoken(shown), 'messages of ' + name,
                '\n'.join(spoken(shown)) or repr(shown))
            shown = on_terminal(['script', '-i', str(folder / 'no\x1b[2J'), '-s',
                                 str(folder / name)])
            say(b'no\\x1b' in shown and not spoken(shown), 'errors of ' + name,
                '\n'.join(spoken(shown)) or repr(shown))
    finally:
        jit.unlink(missing_ok=True)
    for command in 'script', 'info', 'evlist', 'buildid-list', 'check':
        shown = on_terminal(['--no-pager', command, '-i', str(folder / 'no\x1b[2J\x9b')])
        say(shown and not spoken(shown), 'errors of ' + command, '\n'.join(spoken(shown)))


def source_text(folder):
    """Lines of source files that -F +srccode prints have no control characters on a terminal."""
    source, program = folder / 'evil.c', folder / 'program'
    source.write_bytes(b'int main(void) { return 0; } /* ev\x1b[2Jil \x07 \x9b31m \xc2\x9b1m */\n')
    compiled = shutil.which('cc') and subprocess.run(['cc', '-g', '-O0', '-no-pie', '-o',
                                                      str(program), str(source)],
                                                     capture_output=True).returncode == 0
    if not compiled:
        return skip('text of source files', 'no C compiler', may=False)
    symbols = subprocess.run(['nm', str(program)], capture_output=True, text=True).stdout
    main = int(symbols.split(' T main\n')[0].split()[-1], 16)
    path = build(folder, """--- attr type=software ids=7 sample_type=IDENTIFIER|IP|TID|TIME
--- data
MMAP2/user { [12,12:u32] [0x%x,0x1000,0x%x:u64] [8,1:u32] [0,0:u64] [5,2:u32] "%s\\0" pad8 }
SAMPLE/user { [7:u64] [0x%x:u64] [12,12:u32] [1000:u64] }
""" % (main & ~0xfff, (main & ~0xfff) - 0x400000, program, main))
    words = ['script', '-i', str(path), '-F', 'comm,tid,time,event,ip,sym,srccode', '--no-pager',
             '--no-color']
    shown = on_terminal(words)
    say(b'int main(void)' in shown and b'il' in shown and not spoken(shown), 'text of source files',
        '\n'.join(spoken(shown)) or repr(shown))
    say(b'ev\x1b[2Jil' in run(words)[1], 'text of source files, unchanged in a pipe',
        repr(run(words)[1:]))
    return None


LOOKING = [['script', '-F', 'comm,tid,time,event,ip,sym,dso,srcline'],
           ['script', '-F', '+insn,+srccode'], ['info'],
           ['buildid-list', '-H'], ['check'], ['script', '--format', 'jsonl']]


def odd_files(folder):
    """Mapped files of a recording that are no regular files are not opened."""
    os.mkfifo(folder / 'fifo')
    (folder / 'directory').mkdir()
    os.symlink('loop', folder / 'loop')
    os.symlink('fifo', folder / 'to-fifo')
    (folder / 'empty').write_bytes(b'')
    (folder / 'holes').touch()
    os.truncate(folder / 'holes', 1 << 40)
    names = [str(folder / n) for n in ('fifo', 'to-fifo', 'directory', 'loop', 'empty', 'holes')]
    for name in names + ['/dev/zero', '/dev/tty', '/dev/full', '/proc/kmsg', '/proc/self/mem']:
        path = build(folder, MAPPED % dict(path=name, folder=folder, ip=0x1010))
        wrong = ''
        for words in LOOKING:
            limits = (['--max-unknown', '100', '--max-cut', '100', '--max-missing', '9']
                      if words[0] == 'check' else [])
            status, out, err = run(words + limits + ['-i', str(path)])
            if status or not out:
                wrong += '%s: %s %s\n' % (' '.join(words), status, err.decode('latin-1'))
        say(not wrong, 'a mapping of ' + name.replace(str(folder), 'DIR'), wrong)


def files_of_files(folder):
    """Debug information that continues in other files, which are FIFOs."""
    if not shutil.which('cc') or not shutil.which('objcopy') or not shutil.which('nm'):
        return skip('files that files name', 'no compiler here')
    (folder /
     'a.c').write_text(
         'int work(int n)\n{\n\treturn n * n;\n}\nint main(int n, char **v)\n{\n\treturn '
         'work(n);\n}\n')
    (folder / 'alternate').write_bytes(b'fifo\0' + bytes(20))
    os.mkfifo(folder / 'fifo')
    def shell(*words):
        return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True).stdout
    try:
        shell('cc', '-g', '-gsplit-dwarf', '-O0', '-no-pie', 'a.c', '-o', 'split')
        shell('cc', '-g', '-O0', '-no-pie', 'a.c', '-o', 'whole')
        shell('objcopy', '--add-section', '.gnu_debugaltlink=alternate', 'whole', 'linked')
    except subprocess.CalledProcessError as e:
        return skip('files that files name', e.stderr.splitlines()[0])
    for name in 'split', 'linked':
        work = [int(line.split()[0], 16) for line in shell('nm', name).splitlines()
                if line.endswith(' work')][0]
        path = build(folder, MAPPED % dict(path=folder / name, folder=folder,
                                           ip=0x1000 + (work & 0xfffff) + 4))
        words = ['script', '-F', 'ip,sym,srcline', '-i', str(path)]
        if name == 'split':
            halves = [p.name for p in folder.glob('*.dwo')]
            say(len(halves) == 1 and b'a.c:' in run(words)[1], 'a unit in two files', '%s' % halves)
            (folder / halves[0]).unlink()
            os.mkfifo(folder / halves[0])
        status, out, err = run(words)
        say(status == 0 and b'work' in out, 'a FIFO that a file names: ' + name,
            '%s %s' % (status, err))
    return None


def code_at(path):
    """(address in the mapping above, its symbol) of a function of the file."""
    for line in subprocess.run(['nm', '-D', '--defined-only', path], capture_output=True,
                               text=True).stdout.splitlines():
        value, kind, name = line.split()
        if kind == 'T':
            return 0x1000 + int(value, 16), name
    return None


def calls(folder, words, **env):
    """The system calls on files, the network and other processes, as strace prints them; [] if
    strace does not work.
    """
    log = folder / 'strace'
    run(words, ['strace', '-f', '-o', str(log), '-e',
                'trace=%file,%network,execve,ptrace,fork,vfork,clone,clone3'], **env)
    return log.read_text(errors='replace').splitlines() if log.exists() else []


def seen_from_outside(folder):
    """System calls: what is opened, written, run and fetched."""
    symbol = code_at(ELF)
    shutil.copy(ELF, folder / 'program')
    path = build(folder, MAPPED % dict(path=folder / 'program', folder=folder, ip=symbol[0]))
    (folder / 'debug').mkdir()
    home = dict(HOME=str(folder / 'debug'))
    words = ['script', '-F', 'ip,sym,dso', '-i', str(path)]
    out = run(words, **home)[1].decode()
    say(symbol[1] in out, 'a symbol of a file that the recording names', out)
    out = run(words + ['--no-follow'], **home)[1].decode()
    say(symbol[1] not in out and 'program' in out, '--no-follow: the name of the file, no symbols',
        out)
    if not shutil.which('strace'):
        return skip('system calls', 'no strace here')
    wrong = {}
    for words in LOOKING + COMMANDS:
        if words[0] not in ('script', 'check', 'info', 'buildid-list', 'evlist'):
            continue
        for more in [], ['--no-follow']:
            lines = calls(folder, words + more + ['-i', str(path)], **home)
            if not any('x.data' in line for line in lines):
                return skip('system calls', 'strace does not work here')
            name = ' '.join(words[:3] + more)
            for line in lines[1:]:
                if re.search(r'\b(socket|connect|sendto|bind|execve|ptrace|fork|vfork|clone3?)\(',
                             line):
                    wrong.setdefault('nothing is run or fetched', []).append(name + ': ' + line)
                if re.search(
                    r'\b(unlink|rename|mkdir|chmod|chown|link|symlink|truncate|mknod)(at2?)?\(',
                    line) or \
                        re.search(r'open(at)?\(.*O_(WRONLY|RDWR|CREAT|TRUNC)', line):
                    wrong.setdefault('nothing is written', []).append(name + ': ' + line)
                if 'open' in line and '/program' in line and '"%s' % ELF not in line and \
                        not ('O_RDONLY' in line and 'O_NONBLOCK' in line and 'O_NOCTTY' in line):
                    wrong.setdefault('named files are opened read-only and without waiting',
                                     []).append(name + ': ' + line)
                if more and re.search(r'open(at)?\(.*"[^"]*(program|/release)', line):
                    wrong.setdefault('--no-follow opens none', []).append(name + ': ' + line)
                if '/../' in line and 'open' in line and 'release' in line:
                    wrong.setdefault('a kernel release is not used as a path',
                                     []).append(name + ': ' + line)
    for what in ('nothing is run or fetched', 'nothing is written',
                 'named files are opened read-only and without waiting', '--no-follow opens none',
                 'a kernel release is not used as a path'):
        say(what not in wrong, what, '\n'.join(wrong.get(what, [])[:5]))


def maps_of_jits(folder):
    """/tmp/perf-PID.map is used only if it is a regular file of the user or of root."""
    jit = pathlib.Path('/tmp/perf-%d.map' % PID)
    text = MAPPED.replace('12,12', '%d,%d' % (PID, PID)) % dict(path='//anon', folder=folder,
                                                                ip=0x1010)
    path = build(folder, text)
    (folder / 'map').write_text('1000 100 jitted\n')
    words = ['script', '-F', 'ip,sym,dso', '-i', str(path)]
    try:
        shutil.copy(folder / 'map', jit)
        say(b'jitted' in run(words)[1], 'a map of functions')
        say(b'jitted' not in run(words + ['--no-follow'])[1], '--no-follow: not opened')
        if os.geteuid() == 0:
            os.chown(jit, 12345, 12345)
            say(b'jitted' not in run(words)[1], "another user's map is not used")
            say(b'jitted' in run(words + ['-f'])[1], 'with -f it is')
        jit.unlink()
        os.symlink(folder / 'map', jit)
        say(b'jitted' not in run(words)[1], 'a link to another folder is not used')
        jit.unlink()
        os.mkfifo(jit)
        status, out, err = run(words)
        say(status == 0 and b'jitted' not in out, 'a FIFO is not used', '%s' % status)
    finally:
        if jit.is_symlink() or jit.exists():
            jit.unlink()


def large_maps(folder):
    """Maps of JITs are read up to 256 MiB each and 512 MiB together; a message names maps that are
    too large.
    """
    maps = [pathlib.Path('/tmp/perf-%d.map' % (PID + i)) for i in range(3)]
    head, records = MAPPED[:MAPPED.index('MMAP2')], ''
    for i in range(3):
        mapped = MAPPED[MAPPED.index('MMAP2'):MAPPED.index('SAMPLE/kernel')]
        records += mapped.replace('12,12', '%d,%d' % (PID + i, PID + i))
    path = build(folder, (head + records) % dict(path='//anon', folder=folder, ip=0x1010))
    words = ['script', '-F', 'ip,sym,dso', '-i', str(path)]
    reason = b'larger than what is read of such files'
    try:
        for sizes, named in ((257, 1, 1), (0, 1, 1)), ((255, 255, 3), (1, 1, 0)):
            for map_, mb in zip(maps, sizes):
                map_.write_text('1000 100 jitted\n')
                os.truncate(map_, mb << 20)  # of holes
            status, out, err = run(words)
            got = tuple(int(b'jitted' in text) for text in out.split(b'\n\n')[:3])
            large = str(maps[named.index(0)]).encode()
            say(not status and got == named and large + b': ' + reason in err,
                'maps of %d, %d and %d MiB' % sizes, '%s %s' % (got, err))
    finally:
        for map_ in maps:
            map_.unlink(missing_ok=True)


def owners(folder):
    """A recording of another user is refused, as by perf."""
    if os.geteuid():
        return skip('owners', 'only root can give a file away')
    path = build(folder, MAPPED % dict(path='/bin/x', folder=folder, ip=0x1010))
    os.chown(path, 12345, 12345)
    for command in 'script', 'info', 'evlist', 'buildid-list', 'check':
        limits = (['--max-unknown', '100', '--max-cut', '100', '--max-missing', '9']
                  if command == 'check' else [])
        status, out, err = run([command, '-i', str(path)] + limits)
        say(status == 1 and not out and b'another user' in err,
            command + " refuses another user's recording", '%s %s' % (status, err))
        status, out, err = run([command, '-f', '-i', str(path)] + limits)
        say(status == 0 and (out or command == 'buildid-list'), command + ' -f',
            '%s %s' % (status, err))
    say(run(['info', '-i', str(path)], SUDO_UID='12345')[0] == 0,
        "under sudo the caller's recording is read")
    return None


def written(folder):
    """Files that sonde writes: never through a link, and no more readable than the recording."""
    data = folder / 'own.data'
    shutil.copyfile(HERE.parent / 'data' / 'text' / 'mixed.data', data)
    script, other = folder / 'made.py', folder / 'other.txt'
    other.write_text('mine')
    script.symlink_to(other)
    generate = ['script', '-i', str(data), '-g', 'python', '-o', str(script)]
    for words in (generate, generate + ['-f']):
        status, _, err = run(words)
        say(status == 1 and other.read_text() == 'mine' and script.is_symlink() and
            (b'link' in err or b'exists already' in err),
            'a script is not written through a link' + ' with -f' * (len(words) > len(generate)),
            '%s %s' % (status, err))
    script.unlink()
    os.link(other, script)
    os.chmod(script, 0o640)
    status, _, err = run(generate + ['-f'])
    say(status == 0 and other.read_text() == 'mine' and 'trace_begin' in script.read_text() and
        script.stat().st_mode & 0o777 == 0o640,
        '-f replaces a file with several names under this name only, and keeps its mode',
        '%s %s' % (status, err))
    dangling = folder / 'dangling.py'
    dangling.symlink_to(folder / 'nowhere')
    status, _, err = run(generate[:-1] + [str(dangling), '-f'])
    say(status == 1 and not (folder / 'nowhere').exists(), 'nor through a dangling link',
        '%s %s' % (status, err))
    say(not list(folder.glob('*.part')), 'no partly written file is left')
    for mode in 0o600, 0o640, 0o666:
        os.chmod(data, mode)
        status, _, err = run(['script', '-i', str(data), '--per-event-dump'])
        made = list(folder.glob('own.data.*.dump'))
        modes = {p.stat().st_mode & 0o777 for p in made}
        say(status == 0 and modes == {mode}, 'dumps per event have the mode of the recording: %o' %
            mode,
            '%s %s %s' % (status, modes, err))
        for p in made:
            p.unlink()


def main():
    for part in (terminals, source_text, odd_files, files_of_files, seen_from_outside, maps_of_jits,
                 large_maps, owners, written):
        with tempfile.TemporaryDirectory() as name:
            part(pathlib.Path(name))
    return done()


if __name__ == '__main__':
    sys.exit(main())
