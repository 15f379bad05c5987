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
    Sonde::Prelude::say_line($_[0]);
    Sonde::Prelude::leave();
    exit 2;
}

# The names of a list: split at commas outside of parentheses, braces and slashes.
sub words_of {
    return grep { length } $_[0] =~ m{
        \G ( (?: /[^/]*/ | \([^\)]*\) | \{[^\}]*\}[^,]* | [^,] )* ) (?:,|$) }gx;
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

# ---- names of events -----------------------------------------------------------------------------

# is_pair(), is_glob(), is_tracepoint() and is_like(PATTERN, NAME) are in bindings/prelude/wants.h.

# True if a pattern of on() names an event type: tracepoints also without their system, samples also
# without their modifiers.
sub names {
    my ($pattern, $name) = @_;

    return 1 if $pattern eq $name;
    return 0 if is_pair($name);
    return $pattern eq '*' if is_pair($pattern);
    return 1 if is_like($pattern, $name);
    return $name =~ /^(.*):/ && $1 eq $pattern if !is_tracepoint($name);
    return $pattern !~ /:/ && is_like($pattern, $name =~ s/^[^:]*://r);
}

my @known;

# The names of the kernel's tracepoints, as far as this user may read them.
sub tracepoints {
    @known = Sonde::_tracepoints() if !@known;
    return @known;
}

my %formats;

# The names of a tracepoint's fields; none if this machine does not have it.
sub fields_of {
    my ($name) = @_;

    if (!$formats{$name}) {
        my ($code, $fields) = Sonde::_tracepoint($name);
        $formats{$name} = { code => $code, fields => $fields // [] };
    }
    return @{ $formats{$name}{fields} };
}

# ---- what is needed ------------------------------------------------------------------------------

my @SAMPLED = qw(ip addr period weight data_src phys_addr);
my @OWN = qw(name time cpu pid tid comm callchain text);
my @VALUES = qw(cpu CPU common_cpu comm COMM);    # of every event, in conditions
my %own_key = map { $_ => 1 } qw(name comm pid tid cpu cgroup index kstack ustack stack);
my %is_own = map { $_ => 1 } @OWN;
my %is_sampled = map { $_ => 1 } @SAMPLED;

sub type {
    my ($name, $fields, @values) = @_;

    return { name => $name, fields => $fields, has => { map { $_ => 1 } @$fields, @values } };
}

our @learnt;

# Takes the types of a session: those of a recording, or those that a recorder has opened.
sub learn {
    my ($session) = @_;

    @learnt = map { type($_->[0], $_->[1], @OWN, @{ $_->[2] }) } $session->_schemas;
}

sub parts { return $_[0] =~ /^pair\(([^,]*),([^,)]*)/ }

sub pair_type {
    my ($pattern) = @_;
    my @parts = parts($pattern);
    my @all;

    for my $part (@parts) {
        return undef if !is_tracepoint($part) || is_glob($part) || !fields_of($part);
        push @all, [grep { !/^common_/ } fields_of($part)];
    }
    my @start = ('ns', map { $_ eq 'ns' ? 'start_ns' : $_ } @{ $all[0] });
    my %is_start = map { $_ => 1 } @start;
    my @stop = map { $is_start{$_} ? "stop_$_" : $_ } @{ $all[1] };
    return type($pattern, [@start, @stop], qw(pid tid), @VALUES);
}

# The types of a name or pattern; none if their fields are unknown.
sub types_of {
    my ($pattern) = @_;

    return grep { defined } pair_type($pattern) if is_pair($pattern);
    return grep { names($pattern, $_->{name}) } @learnt if @learnt;
    return if !is_tracepoint($pattern);
    return map { type($_, [fields_of($_)], @OWN, @SAMPLED) }
        is_glob($pattern) ? grep { is_like($pattern, $_) } tracepoints() : $pattern;
}

# Fields that a handler or an aggregation needs.
sub asked {
    my ($user) = @_;

    return @{ $user->{fields} } if $user->{code};
    return ((grep { defined } $user->{field}),
        map { s/^f_//r } grep { !$own_key{$_} } @{ $user->{by} });
}

sub condition_of { return $_[0]{code} ? $_[0]{filter} : $_[0]{where} }

sub condition_fields {
    my ($condition) = @_;

    return defined $condition ? grep { defined } Sonde::_where_fields($condition) : ();
}

# The events of a pattern that a handler or an aggregation can take: [name, condition of the
# kernel]. The kernel takes a condition only if the event has all of its fields.
sub matching {
    my ($user, $pattern) = @_;
    my $condition = condition_of($user);
    my @fields = asked($user);
    my @names = condition_fields($condition);
    my @found;

    return [$pattern, undef] if !@fields && !@names;
    for my $type (types_of($pattern)) {
        my %values = map { $_ => 1 } @VALUES, @{ $type->{fields} };
        my @has = grep { $values{$_} } @names;
        next if grep { !$type->{has}{$_} } @fields;
        push @found, [$type->{name}, @has == @names ? $condition : undef] if !@names || @has;
    }
    return @found ? @found : [$pattern, $condition];
}

sub wanted_by {
    my ($user) = @_;
    my @wanted;

    for my $pattern (@{ $user->{events} }) {
        if (is_pair($pattern)) {
            push @wanted, map { [$_, undef] } parts($pattern);
        } elsif (is_glob($pattern) && is_tracepoint($pattern)) {
            push @wanted, matching($user, $pattern);
        } else {
            push @wanted, [$pattern, is_tracepoint($pattern) ? condition_of($user) : undef];
        }
    }
    return @wanted;
}

# The events to record, as [name, filter], each once, with those given by others, which are recorded
# completely.
sub needs {
    my (@given) = @_;

    return Sonde::_wants((map { [$_, undef] } @given), map { wanted_by($_) } @handlers,
        @aggregates);
}

# Software events that are no clocks give a sample for each occurrence. By default samples are taken
# at a frequency, and most occurrences have none.
sub each_occurrence {
    my ($name) = @_;
    my ($base, $modifiers) = split /:/, $name, 2;

    return $name if $base =~ /-clock$/ || !grep { $_ eq $base } Sonde::_listed(0);
    return "$base/period=1,name=$base/" . ($modifiers // '');
}

# Settings of the recorder that the program needs: [key, value].
sub settings {
    my @keys = map { @{ $_->{by} } } @aggregates;
    my @users = grep { grep { !is_tracepoint($_) && !is_pair($_) } @{ $_->{events} } }
        @handlers, @aggregates;

    return ((grep { $_->{callchain} } @handlers) || (grep { /^(?:kstack|ustack|stack)$/ } @keys)
            ? ['call-graph', 'fp'] : (),
        (grep { $_ eq 'cgroup' } @keys) ? ['all-cgroups', 1] : (),
        (grep { $_ eq 'addr' } map { asked($_) } @users) ? ['data', 1] : ());
}

# Where the processor does not count cycles, the recorder takes cpu-clock, and reports it.
sub use_clock {
    my $is_cycles = qr{^(?:cpu-)?cycles(?:[:/].*)?$}s;
    my @users = grep { grep { /$is_cycles/ } @{ $_->{events} } } @handlers, @aggregates;

    return if !@users || grep { $_ eq 'cycles' } Sonde::_listed(1);
    $_->{events} = [map { /$is_cycles/ ? 'cpu-clock' : $_ } @{ $_->{events} }] for @users;
}

# ---- what cannot work, before anything starts ----------------------------------------------------

sub meant {
    my $near = Sonde::_nearest(@_);

    return defined $near ? "; did you mean '$near'?" : '';
}

sub check_field {
    my ($place, $pattern, $field, @types) = @_;
    my %fields = map { $_ => 1 } map { @{ $_->{fields} } } @types;

    return if !@types || grep { $_->{has}{$field} } @types;
    usage($place . (@types > 1 ? "no event of '$pattern' has a" : "$pattern has no")
        . " field '$field'" . ($field eq 'addr' ? ': it was recorded without addresses (-d)'
            : meant($field, sort keys %fields)));
}

my %has_told;

# Types that a pattern names and that a handler cannot take.
sub tell_left_out {
    my ($user, $pattern, @types) = @_;

    for my $field (@{ $user->{fields} }) {
        my @without = map { $_->{name} } grep { !$_->{has}{$field} } @types;
        next if !@without || $has_told{"$user->{place}$pattern"}++;
        my $last = @without > 3 ? 2 : $#without;
        Sonde::Prelude::say_line("$user->{place}not called for " . @without . ' of the ' . @types
            . " events of '$pattern', which have no field '$field': "
            . join(', ', @without[0 .. $last]) . (@without > 3 ? ', ...' : ''));
    }
}

# Ends the run if events that a handler or an aggregation names do not have its fields.
sub check_users {
    for my $user (@handlers, @aggregates) {
        my $condition = condition_of($user);
        my @fields = asked($user);

        for my $pattern (@{ $user->{events} }) {
            my @types = @fields || defined $condition ? types_of($pattern) : ();
            check_field($user->{place}, $pattern, $_, @types) for @fields;
            # Conditions on single tracepoints are the kernel's, which is asked before the start.
            if (defined $condition && (is_glob($pattern) || is_pair($pattern))) {
                check_field("$user->{place}'$condition': ", $pattern, $_, @types)
                    for condition_fields($condition);
            }
            tell_left_out($user, $pattern, @types) if $user->{code} && is_command();
        }
    }
}

# Ends the run if this machine does not have an event that the script names. Returns true if this
# user may read its fields.
sub check_events {
    my (@names) = @_;
    my $may_read = 1;

    for my $name (grep { is_tracepoint($_) && !is_glob($_) } @names) {
        fields_of($name);
        my $code = $formats{$name}{code};
        my @users = grep { grep { $_ eq $name } @{ $_->{events} } } @handlers;
        my $place = @users ? $users[0]{place} : '';
        if ($code == -2) {    # ENOENT
            my $near = meant($name, tracepoints());
            usage("${place}this kernel has no event '$name'"
                . ($near || '; sonde list tracepoint names them'));
        }
        $may_read = 0 if $code == -13 || $code == -1;    # EACCES, EPERM
        refuse($place) if $code < 0 && $may_read;
    }
    return $may_read;
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

# What the text form of the session has for the handlers and aggregations.
sub session_lines {
    my (%seen, %met);
    my @chosen = grep { !$seen{$_}++ } map { @{ $_->{events} } } @handlers, @aggregates;
    my $lines = join '', map { 'pair=' . substr($_, 5, -1) . "\n" }
        grep { is_pair($_) && !$met{$_}++ } @chosen;

    $lines .= "events=all\n" if !@chosen || @losses;
    $lines .= 'event=' . join(',', @chosen) . "\n" if @chosen;
    return $lines;
}

sub open_session {
    my ($text, $live) = @_;
    my $session = eval { Sonde->_open($text . session_lines(), $live ? $live : ()) };

    Sonde::Prelude::fail() if !$session;
    learn($session);
    check_users();
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
    local @learnt;
    local ($run, $is_called) = (undef, 1);

    eval { $session->_begin(session_lines()); 1 } or do {
        require Carp;
        Carp::croak($@ =~ s/(?: at \S+ line \d+\.)?\n\z//r);
    };
    learn($session);
    check_users();
    new_run($session, $live, undef, defined $live, sub { $session->_stop });
    run_all($live);
    return $run->{status};
}

1;
