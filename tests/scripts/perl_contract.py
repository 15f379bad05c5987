# SPDX-License-Identifier: MIT
"""contract.py and sample.py for Perl: names, order of calls, arguments, values, kinds of samples.

The second part is compared with perf 6.1 if it is installed. Perl binds arguments by position only,
so the tests of contract.py about names of parameters are missing.
"""

import os
import re
import sys

from scripttest import (DEMO, EXEC, FLAGS, HERE, MANY, MIXED, SONDE, TYPES, Tests, environment,
                        perf_version, run)

sys.path[:0] = [os.path.join(os.path.dirname(HERE), folder) for folder in ("roundtrip", "gen")]
import columns  # noqa: E402
from sample import NOT_LIVE, counted, group, user_memory  # noqa: E402

STEADY = {"PERL_HASH_SEED": "0", "PERL_PERTURB_KEYS": "0"}
CORE = ("use lib \"$ENV{PERF_EXEC_PATH}/scripts/perl/Perf-Trace-Util/lib\"; use "
        "Perf::Trace::Core; use Perf::Trace::Util; use Perf::Trace::Context;\n")

t = Tests()


def script(text, data=DEMO, args=(), compat=None):
    return t.script(text, data, args, compat, both=False, name="script.pl", env=STEADY)


# ---- what a script finds when it starts --------------------------------------------------------

r = script(CORE + r"""
print __PACKAGE__, ' ', $0 eq __FILE__ ? 1 : 0, " @ARGV\n";
my $n = 0;
sub trace_begin { print "begin\n" }
sub trace_unhandled { print "$_[0] ", $_[1] =~ /^\d+$/ ? 'number' : 'other', ' ', scalar @_, "\n" if !$n++ }
sub trace_end { print "end $n\n" }
""", args=["a", "b c"])
t.is_((r.out, r.err, r.rc), ("main 1 a b c\nbegin\nsyscalls::sys_enter_read number 12\nend 474\n",
                             "", 0),
      "the order is: top level, trace_begin, events, trace_end")

# ---- arguments ---------------------------------------------------------------------------------

SHOW = "sub show { join ',', map { ref $_ eq 'ARRAY' ? '[' . @$_ . ']' : $_ } @_[2 .. $#_] }\n"
r = script(SHOW + "my $n; sub kmem::kmalloc { print scalar @_, ' ', show(@_), \"\\n\" if !$n++ }",
           FLAGS)
nr, values = (r.out.split() + ["", ""])[:2]
values = values.split(",")
t.ok(nr == "14" and len(values) == 12 and values[5] == "[0]" and values[11] == "-1",
     "eight common values and the fields, with negative numbers", r)
r = script(SHOW + "my $n; sub trace_unhandled { print show(@_), \"\\n\" if !$n++ }", FLAGS)
t.is_(r.out.strip(), ",".join(values), "trace_unhandled gets the arguments of the event's own sub",
      r)
for what, define in (("a sub put into the glob", "*{'kmem::kmalloc'} = sub { got(@_) };"),
                     ("a closure", "{ my $x = 1; *kmem::kmalloc = sub { got(@_) if $x } }"),
                     ("a sub with a prototype", "sub kmem::kmalloc($$) { got(@_) }"),
                     ("a sub with a signature",
                      "use feature 'signatures'; no warnings; sub kmem::kmalloc(@a) { got(@a) }"),
                     ("a sub in its own package",
                      "package kmem; sub kmalloc { main::got(@_) } package main;"),
                     ("an imported sub",
                      "BEGIN { *other::sub = sub { got(@_) }; *kmem::kmalloc = \\&other::sub }"),
                     ("a sub that calls another with &", "sub kmem::kmalloc { &got }")):
    r = script(SHOW + "my $n = 0; sub got { print show(@_), \"\\n\" if !$n++ }\n" + define, FLAGS)
    t.is_((r.out.strip(), r.err), (",".join(values), ""), what, r)
# Each event has its own call chain, whatever a script keeps or changes of earlier ones.
r = script(r"""
my (@arguments, @lists, %seen);
sub kmem::kmalloc {
	die "a list that an earlier event filled: @{$_[7]}" if @{$_[7]};
	push @arguments, \$_[7] if @arguments < 5;
	push @lists, $_[7] if @arguments == 5 and @lists < 5;
	push @{$_[7]}, 'mine' if @lists == 5;
}
sub trace_end {
	$seen{$_}++ for @arguments, map { $$_ } @arguments;
	$seen{$_}++ for @lists[1 .. 4];
	print scalar(@arguments), ' ', scalar(@lists), ' ', scalar(keys %seen), "\n";
}
""", FLAGS)
t.is_((r.out, r.rc), ("5 5 14\n", 0), "references to the call chain that the script keeps", r.err)
r = script("my $c = 0; sub AUTOLOAD { our $AUTOLOAD; $c++ if $AUTOLOAD !~ /DESTROY/ } sub "
           "trace_end { print $c }", FLAGS)
