# SPDX-License-Identifier: MIT
package Sonde::Prelude;

# `sonde script -s x.pl` loads this module before the script: perl -MSonde::Prelude x.pl. The script
# is the program. When its own statements have run, its subs get the events; END blocks run last.

use strict;
use warnings;

our $run;
my ($facts, $text, $is_live); # of the run; $facts is undef for `sonde script`

# The script is not the cause of such a failure: its author gets one line, no stack of callers.
BEGIN {
    eval { require Sonde; 1 } or do {
        print STDERR $@ =~ /^(.*\n)/;
        exit 1;
    };
}

# The part that runs now: 'top level', 'trace_begin', 'event'; '' if nothing runs that could fail.
my $stage = 'top level';
my %rules = Sonde::_rules('');
our $status = 0; # the exit status before the script's END blocks

# Escapes control characters except tab, and bytes that are not UTF-8: text with names from
# recordings may reach a terminal.
sub quiet {
    my ($line) = @_;
    $line =~ s{ ( [\t\x20-\x7e] | \xc2[\xa0-\xbf] | [\xc3-\xdf][\x80-\xbf]
                | [\xe0-\xef][\x80-\xbf]{2} | [\xf0-\xf4][\x80-\xbf]{3} )
                | (.) }{ $1 // sprintf '\\x%02x', ord $2 }gsex;
    return $line;
}

sub say_line {
    my ($line) = @_;
    print STDERR 'sonde: ', quiet($line), "\n";
}

sub fail {
    my ($closing) = @_;
    my ($first, @causes) = split /\n/, Sonde::_error();
    say_line($first // 'out of memory');
    print STDERR '  ', quiet($_), "\n" for @causes;
    say_line($closing) if ($closing // '') ne '';
    $stage = '';
    exit $rules{status_failed};
}

sub session_text {
    my $fd = delete $ENV{SONDE_SESSION_FD};
    defined $fd or die "sonde: Sonde::Prelude is for sonde script: use Sonde in other programs\n";
    open my $in, '<&=', $fd or die "sonde: the session cannot be read: $!\n";
    binmode $in;
    local $/;
    return scalar <$in>;
}

# What `sonde run` says (cli/script.h): {name => value}, and lists of what is there several times.
# undef for `sonde script`.
sub run_facts {
    my $fd = delete $ENV{SONDE_RUN_FD};
    my %facts = (settings => '', command => [], events => []);

    return undef if !defined $fd;
    open my $in, '<&=', $fd or die "sonde: the request cannot be read: $!\n";
    binmode $in;
    local $/;
    my @words = split /\0/, scalar <$in>, -1;
    while (@words > 1) {
        my ($name, $value) = splice @words, 0, 2;
        if ($name eq 'settings') {
            $facts{settings} .= "$value\n";
        } elsif ($name eq 'command') {
            push @{ $facts{command} }, $value;
        } elsif ($name eq 'event') {
            push @{ $facts{events} }, [$value ne '' ? $value : undef];
        } elsif ($name eq 'filter' || $name eq 'cgroup') {
            push @{ $facts{events}[-1] }, $value ne '' ? $value : undef;
        } else {
            $facts{$name} = $value;
        }
    }
    return \%facts;
}

# True if the script is one for `sonde run`, which may declare handlers: its session is opened when
# its statements have run.
sub uses_sonde {
    CORE::open my $in, '<', $0 or return 0;
    local $/;
    return <$in> =~ /^\s*use\s+Sonde\b/m;
}

# What the script's functions of the module Sonde know.
sub prepare_program {
    Sonde::_load('Program');
    $Sonde::Program::is_live = $facts ? defined $facts->{live} : $is_live;
    ($Sonde::Program::target) = $facts ? $facts->{settings} =~ /^pid=(\d+)$/m : ();
}

sub import {
    $text = session_text();
    $facts = run_facts();

    # Scripts load the module by this name; its functions are in the extension.
    my ($lib) = __FILE__ =~ m{^(.*)/Sonde/[^/]*$};
    $ENV{PERF_EXEC_PATH} //= $lib;
    require "$lib/scripts/perl/Perf-Trace-Util/lib/Perf/Trace/Context.pm";
    $INC{'Perf/Trace/Context.pm'} //= "$lib/scripts/perl/Perf-Trace-Util/lib/Perf/Trace/Context.pm";
    @INC = grep { $_ ne $lib } @INC;

    %rules = Sonde::_rules($text);
    $is_live = Sonde::_reads_pipe($text);
    my $is_program = $facts || uses_sonde();
    prepare_program() if $is_program;
    if ($facts && defined $facts->{code}) {
        $0 = '-e';
        Sonde::_name_program('-e');
        package main;
        Sonde->import(':all');
    }
    if ($facts && $facts->{live}) {
        require "$lib/Sonde/RunLive.pm";
        Sonde::RunLive::prepare($facts, $text);
        Sonde::_behind_program();
        return;
    }
    $is_live || $text !~ /^progress=1$/m ? Sonde::_wipe_progress() : Sonde::_wipe_before_writing();
    open_run() if !$is_program;
    Sonde::_behind_program();
}

sub open_run {
    $run = Sonde::Run->new("${text}events=all\n", $is_live) or fail();
}

# Ends without a report by the END blocks of this module.
sub leave { $stage = '' }

sub flush { Sonde::_flush(\*STDOUT) }

sub call_if_there {
    my ($name) = @_;
    no strict 'refs';
    &{"main::$name"}() if defined &{"main::$name"};
}

# The sub of @$known that was probably meant. Subs are compared as event names, system:name.
sub nearest {
    my ($name, $known) = @_;
    my @events = ($name, @$known);

    s/::/:/ for @events;
    my $meant = Sonde::_nearest(@events);
    $meant =~ s/:/::/ if defined $meant;
    return $meant;
}

# Names of the script's own subs, "sub" or "package::sub", except those that are called by name.
sub own_subs {
    my @found;

    require B;
    no strict 'refs';
    for my $package ('main', map { /^(\w+)::$/ && $1 ne 'main' ? $1 : () } sort keys %main::) {
        for my $name (sort keys %{"${package}::"}) {
            next if !defined &{"${package}::$name"}
                || $name =~ /^(?:trace_begin|trace_end|trace_defect|BEGIN|END)$/;
            my $file = eval { B::svref_2object(\&{"${package}::$name"})->START->file };
            push @found, $package eq 'main' ? $name : "${package}::$name"
                if defined $file && $file eq $0;
        }
    }
    return @found;
}

my %has_told; # subs that are never called, and were reported

# Reports, in one line, subs that no event of the recording calls: a name is mistyped, or the event
# was not recorded. If there were samples but the script got none of them, the line also has subs of
# events that did not happen, and other subs whose names resemble a handler's.
sub warn_never_called {
    my ($is_idle) = @_;
    my %known = map { $_ => 1 } $run->subs;
    my %systems = map { (/^(.*)::/ ? $1 : '') => 1 } keys %known;
    my (%is_there, @absent);

    no strict 'refs';
    for my $system (sort keys %systems) {
        for my $name (sort keys %{"${system}::"}) {
            next if !defined &{"${system}::$name"} || $name =~ /^(?:AUTOLOAD|DESTROY|import)$/;
            $is_there{"${system}::$name"} = 1;
            push @absent, "${system}::$name"
                if !$known{"${system}::$name"} && !$has_told{"${system}::$name"}++;
        }
    }
    # An event that has its sub is no suggestion.
    my @others = grep { !$is_there{$_} } sort keys %known;
    my @listed = map {
        my $near = nearest($_, \@others);
        $_ . ($near ? " (did you mean $near?)" : '')
    } @absent;
    push @listed, map { "$_ (its event did not happen)" } grep { $known{$_} } sort keys %is_there
        if $is_idle;
    my @own = $is_idle ? grep { !$is_there{$_} && !$has_told{$_} } own_subs() : ();
    for my $name (@own) {
        my $near = nearest($name, [@others, 'trace_unhandled', 'process_event']);
        push @listed, "$name (did you mean $near?)" if $near;
    }
    my $names = join ', ', @listed;
    my @met = sort $run->met;
    my $calls = join ', ', grep { defined }
        (@met[0 .. 2], @met ? 'trace_unhandled' : (), 'process_event');
    if ($is_idle && ($names ne '' || @own)) {
        my $what = $names eq '' ? 'none of its subs is ever called' : "never called: $names";
        say_line("$0: $what; the events of this recording call $calls");
    } elsif ($names ne '') {
        say_line("$0: never called: $names; no event of this recording has such a name");
    }
}

sub died {
    my ($failed) = @_;
    my $event = $run && $run->describe;
    say_line("in the handler of this event: $event") if defined $event;
    # perf's status is the last errno: 2, from its search for kernel symbols, unless the script has
    # set another.
    if ($rules{perl_dies_with_errno} && $failed eq 'event') {
        $? = 2 if $? == 255;
    } else {
        $? = $rules{status_failed};
    }
}

# In END blocks: sets the status of a script that died, and reports the event whose sub died. exit()
# keeps the script's own status.
sub end {
    my $failed = $stage;
    $stage = '';
    return if $failed eq '';
    if (Sonde::_has_exited()) {
        $? = $rules{status_failed} if $rules{perl_exit_fails} && $failed eq 'top level' && $?;
        return;
    }
    died($failed);
}

# The last of all END blocks: for scripts that did not reach events(), and for the effects of the
# script's END blocks. perf runs END blocks and then the events, unless the END blocks or the
# statements before them set a status. An exit(0) here has the same effect.
END {
    my $has_died = Sonde::_has_died_in_end();
    if ($has_died || $rules{perl_exit_fails} && $? && !$status) {
        $? = $rules{status_failed};
    } elsif ($rules{perl_runs_on_after_exit} && !$? && $stage eq 'top level'
        && Sonde::_has_exited()) {
        eval { events(); 1 } or do {
            print STDERR $@;
            $? = 255;
            died($stage);
            $stage = '';
        };
    } else {
        end();
    }
}

my $has_stopped;

# Ctrl-C and SIGTERM end the recording; a second one acts as in plain perl. Returns the handler.
sub stop_by_signals {
    my ($end) = @_;
    my $stop = sub { $has_stopped = 1; $end->(); $SIG{ $_[0] } = 'DEFAULT' };

    for my $name (grep { !defined $SIG{$_} || $SIG{$_} eq 'DEFAULT' } qw(INT TERM)) {
        $SIG{$name} = $stop;
    }
    return $stop;
}

sub forget_signals {
    my ($stop) = @_;

    for my $name (grep { defined $SIG{$_} && $SIG{$_} eq $stop } qw(INT TERM)) {
        $SIG{$name} = 'DEFAULT';
    }
}

sub live_events {
    my ($live, $stop) = @_;

    Sonde::RunLive::start_live($live);
    my $code = $run->events;
    my @failure = $code < 0 ? ($run->defects)[0] : ();
    $live->stop;
    forget_signals($stop);
    fail(@failure) if @failure;
    call_if_there('trace_end');
    $stage = '';
    my ($line) = $run->defects;
    flush();
    Sonde::RunLive::finish($live, $has_stopped) or fail();
    say_line($line) if $line ne '';
}

# ---- programs of handlers ------------------------------------------------------------------------

# Subs that are called for events by their names, as those of `sonde script`.
sub perf_style_sub {
    my %is_system = map { /^(.*):/ ? ($1 => 1) : () } Sonde::Program::tracepoints();
    my ($sub) = grep { /^(\w+)::\w+$/ && $is_system{$1} || /^(?:trace_unhandled|process_event)$/ }
        own_subs();

    return $sub // (grep { defined &{"main::$_"} } qw(trace_begin trace_end trace_defect))[0];
}

# Returns the exit status.
sub program_events {
    my $sub = perf_style_sub();
    my $is_recorded = $facts && $facts->{live};

    Sonde::Program::usage("run: sub $sub has the name of an event, as subs of `sonde script` have, "
        . 'and the script also uses functions of the module Sonde: use on() for all')
        if defined $sub;
    my ($live, $needs, @kernel) = $is_recorded ? Sonde::RunLive::open_program() : ();
    my $session = $live || !$is_recorded ? Sonde::Program::open_session($text, $live, $needs)
        : undef;
    my $end = $live ? sub { $live->stop } : $session ? sub { $session->_stop }
        : sub { $run->{has_stopped} = 1 };
    $run = Sonde::Program::new_run($session, $live, $facts, $is_recorded || $is_live, $end,
        @kernel);
    my $stop = stop_by_signals($end);
    $stage = 'event';
    eval 'END { end(); $status = $? }';    # runs before the script's END blocks
    $live->start if $live;
    $run->{end_ns} = Sonde::Program::clock_ns() + $facts->{for} * 1e9
        if $is_recorded && defined $facts->{for};
    Sonde::Program::run_all($live);
    Sonde::_wipe_progress();
    forget_signals($stop);
    $stage = '';
    my $line = $session ? $session->defects_line : '';
    my $nothing = $session && !$live ? $session->_filters_line : '';
    my (undef, $is_loss) = $session ? $session->_lost : ();
    flush();
    Sonde::RunLive::finish($live, $has_stopped || $run->{is_at_end} || $run->{has_exited})
        || fail() if $live;
    say_line($_) for grep { $_ ne '' } $nothing, $line;
    my $strict = delete $ENV{SONDE_STRICT} // '';
    return 3 if !$facts && ($strict eq '1' && "$line$nothing" ne ''
        || $strict eq 'loss' && $is_loss);
    return $run->{status};
}

sub events {
    my $ours;

    if ($INC{'Sonde/Program.pm'} && Sonde::Program::is_declared()) {
        my $code = program_events();
        exit $code if $code;
        undef $run;
        return;
    }
    open_run() if !$run && !($facts && $facts->{live});
    my $live = $run ? undef : Sonde::RunLive::open_live();
    my $stop = $live && stop_by_signals(sub { $live->stop });
    # The event types of a pipe come with its events: there, this is reported at the end.
    warn_never_called(0) if $facts && $run && !$live && !$is_live;
    $stage = 'trace_begin';
    eval 'END { end(); $status = $? }'; # runs before the script's END blocks
    call_if_there('trace_begin');
    if (!$run) { # nothing is recorded
        call_if_there('trace_end');
        $stage = '';
        return;
    }
    $stage = 'event';
    if ($live) {
        live_events($live, $stop);
        undef $run;
        return;
    }
    # The current sub finishes, and no further events are delivered; a second Ctrl-C acts as in
    # plain perl. A handler set by the script stays.
    $SIG{INT} = $ours = sub { $run->stop; $SIG{INT} = 'DEFAULT' }
        if !defined $SIG{INT} || $SIG{INT} eq 'DEFAULT';
    my $code = $run->events;
    Sonde::_wipe_progress();
    $SIG{INT} = 'DEFAULT' if $ours && defined $SIG{INT} && $SIG{INT} eq $ours;
    fail(($run->defects)[0]) if $code < 0;
    my ($nothing, $is_idle) = $run->unserved;
    warn_never_called($is_idle) if !$rules{passes_over_handlers};
    call_if_there('trace_end');
    $stage = '';
    my ($line, $is_loss) = $run->defects;
    for my $text (grep { $_ ne '' } $nothing, $line) {
        flush();
        say_line($text);
    }
    my $strict = delete $ENV{SONDE_STRICT} // '';
    my $is_doubtful = $line ne '' || $nothing ne '' || $is_idle && !$rules{passes_over_handlers};
    exit 3 if $strict eq '1' && $is_doubtful || $is_loss && $strict eq 'loss';
    undef $run;
}

1;
