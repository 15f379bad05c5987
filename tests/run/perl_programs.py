# SPDX-License-Identifier: MIT
"""Programs of handlers in Perl: each gives what the same program gives in Python, live and over
recordings.

    perl_programs.py SONDE CALLS
"""
import json
import os
import re
import signal
import subprocess
import sys

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
from command import CALLS, EVENT, EXIT, script, sonde  # noqa: E402
from tap import SCRIPT_ENV, SONDE, case, few_symbols, need, run, same  # noqa: E402


def perl(code, *words, **keys):
    return sonde('run', '--lang', 'perl', '-e', code, *words, **keys)


def record(file, *words):
    sonde('record', '-q', '-o', file, '-e', 'syscalls:sys_*_getppid', *words, '--', CALLS, '-n',
          '300')


# (Perl, Python): their output is equal, and so is what they print as JSON.
TABLE = (
    ('count "EVENT", by => "comm"', 'count("EVENT", by="comm")'),
    ('count "syscalls:*", by => "name"', 'count("syscalls:*", by="name")'),
    ('count "EVENT", by => ["comm", "pid"], limit => 3',
     'count("EVENT", by=("comm", "pid"), limit=3)'),
    ('sum "EXIT", "ret", by => "comm,tid", where => "ret > 0"',
     'sum("EXIT", "ret", by="comm,tid", where="ret > 0")'),
    ('stats "EXIT", "ret"', 'stats("EXIT", "ret")'),
    ('hist "EXIT", "ret"', 'hist("EXIT", "ret")'),
    ('hist "EXIT", "ret", linear => [0, 1000, 500]', 'hist("EXIT", "ret", linear=(0, 1000, 500))'),
    ('lhist "EXIT", "ret", 0, 100000, 50000, by => "cpu"',
     'lhist("EXIT", "ret", 0, 100000, 50000, by="cpu")'),
    ('hist pair("EVENT", "EXIT"), "ns", by => "comm"',
     'hist(pair("EVENT", "EXIT"), "ns", by="comm")'),
    ('count "EVENT", every => 0.0001', 'count("EVENT", every=0.0001)'),
    ('my $c = count "EVENT", quiet => 1; at_end { print $c->total, "\\n"; $c->clear; '
     'print $c->total, "\\n" }',
     'c = count("EVENT", quiet=True)\n@end\ndef f():\n print(c.total)\n c.clear()\n '
     'print(c.total)'),
    ('my $c = count "EVENT", by => "comm"; at_end { $c->print(top => 1) }',
     'c = count("EVENT", by="comm")\n@end\ndef f(): c.print(top=1)'),
    ('my $c = sum "EXIT", "ret", by => "comm", quiet => 1; '
     'at_end { print $c->value("calls"), "\\n" }',
     'c = sum("EXIT", "ret", by="comm", quiet=True)\n@end\ndef f(): print(c["calls"])'),
    ('on "EXIT", filter => "ret > 0", fields => [qw(ret cpu comm)], sub { print "@_[1..3]\\n" }',
     '@on("EXIT", filter="ret > 0")\ndef f(e, ret, cpu, comm): print(ret, cpu, comm)'),
    ('on ["EVENT", "EXIT"], sub { my ($e) = @_; '
     'print join(" ", $e->name, $e->time, $e->tid), "\\n" }',
     '@on(["EVENT", "EXIT"])\ndef f(e): print(e.name, e.time, e.tid)'),
    ('on "sys_*_getppid", filter => "ret > 0", sub { print $_[0]->name, "\\n" }',
     '@on("sys_*_getppid", filter="ret > 0")\ndef f(e): print(e.name)'),
    ('on pair("EVENT", "EXIT"), fields => "ns", sub { print "$_[1]\\n" }',
     '@on(pair("EVENT", "EXIT"))\ndef f(e, ns): print(ns)'),
    ('my $n = 0; on "EVENT", sub { $n++ }; every 0.0001, sub { print "$n\\n" }; '
     'begin { print "begin\\n" }; at_end { print "end $n\\n" }',
     'n = []\n@on("EVENT")\ndef f(e): n.append(1)\n@every(0.0001)\ndef g(): print(len(n))\n'
     '@begin\ndef b(): print("begin")\n@end\ndef h(): print("end", len(n))'),
    ('my $n = 0; every 0.0001, sub { $n++ }; at_end { print $n > 0 ? "ticks\\n" : "none\\n" }',
     'n = []\nevery(0.0001, lambda: n.append(1))\n@end\ndef f(): print("ticks" if n else "none")'),
    ('print "@ARGV ", is_live() ? 1 : 0, " ", target() // "none", "\\n"; count "EVENT"',
     'print(*args, int(is_live), str(target).lower())\ncount("EVENT")'),
)