t.is_(r.out, "0", "AUTOLOAD of main is not a handler", r)

# ---- handlers that change during the run -------------------------------------------------------

r = script("""
my @calls;
sub first { push @calls, 'first'; no warnings; *sched::sched_switch = \\&second }
sub second {
    push @calls, 'second';
    undef *sched::sched_switch if @calls == 4;
}
*sched::sched_switch = \\&first;
sub trace_begin { *sched::sched_wakeup = sub {} }
sub trace_unhandled {
    return if $_[0] ne 'sched::sched_switch' || @calls >= 12;
    push @calls, 'unhandled';
    *sched::sched_switch = \\&second if @calls == 6;
}
sub trace_end { print "@calls[0 .. 7]\\n" }
""")
t.is_(r.out, "first second second second unhandled unhandled second second\n",
      "a handler may replace and delete itself", r)
r = script("my $n = 0; sub make { return sub { $n++; no warnings; *sched::sched_switch = make() } "
           "} *sched::sched_switch = make(); "
           "sub trace_end { print $n }")
t.is_(r.out, "155", "a sub that is created anew for each event", r)

# ---- values ------------------------------------------------------------------------------------

r = script("sub sonde_t::types { print join('|', map { unpack 'H*', $_ } @_[6, 19]), '|', "
           "join(',', @_[9 .. 16, 20, 21]), \"\\n\" }", TYPES)
NUMBERS = "-1,255,-2,65535,-3,4294967293,-4,18446744073709551611"
want = ["%s|%s|%s,%d,15" % (comm.hex(), text.hex(), NUMBERS, n) for comm, text, n in (
    (b"types", b"plain", -7), (b"types", b"tab\tand\nline", 7), (b"types", "euro €".encode(), 300),
    (b"types", b"esc\x1b[0m", -300),
    (b"types", b"plain again", 0), (b"types", b"", 0), ("café".encode(), "e acute é".encode(), 0),
    (b"caf\xe9", b"latin \xe9", 0))]
t.is_(r.out.splitlines(), want, "numbers and texts", r)
r = script("sub sonde_t::types { print join(',', @_[9 .. 16]), \"\\n\" }", TYPES, compat="perf-6.1")
t.has(r.out, "255,255,65534,65535,4294967293,4294967293,-4,",
      "--compat: numbers are unsigned unless they have 8 bytes")
r = script("sub sonde_t::many { my %h = map { $_ => 1 } @_[9 .. $#_]; print scalar @_, ' ', keys "
           "%h <= 4 ? 'ok' : 'many', \"\\n\" }", MANY)
t.is_(r.out, "69 ok\n" * 8, "an event of sixty fields", r)
r = script("""
my $last = '';
sub sched::sched_process_exec { print "$_[6] $_[8]\\n" }
sub raw_syscalls::sys_enter { print "  in $_[6] ", length $_[9], "\\n" if $_[6] ne $last; $last = $_[6] }
""", EXEC)
t.is_(r.out, "sh /usr/bin/sh\n  in sh 48\nenv /usr/bin/env\n  in env 48\ntrue /usr/bin/true\n  in "
             "true 48\n  in sh 48\nls /usr/bin/ls\n  in ls 48\n",
      "a task has the name of the time of the event", r)

# ---- flags and symbols -------------------------------------------------------------------------

r = script("""
my (@defs, $n);
sub define_flag_field { push @defs, ['field', @_] }
sub define_flag_value { push @defs, ['value', @_] }
sub kmem::kmalloc {
    return if $n++;
    print @defs > 20 ? 'many' : scalar @defs, "\\n@{$defs[0]}\\n", map { "@$_\\n" } grep { $_->[-1] =~ /^(GFP_KERNEL|none)$/ } @defs;
}
sub trace_end { my %seen; print scalar(grep { $seen{"@$_"}++ } @defs), "\\n" }
""", FLAGS)
t.is_(r.out, "many\nfield kmem::kmalloc gfp_flags |\nvalue kmem::kmalloc gfp_flags 3264 "
             "GFP_KERNEL\nvalue kmem::kmalloc gfp_flags 0 none\n0\n",
      "define_flag_*() are called once for each flag, before the first handler", r)

