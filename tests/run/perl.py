# SPDX-License-Identifier: MIT
"""Perl: sonde run x.pl, live and over recordings, and Sonde->record().

    perl.py SONDE CALLS
"""
import os
import shutil
import signal
import subprocess
import sys

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
from command import CALLS, EVENT, script, sonde  # noqa: E402
from tap import SCRIPT_ENV, SONDE, Skip, case, few_symbols, need, run, same  # noqa: E402

SUB = EVENT.replace(':', '::')
NOBODY = 65534
LIB = os.path.join(os.path.dirname(SONDE), 'bindings', 'perl', 'lib')


def one_liner(code, *words, **keys):
    return sonde('run', *words[:words.index('--') if '--' in words else len(words)], '--lang',
                 'perl', '-e', code, *words[words.index('--') if '--' in words else len(words):],
                 **keys)


def program(text, *words, **keys):
    """Runs a Perl program that has nothing to do with sonde run."""
    p = subprocess.run(['perl', '-I' + LIB, '-MSonde', script('own.pl', text), *words],
                       env=SCRIPT_ENV, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                       timeout=200)
    same(p.returncode, keys.get('status', 0), p.stdout + p.stderr)
    return p.stdout


COUNTER = '''use strict;
use warnings;
my ($n, $last) = (0, 0);
print "top @ARGV\\n";
sub trace_begin { print "begin\\n" }
sub %s {
    my ($name, $context, $cpu, $secs, $nsecs, $pid, $comm) = @_;
    return if $comm ne 'calls';
    die "order" if $secs * 1e9 + $nsecs < $last;
    $last = $secs * 1e9 + $nsecs;
    $n++;
}
sub Helper::of_the_script { }
sub trace_end { print "calls $n\\n" }
''' % SUB


@case('a script gets each event of its subs, and the same over the recording that is kept')
def subs():
    file = script('counter.pl', COUNTER)
    p = sonde('run', '-o', 'kept.data', file, '--', CALLS, '-n', '5000', '--', 'a', 'b')
    same((sorted(p.stdout.splitlines()), p.stderr),
         (['5000', 'begin', 'calls 5000', 'top a b'], ''))
    p = sonde('run', '-i', 'kept.data', file, '--', 'a', 'b')
    same((p.stdout, p.stderr), ('top a b\nbegin\ncalls 5000\n', ''))


@case('the line "# sonde: record" adds events and options, and each event is recorded once')
def line():
    file = script('line.pl', '# sonde: record -e %s,sched:sched_switch -g -m 1M\n' % EVENT +
                  COUNTER + 'sub trace_unhandled { $n += 0 * @_ }\n')
    need('calls 700\n' in sonde('run', file, '--', CALLS, '-n', '700').stdout)
    same(sonde('run', '--dry-run', '-a', file).stdout.split('\n')[1],
         'sonde record --mmap-pages=1M -g --all-cpus -e %s,sched:sched_switch' % EVENT)
    file = script('line.pl', '# sonde: record -e syscalls:sys_enter_getpp*\n' + COUNTER)
    need('calls 700\n' in sonde('run', file, '--', CALLS, '-n', '700').stdout)


@case('-e runs a program, and messages name -e')
def code():
    end = ' sub trace_end { print "n $n\\n" }'
    sub = 'sub %s { $n++ }' % SUB
    need('n 30\n' in one_liner(sub + end, '-o', 'e.data', '--', CALLS, '-n', '30').stdout)
    same(one_liner(sub + end, '-i', 'e.data').stdout, 'n 30\n')
    same(one_liner('print "hello\\n"').stdout, 'hello\n')
    for text, says in (('die "oops"', 'oops at -e line 1'), ('1 +', 'at -e line 1'),
                       ('sub %s { die "oops" }' % SUB, 'oops at -e line 1')):
        p = one_liner(text, '--', CALLS, '-n', '3', status=1)
        need(says in p.stderr and '/proc' not in p.stderr, p.stderr)
    need(EVENT in p.stderr, p.stderr)


@case('exit() in a sub and the status of the command are passed on')
def statuses():
    one_liner('sub %s { exit 7 }' % SUB, '--', CALLS, '-n', '30', status=7)
    p = one_liner('sub %s { }' % SUB, '--', 'sh', '-c', 'exit 9')
    need('sh ended with status 9' in p.stderr, p.stderr)
    p = one_liner('sub %s { }' % SUB, '--', './nothing', status=127)
    need('nothing' in p.stderr, p.stderr)


@case('Ctrl-C and --for end the recording, and trace_end is called')
def ends():
    file = script('forever.pl', '$| = 1; sub trace_begin { print "begin\\n" }\nsub %s { }\n'
                  'sub trace_end { print "end\\n" }\n' % SUB)
    p = subprocess.Popen([SONDE, 'run', '-p', str(os.getpid()), file], env=SCRIPT_ENV, text=True,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    same(p.stdout.readline(), 'begin\n')
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=200)
    same((p.returncode, out, err), (0, 'end\n', ''))
    same(sonde('run', '-a', '--for', '200ms', file).stdout, 'begin\nend\n')
    p = sonde('run', '--for', '200ms', file, '--', 'sleep', '1000')
    same((p.stdout, p.stderr), ('begin\nend\n', ''))