def named(code):
    return code.replace('EVENT', EVENT).replace('EXIT', EXIT)


@case('a program prints what its twin in Python prints')
def twins():
    record('twins.data')
    for mine, other in TABLE:
        for form in ('text', 'json'):
            words = ('-i', 'twins.data', '--format', form)
            p = perl(named(mine), *words, '--', 'a', 'b')
            q = sonde('run', '-e', named(other), *words, '--', 'a', 'b')
            same((p.stdout, p.stderr), (q.stdout, q.stderr), mine)
            need(p.stdout, mine)


FUNCTIONS = 'on every begin end at_end lost pair count sum stats hist lhist'
BINDINGS = os.path.join(os.path.dirname(SONDE), 'bindings')


def own(name, text):
    """The output of a program that calls the module by itself, in Perl or in Python."""
    argv = ['perl', '-I' + BINDINGS + '/perl/lib'] if name.endswith('.pl') else [sys.executable]
    p = subprocess.run(argv + [script(name, text)], capture_output=True, text=True, timeout=200,
                       env=dict(SCRIPT_ENV, PYTHONPATH=BINDINGS + '/python/module'))
    same(p.returncode, 0, p.stdout + p.stderr)
    return p


@case('$session->run does what Recording.run() does in Python, each time it is called')
def run_itself():
    record('own.data')
    for mine, other in TABLE[:-1]:
        p = own('own.pl', 'use strict; use warnings; use Sonde ":all"; %s; my $s = Sonde->open('
                'input => "own.data"); print $s->run, "\\n" for 1, 2;' % named(mine))
        q = own('own.py', 'import sonde\nfrom sonde import %s\n%s\ns = sonde.open("own.data")\n'
                'for i in 1, 2: print(s.run())\n' % (FUNCTIONS.replace(' ', ', '), named(other)))
        same((p.stdout, p.stderr), (q.stdout, q.stderr), mine)


RUNS = '''use strict;
use warnings;
use Sonde ':all';
my $n = 0;
on 'EVENT', sub { $n++ };
on pair('EVENT', 'EXIT'), fields => ['ns'], sub { $n += 1000 };
at_end { print "n $n\\n" };
sub try { my ($what) = @_; eval { $what->(); 1 } or print $@ }
my $live = Sonde->record(events => ['EVENT', 'EXIT'], command => [@ARGV]);
try(sub { $live->run });
$live = Sonde->record(events => 'EVENT', command => [@ARGV]);
{
    package Live;
    use Sonde ':all';
    count 'EVENT', by => 'comm';
    print $live->run, ' ', $live->wait, "\\n";
    main::try(sub { $live->run });
    $live->close;
    main::try(sub { $live->run });
}
print Sonde->open(input => '-')->run, "\\n";
package Other;
use Sonde ':all';
my $s = Sonde->open(input => 'own.data');
print $s->run('Nobody'), "\\n";
on 'EVENT', sub { eval { exit_with(7) } };
print $s->run, ' ', defined $s->next ? 'more' : 'none', "\\n";
package Dies;
use Sonde ':all';
on 'EXIT', sub { die "oops\\n" };
main::try(sub { $s->run });
package Fields;
use Sonde ':all';
on 'EVENT', fields => ['__syscall_n'], sub { };
main::try(sub { $s->run });
package Names;
use Sonde ':all';
on 'syscalls:sys_enter_getppi', sub { };
main::try(sub { $s->run });
package Conditions;
use Sonde ':all';
count 'EXIT', where => 'ret >';
main::try(sub { $s->run });
package Keys;
use Sonde ':all';
main::try(sub { every 0, sub { } });
'''


