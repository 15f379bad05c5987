# SPDX-License-Identifier: MIT
"""Scripts in Perl: arguments of subs, order of calls, errors; compared with stock perf if it is
installed."""

import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import threading

import scripttest
from scripttest import (CHAINS, DEMO, EXEC, FLAGS, FRAMES, HERE, MIXED, SONDE, TYPES, Tests,
                        environment, perf_version, run)

sys.path.insert(0, os.path.join(os.path.dirname(HERE), "gen"))
from recording import Format, recording  # noqa: E402

SCRIPTS = os.path.join(os.path.dirname(os.path.dirname(HERE)), "scripts")
PERFS = "/usr/lib/perf-core/scripts/perl"
# Each process orders hashes differently, so keys are sorted; perf crashes at events with flags
# unless Core is loaded.
STEADY = {"PERL_HASH_SEED": "0", "PERL_PERTURB_KEYS": "0"}
CORE = ("use lib \"$ENV{PERF_EXEC_PATH}/scripts/perl/Perf-Trace-Util/lib\"; use "
        "Perf::Trace::Core; use Perf::Trace::Context;\n")

t = Tests()


def script(text, data=DEMO, args=(), compat=None, **more):
    return t.script(text, data, args, compat, both=False, name="script.pl", env=STEADY, **more)


def like_perf(text, name, data=DEMO, args=()):
    version = perf_version()
    if not version or not version.startswith("6.1."):
        return t.skip(name, "no perf 6.1")
    path = t.write("script.pl", text)
    env = environment(**STEADY)
    for v in ("LD_PRELOAD", "ASAN_OPTIONS"):
        env.pop(v, None)
    theirs = run(["perf", "script", "-i", data, "-s", path] + list(args), None, env, t.dir)
    ours = script(text, data, args, "perf-6.1")
    return t.ok((ours.out, ours.rc) == (theirs.out, theirs.rc), name, *t.difference(ours, theirs))


if not os.path.exists(os.path.join(os.path.dirname(SONDE), "bindings", "perl", "lib", "Sonde.pm")):
    t.skip("scripts in Perl", "the extension was not built: no headers of perl (libperl-dev)")
    t.done()

# ---- what a script finds when it starts, and the order of calls --------------------------------

r = script(r"""#!/usr/bin/perl -w
package Other; sub trace_begin { print "never\n" } package main;
print "top @ARGV ", $0 eq __FILE__ ? 'named' : $0, ' ', defined caller() ? 'called' : 'main', ' ', $^W, "\n";
print <DATA>;
BEGIN { print "compiled\n" }
END { print "END $?\n" }
my $n = 0;
sub trace_begin { print "begin ", scalar(@_), "\n" }
sub trace_unhandled { print "$_[0] ", scalar(@_), "\n" if !$n++ }
sub trace_end { print "end $n\n" }
__END__
data
""", args=["a", "b c"])
t.is_(r.out, """compiled
top a b c named main 1
data
begin 0
syscalls::sys_enter_read 12
end 474
END 0
""", "the order is: top level, trace_begin, events, trace_end, END blocks", r)
t.is_((r.err, r.rc), ("", 0), "a script without mistakes causes no message")
r = script("exit 3; sub trace_begin { print 'never' } END { print 'END' }")
t.is_((r.out, r.rc), ("END", 3), "exit in the script's own statements: no events", r)
r = script("die \"no\\n\"; sub trace_begin { print 'never' }")
t.ok(r.rc == 1 and r.out == "" and r.err == "no\n", "die in the script's own statements: no events",
     r)
r = script("sub trace_begin { print 'x' } }")
t.ok(r.rc == 1 and not r.out and "syntax error" in r.err and "script.pl line 1" in r.err,
     "perl prints the message about a syntax error", r)
r = script("use strict; $x = 1;")
t.ok(r.rc == 1 and "Global symbol" in r.err, "perl prints the message about what strict forbids", r)
r = script("local $SIG{__DIE__} = sub { print \"dying: $_[0]\" }; sub sched::sched_switch { die "
           "\"here\\n\" } sub trace_end { print 'never' } END { print \"END $?\\n\" }")
t.ok(r.rc == 1 and r.out == "END 1\n" and r.err.startswith("here\n"),
     "die in a sub ends the run, END blocks see the status", r)

# ---- statuses of scripts that fail: by default, and under --compat, where perf has the same ----

