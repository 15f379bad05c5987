#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""completion.py SONDE COMPLETION: completion of command lines in bash, zsh and fish on a terminal.

COMPLETION is the folder of the files for the shells. Each shell runs with its file in a folder with
a few files. The test types a line, a tab, and a key that makes the shell write the line and the
cursor to a file. Where namespaces are allowed, a few tracepoints of this test are mounted over
those of the machine.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from points import done, open_on_pty, read_pty, say, skip  # noqa: E402

SONDE, FILES = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
ROOT = FILES.parent.parent
DATA, SCRIPTS = ROOT / 'tests/data', str(ROOT / 'scripts')
EVENTS = ('sched:sched_switch', 'sched:sched_wakeup', 'sched:sched_waking', 'irq:irq_handler_entry',
          'page_pool:page_pool_release')
TAB, DUMP, LEFT = '\t', '\x18d', '\x02'


def behind(before, rest):
    """The line after a completion before a blank: a shell adds another blank, or moves before or
    behind the one there.
    """
    return {'bash': '%s| %s' % (before, rest), 'zsh': '%s | %s' % (before, rest),
            'fish': '%s |%s' % (before, rest)}


# (line, line after a tab), | is the cursor; a dict where the shells differ.
TABS = (
    ('scr|', 'sonde script |'),
    ('--comp|', 'sonde --compat |'),
    ('--compat perf-6.12 rec|', 'sonde --compat perf-6.12 record |'),
    ('help rec|', 'sonde help record |'),
    ('script --hide|', 'sonde script --hide-call-graph |'),
    ('script --format j|', 'sonde script --format jsonl |'),
    ('script --format=j|', 'sonde script --format=jsonl |'),
    ('list --format j|', 'sonde list --format json |'),
    ('script --clock rel|', 'sonde script --clock relative |'),
    ('record --call-graph d|', 'sonde record --call-graph dwarf |'),
    ('record --call-graph=l|', 'sonde record --call-graph=lbr |'),
    ('--compat n|', 'sonde --compat none |'),
    ('script -F code_|', 'sonde script -F code_page_size |'),
    ('script -F comm,code_|', 'sonde script -F comm,code_page_size |'),
    ('script -F +code_|', 'sonde script -F +code_page_size |'),
    ('script -F trace:code_|', 'sonde script -F trace:code_page_size |'),
    ('script --fields=comm,code_|', 'sonde script --fields=comm,code_page_size |'),
    ('script syscall-lat|', 'sonde script syscall-latency |'),
    ('script -s syscall-lat|', 'sonde script -s syscall-latency |'),
    ('script report syscall-lat|', 'sonde script report syscall-latency |'),
    ('script -i x.|', 'sonde script -i x.data |'),
    ('script -ix.|', 'sonde script -ix.data |'),
    ('script --input=x.|', 'sonde script --input=x.data |'),
    ('info x.|', 'sonde info x.data |'),
    ('info b|', 'sonde info b\\ c.data |'),
    ('info "b|', 'sonde info "b c.data" |'),
    ('info ~/x.|', 'sonde info ~/x.data |'),
    ('info $HOME/x.|', 'sonde info $HOME/x.data |'),
    ('script --input=sub|', 'sonde script --input=sub/|'),
    ('script --symfs s|', 'sonde script --symfs sub/|'),
    ('script --symfs=~/s|', 'sonde script --symfs=~/sub/|'),
    ('record sle|', 'sonde record sleep |'),
    ('stat rep|', 'sonde stat report |'),
    ('stat report --per-so|', 'sonde stat report --per-socket |'),
    ('script --symfs x|', 'sonde script --symfs x|'),
    ('script --pid x|', 'sonde script --pid x|'),
    ('record -e task-cl|', 'sonde record -e task-clock |'),
    ('record -e cpu-migrations,task-cl|', 'sonde record -e cpu-migrations,task-clock |'),
    ("record -e '{cpu-migrations,task-cl|", "sonde record -e '{cpu-migrations,task-clock' |"),
    ("record --event='{cpu-migrations,task-cl|", {
        'bash': "sonde record --event='{cpu-migrations,task-clock' |",
        'zsh': 'sonde record --event=\\{cpu-migrations,task-clock |',
        'fish': "sonde record --event='{cpu-migrations,task-clock' |"}),
    ('record -e "{cpu-migrations,task-cl|', 'sonde record -e "{cpu-migrations,task-clock" |'),
    ('record -e {cpu-migrations,task-cl|', {  # the shell's own braces
        'bash': 'sonde record -e {cpu-migrations,task-clock |',
        'zsh': 'sonde record -e {cpu-migrations,task-clock,|',
        'fish': 'sonde record -e {cpu-migrations,task-clock |'}),
    ('record -e \\{cpu-migrations,task-cl|', 'sonde record -e \\{cpu-migrations,task-clock |'),
    ('record --event=task-cl|', 'sonde record --event=task-clock |'),
    ('record -etask-cl|', 'sonde record -etask-clock |'),
    ('record -ae task-cl|', 'sonde record -ae task-clock |'),
    ('sc| -i x.data', behind('sonde script', '-i x.data')),
    ('script --form| -i x.data', behind('sonde script --format', '-i x.data')),
    ('record -e task-cl| -a', behind('sonde record -e task-clock', '-a')),
)
# Those that need tracepoints.
TRACEPOINTS = (
    ('record -e irq|', 'sonde record -e irq:irq_handler_entry |'),
    ('record -e sch|', 'sonde record -e sched:sched_|'),
    ('record -e page|', 'sonde record -e page|'),
    ('record -e page_|', 'sonde record -e page_pool:page_pool_release |'),
    ('record -e sched:sched_s|', 'sonde record -e sched:sched_switch |'),
    ('record --event=sched:sched_s|', 'sonde record --event=sched:sched_switch |'),
    ("record -e 'sched:sched_s|", "sonde record -e 'sched:sched_switch' |"),
    ('record -e "sched:sched_s|', 'sonde record -e "sched:sched_switch" |'),
    ("record --event='sched:sched_s|", {
        'bash': "sonde record --event='sched:sched_switch' |",
        'zsh': 'sonde record --event=sched:sched_switch |',
        'fish': "sonde record --event='sched:sched_switch' |"}),
    ('record -e sched:sched_switch,irq:|',
     'sonde record -e sched:sched_switch,irq:irq_handler_entry |'),
    ("record -e '{sched:sched_switch,irq|",
     "sonde record -e '{sched:sched_switch,irq:irq_handler_entry' |"),
    ("record -e '{sched:sched_switch,sch|", "sonde record -e '{sched:sched_switch,sched:sched_|"),
    ("record -e '{sched:sched_switch,irq:|",
     "sonde record -e '{sched:sched_switch,irq:irq_handler_entry' |"),
    ("record -e 'sched:*swi|", "sonde record -e 'sched:*swi*' |"),
    ("record -e 'sched:*|", "sonde record -e 'sched:*' |"),
    ("record -e 'sched:*x|", "sonde record -e 'sched:*x|"),
    ('record -e sched:sched_wak|', 'sonde record -e sched:sched_wak|'),
    ('record -e page_pool:|', 'sonde record -e page_pool:page_pool_release |'),
    ('cut -e sched:sched_s|', 'sonde cut -e sched:sched_switch |'),
    ('script --switch-on sched:sched_s|', 'sonde script --switch-on sched:sched_switch |'),
    ('list irq:|', 'sonde list irq:irq_handler_entry |'),
)