@case('$session->run takes live recordings and pipes once, and the part of its package')
def run_parts():
    record('own.data')
    file = script('runs.pl', named(RUNS))
    p = subprocess.run('cat own.data | perl -I%s/perl/lib %s %s -n 40' % (BINDINGS, file, CALLS),
                       shell=True, capture_output=True, text=True, timeout=200, env=SCRIPT_ENV)
    lines = iter(line for line in p.stdout.splitlines() if line != '40')  # the command's
    for expected in (
            'n 40040', 'count of EVENT by comm', 'comm   count', 'calls     40', '0 0',
            'a live recording can be read only once: handle all events in one loop, or open the '
            'copy that record(output => FILE) makes at runs.pl line 17.',
            'run: the session is closed at runs.pl line 19.', 'n 340340', '0', '0', '7 more',
            'oops', "runs.pl:34: on(): EVENT has no field '__syscall_n'; did you mean "
            "'__syscall_nr'? at runs.pl line 35.",
            "the recording has no event 'syscalls:sys_enter_getppi'; did you mean "
            'syscalls:sys_enter_getppid or syscalls:sys_exit_getppid? at runs.pl line 39.'):
        same(next(lines, None), named(expected), p.stdout + p.stderr)
    need('ret >' in p.stdout and 'every: a period is' in p.stdout, p.stdout)
    same((p.returncode, p.stderr), (0, ''))


@case('what is recorded is what the twin in Python records')
def needed():
    for mine, other in (
            ('on "EVENT", filter => "common_pid > 0", callchain => 1, sub {}',
             'on("EVENT", "common_pid > 0", callchain=True)(print)'),
            ('on "EVENT", filter => "common_pid > 0", sub {}; on "EVENT", filter => '
             '"common_pid == 0", sub {}; count "EVENT", where => "common_pid > 0"',
             'on("EVENT", "common_pid > 0")(print)\non("EVENT", "common_pid == 0")(print)\n'
             'count("EVENT", where="common_pid > 0")'),
            ('count "syscalls:sys_enter_getp*"; count "syscalls:*_getppid"; count "EVENT"',
             'count("syscalls:sys_enter_getp*")\ncount("syscalls:*_getppid")\ncount("EVENT")'),
            ('count "syscalls:sys_*_getppid", where => "ret > 0"',
             'count("syscalls:sys_*_getppid", where="ret > 0")'),
            ('count "page-faults", by => ["addr", "cgroup", "kstack"]',
             'count("page-faults", by=("addr", "cgroup", "kstack"))'),
            ('hist pair("EVENT", "EXIT"), "ns"; on "cpu-clock:u", sub {}',
             'hist(pair("EVENT", "EXIT"), "ns")\non("cpu-clock:u", print)'),
            ('on "sched:sched_s*", fields => ["next_pid"], sub {}',
             '@on("sched:sched_s*")\ndef f(e, next_pid): pass')):
        p, q = (sonde('run', '--dry-run', '-a', '-e', named(code), *words).stdout
                for code, words in ((mine, ('--lang', 'perl')), (other, ())))
        # the order of settings is that of each language
        same(*[sorted(re.split(r' (?=-)', out.strip())) for out in (p, q)])


COUNTER = '''use strict;
use warnings;
use Sonde qw(on begin at_end every lost count);
my ($n, $last) = (0, 0);
begin { print "begin @ARGV\\n" };
on "EVENT", sub {
    my ($e) = @_;
    die "order" if $e->time < $last;
    $last = $e->time;
    $n++;
};
lost { print "lost\\n" };
at_end { print "calls $n\\n" };
'''