USED = "sub trace_unhandled {} sub process_event {}\n"
ENDINGS = [("a module that is missing", "use No::Such;", 1, 255),
           ("a module that require cannot find", "require No::Such;", 1, 255),
           ("a syntax error", "sub x { } }", 1, 255), ("strict", "use strict; $x = 1;", 1, 255),
           ("die at the top", "$! = 5; die \"no\\n\"", 1, 255),
           ("die in BEGIN", "BEGIN { die \"no\\n\" }", 1, 255),
           ("die in trace_begin", "sub trace_begin { die \"no\\n\" }", 1, 255),
           ("die in a handler", "sub sched::sched_switch { die \"no\\n\" }", 1, 2),
           ("die in a handler with an error number",
            "sub sched::sched_switch { $! = 9; die \"no\\n\" }", 1, 9),
           ("die in trace_unhandled", "sub trace_unhandled { die \"no\\n\" }", 1, 2),
           ("die in process_event", "sub process_event { die \"no\\n\" }", 1, 2),
           ("a module that a handler cannot find", "sub sched::sched_switch { require No::Such }",
            1, 2),
           ("die in trace_end", USED + "sub trace_end { die \"no\\n\" }", 1, 2),
           ("exit at the top", "exit 7;", 7, 255), ("exit in BEGIN", "BEGIN { exit 7 }", 7, 255),
           ("exit in a handler", "sub sched::sched_switch { exit 7 }", 7, 7),
           ("exit in trace_begin", "sub trace_begin { exit 7 }", 7, 7),
           ("exit 0 in a handler", "sub sched::sched_switch { exit }", 0, 0),
           ("exit in an eval", "sub sched::sched_switch { eval { eval 'exit 7'; die } }", 7, 7),
           ("die in an END block", "END { $! = 5; die \"no\\n\" }", 1, 255),
           ("exit in an END block", "END { exit 7 }", 7, 255),
           ("an END block that sets a status", "END { $? = 7 }", 7, 255),
           ("die in an END block after exit", "END { die } exit;", 1, 255),
           ("exit 0 at the top, then die",
            "sub sched::sched_switch { die \"no\\n\" } eval { exit 0 };", 0, 2),
           ("exit 0 at the top, then exit", "sub sched::sched_switch { exit 7 } eval { exit 0 };",
            0, 7)]
for name, text, plain, compat in ENDINGS:
    got = script(text, CHAINS).rc, script(text, CHAINS, compat="perf-6.1").rc
    t.is_(got, (plain, compat), "status: " + name)
    if (perf_version() or "").startswith("6.1."):
        theirs = run(["perf", "script", "-i", CHAINS, "-s", t.write("script.pl", text)], None,
                     environment(**STEADY, **scripttest.NO_SANITIZER), t.dir)
        t.is_(theirs.rc, compat, "which is perf's: " + name, theirs.err)
COUNTS = "my $n; sub sched::sched_switch { $n++ } sub trace_end { print \"$n\\n\" } "
for name, end, plain in (("exit 0 as the last statement", "exit 0;", "155\n"),
                         ("exit as the last statement", "exit; sub x {}", "155\n"),
                         ("exit 0 before other statements",
                          "exit 0 if @ARGV < 9; print \"more\\n\";", ""),
                         ("exit 0 in a sub", "sub usage { exit 0 } usage();", "")):
    t.is_(script(COUNTS + end).out, plain, name)
    r = script(COUNTS + end, CHAINS, compat="perf-6.1")
    t.ok(re.fullmatch(r"\d+\n", r.out) and not r.err and not r.rc, name + ", under --compat", r)
    if (perf_version() or "").startswith("6.1."):
        theirs = run(["perf", "script", "-i", CHAINS, "-s", t.write("script.pl", COUNTS + end)],
                     None, environment(**STEADY, **scripttest.NO_SANITIZER), t.dir)
        t.is_(theirs.out, r.out, "which is perf's: " + name, theirs.err)
r = script("sub trace_begin { print 'begin ' } END { print 'first ' } END { die \"no\\n\" } END { "
           "print \"END $? \" }")
t.is_((r.out, r.rc), ("begin END 0 first ", 1), "END blocks after one that dies are run", r)
r = script("sub trace_begin { die \"no\\n\" } END { $? = 4 }")
t.is_(r.rc, 4, "an END block that sets the status", r)
r = script("my $n = 0; sub sched::sched_switch { eval { die 'x' }; eval 'exit('; require strict; "
           "$n++ } END { print \"$n $?\\n\" }")
t.is_((r.out, r.err, r.rc), ("155 0\n", "", 0),
      "errors that the script catches do not change the status", r)

# ---- die names the event -----------------------------------------------------------------------

ABOUT = (r"sonde: in the handler of this event: sched:sched_switch time 2374\.\d{9} cpu \d+ pid "
         r"\d+ tid \d+ comm \S+: prev_comm=\S+ .*\n")