# Lines that have more than a call of sonde by its name.
COMMANDS = (
    ('cd sub && sonde scr|', 'cd sub && sonde script |'),
    ('A=1 sonde scr|', 'A=1 sonde script |'),
    ('sonde script | sonde scr|', 'sonde script | sonde script |'),
    ('./tool/sonde scr|', './tool/sonde script |'),
    ('~/tool/sonde scr|', '~/tool/sonde script |'),
    ('$HOME/tool/sonde scr|', '$HOME/tool/sonde script |'),
    ('sonde record --filter "a b" -e task-cl|', 'sonde record --filter "a b" -e task-clock |'),
    ('sonde script --time=1:2 -i x.|', 'sonde script --time=1:2 -i x.data |'),
)
# The recorded program has its own completion.
RECORDED = (
    ('sonde record -e cs -- sonde scr|', 'sonde record -e cs -- sonde script |'),
    ('sonde record --event=cs:u sonde script -i "b|',
     'sonde record --event=cs:u sonde script -i "b c.data" |'),
)
BASH_COMPLETION = '/usr/share/bash-completion/bash_completion'
# The lines of docs/man/sonde-perf-alias.1.scd.
ALIAS = {'bash': 'complete -F _sonde perf', 'zsh': 'compdef _sonde perf',
         'fish': 'complete -c perf -w sonde'}

