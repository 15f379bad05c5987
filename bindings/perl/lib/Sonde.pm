# SPDX-License-Identifier: MIT
package Sonde;

=head1 NAME

Sonde - events of a Linux machine, in time order, with names and types

=head1 SYNOPSIS

    use Sonde;

    my $session = Sonde->open(input => 'perf.data');
    while (my $event = $session->next) {
        printf "%s %s %s\n", $event->time // '-', $event->comm, $event->name;
    }
    warn $session->defects_line, "\n" if $session->defects_line ne '';

=head1 METHODS

C<< Sonde->open(KEY => VALUE, ...) >> opens a recording. Keys are those of a session's text form
(sonde.h): input, time, cpu, comm, events, callchain, ... Several values of one key are passed as an
array reference. On failure it dies with the causes.

C<< $session->next >> returns the next event, undef at the end. C<info(KEY)> returns a fact from the
recording's header (hostname, osrelease, arch, ...). C<defects_line> is one line about losses and
damages, '' if there are none. C<close> ends the session.

An event has C<name> ("sched:sched_switch"), C<system>, C<event>, C<kind> (tracepoint, sample,
record, defect), C<time> in nanoseconds of the recording's clock (undef if not recorded), C<cpu>,
C<pid>, C<tid> (-1 if not recorded), C<comm>, C<text> (by its print format), C<fields> (a hash
reference), C<field(NAME)> (undef if there is none of that name) and C<callchain> (an array
reference, innermost first, of hashes: ip, sym => {start, end, binding, name}, dso). Texts are
strings of bytes. Arrays of numbers are their bytes, for unpack().

C<< Sonde->record(events => [...], ...) >> records what happens now and gives an open recording that
is read once. C<events> are names or patterns as for C<sonde record -e>. One of C<command> (an array
reference), C<pid>, C<tid>, C<cpu>, C<cgroup> or C<< system => 1 >> says whom; C<filter> is a
condition in the kernel's filter language for all events; C<callchain> is 1 or a mode (C<dwarf>);
C<latency> is in seconds (0.1), C<buffer> the memory for each cpu (C<16M>), C<output> a file that
gets a copy. With C<< sudo => 1 >> another process, C<sonde record>, records through sudo or pkexec.
Other keys are those of sonde_recorder_open(3), with C<_> for C<->. On failure it dies with the
causes.

    my $live = Sonde->record(events => 'sched:sched_switch', command => ['make']);
    while (my $event = $live->next) { ... }
    print $live->wait, "\n";

C<run> (see below) reads it, too. C<stop> ends the recording: C<next> returns the events up to then,
undef after them. C<wait> waits for the end, passes over events that were not read, and returns the
status of the command, 0 without one. C<messages> returns new warnings of the recorder. C<close>
ends all; a command gets SIGTERM.

An event also has C<sampled(NAME)>: ip, addr, period, weight, data_src or phys_addr of a sample,
undef if it was not recorded.

=head1 PROGRAMS

A script of C<sonde run>, and of C<sonde script>, may say what it needs with these functions. They
come by name, or all of them with C<use Sonde ':all'>; in C<sonde run --lang perl -e CODE> all are
known.

    use Sonde qw(on every at_end count);

    my %reads;
    on 'syscalls:sys_exit_read', filter => 'ret > 0', fields => ['ret'], sub {
        my ($event, $ret) = @_;
        $reads{$event->comm} += $ret;
    };
    count 'sched:*', by => 'name', every => 1;
    at_end { print "$_ $reads{$_}\n" for sort keys %reads };

=over

=item on(EVENTS, KEY => VALUE, ..., SUB)

SUB is called with each event, and with the values of C<fields>: names of fields, or else values of
the sample, or C<name>, C<time>, C<cpu>, C<pid>, C<tid>, C<comm>, C<callchain>, C<text>. EVENTS are
names or patterns: a text, or an array reference. C<filter> is a condition in the kernel's filter
language; C<< callchain => 1 >> records call chains. Events that only a pattern names are left out
if they lack a field.

=item every(SECONDS, SUB)

Calls SUB in such periods: by the time of day in a live run, also while nothing happens; by the
times of events on a recording.

=item begin BLOCK, at_end BLOCK, lost BLOCK

Are called before the first event; after the last, also after Ctrl-C and exit_with(); and with
(COUNT, CPU) for each report of lost events. C<end> is another name of C<at_end>.

=item exit_with(STATUS)

Ends the run after this sub. Perl's own C<exit> ends the script at once.