for name, text in (("its sub", "sub sched::sched_switch { die \"no\\n\" }"),
                   ("process_event", "sub process_event { die \"no\\n\" }"),
                   ("trace_unhandled",
                    "sub trace_unhandled { die \"no\\n\" if $_[0] =~ /switch/ }")):
    r = script(text)
    t.ok(re.fullmatch("no\n" +
                      (ABOUT if "process" not in name
                       else ABOUT.replace("sched:sched_switch",
                                          r"\S+").replace("prev_comm=.*", ".*")
                       .replace(r"prev_comm=\S+ .*", ".*")), r.err), "die names the event of " +
         name, r)
r = script("sub sched::sched_switch { die \"no\\n\" } END { print STDERR \"END\\n\" }",
           compat="perf-6.1")
t.ok(re.fullmatch("no\n" + ABOUT + "END\n", r.err),
     "die names the event under --compat, before END blocks print", r)
for where in ("trace_begin", "trace_end"):
    r = script("sub sched::sched_switch {} sub %s { die \"no\\n\" }" % where)
    t.is_((r.err, r.rc), ("no\n", 1), "die in %s names no event" % where)
r = script("my $n; sub sched::sched_switch { exit 7 if ++$n == 3 }")
t.is_(r.err, "", "exit is not a failure")
r = script("my $n; sub sched::sched_switch { exit 7 if ++$n == 3 } sub trace_end { print 'never' "
           "} END { print \"END $n\" }")
t.is_((r.out, r.rc), ("END 3", 7), "exit in a sub", r)
r = script("sub trace_end { print \"end\\n\" }")
t.is_((r.out, r.rc), ("end\n", 0), "no handler at all", r)
r = script("")
t.is_((r.out, r.err, r.rc), ("", "", 0), "an empty script", r)

r = script("my $n = 0; sub trace_unhandled { $n++ } sub trace_end { print \"$n\\n\" }")
t.is_((r.out, r.rc), ("474\n", 0), "only trace_unhandled and trace_end, with which perf crashes", r)

# ---- arguments and values ----------------------------------------------------------------------

ARGS = r"""
sub show {
    my ($v) = @_;
    return '[' . join(', ', map { show($_) } @$v) . ']' if ref $v eq 'ARRAY';
    return '{' . join(', ', map { "$_ => " . show($v->{$_}) } grep { $_ ne 'dso' && $_ ne 'sym' } sort keys %$v) . '}' if ref $v eq 'HASH';
    $v =~ s/([^ -~])/sprintf '\\x%02x', ord $1/ge;
    return $v;
}
"""
# After a hundred events perf passes values that it left on its stack.
ALL = (CORE + ARGS +
       "my $n = 0; sub trace_unhandled { print join(' ', map { show($_) } @_[0, 2 .. $#_]), "
       "\"\\n\" if $n++ < 80 }\n")
for name, data in (("scheduler and system calls", DEMO), ("call chains", CHAINS),
                   ("short call chains", FRAMES), ("flags", FLAGS), ("exec", EXEC)):
    like_perf(ALL, "arguments of trace_unhandled, compared with perf: " + name, data)
HANDLERS = CORE + ARGS + "\n".join(
    "sub %s { print join(' ', map { show($_) } @_[0, 2 .. $#_]), \"\\n\" }" % name for name in (
        "sched::sched_switch", "sched::sched_wakeup", "syscalls::sys_enter_read", "kmem::kmalloc",
        "raw_syscalls::sys_enter", "sched::sched_process_exec", "sonde_t::types"))
for name, data in (("scheduler and system calls", DEMO), ("call chains", CHAINS), ("flags", FLAGS),
                   ("exec", EXEC), ("every type of field", TYPES)):
    like_perf(HANDLERS, "arguments of subs of events, compared with perf: " + name, data)
r = script(ARGS + "sub sonde_t::types { my @f = @_[9 .. $#_]; print join(' ', map { show($_) } "
                  "@f), \"\\n\" }", TYPES)
t.is_(r.out.splitlines()[0],
      "-1 255 -2 65535 -3 4294967293 -4 18446744073709551611 \\x00\\x01\\x02\\xff\\xfe\\x7fz\\x01 "
      "\\xff\\xff\\xff\\xff\\x02\\x00\\x00\\x00\\xfd\\xff\\xff\\xff\\x04\\x00\\x00\\x00 "
      "plain -7 15",
      "negative numbers, arrays of numbers as bytes, ends of texts", r)
r = script("sub sonde_t::types { print utf8::is_utf8($_[6]) || 0, utf8::is_utf8($_[19]) || 0, "
           "\"\\n\" }", TYPES)
t.is_(r.out, "00\n" * 8, "texts are not decoded", r)
r = script("my ($n, @kept); sub sched::sched_switch { my $c = \\$_[8]; push @kept, $c if ++$n <= "
           "2; $_[12] = 'changed'; undef $_[13];"
           " $_[9] = []; @_ = () if $n == 5 } sub trace_end { print join(' ', $n, map { $$_ } "
           "@kept), \"\\n\" }")