SETUP = {
    'bash': r'''
PS1=; set +o history
bind 'set bell-style none'
bind 'set completion-query-items 0'
bind 'set page-completions off'
bind 'set enable-bracketed-paste off'
dump() { printf '%s|%s' "${READLINE_LINE:0:READLINE_POINT}" "${READLINE_LINE:READLINE_POINT}" >.line; mv .line line; READLINE_LINE=; READLINE_POINT=0; }
bind -x '"\C-xd": dump'
''',
    'zsh': r'''
PS1=; unset HISTFILE
fpath=($PWD/zsh $fpath)
autoload -Uz compinit; compinit -D -u
setopt complete_in_word
unsetopt beep list_beep auto_remove_slash
dump() { print -rn -- "$LBUFFER|$RBUFFER" >.line; mv .line line; BUFFER=; }
zle -N dump
bindkey -e; bindkey '^Xd' dump
''',
    'fish': r'''
set fish_greeting; function fish_prompt; end
set fish_features no-query-term
set fish_autosuggestion_enabled 0
function dump
	set -l line (commandline); set -l at (commandline -C)
	printf '%s|%s' (string sub -l $at -- $line) (string sub -s (math $at + 1) -- $line) >.line; mv .line line
	commandline ''
end
bind \cxd dump
''',
}


class Shell:
    """A shell on a terminal. start() gives its command line in a folder."""

    def __init__(self, name, folder, wrap):
        self.name, self.folder = name, folder
        setup = folder / ('setup.' + name)
        text = SETUP[name]
        if name == 'bash':
            text += '[ ! -e %s ] || . %s\n. %s\n' % (BASH_COMPLETION, BASH_COMPLETION,
                                                     FILES / 'sonde.bash')
        if name == 'fish':
            text += 'source %s\n' % (FILES / 'sonde.fish')
        setup.write_text(text)
        command = {'bash': ['bash', '--noprofile', '--rcfile', str(setup), '-i'],
                   'zsh': ['zsh', '-f', '-i'],
                   'fish': ['fish', '--no-config', '--init-command', 'source %s' % setup,
                            '-i']}[name]
        env = {'PATH': '%s:%s' % (folder / '.bin', os.environ['PATH']), 'HOME': str(folder),
               'LC_ALL': 'C.UTF-8', 'TERM': 'vt100', 'PERF_CONFIG': '/dev/null',
               'SONDE_CONFIG': '/dev/null', 'SONDE_SCRIPT_PATH': SCRIPTS}
        self.p, self.fd = open_on_pty(wrap + command, size=(50, 200), cwd=folder, env=env)
        if name == 'zsh':
            os.write(self.fd, b'. ./setup.zsh\n')

    def keys(self, text):
        """Types keys; returns the line with | at the cursor, None if the shell does not answer."""
        line = self.folder / 'line'
        line.unlink(missing_ok=True)
        os.write(self.fd, (text + DUMP).encode())
        self.shown = read_pty(self.fd, lambda out: line.exists())
        return line.read_text() if line.exists() else None

    def close(self):
        self.p.kill()
        self.p.wait()
        os.close(self.fd)


