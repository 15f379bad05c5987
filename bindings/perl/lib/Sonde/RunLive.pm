# SPDX-License-Identifier: MIT
package Sonde::RunLive;

# `sonde run x.pl`: what a script needs is recorded when its own statements have run. It needs the
# events that its subs are named after, system::event, and those of its line "# sonde: record".

use strict;
use warnings;

Sonde::_load('Program');

my ($facts, $text, $is_ended);

sub say_line { Sonde::Prelude::say_line(@_) }

# The command line or the script is wrong, and nothing has started.
sub usage {
    say_line(@_);
    leave(2);
}

sub leave {
    my ($status) = @_;

    Sonde::Prelude::leave();
    exit $status;
}

# A time as --for takes it, in seconds; undef if it is none.
sub seconds {
    my ($time) = @_;
    my %factors = (ms => 1e-3, us => 1e-6, s => 1, m => 60, h => 3600);

    return undef if $time !~ /^(\d+(?:\.\d*)?|\.\d+)(ms|us|s|m|h)?$/ || !($1 * 1);
    return $1 * $factors{ $2 // 's' };
}

# Called before the script.
sub prepare {
    ($facts, $text) = @_;
    if (defined $facts->{for}) {
        my $seconds = seconds($facts->{for});
        usage("run: --for takes a time as 10s, 500ms or 2m, not '$facts->{for}'")
            if !defined $seconds;
        $facts->{for} = $seconds;
    }
    $Sonde::_program = $facts->{program};
    return if !$facts->{broker};
    require Fcntl;
    open our $broker, '+<&=', $facts->{broker} or die "sonde: no socket to record with: $!\n";
    fcntl $broker, Fcntl::F_SETFD(), Fcntl::FD_CLOEXEC();
    $Sonde::_broker = $facts->{broker};
}

# ---- the events ----------------------------------------------------------------------------------

# The events of the script's subs. Packages that are no system of events are the script's own. If
# this user may not read the systems, those with a capital letter are.
sub named_by_subs {
    my @names = map { s/::/:/r } grep { /^\w+::\w+$/ } Sonde::Prelude::own_subs();
    my %known = map { $_ => 1 } Sonde::Program::tracepoints();
    my %is_system = map { /^(.*):/ ? ($1 => 1) : () } keys %known;
    my @found;

    return grep { /^[^A-Z]/ } @names if !%known;
    for my $name (grep { /^(.*):/ && $is_system{$1} } @names) {
        push @found, $name;
        next if $known{$name};
        my $near = Sonde::_nearest($name, keys %known);
        usage("$0: sub " . $name =~ s/:/::/r . " can never be called: this kernel has no event "
            . "'$name'" . ($near ? "; did you mean '$near'?" : ''));
    }
    return @found;
}

# What the recorder gets: each event once.
sub needed {
    my @given = @{ $facts->{events} };
    my @own = map { defined $_->[0] ? Sonde::Program::words_of($_->[0]) : () } @given;
    my @events;

    for my $name (named_by_subs()) {
        push @events, [$name] if !grep { Sonde::Program::is_like($_, $name) } @own;
    }
    return (@events, (grep { !defined $_->[2] } @given), grep { defined $_->[2] } @given);
}

# ---- the recording -------------------------------------------------------------------------------

sub has_setting { return $facts->{settings} =~ /^\Q$_[0]\E=/m }

sub failed {
    my ($code) = @_;
    my $is_missing = @{ $facts->{command} } && $code == -2;    # ENOENT
    my $is_usage = $code == -53 || $code == -22;               # EBADR, EINVAL

    say_line($_) for split /\n/, Sonde::_error();
    leave($is_missing ? 127 : $is_usage ? 2 : 1);
}

sub say_lines {
    my ($live) = @_;

    say_line($_) for $live->lines;
}

sub has_target {
    return @{ $facts->{command} } || (grep { defined $_->[2] } @{ $facts->{events} })
        || grep { has_setting($_) } qw(all-cpus pid tid cpu);
}

# needed: lines that the script needs, if nobody says otherwise.
sub recorder_settings {
    my ($needed) = @_;
    my $has_sudo = $facts->{sudo} || $facts->{broker};

    return join '', has_setting('mmap-pages') || $> && !$has_sudo ? '' : "mmap-pages=8M\n",
        (grep { !has_setting(/^([^=]*)=/) } map { "$_\n" } split /\n/, $needed),
        $facts->{settings};
}

# Opens a recorder. Returns undef if there is no event.
sub open_recorder {
    my ($settings, @events) = @_;

    usage("run: the line '# sonde: record' cannot name an output; -o of sonde run does")
        if has_setting('output') || has_setting('compression-level');
    if (!grep { defined $_->[0] } @events) {
        usage('run: the script needs no event, so there is nothing to record'
            . (@{ $facts->{command} } ? "; $facts->{command}[0] was not started" : ''))
            if @{ $facts->{command} } || $facts->{'dry-run'};
        return undef;
    }
    if ($facts->{'dry-run'}) {
        print Sonde::_record_line(\@events, $settings, $facts->{command}, $facts->{output}), "\n";
        leave(0);
    }
    usage('run: say what to record: -a, -p PID, -t TID, -G CGROUP, -C CPUS, or a command behind '
        . '--; -i FILE reads a recording')
        if !has_target();
    Sonde::Prelude::flush();
    my ($live, $code) = Sonde::Live->_open(\@events, $settings,
        @{ $facts->{command} } ? $facts->{command} : undef, $facts->{latency} // 0,
        $facts->{output}, Sonde::_starter($facts->{sudo} || $facts->{broker}));
    failed($code) if !$live;
    say_lines($live);
    return $live;
}

# Opens what the script's subs need. Returns the recorder; undef if they need no event.
sub open_live {
    my $live = open_recorder(recorder_settings(''), needed()) or return undef;

    $Sonde::Prelude::run = Sonde::Run->new("${text}events=all\n", 1, $live)
        or Sonde::Prelude::fail();
    return $live;
}

# The events of the line "# sonde:" and of options: (names that are recorded completely, what is
# passed on unchanged). Events with a filter of their own are passed on.
sub split_events {
    my @events = @{ $facts->{events} };
    my (@names, @rest);

    for my $i (0 .. $#events) {
        my $is_filtered = $i < $#events && defined $events[$i + 1][1];
        if (defined $events[$i][0] && !$is_filtered) {
            push @names, Sonde::Program::words_of($events[$i][0]);
        } else {
            push @rest, $events[$i];
        }
    }
    return \(@names, @rest);
}

# What the recorder gets for a program of handlers.
sub program_events {
    my ($rest, @wanted) = @_;
    my $is_sampled = has_setting('freq') || has_setting('count');
    my %is_own = map { $_ => 1 } map { defined $_->[0] ? Sonde::Program::words_of($_->[0]) : () }
        @$rest;
    my %is_named = map { $_ => 1 } map { @{ $_->{events} } }
        @Sonde::Program::handlers, @Sonde::Program::aggregates;
    my @events;

    for my $wanted (grep { !$is_own{ $_->[0] } } @wanted) {
        my ($name, $condition) = @$wanted;
        push @events, [$is_sampled || !$is_named{$name} ? $name
            : Sonde::_each_occurrence($name)];
        push @events, [undef, $condition] if defined $condition;
    }
    return (@events, (grep { !defined $_->[2] } @$rest), grep { defined $_->[2] } @$rest);
}

# Opens what a program of handlers needs. Returns (the recorder or undef, its needs, [name, filter]
# of the kernel ...).
sub open_program {
    my ($names, $rest) = split_events();
    my $needs = Sonde::Program::needs(@$names);
    my @wanted = eval { $needs->wants };

    Sonde::Program::refuse('') if $@ ne '';
    usage('run: several patterns may name one event twice, and you have no right to read the list '
        . 'of events: name the events, or give one pattern')
        if 1 < grep({ Sonde::Program::is_glob($_->[0]) } @wanted) && !Sonde::Program::tracepoints();
    Sonde::Program::check_users($needs) if Sonde::Program::check_events($needs);
    # Timers of a program without events end with the command.
    push @wanted, ['dummy', undef]
        if !@wanted && !@$rest && @Sonde::Program::timers && has_target();
    my @events = program_events($rest, @wanted);
    return undef if !@events && @Sonde::Program::timers && !$facts->{'dry-run'};
    my $live = open_recorder(recorder_settings($needs->settings), @events);
    $needs = Sonde::Program::needs() if $live && Sonde::Program::use_clock();
    return ($live, $needs, @wanted);
}

sub start_live {
    my ($live) = @_;

    $live->start;
    return if !defined $facts->{for};
    require Time::HiRes;
    $SIG{ALRM} = sub { $is_ended = 1; $live->stop };
    Time::HiRes::alarm($facts->{for});
}

# False after a failure, whose causes Sonde::_error() has.
sub finish {
    my ($live, $was_stopped) = @_;
    my ($code, $status) = $live->result;

    Time::HiRes::alarm(0) if defined $facts->{for} && $INC{'Time/HiRes.pm'};
    say_lines($live);
    return 0 if $code < 0;
    say_line("$facts->{command}[0] ended with status $status")
        if $status && @{ $facts->{command} }
        && !(($was_stopped || $is_ended) && $status == 128 + 15);
    return 1;
}

1;