t.is_(r.out, "155 sh xargs\n", "arguments may be kept, changed and emptied", r)
r = script("my @chains; sub trace_unhandled { push @chains, $_[7] if @chains < 3; push @{$_[7]}, "
           "5 } "
           "sub trace_end { print join(' ', map { scalar @$_ } @chains), \"\\n\" }")
t.is_(r.out, "1 1 1\n", "each event has its own empty call chain", r)

r = script("my (%name, %comm); sub sched::sched_switch { $name{$_[0]}++; $comm{$_[6]}++; $_[0] =~ "
           "tr/s/S/; $_[6] =~ tr/a-z/A-Z/; "
           "utf8::upgrade($_[6]); bless \\$_[0], 'X'; $_[2] .= 'x'; $_[10] = -1.5 } "
           "sub trace_end { print join(' ', keys %name, grep { /[A-Z]/ } keys %comm), \"\\n\" }")
t.is_(r.out, "sched::sched_switch\n",
      "a text that a script changes in place is unchanged for the next event", r)
r = script("my $n = 0; sub sched::sched_switch { $n++; my @l = map { $_ * 2 } 1 .. 50; eval { "
           "eval { die 'in' }; die 'out' if $@ }; $n += 1000 if !$@; "
           "my ($x) = sort { $a <=> $b } @l; for (1 .. 3) { next if $_ == 2; last } return (@l, "
           "$x, @_) } "
           "*syscalls::sys_enter_read = \\&Internals::V; sub syscalls::sys_enter_write { goto "
           "&sched::sched_switch } "
           "sub trace_end { print \"$n\\n\" }")
t.is_(r.out, "220\n", "evals, loops, returned lists, goto and subs in C do not disturb the loop", r)

# ---- subs that change during the run -----------------------------------------------------------

r = script("my @c; sub first { push @c, 'f'; no warnings; *sched::sched_switch = \\&second } "
           "sub second { push @c, 's'; *sched::sched_switch = sub { push @c, 'n' } if @c == 4 } "
           "sub syscalls::sys_enter_read { push @c, 'r'; *sched::sched_switch = \\&first; "
           "*syscalls::sys_enter_read = sub {} } "
           "sub trace_unhandled { push @c, 'u' if $_[0] eq 'sched::sched_switch' && @c < 2 } "
           "sub trace_end { print join('', @c[0 .. 6]), \"\\n\" }")
t.is_(r.out, "rfssnnn\n", "a sub may be defined by another one, and replace itself", r)
r = script("sub sched::shed_switch {} sub sched::sched_switch {}")
t.ok("never called: sched::shed_switch; " in r.err and "sched_switch (did" not in r.err,
     "a sub of no event is reported", r)

# ---- scripts for perfs without the call chain --------------------------------------------------

SEVEN = ("$event_name, $context, $common_cpu, $common_secs, $common_nsecs,\n\t$common_pid, "
         "$common_comm")
OLD = ("sonde: %s/script.pl:3: sub sched::sched_switch has no $common_callchain after its seventh "
       "parameter, as before 2013: each parameter "
       "from $prev_comm on gets the value of the one before it, as in perf; add $common_callchain "
       "there\n" % t.dir)
for what, text, said in (
        ("a sub with seven common parameters",
         "sub sched::sched_switch\n{\n\tmy (%s, $prev_comm, $prev_pid) = @_; $x++ }" % SEVEN, True),
        ("an old sub with other names of parameters",
         "sub sched::sched_switch\n{\n my ($n, $c, $cpu, $s, $ns, $pid, $comm, $prev_comm) = @_; }",
         True),
        ("an old sub that reads only the seven",
         "sub sched::sched_switch\n{\n my (%s) = @_; my $prev_comm = 1; }" % SEVEN, False),
        ("a sub with the call chain",
         "sub sched::sched_switch\n{\n my (%s, $common_callchain, $prev_comm) = @_; }" % SEVEN,
         False),
        ("a sub with the call chain under another name",
         "sub sched::sched_switch\n{\n my ($n, $c, $cpu, $s, $ns, $pid, $comm, $cc, $prev_comm) = "
         "@_; }", False),
        ("a sub that names no parameter",
         "sub sched::sched_switch\n{\n my @all = @_; my $prev_comm = $_[8] }", False),
        ("a sub with other names for the call chain and for fields",
         "sub sched::sched_switch\n{\n my ($n, $c, $cpu, $s, $ns, $pid, $comm, $cc, $from) = @_; }",
         False)):
    r = script(text)
    t.is_((r.err, r.rc), (OLD if said else "", 0), what)
    t.is_(script(text, compat="perf-6.1").err, "", "an old script: no message under --compat")