def check_line(shell, typed, want):
    """Types a line, | is the cursor, and a tab; expects the line `want`.

    False if the shell does not answer.
    """
    before, _, behind = typed.rpartition('|')
    got = shell.keys(before + behind + LEFT * len(behind) + TAB)
    say(got == want, '%s: %s' % (shell.name, typed), '' if got == want else 'got  %s\nwant %s\n%r' %
        (got, want, shell.shown))
    return got is not None


def check_shell(name, folder, wrap, tracepoints):
    if not shutil.which(name):
        skip('completion in ' + name, name + ' is not installed', may=False)
        return
    shell = Shell(name, folder, wrap)
    try:
        shell.keys('')  # returns when it has started
        for typed, want in TABS + (TRACEPOINTS if tracepoints else ()):
            if not check_line(shell, 'sonde ' + typed, want[name] if isinstance(want, dict)
                              else want):
                return
        for typed, want in COMMANDS:
            check_line(shell, typed, want)
        for typed, want in RECORDED:
            if name != 'bash' or os.path.exists(BASH_COMPLETION):
                check_line(shell, typed, want)
            else:
                skip('bash: ' + typed, 'bash-completion is not installed', may=False)
        shell.keys(ALIAS[name] + '\r')
        check_line(shell, 'perf rec|', 'perf record |')
        check_line(shell, 'perf script -F code_|', 'perf script -F code_page_size |')
    finally:
        shell.close()


def candidates(*words, **how):
    """The lines that `sonde help --complete` prints for the last of the words."""
    how.setdefault('env', dict(os.environ, SONDE_SCRIPT_PATH=SCRIPTS))
    r = subprocess.run([SONDE, 'help', '--complete', '--', *words], stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **how)
    return r.stdout.splitlines()