=item count(EVENTS, ...), sum(EVENTS, FIELD, ...), stats(EVENTS, FIELD, ...),
hist(EVENTS, FIELD, ...), lhist(EVENTS, FIELD, LOW, HIGH, STEP, ...)

Aggregations, which add events up without calling Perl for each, and print themselves at the end.
Keys: C<by> (name, comm, pid, tid, cpu, cgroup, index, kstack, ustack, stack or fields, as
C<'comm,pid'> or an array reference), C<where> (a condition), C<limit> (keys that are kept, 100000),
C<every> (seconds: prints each such period) and C<< quiet => 1 >> (is not printed). Their methods
are C<< print(top => 20, format => 'text') >>, C<clear>, C<total>, C<value(KEYS...)>, and C<rows>:
hash references with keys, count, sum, min, max, mean, p50, p90, p95, p99, is_other and buckets
([low, high, count]).

=item $session->run, $session->run(PACKAGE)

In a program of its own: calls the subs, and fills the aggregations, that the calling package (or
PACKAGE) has declared, over C<< Sonde->open(...) >> or C<< Sonde->record(...) >>. It returns the
status of exit_with(), 0 without it. A recording is read from its beginning, each time anew; a pipe
and a live recording are read once. Timers of a recording follow its times. Aggregations print
themselves at the end. It dies if an event or a field does not exist.

    use Sonde qw(on count);
    on 'sched:sched_switch', fields => ['next_comm'], sub { print "$_[1]\n" };
    count 'sched:*', by => 'name';
    Sonde->open(input => 'perf.data')->run;

=item pair(START, STOP, KEY)

The name of a derived event, from each START to the STOP with the same KEY (tid): its field C<ns> is
the time between them.

=item target(), is_live()

The process of C<-p>, undef without; true if events are handled while they happen. The arguments are
in C<@ARGV>.

=back

=cut

use strict;
use warnings;

our $VERSION;
our @CARP_NOT = qw(Sonde::Program Sonde::Aggregate);

    # The extension is built for one perl: its version and, where it matters, its configuration.
sub _build {
    require Config;
    return join '-', $Config::Config{version}, $Config::Config{useithreads} ? 'thread' : 'single';
}

BEGIN {
    $VERSION = '0.1';
    require DynaLoader;
    my $self = __FILE__;
    if (-l $self) {    # installed: a link in a folder of perl's search path
        require Cwd;
        $self = Cwd::realpath($self);
    }
    my ($lib) = $self =~ m{^(.*)/[^/]*$};
    my $file = "$lib/../module/Sonde-" . _build() . ".so";
    if (!-e $file) {
        die "sonde: this perl ($^X, " . _build() . ") has no extension yet: "
            . "make perl PERL=$^X builds it in sonde's sources\n";
    }
    my $object = DynaLoader::dl_load_file($file, 0)
        or die "sonde: " . DynaLoader::dl_error() . "\n";
    my $boot = DynaLoader::dl_find_symbol($object, 'boot_Sonde')
        or die "sonde: " . DynaLoader::dl_error() . "\n";
    DynaLoader::dl_install_xsub('Sonde::bootstrap', $boot, $file)->('Sonde', $VERSION);
    our $_lib = $lib;
}

# Loads a module of ours, whose folder need not be in perl's search path.
sub _load {
    my ($name) = @_;

    my $path = "$Sonde::_lib/Sonde/$name.pm";

    return if $INC{"Sonde/$name.pm"};
    require $path;
    $INC{"Sonde/$name.pm"} = $path;
}

# use Sonde qw(on every count), or ':all'
sub import {
    my ($class, @names) = @_;
    my $package = caller;

    return if !@names;
    _load('Program');
    _load('Aggregate');
    my $functions = \%Sonde::Program::functions;
    for my $name (map { $_ eq ':all' ? sort keys %$functions : $_ } @names) {
        if (!$functions->{$name}) {
            require Carp;
            my $near = _nearest($name, sort keys %$functions);
            Carp::croak("use Sonde: there is no function '$name'"
                . ($near ? "; did you mean '$near'?" : ''));
        }
        no strict 'refs';
        *{"${package}::$name"} = $functions->{$name};
    }
}

sub open {
    my ($class, @settings) = @_;
    my $text = '';

    require Carp;
    Carp::croak("Sonde->open(KEY => VALUE, ...): a value is missing") if @settings % 2;
    while (my ($key, $value) = splice @settings, 0, 2) {
        for (ref $value eq 'ARRAY' ? @$value : $value) {
            Carp::croak("Sonde->open: $key holds the end of a line") if /\n/;
            $text .= "$key=$_\n";
        }
    }
    return $class->_open($text, undef, _reads_pipe($text));
}