r = script("sub syscalls::sys_enter_read { my (%s, $nr, $fd) = @_; }" % SEVEN)
t.has(r.err, "each parameter from $nr on", "an old script: a field with another name")
r = script("\nsub sched::sched_switch { my (%s, $prev_comm) = @_; } sub sched::sched_wakeup { my "
           "(%s, $comm) = @_; }" % (SEVEN, SEVEN))
t.is_(r.err.count("as before 2013"), 1, "an old script: one message", r)

# ---- process_event, flags, context -------------------------------------------------------------

PROCESS = CORE + r"""
sub process_event {
    my ($event, $attr, $sample, $raw) = @_;
    my ($type, $misc, $size) = unpack 'LSS', $event;
    my ($ip, $pid, $tid, $time, $addr, $id, $stream, $period) = unpack 'QLLQQQQQ', $sample;
    print join(' ', length($event) == $size ? 'whole' : 'cut', $type, $misc, unpack('LLQQQ', $attr), length $attr, $ip, $pid, $tid,
        $time, $addr, $id, $stream, $period, length $sample, unpack('H*', $raw)), "\n";
}
"""
for name, data in (("events of all kinds", MIXED), ("tracepoints", DEMO), ("call chains", FRAMES)):
    like_perf(PROCESS, "arguments of process_event, compared with perf: " + name, data)
r = script("my $n = 0; sub sched::sched_switch { print 'h' if $n++ < 2 } sub process_event { "
           "print 'p' if $n && $n < 3 }")
t.ok(r.out.startswith("hp"), "a tracepoint calls its own sub first, then process_event", r)

DEFINES = CORE + "no warnings; " + "".join(
    "sub %s { print join(' ', '%s', map { \"[$_]\" } @_), \"\\n\" } " % (n, n) for n in (
        "define_flag_field", "define_flag_value", "define_symbolic_field",
        "define_symbolic_value")) + \
    "my $n; sub trace_unhandled { print \"$_[0]\\n\" if $n++ < 4 }"
like_perf(DEFINES, "definitions of flags and symbols, compared with perf", FLAGS)
CONTEXT = (
    CORE + "sub trace_unhandled { print join(' ', common_pc($_[1]), common_flags($_[1]), "
    "common_lock_depth($_[1]), trace_flag_str(common_flags($_[1])), "
    "flag_str('kmem::kmalloc', 'gfp_flags', 3264) // '-', symbol_str('a', 'b', 1) // '-'), "
    "\"\\n\" }")
like_perf(CONTEXT, "functions of the context, flag_str, symbol_str", FLAGS)
r = script("use Perf::Trace::Context; sub trace_end { print eval { common_pc(5) } // $@ }")
t.has(r.out, "there is no current event", "functions of the context outside of an event")
r = script("use lib \"$ENV{PERF_EXEC_PATH}/scripts/perl/Perf-Trace-Util/lib\"; use "
           "Perf::Trace::Util; "
           "print join ' ', avg(10, 4), nsecs(1, 5), nsecs_secs(1500000000), "
           "nsecs_nsecs(1500000000), nsecs_usecs(1500000000), nsecs_str(1500000000)")
t.is_(r.out, "2.5 1000000005 1.5 500000000 500000     1.500000000", "Util", r)

# ---- perf's own scripts, if they are installed -------------------------------------------------

ARGUMENTS = {"rw-by-file.pl": ["cat"], "rwtop.pl": ["1"]}
RECORDINGS = {"check-perf-trace.pl": FLAGS, "failed-syscalls.pl": FRAMES}
if os.path.isdir(PERFS):
    for name in sorted(os.listdir(PERFS)):
        if name.endswith(".pl"):
            with open(os.path.join(PERFS, name)) as f:
                text = f.read()
            if name == "check-perf-trace.pl":  # prints addresses of perl's memory
                text = text.replace("%p", "%x")
            like_perf(text, "perf's %s" % name, RECORDINGS.get(name, DEMO), ARGUMENTS.get(name, ()))
    if (perf_version() or "").startswith("6.1."):
        shutil.copy(FRAMES, t.dir + "/perf.data")
        for name in "failed-syscalls", "rwtop", "wakeup-latency", "rw-by-pid":
            env = environment(**STEADY)
            for v in ("LD_PRELOAD", "ASAN_OPTIONS"):
                env.pop(v, None)
            theirs = run(["perf", "script", "report", name], None, env, t.dir)
            ours = run([SONDE, "--compat", "perf-6.1", "script", "report", name], None,
                       environment(**STEADY), t.dir)
            t.ok((ours.out, ours.rc) == (theirs.out, theirs.rc), "perf's wrapper %s-report" % name,
                 *t.difference(ours, theirs))
else:
    t.skip("perf's scripts in Perl", "they are not installed")

# ---- interruptions -----------------------------------------------------------------------------