def check_candidates():
    def offered(words, want, name):
        got = candidates(*words.split(' '))
        say(got == want, name, '%s: %s' % (words, got))

    def offers(words, want, never, name):
        got = candidates(*words.split(' '))
        say(set(want) <= set(got) and not set(never) & set(got), name, '%s: %s' % (words, got))

    offers('', ['=record', '=script', '=check'], ['f', '=-v'], 'commands for the first word')
    offers('-', ['=-v', '=--compat', '=--version'], ['=record'],
           'options of every command before the command')
    offers('record -', ['=-e', '=--event', '=--call-graph', '=-v'], ['=--debug', '=--snapsho'],
           'a command has its options')
    offered('script --format ', ['=text', '=jsonl', '=blkparse', '=trace-cmd', '=babeltrace'],
            'formats of script')
    offered('info --format ', ['=text', '=json'], 'formats of lists')
    offered('script --clock ', ['=raw', '=relative', '=utc', '=local'], 'clocks')
    offered('record --call-graph ', ['=fp', '=dwarf', '=lbr'], 'ways to record call chains')
    offered('--compat ', ['=none', '=perf-6.1', '=perf-6.12'], 'tools to be compatible with')
    offered('script --compat ', ['=none', '=perf-6.1', '=perf-6.12'], 'the same after the command')
    offered('script --color ', candidates('script', ''), 'an optional value is not the next word')
    offered('script --color=', ['=--color=' + w for w in ('auto', 'always', 'never')],
            'it is attached')
    offered('record --threads=', ['=--threads=' + w for w in ('cpu', 'core', 'package', 'numa')],
            'placeholders of values are not offered')
    offered('script -g ', ['=python', '=perl'], 'languages')
    offers('script -s ', ['=syscall-latency', 'f'], ['=record'], 'scripts and files after -s')
    offers('script ', ['=syscall-latency', '=record', '=report', 'f'], [],
           'scripts, verbs and files after script')
    offered('script syscall-latency ', ['f'], 'files after a script')
    for words in ('script -i ', 'script -v -i ', 'script -vi ', 'script --inp ', 'check ',
                  'cut -o ', 'evlist ', 'record -a -o '):
        offered(words, ['f'], 'a file after: ' + words)
    for words in ('script --pid ', 'record -p ', 'script --max-stack ', 'check x.data ',
                  'script --time ', 'version ', 'nothing '):
        offered(words, [], 'no file after: ' + words)
    offered('script --symfs ', ['d'], 'a folder after --symfs')
    offered('perf-alias ', ['d'], 'a folder after perf-alias')
    offered('record ', ['c'], 'a program after record')
    offered('record -e cs -- ', ['c'], 'a program after --')
    offered('record ls ', ['w2'], "the program's own completion")
    offered('-v record -e cs -- ls -l ', ['w6'], "the program's own completion, after options")
    offered('record -- -', ['c'], 'no option after --')
    offered('stat ', ['=record', '=report', 'c'], 'verbs and programs after stat')
    offered('stat -a rec', ['=record', 'c'], 'the beginning of a verb after options')
    offered('stat record ', ['c'], 'a program after stat record')
    offered('stat record -o x ls ', ['w5'], "the program's own completion after stat record")
    offered('stat ls report ', ['w2'], 'a program is no verb')
    offered('stat report ', [], 'stat report takes no words')
    offered('stat report -i ', ['f'], 'a file after stat report -i')
    offered('stat rep -x ', [], 'the separator of stat report is anything')
    offers('stat report -', ['=-i', '=--input', '=--per-core', '=-v'], ['=-e', '=--repeat'],
           'stat report has its own options')
    offers('stat record -', ['=-e', '=--repeat'], ['=--input'], 'stat record has those of stat')
    offers('stat record -e task-cl', ['=task-clock'], [], 'events after stat record -e')
    offers('script -F ', ['=comm', '=pid', '=ip', '=brstack'], ['f'], 'columns')
    offers('script -F ', ['+trace:', '+hw:'], [], 'classes of events')
    offers('script -F comm,', [], ['+comm,trace:'], 'no class in mid-list')
    offers('script -s python:sysc', ['=python:syscall-latency', 'fpython:'], [],
           'scripts after a language')
    offers('script -F trace:comm,+', ['=trace:comm,+ip'], [], 'more columns of a class')
    offers('record -e ', ['=cpu-clock', '=cs', '=page-faults'], ['f'], 'events after -e')
    offers('record -e {cs,', ['={cs,cpu-clock'], [], 'events of a group')
    offers('record -gecpu-cl', ['=-gecpu-clock'], [], 'events after a cluster of letters')


def check_recorded(folder):
    """Commands that read a recording complete the values of -e with its events."""
    demo = str(DATA / 'demo.data')
    want = subprocess.run([SONDE, 'evlist', demo], stdout=subprocess.PIPE, text=True,
                          check=True).stdout.split()
    want = ['=' + name for name in want if ':' in name and name != 'Tip:']
    for words in (['cut', '-i', demo, '-e', ''], ['cut', '--input=' + demo, '-e', ''],
                  ['cut', '-i' + demo, '-e', ''],
                  ['cut', demo, '-e', ''], ['heatmap', '-i', demo, ''],
                  ['script', '-vi', demo, '--switch-on', '']):
        got = candidates(*words)
        say(sorted(got) == sorted(want) and want,
            'events of the recording: %s' % ' '.join(words).replace(demo, 'X'), repr((got, want)))
    shutil.copy(demo, folder / 'perf.data')
    got = candidates('script', '--switch-on', '', cwd=folder)
    say(sorted(got) == sorted(want), 'events of perf.data', repr(got))
    for command in 'record', 'stat':
        got = candidates(command, '-e', 'task-cl', cwd=folder)
        say(got == ['=task-clock'], command + ' completes with events of the machine', repr(got))
    hostile = pathlib.Path(demo).read_bytes().replace(b'sched_wakeup', b'$(reboot)\x1b]0')
    (folder / 'perf.data').write_bytes(hostile)
    got = candidates('cut', '-e', '', cwd=folder)
    say(got == [name for name in want if name != '=sched:sched_wakeup'],
        'names that a shell would execute are left out', repr(got))
    os.mkfifo(folder / 'perf.fifo')
    got = candidates('cut', '-i', str(folder / 'perf.fifo'), '-e', 'task-cl', timeout=600)
    say(got == ['=task-clock'], 'a FIFO is not opened', repr(got))
    (folder / 'perf.data').unlink()
    (folder / 'perf.fifo').unlink()