# True if a session reads a recording from a pipe.
sub _reads_pipe {
    for my $path ($_[0] =~ /^input=(.*)$/mg) {
        return 1 if $path eq '-' ? -p STDIN || -S STDIN : -p $path || -S $path;
    }
    return 0;
}

# Without IO::Handle, which need not be loaded: setting $| writes what is buffered.
sub _flush {
    my $selected = select $_[0];
    { local $| = 1; }
    select $selected;
}

sub run {
    my ($self, $package) = @_;

    _load('Program');
    _load('Aggregate');
    return Sonde::Program::run_over($self, $package // scalar caller);
}

# ---- live ----------------------------------------------------------------------------------------

# `sonde run` sets both: the path of the program sonde, and a socket of its process with rights.
our ($_program, $_broker) = (undef, 0);

# (path of the program sonde or undef, socket or 0): who records with more rights
sub _starter {
    my ($sudo) = @_;

    return (undef, 0) if !$sudo || !$>;
    return (undef, $_broker) if $_broker;
    return ($_program, 0) if defined $_program;
    my ($lib) = __FILE__ =~ m{^(.*)/[^/]*$};
    require Cwd;
    for my $path ("$lib/../../../sonde", map { "$_/sonde" } split /:/, $ENV{PATH} // '') {
        return (Cwd::realpath($path), 0) if -f $path && -x _;
    }
    require Carp;
    Carp::croak('sudo => 1 starts the program sonde, which is not in PATH');
}

# The values of record() that are not settings.
my %is_own = map { $_ => 1 } qw(events filter cgroup command latency output sudo system buffer
    callchain);

sub _record_settings {
    my (%o) = @_;
    my %s = map { (my $key = $_) =~ tr/_/-/; $key => $o{$_} } grep { !$is_own{$_} } keys %o;

    $s{'mmap-pages'} = $o{buffer} // ($o{sudo} || !$> ? '8M' : undef);
    $s{'all-cpus'} = 1 if $o{system} || defined $o{cgroup};
    $s{'call-graph'} = $o{callchain} eq '1' ? 'fp' : $o{callchain} if $o{callchain};
    my $text = '';
    for my $key (grep { defined $s{$_} } sort keys %s) {
        my $value = ref $s{$key} eq 'ARRAY' ? join(',', @{ $s{$key} }) : $s{$key};
        Carp::croak("Sonde->record: $key holds the end of a line") if $value =~ /\n/;
        $text .= "$key=$value\n";
    }
    return $text;
}

sub record {
    my ($class, @options) = @_;

    require Carp;
    Carp::croak("Sonde->record(KEY => VALUE, ...): a value is missing") if @options % 2;
    my %o = @options;
    my @events = ref $o{events} eq 'ARRAY' ? @{ $o{events} } : grep { defined } $o{events};
    Carp::croak('Sonde->record: name the events') if !@events;
    Carp::croak('Sonde->record: say what to record: command, pid, tid, cpu, cgroup or system => 1')
        if !grep { defined $o{$_} } qw(command pid tid cpu cgroup system);
    Carp::croak('Sonde->record: a command is an array: the program, then its arguments')
        if defined $o{command} && ref $o{command} ne 'ARRAY';
    my $latency = $o{latency} // 0.1;
    Carp::croak("Sonde->record: latency is 0.001 to 60 seconds, not $latency")
        if $latency < 0.001 || $latency > 60;
    my ($live) = Sonde::Live->_open(
        [(map { [$_] } @events),
            defined $o{filter} ? [undef, $o{filter}] : (),
            defined $o{cgroup} ? [undef, undef, $o{cgroup}] : ()],
        _record_settings(%o), $o{command}, int($latency * 1000), $o{output}, _starter($o{sudo}));
    die _error(), "\n" if !$live;
    $live->start;
    return $class->_open('', $live, 1);
}

sub _need_live {
    my ($self, $method) = @_;

    return $self->_live // do { require Carp; Carp::croak("$method: this is no live recording") };
}

sub stop { $_[0]->_need_live('stop')->stop }
sub messages { return $_[0]->_need_live('messages')->lines }

sub wait {
    my ($self) = @_;
    my $live = $self->_need_live('wait');

    1 while $self->next;
    my ($code, $status) = $live->result;
    die _error(), "\n" if $code < 0;
    return $status;
}

1;