# ---- the current event -------------------------------------------------------------------------

r = script(CORE + r"""
my ($n, $kept) = (0);
sub ask { my ($f, @a) = @_; no strict 'refs'; my $v = eval { &$f(@a) }; return $v // $@ =~ s/ at .*//sr }
sub trace_begin { print ask('common_pc', 5), "\n" }
sub trace_unhandled {
    return if $n++;
    $kept = $_[1];
    print join(' ', map { ask($_, $_[1]) =~ /^\d+$/ ? 'number' : 'other' } qw(common_pc common_flags common_lock_depth)), "\n";
    print ask('common_pc'), "\n";
}
sub trace_end { print ask('common_flags', $kept), "\n" }
""")
t.is_(r.out, "there is no current event: only subs that are called for an event may ask "
             "this\nnumber number number\n"
      "Usage: Perf::Trace::Context::common_pc(context)\nthere is no current event: only subs that "
      "are called for an event may ask this\n",
      "common_pc(), common_flags() and common_lock_depth()", r)

# ---- messages, samples of other events ---------------------------------------------------------

r = script("sub sched::shed_switch {}\nsub irq::irq_handler_exit {}\nsub not::this {}\n")
t.ok("never called: sched::shed_switch" in r.err and "not::this" not in r.err,
     "handlers of events that the recording does not have are reported", r)
r = script("sub trace_begin; sub trace_unhandled; sub process_event; sub trace_defect; sub "
           "sched::sched_switch;\n"
           "my $n = 0; sub sched::sched_wakeup { $n++ } sub trace_end { print $n > 0 ? \"end\\n\" "
           ": 0 }")
t.is_((r.out, r.err, r.rc), ("end\n", "", 0),
      "a sub that is declared but not defined is not a handler")
r = script("my %n; sub sched::sched_switch; sub sched::AUTOLOAD { $n{$sched::AUTOLOAD}++ } sub "
           "trace_end { print join(' ', keys %n), \"\\n\" }")
t.is_((r.out, r.err, r.rc), ("sched::sched_switch\n", "", 0),
      "a sub that is only declared is a handler if its package has AUTOLOAD")
r = script("sub trace_unhandled {} my %n; sub process_event { $n{unpack 'L', $_[1]}++ } sub "
           "trace_end { print join(' ', sort keys %n), \"\\n\" }", MIXED)
t.is_((r.out, r.rc), ("1\n", 0), "samples of other events than tracepoints go to process_event", r)

# ---- process_event, samples of all kinds -------------------------------------------------------

# perf's manual describes the packed string: ip pid tid time addr id stream_id period weight
# transaction; cpu; data_src phys_addr.
t.write("dump.pl", CORE + r"""
sub process_event {
    my ($event, $attr, $sample, $raw) = @_;

    print join(' ', unpack('H*', $event), length $attr, unpack('H64', $attr), unpack('QLLQQQQQQQ', $sample), unpack('x88 L', $sample),
        unpack('x96 QQ', $sample), length $sample, unpack('H*', $raw)), "\n";
}
""")
RECORDINGS = {**columns.RECORDINGS, "group": group, "counted": counted, "user-memory": user_memory}
version = perf_version() or ""
for name in sorted(set(RECORDINGS) - NOT_LIVE):
    path = t.write(name + ".data", RECORDINGS[name]().bytes())
    ours = run([SONDE, "--compat", "perf-6.1", "script", "-i", path, "-s", t.dir + "/dump.pl"],
               env=environment(**STEADY))
    if not version.startswith("6.1."):
        t.ok(not ours.rc and re.search(r"(?m)^[0-9a-f]+ 128 ", ours.out),
             "%s: %d samples" % (name, ours.out.count("\n")), ours)
        continue
    env = environment(**STEADY)
    for variable in ("LD_PRELOAD", "ASAN_OPTIONS"):
        env.pop(variable, None)
    theirs = run(["perf", "script", "-i", path, "-s", t.dir + "/dump.pl"], env=env)
    # Perf swaps flags of branches bit by bit: their bytes are not compared.
    if name.endswith("-be"):
        ours, theirs = (r._replace(out=re.sub("(?m)^([0-9a-f]{112})[0-9a-f]*", r"\1", r.out))
                        for r in (ours, theirs))
    t.ok((theirs.out, theirs.rc) == (ours.out, ours.rc),
         "%s: %d samples, compared with perf" % (name, ours.out.count("\n")),
         *t.difference(ours, theirs))
t.done()
