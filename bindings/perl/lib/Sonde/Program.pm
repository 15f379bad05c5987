# SPDX-License-Identifier: MIT
package Sonde::Program;

# Programs of handlers: on(), every(), begin(), at_end(), lost(), exit_with(); what they need, and
# the loop that calls them. `use Sonde qw(on every)` gives a script these functions; Sonde::Prelude
# runs the program when the script's own statements have run, and $session->run a part of it, that
# of a package. Python's twin is _program.py.

use strict;
use warnings;

our @CARP_NOT = qw(Sonde Sonde::Aggregate);    # croak() names a line of the script
our (@handlers, @timers, @aggregates, @begins, @ends, @losses);
our ($target, $is_live) = (undef, 0);

# What `use Sonde` can give, by the name that the script calls it.
our %functions = (
    on => \&on, every => \&every, begin => \&begin, end => \&at_end, at_end => \&at_end,
    lost => \&lost, exit_with => \&exit_with, pair => \&pair, target => sub () { $target },
    is_live => sub () { $is_live },
);

sub is_declared { return @handlers || @timers || @aggregates || @begins || @ends || @losses }

# ---- declarations --------------------------------------------------------------------------------

# The line of the script that calls a function of this module.
sub place {
    for (my $i = 0; my ($package, $file, $line) = caller $i; $i++) {
        return "$file:$line: " if $package !~ /^Sonde(?:::|$)/;
    }
    return '';
}

# The package of the script that calls a function of this module.
sub package_of_caller {
    for (my $i = 0; my ($package) = caller $i; $i++) {
        return $package if $package !~ /^Sonde(?:::|$)/;
    }
    return 'main';
}

our $is_called = 0;    # in $session->run: what is wrong is an error of that call

sub is_command { return $INC{'Sonde/Prelude.pm'} && !$is_called }

# A line of the script gave a wrong value: the run ends.
sub wrong {
    my ($text) = @_;

    usage(place() . $text) if is_command();
    require Carp;
    Carp::croak($text);
}

sub usage {
    if (!is_command()) {
        require Carp;
        Carp::croak($_[0]);
    }
    my ($first, @causes) = split /\n/, $_[0];
    Sonde::Prelude::say_line($first);
    Sonde::Prelude::say_line("  $_") for @causes;
    Sonde::Prelude::leave();
    exit 2;
}

sub patterns {
    my ($events, $function) = @_;
    my @words = map { words_of($_) } grep { defined && !ref } ref $events eq 'ARRAY' ? @$events
        : $events;

    wrong("$function needs the name of an event, as 'sched:sched_switch'") if !@words;
    return [@words];
}

# The keys of a call; others are wrong.
sub options {
    my ($function, $known, @pairs) = @_;
    my %known = map { $_ => 1 } @$known;

    wrong("$function: a value is missing behind '$pairs[-1]'") if @pairs % 2;
    my %o = @pairs;
    for my $key (sort keys %o) {
        my $near = Sonde::_nearest($key, @$known);
        wrong("$function takes no '$key'" . ($near ? "; did you mean '$near'?" : '; it takes '
            . join ', ', @$known)) if !$known{$key};
    }
    return %o;
}

sub needs_sub {
    my ($function, $code) = @_;

    wrong("$function needs a sub") if ref $code ne 'CODE';
    return $code;
}

sub on {
    my ($events, @rest) = @_;
    my $code = needs_sub('on()', pop @rest);
    my %o = options('on()', [qw(fields filter callchain)], @rest);

    $o{fields} = [$o{fields}] if defined $o{fields} && !ref $o{fields};
    push @handlers, { events => patterns($events, 'on()'), code => $code, filter => $o{filter},
        fields => $o{fields} // [], callchain => $o{callchain}, place => place() . 'on(): ',
        package => package_of_caller() };
    return $code;
}