def check_scripts(folder):
    """Scripts in the folders of the user's configuration."""
    (folder / 'mine').mkdir()
    (folder / 'mine/my-own.py').write_text('def trace_end(): pass\n')
    (folder / 'mine/library.py').write_text('x = 1\n')
    (folder / 'config').write_text('[script]\n\tpath = %s\n' % (folder / 'mine'))
    env = dict(os.environ, SONDE_CONFIG=str(folder / 'config'))
    got = candidates('script', '-s', '', env=env)
    say('=my-own' in got and '=library' not in got and len(set(got)) == len(got),
        "scripts of the user's own folder", repr(got))
    (folder / 'config').write_text('[script\n')
    got = candidates('script', '-s', 'sysc', env=env)
    say(not any('config' in line for line in got), 'a wrong configuration is not reported here',
        repr(got))


def check_without_rights(folder):
    """A user who may not read tracepoints."""
    shutil.copy(SONDE, folder / 'copy')
    folder.chmod(0o755)
    how = {'user': 65534} if os.geteuid() == 0 else {}
    for words in (['record', '-e', ''], ['record', '-e', 'c'], ['record', '-e', 'sched:'],
                  ['record', '-e', 'sched:*']):
        r = subprocess.run([folder / 'copy', 'help', '--complete', '--', *words],
                           stdin=subprocess.DEVNULL, capture_output=True, text=True, **how)
        lines = r.stdout.splitlines()
        ok = ('=cpu-clock' in lines and '=cs' in lines) if ':' not in words[-1] else not lines
        say(ok and not r.stderr and r.returncode == 0 and
            not any(line[1:].startswith('sched') for line in lines),
            'without rights on tracefs: ' + ' '.join(words), '%s%s' % (lines, r.stderr))


def make_folder(folder):
    (folder / '.bin').mkdir()
    (folder / 'zsh').mkdir()
    (folder / 'sub').mkdir()
    (folder / 'tool').mkdir()
    for link in ('.bin/sonde', '.bin/perf', 'tool/sonde'):
        os.symlink(SONDE, folder / link)
    os.symlink(FILES / 'sonde.zsh', folder / 'zsh/_sonde')
    for name in ('x.data', 'y.py', 'b c.data'):
        (folder / name).write_text('')
    for event in EVENTS:
        at = folder / 'tracing/events' / event.replace(':', '/')
        at.mkdir(parents=True)
        (at / 'id').write_text('1\n')
    (folder / 'tracing/events/header_page').write_text('')


def main():
    with tempfile.TemporaryDirectory(prefix='sonde-completion-') as name:
        folder = pathlib.Path(name)
        make_folder(folder)
        wrap = ['unshare', '--mount', '--map-root-user', 'sh', '-c',
                'mount --bind "$0" /sys/kernel/tracing && exec "$@"', str(folder / 'tracing')]
        tracepoints = subprocess.run(wrap + ['true'], capture_output=True).returncode == 0
        if not tracepoints:
            skip('names of tracepoints', "nothing can be mounted over this machine's tracepoints")
        check_candidates()
        check_recorded(folder)
        check_scripts(folder)
        check_without_rights(folder)
        for shell in sys.argv[3:] or ('bash', 'zsh', 'fish'):
            check_shell(shell, folder, wrap if tracepoints else [], tracepoints)
    return done()


sys.exit(main())