def live(text, until):
    """Runs a script on a pipe of few events, with Ctrl-C when it has printed `until`: (stdout,
    stderr, exit status)."""
    path = t.write("live.pl", text)
    rec = subprocess.Popen([SONDE, "record", "-q", "-e", "sched:sched_switch", "-o", "-", "--",
                            "sh", "-c",
                            "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.05; done; sleep 600"],
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment())
    p = subprocess.Popen([SONDE, "script", "-i", "-", "-s", path], stdin=rec.stdout,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
    rec.stdout.close()
    out = b""
    while until not in out:
        more = os.read(p.stdout.fileno(), 4096)
        out += more
        if not more:
            break
    p.send_signal(signal.SIGINT)
    more, err = p.communicate(timeout=600)
    rec.send_signal(signal.SIGINT)
    rec.wait(600)
    return (out + more).decode(), err.decode(), p.returncode


r = script("my $n = 0; sub trace_begin { $SIG{INT} = sub { print \"own\\n\" } } sub "
           "trace_unhandled { kill INT => $$ if ++$n == 5 } "
           "sub trace_end { kill INT => $$; print \"end $n\\n\" }")
t.is_((r.out, r.rc), ("own\nown\nend 474\n", 0),
      "Ctrl-C calls the script's own handler, also in trace_end", r.err)
r = script("my $n = 0; sub trace_unhandled { kill INT => $$ if ++$n == 5 } sub trace_end { print "
           "\"end $n $SIG{INT}\\n\" }")
t.is_((r.out, r.rc), ("end 5 DEFAULT\n", 0),
      "Ctrl-C without a handler of the script ends the events", r.err)
t.write("-e.pl", "sub trace_end { print \"$0 @ARGV\\n\" }")
r = run([SONDE, "script", "-i", DEMO, "-s", "-e.pl", "x"], None, environment(), t.dir)
t.is_((r.out, r.rc), ("-e.pl x\n", 0), "a script whose name begins with a dash", r.err)
r = script("sub trace_unhandled { undef $Sonde::Prelude::run }")
t.ok(r.rc == 1 and "Prelude.pm" in r.err, "a sub that destroys the run gets an error; no crash", r)

if os.geteuid() == 0 and os.path.exists("/sys/kernel/tracing/events/sched/sched_switch/id"):
    out, err, rc = live(
        "$| = 1; my $n = 0; sub sched::sched_switch { print \"six\\n\" if ++$n == 6 } sub "
        "trace_end { print \"end\\n\" }", b"six")
    t.is_((out, rc), ("six\nend\n", 0), "Ctrl-C: no further events, trace_end runs", err)
    path = t.write("shown.pl",
                   "my $n = 0; sub sched::sched_switch { print \"event\\n\" if !$n++ } sub "
                   "trace_begin { print \"begin\\n\" }")
    p = subprocess.Popen(
        "%s record -q -e sched:sched_switch -o - -- sh -c 'sleep 0.1; sleep 600' | %s script -i - "
        "-s %s" % (SONDE, SONDE, path),
                         shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, env=environment(), start_new_session=True)
    limit = threading.Timer(600, os.killpg, [p.pid, signal.SIGKILL])
    limit.start()
    first = [p.stdout.readline(), p.stdout.readline()]
    limit.cancel()
    os.killpg(p.pid, signal.SIGKILL)
    p.communicate(timeout=600)
    t.is_(first, [b"begin\n", b"event\n"],
          "output is written while the script waits for events, also into a pipe")
    out, err, rc = live(
        "use Time::HiRes 'ualarm'; $| = 1; $SIG{ALRM} = sub { print 't'; ualarm 200_000 }; my $n "
        "= 0; "
                        "sub trace_begin { ualarm 200_000 } sub sched::sched_switch { $n++ } sub "
                        "trace_end { print \"end\\n\" }", b"tttttt")
    t.ok(rc == 0 and 6 <= out.count("t") and out.endswith("end\n"),
         "a timer fires while no event arrives", out, err, rc)
else:
    t.skip("Ctrl-C and timers while events come", "not root, or tracefs is not mounted", False)

r = subprocess.run("%s script -i %s -s %s | head -1" %
                   (SONDE, FRAMES,
                    t.write("pipe.pl", "sub trace_unhandled { print 'x' x 1000, \"\\n\" }")),
                   shell=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
t.is_((r.stdout, r.stderr), (b"x" * 1000 + b"\n", b""), "a reader that closes the pipe")

# ---- memory ------------------------------------------------------------------------------------

FORMAT = Format("sonde_t:tick", "name: tick\nID: 1\nformat:\n"
                "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
                "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
                "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
                "\tfield:char name[16];\toffset:8;\tsize:16;\tsigned:1;\n\tfield:u64 "
                "n;\toffset:24;\tsize:8;\tsigned:0;\n"
                "\nprint fmt: \"%s\", REC->name\n")
EVENTS = 1000000 if not os.environ.get("SONDE_ASAN") else 100000
payload = struct.pack("<HBBi16sQ", 1, 0, 0, 5, b"name", 2**63)
many = t.write("many.data", recording([FORMAT], [[payload] * EVENTS]))
# A sanitizer keeps freed memory to detect uses of it, and would grow.
GROWN_KB = 1024 if not os.environ.get("SONDE_ASAN") else 4096  # keeps freed memory, too
FREED = "detect_leaks=0:quarantine_size_mb=1:thread_local_quarantine_size_kb=64"
MEMORY = """
my ($n, $before) = (0);
sub rss { open my $f, '<', '/proc/self/statm'; return (split ' ', <$f>)[1] * 4 }
sub %s { $before = rss() if ++$n == %d; %s }
sub trace_end { printf "%%d %%d\\n", $n, rss() - $before }
"""
for what, sub, body in (("all arguments", "sonde_t::tick",
                         "my (@all) = @_; my %h = (a => \\@all);"),
                        ("process_event", "process_event", "my ($e, $a, $s, $r) = @_;"),
                        ("arguments that are kept for a while", "trace_unhandled",
                         "our @k; push @k, \\$_[8], $_[7]; @k = () if @k > 100;")):
    r = t.script(MEMORY % (sub, EVENTS // 10, body), many, both=False, name="script.pl",
                 env=dict(STEADY, ASAN_OPTIONS=FREED))
    n, grown = (r.out.split() + ["0", "0"])[:2]
    t.ok(n == str(EVENTS) and int(grown) < GROWN_KB, "%d events, flat memory: %s" % (EVENTS, what),
         r)
os.unlink(many)

# ---- use Sonde ---------------------------------------------------------------------------------

LIB = os.path.join(os.path.dirname(SONDE), "bindings", "perl", "lib")


def plain_perl(text, *args):
    return run(["perl", "-I" + LIB, "-e", "use strict; use warnings; use Sonde; " + text] +
               list(args), None, environment(**STEADY), t.dir)


r = plain_perl(
    "my $s = Sonde->open(input => $ARGV[0]); my (%n, @kept); while (my $e = $s->next) { "
    "$n{$e->name}++; push @kept, $e if @kept < 3 } "
               "print join(' ', map { \"$_=$n{$_}\" } sort keys %n), \"\\n\"; print join(' ', map "
               "{ $_->comm . ':' . $_->tid } @kept), \"\\n\"; "
               "my $k = $kept[1]; print join(' ', $k->kind, $k->system, $k->event, $k->cpu, "
               "$k->pid, $k->time, $k->field('next_comm') // '-', "
               "scalar keys %{$k->fields}, $k->text), \"\\n\"; print $s->info('arch'), \"\\n\"; "
               "$s->close; print $k->name, \"\\n\"; eval { $s->next }; print $@",
               DEMO)
t.ok(r.rc == 0 and
     r.out.splitlines()[0].startswith("sched:sched_switch=155 sched:sched_wakeup=35") and
     "the session is closed" in r.out,
     "use Sonde: events of a recording, and kept events", r)
r = plain_perl(
    "eval { Sonde->open(input => '/nonexistent') }; print $@; eval { Sonde->open(nonsense => 1) "
    "}; print $@; eval { Sonde->open('x') }; print $@; "
               "eval { Sonde::Event::name(5) }; print $@")
t.ok(r.rc == 0 and "No such file" in r.out and "nonsense" in r.out and
     "a value is missing" in r.out and "no Sonde::Event" in r.out,
     "use Sonde: messages about mistakes", r)
r = plain_perl(r"""
for my $what ({}, [], \(my $x = 12345), sub {}, \\'x', qr/x/) {
    for my $class ('Sonde', 'Sonde::Event') {
        my $forged = bless $what, $class;
        for my $method ($class eq 'Sonde' ? qw(next close info defects_line) : qw(name cpu fields callchain)) {
            eval { $forged->$method('x'); 1 } and print "no\n";
            print "$@" if $@ !~ /this is no \Q$class\E at|Usage/;
        }
    }
}
my $s = Sonde->open(input => $ARGV[0]);
my ($e, $f) = ($s->next, $s->next);
my $name = $e->name;
$s->DESTROY for 1, 2;
print eval { $s->next } // $@, $e->name eq $name, $f->cpu >= 0, "\n";
$e->DESTROY for 1, 2;
print eval { $e->name } // $@;
my $kin = bless Sonde->open(input => $ARGV[0]), 'Kin';
@Kin::ISA = 'Sonde';
print $kin->next->name, "\n";
""", DEMO)
t.ok(re.fullmatch(
    "next: the session is closed at .*\n11\nname: the event's session is closed at .*\n\w+:.*\n",
    r.out) and not r.err and not r.rc,
     "use Sonde: wrong and closed objects croak", r)
r = plain_perl(
    "use threads; my $s = Sonde->open(input => $ARGV[0]); my $e = $s->next; my $n = "
    "threads->create(sub { my $t = Sonde->open(input => $ARGV[0]); "
               "my $n = 0; $n++ while $t->next; return $n })->join; my $m = 1; $m++ while "
               "$s->next; print \"$n $m\\n\"", DEMO)
t.is_(r.out, "474 474\n", "use Sonde: a session in each of two threads",
      r) if "threads" not in r.err else \
    t.skip("use Sonde: threads", "this perl has no threads", False)

moved = os.path.join(t.dir, "moved")
shutil.copytree(LIB, moved + "/lib")
r = run(["perl", "-I" + moved + "/lib", "-e", "use Sonde;"], None, environment(), t.dir)
t.ok(r.rc and "make perl PERL=" in r.err,
     "a perl without the extension: the message says how to get it", r)
r = run(["perl", "-I" + moved + "/lib", "-MSonde::Prelude", "-e", "1"], None,
        environment(SONDE_SESSION_FD="0"), t.dir)
t.ok(r.rc == 1 and r.err.count("\n") == 1 and "make perl PERL=" in r.err,
     "a perl without the extension: one line for a script", r)

# ---- sonde's own scripts -----------------------------------------------------------------------

for name in "Analysis.pm", "Screen.pm":
    shutil.copy(os.path.join(SCRIPTS, name), t.dir)  # the modules that they use are in their folder
for name, data, args, expected in (
        ("rw-by-pid.pl", DEMO, [], r"10468 +cat +127 +16261952 +0"),
        ("rw-by-file.pl", DEMO, ["cat"], r"10468 +3 +127 +16261952"),
        ("wakeup-latency.pl", DEMO, [], r"34 wake-ups, mean 27\.0 us\n"),
        ("flags-and-symbols.pl", FLAGS, [], r"kmem::kmalloc +16\n"),
        ("workqueue-stats.pl", DEMO, [], r"no work was run")):
    with open(os.path.join(SCRIPTS, name)) as f:
        text = f.read()
    r = script(text, data, args)
    t.ok(not r.rc and re.search(expected, r.out), "%s counts" % name, r)
    r = script(text, MIXED, args)
    t.ok(not r.rc and "line" not in r.err, "%s reports a recording without its events" % name, r)


def work(name, *fields):
    lines = ["name: %s\nID: 1\nformat:\n" % name,
             "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
             "\tfield:unsigned char "
             "common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\tfield:unsigned char "
             "common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
             "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"]
    lines += ["\tfield:void * %s;\toffset:%d;\tsize:8;\tsigned:0;\n" % (f, 8 + 8 * i)
              for i, f in enumerate(fields)]
    return Format("workqueue:" + name, "".join(lines) + "\nprint fmt: \"x\"\n")


def item(nr, *values):
    return struct.pack("<HBBi%dQ" % len(values), nr, 0, 0, 7, *values)


# Sample n of the file is n us after the first: queue 0, queue 1; start 2, start 3; end 4, end 5.
QUEUED, BEGUN, ENDED = (work("workqueue_" + name, "work", "function")
                        for name in ("queue_work", "execute_start", "execute_end"))
known = t.write("work.data", recording(
    [QUEUED, BEGUN, ENDED],
    [[item(1, 0x10, 0xf1), item(1, 0x20, 0xf2)],
     [item(2, 0x10, 0xf1), item(2, 0x20, 0xf2), item(2, 0x30, 0xf2)],
     [item(3, 0x10, 0xf1), item(3, 0x20, 0xf2), item(3, 0x99, 0xf1)]]))
with open(os.path.join(SCRIPTS, "workqueue-stats.pl")) as f:
    stats = f.read()
r = script(stats, known)
rows = [line.split() for line in r.out.splitlines()]
t.is_([rows[1], rows[2]],
      [["0xf1", "1", "2.0", "2.0", "3.0", "3.0"], ["0xf2", "1", "2.0", "2.0", "3.0", "3.0"]],
      "workqueue-stats.pl: known times", r)
t.has(r.out, "1 items were running at the end", "workqueue-stats.pl: work that had not ended")
# The work is queued at 0, runs from 1 to 3, queues itself at 2, and runs from 4 to 5.
turns = (QUEUED, BEGUN, QUEUED, ENDED, BEGUN, ENDED)
r = script(stats, t.write("again.data",
                          recording(turns, [[item(i + 1, 0x10, 0xf1)] for i in range(len(turns))])))
t.is_(r.out.splitlines()[1].split(), ["0xf1", "2", "1.5", "2.0", "1.5", "2.0"],
      "workqueue-stats.pl: work that queues itself while it runs", r)
t.done()