@case('handlers get each event, and the same over the recording that is kept')
def handlers():
    file = script('counter.pl', named(COUNTER) + 'count "%s", by => "comm";\n' % EVENT)
    p = sonde('run', '-o', 'kept.data', file, '--', CALLS, '-n', '5000', '--', 'a', 'b')
    counts = 'count of %s by comm\ncomm   count\ncalls   5000\n' % EVENT
    same((p.stdout, p.stderr), ('5000\nbegin a b\ncalls 5000\n' + counts, ''))
    p = sonde('run', '-i', 'kept.data', file, '--', 'a', 'b')
    same((p.stdout, p.stderr), ('begin a b\ncalls 5000\n' + counts, ''))
    p = sonde('script', '-i', 'kept.data', file, 'a', 'b')
    same((p.stdout, p.stderr), ('begin a b\ncalls 5000\n' + counts, ''))
    p = sonde('run', script('only.pl', named('use Sonde ":all"; count "EVENT", by => "comm";')),
              '--', CALLS, '-n', '20000')
    need('calls  20000\n' in p.stdout, p.stdout)


@case('timers fire in time on a quiet machine, and --for, Ctrl-C and the command end a run')
def ends():
    tick = 'my $n = 0; every 0.05, sub { $n++ }; at_end { print "ticks $n\\n" }; '
    for code, words in ((tick, ()), (tick + named('on "EVENT", sub {};'), ('-p', str(os.getpid()))),
                        (tick + 'count "dummy", quiet => 1', ('-p', str(os.getpid())))):
        n = int(perl(code, '--for', '1s', *words).stdout.split('ticks ')[1])
        need(2 <= n <= 30, n)  # a busy machine misses some; the end takes a moment, too
    n = int(perl(tick, '--', 'sleep', '1').stdout.split('ticks ')[1])
    need(2 <= n <= 40, n)
    for code in ('begin { $| = 1; print "begin\\n" }; at_end { print "end\\n" }; ' + more
                 for more in (named('on "EVENT", sub {}'), 'every 100, sub {}')):
        p = subprocess.Popen([SONDE, 'run', '-p', str(os.getpid()), '--lang', 'perl', '-e', code],
                             env=SCRIPT_ENV, text=True, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        same(p.stdout.readline(), 'begin\n')
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=200)
        same((p.returncode, out, err), (0, 'end\n', ''))


@case('timers fire in time while the script has SIGALRM for itself')
def alarms():
    code = ('use Time::HiRes qw(alarm time); my ($n, $alarms, $first) = (0, 0); '
            '$SIG{ALRM} = sub { $alarms++; alarm 0.2 }; alarm 0.2; '
            'every 0.02, sub { $first //= time; exit_with() if $n++ == 30 }; '
            'at_end { print "$alarms ", time - $first, "\\n" }; ')
    for more in ('', named('on "EVENT", sub {};'), named('count "EVENT", quiet => 1')):
        out = perl(code + more, '-p', str(os.getpid())).stdout
        alarms, seconds = map(float, out.split())
        need(alarms >= 2 and seconds < 2, (more, out))  # 3 if each wait takes 100 ms


@case('exit_with() ends the run with its status, after the subs of at_end, also in an eval')
def exits():
    record('exit.data')
    for code in ('on "EVENT", sub { exit_with(7) }', 'on "EVENT", sub { eval { exit_with(7) } }',
                 'count "EVENT", quiet => 1; every 0.00001, sub { exit_with(7) }',
                 'begin { exit_with(7) }; count "EVENT", quiet => 1'):
        for words in (('-i', 'exit.data'), ('--', CALLS, '-n', '50')):
            out = perl(named(code) + '; at_end { print "end\\n" }', *words, status=7).stdout
            same(out.replace('50\n', ''), 'end\n', code)


@case('an error names its event, and a child that a handler forks gets no further event')
def errors():
    p = perl(named('on "EVENT", sub { die "oops" }'), '--', CALLS, '-n', '3', status=1)
    need('oops at -e line 1' in p.stderr and EVENT in p.stderr, p.stderr)
    p = perl(named('my $n = 0; on "EVENT", sub { $n++; fork if $n == 2 }; '
                   'at_end { print "n $n\\n" }; count "EVENT"'), '--', CALLS, '-n', '300')
    same(p.stdout.replace('300\n', '', 1), 'n 300\ncount of %s\ncount\n  300\n' % EVENT)


