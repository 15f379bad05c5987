#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files of `make install` work where they are installed, and `make uninstall` removes them.

The build is installed below a scratch folder (DESTDIR). To use it under its real prefix, the test
mounts the prefix of the scratch folder over that of the machine, in a mount namespace of its own.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from points import UNDER_ASAN, done, say, skip

ROOT = HERE.parent.parent
BUILD = pathlib.Path(sys.argv[1]).resolve()
PREFIX, LIBDIR, DATADIR = sys.argv[2:5]
MODULES = sys.argv[5].split(',')
DEMO = ROOT / 'tests/data/demo.data'
PLAIN = {'PATH': '/usr/bin:/bin:/usr/sbin:/sbin', 'HOME': '/nonexistent', 'LC_ALL': 'C'}


def call(command, **env):
    # HOME is not /nonexistent: fish makes folders in it, as root also there, and other tests need
    # it absent.
    p = subprocess.run(command, env={**PLAIN, 'HOME': str(temp), **env}, cwd=temp,
                       stdin=subprocess.DEVNULL, capture_output=True, text=True, errors='replace',
                       timeout=600)
    return p.returncode, p.stdout, p.stderr


def is_(r, status, out, name):
    say((r[0], r[1]) == (status, out), name, 'status %s\n%s%s' % r)


def placed(command, **env):
    """Runs a shell command with the installed tree mounted over the prefix."""
    mount = 'mount --bind "$0" "$1" && shift && exec "$@"'
    return call(['unshare', '--mount', '--map-root-user', 'sh', '-c', mount, there(PREFIX), PREFIX,
                 'sh', '-c', command], **env)


def there(path):
    return str(dest) + path


def tree(folder):
    return sorted(os.path.relpath(os.path.join(at, f), folder) for at, _, files in os.walk(folder)
                  for f in files)


def make(target, **settings):
    """Runs make as a user does, with a build that is ready."""
    return call(['make', '-s', '-C', str(ROOT), target, 'B=%s' % BUILD, 'DESTDIR=%s' % dest] +
                ['%s=%s' % s for s in settings.items()])


def install():
    log = BUILD / 'meson-logs/install-log.txt'
    before = log.read_bytes() if log.exists() else None
    r = call(['meson', 'install', '--no-rebuild', '-C', str(BUILD), '--destdir', str(dest)])
    if before is not None:
        log.write_bytes(before)
    return r


def check_documents():
    doc = there(PREFIX + '/' + DATADIR + '/doc/sonde')
    wanted = ['README.md', 'LICENSE', 'CHANGELOG.md'] + [
        str(p.relative_to(ROOT)) for p in (ROOT / 'docs').rglob('*.md')]
    missing = [p for p in wanted if not os.path.exists(doc + '/' + p)]
    say(not missing, 'docs/ is in share/doc', '\n'.join(missing))
    wrong = []
    for page in tree(doc):
        if page.endswith('.md'):
            with open(os.path.join(doc, page), encoding='utf-8') as f:
                wrong += ['%s: %s' % (page, target)
                          for target in re.findall(r'\]\(([^)#]+)', f.read())
                          if '://' not in target and
                          not os.path.exists(os.path.join(doc, os.path.dirname(page), target))]
    say(not wrong, 'links of the installed pages lead to files', '\n'.join(wrong))


def check_manual():
    """Each function of sonde.h has a page, mostly a link to the page of its group; each link leads
    to a page.
    """
    pages = {p.name: p for p in dest.rglob('man3/*.3')}
    if not any(dest.rglob('man1/sonde.1')):
        return skip('the library has man pages', 'this build has none (no scdoc)', may=False)
    functions = re.findall(r'(?:SONDE_API|static inline)[^;{]*?\b(sonde_\w+)\(',
                           (ROOT / 'include/sonde/sonde.h').read_text())
    missing = [f for f in functions if '%s.3' % f not in pages]
    say(len(functions) > 50 and not missing, 'each function of sonde.h has a man page',
        '\n'.join(missing))
    wrong = [name for name, p in pages.items() if not p.exists()]
    say(not wrong and any(dest.rglob('man5/sonde-session.5')), 'links of man pages lead to pages',
        '\n'.join(wrong))