sub timer {
    my ($seconds, $code) = @_;

    wrong("every: a period is a number of seconds from 0.000001 on, not '" . ($seconds // 'undef')
        . "'") if !defined $seconds || $seconds !~ /^(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/
        || $seconds < 1e-6 || $seconds >= 1e9;
    return { ns => int($seconds * 1e9), code => $code, package => package_of_caller() };
}

sub every {
    my ($seconds, $code) = @_;
    my $timer = timer($seconds, needs_sub('every()', $code));

    push @timers, $timer;
    return $code;
}

sub add_sub {
    my ($list, $function, $code) = @_;

    push @$list, { code => needs_sub($function, $code), package => package_of_caller() };
    return $code;
}

sub begin (&) { return add_sub(\@begins, 'begin()', @_) }
sub at_end (&) { return add_sub(\@ends, 'at_end()', @_) }
sub lost (&) { return add_sub(\@losses, 'lost()', @_) }

my $exit_status;

# The status is kept, so that an eval of the script does not keep the run from ending.
sub exit_with {
    $exit_status = $_[0] // 0;
    die bless { status => $exit_status }, 'Sonde::Exit';
}

sub pair {
    my ($start, $stop, $key) = @_;
    my @keys = ref $key eq 'ARRAY' ? @$key : $key // 'tid';

    wrong('pair() needs two events') if !defined $stop;
    wrong('a pair has one key, or one for each event') if @keys < 1 || @keys > 2;
    return 'pair(' . join(',', $start, $stop, @keys) . ')';
}

# ---- what is needed ------------------------------------------------------------------------------

# words_of(LIST), is_glob(), is_tracepoint(NAME), is_like() and names(PATTERN, NAME) are in needs.c.

my @known;

# The names of the kernel's tracepoints, as far as this user may read them.
sub tracepoints {
    @known = Sonde::_tracepoints() if !@known;
    return @known;
}

my @OWN = qw(name time cpu pid tid comm callchain text);
my %is_own = map { $_ => 1 } @OWN;
my %is_sampled = map { $_ => 1 } qw(ip addr period weight data_src phys_addr);

# Asks the extension what the program needs (bindings/prelude/needs.h), with events that are given
# by others and recorded completely.
sub needs {
    my (@given) = @_;
    my @words = ((map { (own => $_) } @OWN), map { (given => $_) } @given);

    for my $user (@handlers, @aggregates) {
        my ($condition) = grep { defined } @$user{qw(filter where)};

        push @words, ($user->{code} ? 'handler' : 'aggregate') => $user->{place} =~ s/: \z//r,
            (map { (event => $_) } @{ $user->{events} }),
            (map { (field => $_) } $user->{code} ? @{ $user->{fields} } : $user->{field} // ()),
            (map { (key => $_) } @{ $user->{by} // [] }),
            $user->{callchain} ? (callchain => '') : (),
            defined $condition ? (condition => $condition) : ();
    }
    return Sonde::_needs(@words, @losses ? (lost => '') : ());
}

# Where the processor does not count cycles, the recorder takes cpu-clock, and reports it: the
# program gets its samples then. Returns true if it does.
sub use_clock {
    my $has_changed = 0;

    for my $user (@handlers, @aggregates) {
        my @events = map { Sonde::_clocked($_) } @{ $user->{events} };
        $has_changed = 1 if "@events" ne "@{ $user->{events} }";
        $user->{events} = \@events;
    }
    return $has_changed;
}

# Ends the run if this machine does not have an event that the script names. Returns true if this
# user may read its fields.
sub check_events {
    my ($needs) = @_;
    my ($wrong, $may_read) = $needs->check_events;

    usage($wrong) if defined $wrong;
    return $may_read;
}

# Ends the run if events that a handler or an aggregation names do not have its fields. Reports
# types that handlers cannot take.
sub check_users {
    my ($needs) = @_;
    my ($wrong, @lines) = eval { $needs->check_users };

    refuse('') if $@ ne '';
    if (is_command()) {
        Sonde::Prelude::say_line($_) for @lines;
    }
    usage($wrong) if defined $wrong;
}

# Ends the run with the causes of a failure of the library: what the script says is wrong.
sub refuse {
    my ($place, $status) = @_;
    my ($first, @causes) = split /\n/, Sonde::_error();

    die $place // '', Sonde::_error(), "\n" if !is_command();
    Sonde::Prelude::say_line(($place // '') . ($first // 'out of memory'));
    Sonde::Prelude::say_line("  $_") for @causes;
    Sonde::Prelude::leave();
    exit($status // 2);
}

# ---- opening -------------------------------------------------------------------------------------

# For a recorder, with what was asked about it before; or a recording.
sub open_session {
    my ($text, $live, $needs) = @_;

    $needs //= needs();
    my $session = eval { Sonde->_open($text . $needs->lines, $live ? $live : ()) };

    Sonde::Prelude::fail() if !$session;
    $needs->learn($session);
    check_users($needs);
    return $session;
}

# ---- the run -------------------------------------------------------------------------------------

our $run;

sub clock_ns {
    require Time::HiRes;
    return int(Time::HiRes::clock_gettime(Time::HiRes::CLOCK_MONOTONIC()) * 1e9);
}

sub tick_timer {
    my ($t, $now_ns) = @_;

    ($t->{begin_ns}, $t->{next_ns}) = ($now_ns, $now_ns + $t->{ns}) if !defined $t->{next_ns};
    return if $now_ns < $t->{next_ns};
    my $end = $t->{next_ns};
    # Not more than one call for a time in which nothing came.
    $t->{next_ns} += $t->{ns} * (int(($now_ns - $end) / $t->{ns}) + 1);
    $t->{code}->($end - $t->{ns} - $t->{begin_ns}, $end - $t->{begin_ns});
    end_if_asked();
}

# exit_with() in an eval of the script
sub end_if_asked { exit_with($exit_status) if defined $exit_status }

sub tick {
    my ($now_ns) = @_;

    $run->{now_ns} = $now_ns;
    tick_timer($_, $now_ns) for @{ $run->{timers} };
}

# The time of the next timer, or of the end (--for): undef without.
sub next_ns {
    my ($least) = sort { $a <=> $b } grep { defined }
        (map { $_->{next_ns} } @{ $run->{timers} }), $run->{end_ns};

    return $least;
}

# Looks at the clock in a live run. Returns the time until which can be waited, 0: for ever.
sub tick_live {
    if (@{ $run->{timers} } || defined $run->{end_ns}) {
        my $now_ns = clock_ns();
        tick($now_ns);
        if (defined $run->{end_ns} && $now_ns >= $run->{end_ns}) {
            $run->{end_ns} = undef;
            $run->{is_at_end} = 1;
            $run->{stop}->();
        }
    }
    return next_ns() // 0;
}

sub value_of {
    my ($e, $name) = @_;
    my $value = $e->field($name);

    return $value if defined $value;
    if ($is_sampled{$name}) {
        $value = $e->sampled($name);
        return $value if defined $value;
    }
    return $is_own{$name} ? $e->$name : die $e->name . " has no field '$name'\n";
}

sub can_give {
    my ($e, $name) = @_;

    return $is_own{$name} || defined $e->field($name)
        || $is_sampled{$name} && defined $e->sampled($name);
}

# The kernel lets only events through that the handler's filter takes.
sub kernel_has {
    my ($h) = @_;

    return !grep { ($run->{kernel}{$_} // '') ne $h->{filter} } @{ $h->{events} };
}

# The calls for events of a type, [sub, names of fields, condition, is_named].
sub calls_of {
    my ($e) = @_;
    my $name = $e->name;
    my @calls;

    for my $h (@handlers) {
        my $is_named = grep { $_ eq $name } @{ $h->{events} };
        next if !grep { names($_, $name) } @{ $h->{events} };
        next if !$is_named && grep { !can_give($e, $_) } @{ $h->{fields} };
        my ($filter) = defined $h->{filter} && !kernel_has($h)
            ? Sonde::_filter($run->{session}, $h->{filter}) : ();
        push @calls, [$h->{code}, $h->{fields}, $filter, $is_named ? 1 : 0];
    }
    # The sums at the end of a recording, lost_samples, have the same losses again.
    push @calls, [\&report_loss, []] if $name eq 'lost' && @losses;
    return \@calls;
}

sub report_loss {
    my ($e) = @_;
    my $count = $e->field('lost');

    $run->{lost} += $count;
    $_->{code}->($count, $e->cpu) for @losses;
}

# What the reports in their places lack, or have too much.
sub report_rest {
    my ($lost) = $run->{session}->_lost;
    my $rest = $lost - $run->{lost};

    return if !$rest;
    $_->{code}->($rest, undef) for @losses;
}

sub deliver {
    my ($e) = @_;
    my $calls = $run->{calls}{ $e->name } //= calls_of($e);

    for my $call (@$calls) {
        my ($code, $fields, $filter, $is_named) = @$call;

        next if $filter && !$filter->matches($e, $is_named);
        $run->{current} = $e;
        $code->($e, @$fields ? map { value_of($e, $_) } @$fields : ());
        leave_child() if $$ != $run->{pid};
        end_if_asked() if defined $exit_status;
    }
    $run->{current} = undef;
}

# A handler has forked, and the child returned: the events are the parent's.
sub leave_child {
    Sonde::_flush(\*STDOUT);
    require POSIX;
    POSIX::_exit(0);
}

sub pour_all {
    my ($counts) = @_;
    my $s = $run->{session};

    while (1) {
        my $until_ns = $run->{is_live} ? tick_live() : 0;
        my ($more, $time_ns) = $s->_pour($counts, $until_ns,
            $run->{is_live} || !@{ $run->{timers} } ? undef : next_ns() // 0);
        last if defined $more && !$more;
        tick($time_ns) if defined $time_ns;
    }
}

sub all_events {
    my $counts = [map { $_->{counts} } @aggregates];
    my ($s, $is_live) = @$run{qw(session is_live)};
    my $by_time = @{ $run->{timers} } && !$is_live;

    return pour_all($counts) if !@handlers && !@losses;
    my $until_ns = $is_live ? tick_live() : 0;
    while (1) {
        my $e = $s->_turn($until_ns);
        if (!defined $e) {
            $until_ns = tick_live() if $is_live;
            next;
        }
        last if !$e;
        if ($by_time) {
            my $time = $e->time;
            tick($time) if defined $time;
        }
        Sonde::_add($e, $counts) if @$counts;
        deliver($e);
    }
}

# Timers of a program that needs no event, and records nothing.
sub wait_for_timers {
    while (!$run->{has_stopped}) {
        my $until_ns = tick_live();
        last if !$until_ns || $run->{has_stopped};
        my $ns = $until_ns - clock_ns();
        Time::HiRes::sleep($ns / 1e9) if $ns > 0;
    }
}

# False after exit_with().
sub call_all {
    my (@codes) = @_;

    return 1 if eval { $_->(), end_if_asked() for @codes; 1 };
    my $error = $@;
    die $error if !defined $exit_status || ref $error ne 'Sonde::Exit' && $error ne '';
    @$run{qw(status has_exited current)} = ($exit_status, 1, undef);
    $exit_status = undef;
    return 0;
}

# The time at the end of the run; undef without timers, or without events.
sub end_ns {
    return clock_ns() if $run->{is_live};
    my (undef, $last) = $run->{session}->_span;
    my ($most) = sort { $b <=> $a } grep { defined } $run->{now_ns}, $last;
    return @{ $run->{timers} } ? $most : undef;
}

sub run_all {
    my ($live) = @_;

    if (call_all(map { $_->{code} } @begins)) {
        call_all($run->{session} ? \&all_events : \&wait_for_timers)
            if $run->{session} || $run->{is_live} && @{ $run->{timers} };
    }
    $live->stop if $live;
    call_all(\&report_rest) if @losses && $run->{session};
    call_all(map { $_->{code} } @ends);
    leave_child() if $$ != $run->{pid};
    if ($run->{session}) {
        my $now_ns = end_ns();
        $_->_print_at_end($run->{facts}, $now_ns) for @aggregates;
    }
}

sub describe {
    return defined $run && $run->{current} ? $run->{current}->_describe : undef;
}

# Wrong conditions are found here, before anything starts.
sub attach {
    my ($session) = @_;

    for my $a (@aggregates) {
        $a->_attach($session) or refuse();
    }
    for my $h (grep { defined $_->{filter} } @handlers) {
        my ($filter) = Sonde::_filter($session, $h->{filter});
        refuse($h->{place}) if !$filter;
    }
}

# A run over a session. live: the recorder, or undef. stop: ends it.
sub new_run {
    my ($session, $live, $facts, $is_live, $stop, @kernel) = @_;

    $run = bless {
        session => $session, facts => $facts, is_live => $is_live, stop => $stop, pid => $$,
        lost => 0, status => 0, calls => {}, kernel => { map { @$_ } @kernel },
        timers => [@timers, map { $_->_timer($facts) } grep { $_->{every} } @aggregates],
    }, __PACKAGE__;
    delete @$_{qw(begin_ns next_ns)} for @{ $run->{timers} };    # of an earlier run
    attach($session) if $session;
    return $run;
}

# $session->run: the program of a package over a session of the script's own. Returns the status.
sub run_over {
    my ($session, $package) = @_;
    my $live = $session->_live;
    my $is_its = sub { $_[0]{package} eq $package };

    local @handlers = grep { $is_its->($_) } @handlers;
    local @timers = grep { $is_its->($_) } @timers;
    local @aggregates = grep { $is_its->($_) } @aggregates;
    local @begins = grep { $is_its->($_) } @begins;
    local @ends = grep { $is_its->($_) } @ends;
    local @losses = grep { $is_its->($_) } @losses;
    local ($run, $is_called) = (undef, 1);

    my $needs = needs();
    eval { $session->_begin($needs->lines); 1 } or do {
        require Carp;
        Carp::croak($@ =~ s/(?: at \S+ line \d+\.)?\n\z//r);
    };
    $needs->learn($session);
    check_users($needs);
    new_run($session, $live, undef, defined $live, sub { $session->_stop });
    run_all($live);
    return $run->{status};
}

1;