@case('losses are reported once')
def losses():
    file = script('losses.pl', named('''# sonde: record -m 1
use Sonde qw(on lost at_end);
my ($n, $gone) = (0, 0);
on "EVENT", sub { $n++ };
lost { $gone += $_[0] };
at_end { print "sum ", $n + $gone, "\\n" };
'''))
    p = sonde('run', '-o', 'losses.data', file, '--', CALLS, '-n', '200000')
    need(p.stdout.endswith('sum 200000\n'), p.stdout)
    need(sonde('run', '-i', 'losses.data', file).stdout.endswith('sum 200000\n'), 'recording')


@case('what cannot work is refused with its line, and nothing starts')
def refused():
    for code, says in (
            ('on "syscalls:sys_enter_getppi", sub {}', 'did you mean'),
            ('on "EVENT", fields => ["__syscall_n"], sub {}', "did you mean '__syscall_nr'?"),
            ('sum "EVENT", "nope"', "no field 'nope'"),
            ('count "syscalls:sys_*_getppid", where => "nope > 0"', "has a field 'nope'"),
            ('on "EVENT", filter => "nope > 0", sub {}', 'nope'),
            ('every 0, sub {}', '-e:1: every'), ('on "EVENT"', '-e:1: on() needs a sub'),
            ('count "EVENT", bye => 3', "-e:1: count() takes no 'bye'; did you mean 'by'?"),
            ('count "EVENT", every => 1, quiet => 1', '-e:1: quiet'),
            ('hist "EVENT"', '-e:1: hist() needs the name of a field'),
            ('lhist "EVENT", "ret", 0, 1.5, 1', '-e:1: a linear'),
            ('on "EVENT", sub {}; sub syscalls::sys_enter_getpid {}', 'use on() for all'),
            ('at_end {}', 'needs no event')):
        p = perl(named(code), '--', 'touch', 'started', status=2)
        need(says in p.stderr and p.stderr.startswith('sonde: '), p.stderr)
        need(not os.path.exists('started'), 'the command ran')
    record('few.data')
    p = perl(named('begin { print "begun" }; on "EVENT", fields => ["nope"], sub {}'), '-i',
             'few.data', status=2)
    same((p.stdout, "no field 'nope'" in p.stderr), ('', True), p.stderr)
    p = sonde('run', script('names.pl', 'use Sonde qw(onn);'), '-a', status=1)
    need("did you mean 'on'" in p.stderr, p.stderr)


@case('rows have the values that are printed')
def rows():
    record('rows.data')
    code = named('my $s = stats "EXIT", "ret", by => "comm", quiet => 1; '
                 'my $h = hist "EXIT", "ret", quiet => 1; at_end { my ($r) = $s->rows; '
                 'my ($low, $high, $n) = @{ $h->value->[0] }; print "@{$r->{keys}} $r->{count} ", '
                 '$r->{min} == $r->{max} && $r->{mean} == $r->{p99} && $r->{sum} == 300 * '
                 '$r->{mean} && $low <= $r->{min} && $r->{min} <= $high ? "ok" : "wrong", '
                 '" $n\\n" }')
    same(perl(code, '-i', 'rows.data').stdout, 'calls 300 ok 300\n')
    out = perl(named('count "EVENT", by => "comm"'), '--format', 'json', '--', CALLS, '-n', '12')
    rows = [json.loads(line) for line in out.stdout.splitlines() if line.startswith('{')]
    same(rows[0]['rows'], [{'keys': {'comm': 'calls'}, 'count': 12}])


@case('the one-liners of the page work')
def page():
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    with open(os.path.join(root, 'docs', 'one-liners.md')) as f:
        codes = re.findall(r"^sonde run -a --lang perl -e '(.*)'$", f.read(), re.M)
    same(len(codes), 4)
    reads = ['sh', '-c', 'dd if=/dev/zero of=/dev/null bs=1000 count=50 2>/dev/null']
    for code in codes:
        out = perl(code, '--', *reads).stdout
        need(' of ' in out or 'block' in code, out)


few_symbols()
run()