@case('what cannot work is refused, and nothing starts')
def refused():
    for text, words, says in (
            ('sub syscalls::sys_enter_getppi { }', ('--', 'touch', 'started'), 'did you mean'),
            ('sub trace_end { }', ('--', 'touch', 'started'), 'needs no event'),
            ('sub %s { }' % SUB, (), 'say what to record'),
            ('sub %s { }' % SUB, ('--for', 'soon'), '--for takes'),
            ('# sonde: record -o x\nsub %s { }' % SUB, ('--', 'touch', 'started'), 'output')):
        p = sonde('run', *words[:-1] if words[:1] == ('--for',) else (),
                  *words[-1:] if words[:1] == ('--for',) else (), script('x.pl', text),
                  *words if words[:1] != ('--for',) else (), status=2)
        need(says in p.stderr, p.stderr)
        need(not os.path.exists('started'), 'the command ran')


@case('a sub or function that no event of a recording calls is reported before the start')
def uncalled():
    sonde('record', '-q', '-o', 'uncalled.data', '-e', EVENT, '--', CALLS, '-n', '3')
    for name, text, says in (
            ('un.pl', '$| = 1; sub trace_begin { print "begin\n" } sub %si {}' % SUB[:-1], SUB),
            ('un.py', 'def trace_begin(): print("begin", flush=True)\n'
             'def syscalls__sys_enter_getppi(*a): pass\n', EVENT.replace(':', '__'))):
        script(name, text)
        for words, first in ((('-i', 'uncalled.data'), True), (('-i', '-'), False)):
            p = subprocess.run('cat uncalled.data | %s run %s %s 2>&1' % (
                SONDE, ' '.join(words), name), shell=True, env=SCRIPT_ENV, text=True,
                stdout=subprocess.PIPE, timeout=200)
            lines = p.stdout.splitlines()
            same((p.returncode, len(lines), lines.index('begin')), (0, 2, 1 if first else 0),
                 p.stdout)
            need('never called' in p.stdout and 'did you mean ' + says in p.stdout, p.stdout)


@case('Sonde->record() is an open recording')
def record():
    out = program('''
my $r = Sonde->record(events => '%s', command => ['%s', '-n', '2000', '-t', '2'], output => 'p.data');
my ($n, $last, @kept) = (0, 0);
while (my $e = $r->next) {
    die if $e->time < $last || $e->comm ne 'calls';
    $last = $e->time;
    push @kept, $e if $n < 3;
    $n++;
}
print "$n ", $r->wait, ' [', $r->defects_line, "]\\n";
$r->close;
print join(' ', map { $_->name } @kept), "\\n";
my $copy = Sonde->open(input => 'p.data');
$n = 0;
$n++ while $copy->next;
print "$n\\n";
for my $bad ({ events => 'no:such', system => 1 }, { events => '%s' }, { system => 1 },
             { events => '%s', command => 'ls' }, { events => '%s', system => 1, filter => 'x == 1' },
             { events => '%s', command => ['./nothing'] }, { events => '%s', system => 1, nix => 1 }) {
    print eval { Sonde->record(%%$bad); 1 } ? "taken\\n" : '';
}
$r = Sonde->record(events => ['%s'], pid => $$, latency => 0.02);
getppid for 1 .. 5;
$r->stop;
$n = 0;
$n++ while $r->next;
print "$n\\n";
eval { $copy->stop } or print $@ =~ /no live/ ? "refused\\n" : $@;
undef $r;
$r = Sonde->record(events => '%s', command => ['sleep', '1000']);
''' % (EVENT, CALLS, *[EVENT] * 7))
    same(out, '4000\n4000 0 []\n%s\n4000\n5\nrefused\n' % ' '.join([EVENT] * 3))


@case('under sudo a script is the user\'s, and so is its command')
def sudo():
    os.chmod('.', 0o777)
    if not shutil.which('setpriv') or subprocess.run(
            ['setpriv', '--reuid', str(NOBODY), '--clear-groups', SONDE, 'version'],
            capture_output=True).returncode:
        raise Skip('this build does not run for other users')
    text = 'print "$< $> $(\\n"; ' + COUNTER.split('\n', 2)[2]
    p = sonde('run', script('who.pl', text), '--', 'sh', '-c', 'id -u; exec %s -n 50' % CALLS,
              SUDO_UID=str(NOBODY), SUDO_GID=str(NOBODY))
    lines = p.stdout.splitlines()
    same(lines[0].split()[:3], [str(NOBODY)] * 3, p.stdout)
    same(sorted(lines[1:]), sorted(['top ', 'begin', str(NOBODY), '50', 'calls 50']))
    p = sonde('run', script('own.pl', 'use Sonde; my $r = Sonde->record(events => "%s", command => '
                            '["%s", "-n", "20"], sudo => 1); my $n = 0; $n++ while $r->next; '
                            'print "$n\\n";' % (EVENT, CALLS)),
              SUDO_UID=str(NOBODY), SUDO_GID=str(NOBODY))
    same(p.stdout, '20\n20\n', p.stderr)


few_symbols()
run()