def check_modules():
    count = "-c 'import sonde; print(sum(1 for e in sonde.open(\"%s\")))'" % DEMO
    if 'python' not in MODULES or UNDER_ASAN:
        skip('import sonde', 'this build has no Python module, or one with sanitizers')
    else:
        is_(placed('/usr/bin/python3 ' + count), 0, '474\n', "Debian's Python finds `import sonde`")
        (temp / 'imports.py').write_text('import sonde\ndef trace_end(): print(sonde.__file__)\n')
        r = placed('%s script -s imports.py -i %s' % (BUILD / 'sonde', DEMO),
                   SONDE_PYTHON='/usr/bin/python3')
        say(r[1].startswith(str(BUILD)),
            'a script gets the module of the sonde that runs it, not the installed one',
            r[1] + r[2])
        is_(call(['sh', '-c', '/usr/bin/python3 ' + count],
                 PYTHONPATH=there('%s/%s/sonde/python/module' % (PREFIX, LIBDIR))), 0, '474\n',
            'the line for PYTHONPATH works')
    count = ("-e 'use Sonde; my $s = Sonde->open(input => q(%s)); my $n = 0; $n++ while $s->next; "
             "print qq($n\\n)'" % DEMO)
    if 'perl' not in MODULES or UNDER_ASAN:
        skip('use Sonde', 'this build has no Perl module, or one with sanitizers')
    else:
        is_(placed('/usr/bin/perl ' + count), 0, '474\n', "Debian's perl finds `use Sonde`")
        is_(call(['sh', '-c', '/usr/bin/perl ' + count],
                 PERL5LIB=there('%s/%s/sonde/perl/lib' % (PREFIX, LIBDIR))), 0, '474\n',
            'the line for PERL5LIB works')


def check_model():
    page = (ROOT / 'docs/model.md').read_text()
    program = re.search(r'^```c\n(.*?)^```', page, re.M | re.S)
    command = re.search(r'^\$ (cc .*)$', page, re.M)
    prints = re.search(r'^\$ \./example demo\.data\n(.*?)^```', page, re.M | re.S)
    if not (program and command and prints):
        return say(False, 'docs/model.md says how its program is built')
    (temp / 'example.c').write_text(program[1])
    shutil.copy(DEMO, temp / 'demo.data')
    if UNDER_ASAN:
        return skip('the program of docs/model.md', 'the library has sanitizers')
    where = '%s/%s/pkgconfig' % (PREFIX, LIBDIR)
    is_(placed(command[1] + ' && ./example demo.data', PKG_CONFIG_PATH=where), 0, prints[1],
        'the program of docs/model.md is built as written there, and runs')


def check_completion():
    """The shells load the installed files by themselves, or with the line that `make install`
    prints for them.
    """
    data = '%s/%s' % (PREFIX, DATADIR)
    load = {
        'bash': ('bash', '. /usr/share/bash-completion/bash_completion; _completion_loader sonde; '
                         'complete -p sonde',
                 'complete -F _sonde sonde\n'),
        'zsh': ('zsh -f',
                'fpath=(%s/zsh/*(/) $fpath); autoload -Uz compinit; compinit -D -u; print '
                '$_comps[sonde]' % data, '_sonde\n'),
        'fish': ('fish', 'complete -C "sonde scr"', 'script\n'),
    }
    for shell, (program, commands, prints) in load.items():
        name = '%s loads its completion' % shell
        if not shutil.which(shell, path=PLAIN['PATH']):
            skip(name, shell + ' is not installed', may=False)
        elif shell == 'bash' and not os.path.exists('/usr/share/bash-completion/bash_completion'):
            skip(name, 'bash-completion is not installed', may=False)
        else:
            (temp / 'commands').write_text(commands)
            is_(placed('%s commands' % program, XDG_DATA_DIRS=data + ':/usr/share', HOME=str(temp),
                       PATH='%s:%s' % (BUILD, PLAIN['PATH'])), 0, prints, name)


def check_paths():
    """The build passes the modules' folders to tools/after-install, unless an interpreter looks
    below the prefix.
    """
    prefix, _, libdir, python, perl = (BUILD / 'install-paths').read_text().split('\n')[:5]
    found = [bool(call([str(ROOT / 'tools/module-folder'), language, program, PREFIX])[1].strip())
             for language, program in (('python', '/usr/bin/python3'), ('perl', '/usr/bin/perl'))]
    say(prefix == PREFIX and libdir == '%s/%s' % (PREFIX, LIBDIR) and
        [not python, not perl] == [f or m not in MODULES
                                   for f, m in zip(found, ('python', 'perl'))],
        'the build knows which lines its prefix needs', '%r %r %r' % (python, perl, found))


def check_hints():
    """The lines for a prefix in which the interpreters do not look."""
    paths = [str(ROOT / 'tools/module-folder')]
    opt = [call(paths + [language, program, '/opt/sonde'])[:2] for language, program in
           (('python', '/usr/bin/python3'), ('perl', '/usr/bin/perl'))]
    say(opt == [(0, '\n')] * 2, 'no interpreter looks in /opt/sonde', repr(opt))
    usr = (call(paths + ['python', '/usr/bin/python3', '/usr'])[1],
           call(paths + ['perl', '/usr/bin/perl', '/usr'])[1])
    say(all(u.startswith('/usr/') and not u.startswith('/usr/local') for u in usr),
        'for the prefix /usr they look in folders of /usr', repr(usr))

    def after(*paths):
        (temp / 'paths').write_text(''.join(p + '\n' for p in paths))
        return call([str(ROOT / 'tools/after-install'), 'paths'], DESTDIR='/nonexistent')

    r = after('/opt/sonde', '/opt/sonde/bin', '/opt/sonde/lib',
              '/opt/sonde/lib/sonde/python/module', '/opt/sonde/lib/sonde/perl/lib',
              '/opt/sonde/share')
    lines = [line.strip() for line in r[1].splitlines() if line.strip().startswith('export ')]
    names = [line.split()[1].split('=')[0] for line in lines]
    say(r[0] == 0 and names == ['PATH', 'PYTHONPATH', 'PERL5LIB', 'PKG_CONFIG_PATH'],
        'a line is printed for each folder that is in no search path', r[1] + r[2])
    completion = [line for line in r[1].splitlines() if '# completion' in line]
    shells = [shell for shell in ('bash', 'zsh', 'fish') if shutil.which(shell, path=PLAIN['PATH'])]
    say(len(completion) == len(shells), 'and one for the completion of each installed shell',
        '%s\n%s' % (shells, r[1]))
    r = call(['sh', '-ec', '\n'.join(lines) + '\necho "$PATH $PYTHONPATH $PERL5LIB"'],
             PERL5LIB='/mine')
    say(r[1] == '/opt/sonde/bin:%s /opt/sonde/lib/sonde/python/module '
                '/opt/sonde/lib/sonde/perl/lib:/mine\n' % PLAIN['PATH'],
        'the lines keep the values that the variables have', r[1] + r[2])
    r = after('/usr', '/usr/bin', '/usr/lib/x86_64-linux-gnu', '', '', '/usr/share')
    say(r[:2] == (0, ''), 'nothing is printed if all folders are in search paths', r[1] + r[2])


def check_packages():
    """Without apt, tools/setup prints all packages by the names of each other package manager."""
    kept = ('sh', 'id', 'sort', 'tr', 'printf', 'echo', 'sed')
    manage = {'dnf': ('dnf install', 'elfutils-devel'), 'pacman': ('pacman -S --needed', 'libelf'),
              'zypper': ('zypper install', 'libcapstone-devel'), 'apk': ('apk add', 'samurai'),
              None: ("once (these are Debian's names)", 'libcapstone-dev')}
    for manager, (command, example) in manage.items():
        tools = temp / ('bin-%s' % manager)
        tools.mkdir()
        for name in kept:
            os.symlink(shutil.which(name), tools / name)
        if manager:
            (tools / manager).write_text('#!/bin/sh\necho "it ran: $*"\n')
            (tools / manager).chmod(0o755)
        r = call(['sh', str(ROOT / 'tools/setup'), 'build', 'test', 'fuzz', 'fmt'], PATH=str(tools))
        words = r[2].split()
        debian = ([w for w in words if w.endswith('-dev')] if manager in ('dnf', 'pacman', 'zypper')
                  else [])
        say(r[0] == 3 and command in r[2] and example in words and not debian and
            'it ran' not in r[1] + r[2],
            'without apt the packages are named for %s' % (manager or 'a person to find'),
            r[1] + r[2])


def check_uninstall():
    scripts = pathlib.Path(there(PREFIX + '/' + DATADIR + '/sonde/scripts'))
    (scripts / '__pycache__').mkdir(exist_ok=True)
    (scripts / '__pycache__/analysis.cpython-311.pyc').write_bytes(b'')
    mine = scripts / 'mine.py'
    mine.write_text('')
    foreign = pathlib.Path(there(PREFIX + '/bin/foreign'))
    foreign.write_text('')
    r = make('uninstall')
    left = [p for p in tree(dest) if not p.endswith(('mine.py', 'bin/foreign'))]
    say(r[0] == 0 and not left, 'make uninstall removes every file that was installed',
        '\n'.join(left[:20]) + r[1] + r[2])
    say(mine.exists() and foreign.exists() and 'mine.py' in r[1],
        'other files stay; those in the folders of sonde are named', r[1] + r[2])
    mine.unlink()
    foreign.unlink()
    r = make('uninstall')
    say(r[0] == 0 and 'nothing' in r[1], 'a second make uninstall says that nothing is installed',
        r[1] + r[2])


with tempfile.TemporaryDirectory() as folder:
    temp = pathlib.Path(folder)
    dest = temp / 'dest'
    r = install()
    say(r[0] == 0, 'install', r[1] + r[2] if r[0] else '')
    check_documents()
    check_manual()
    if call(['unshare', '--mount', '--map-root-user', 'mount', '--bind', there(PREFIX),
             PREFIX])[0] != 0:
        skip('modules, completion and docs/model.md',
             'nothing can be mounted over %s here' % PREFIX)
    else:
        check_modules()
        check_model()
        check_completion()
    check_paths()
    check_hints()
    check_packages()
    check_uninstall()
sys.exit(done())
