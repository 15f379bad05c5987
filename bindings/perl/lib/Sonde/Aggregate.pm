# SPDX-License-Identifier: MIT
package Sonde::Aggregate;

# count(), sum(), stats(), hist(), lhist(): events counted by keys in C. An aggregation gets the
# events of the run, and prints itself at the end. Python's twin is module/sonde/_aggregate.py.

use strict;
use warnings;

our @CARP_NOT = qw(Sonde Sonde::Program);

sub wrong { Sonde::Program::wrong(@_) }

my @KEYS = qw(by where limit every quiet);

sub new {
    my ($class, $kind, $events, $field, $linear, @rest) = @_;
    my %o = Sonde::Program::options("$kind()", [$kind eq 'hist' ? 'linear' : (), @KEYS], @rest);

    $linear //= $o{linear};
    wrong("a linear histogram needs three whole numbers: low, high, step")
        if $linear && (ref $linear ne 'ARRAY' || 3 != grep { defined && /^-?\d+$/ } @$linear);
    wrong("limit is a number of keys from 1 to 2**28, not '$o{limit}'")
        if defined $o{limit} && ($o{limit} !~ /^\d{1,9}$/ || !$o{limit} || $o{limit} > 1 << 28);
    wrong("quiet and every exclude one another: one prints nothing") if $o{quiet} && $o{every};
    my $self = bless {
        kind => $linear && $kind eq 'hist' ? 'lhist' : $kind, field => $field, linear => $linear,
        events => Sonde::Program::patterns($events, "$kind()"), where => $o{where},
        by => [map { split /\s*,\s*/ } ref $o{by} eq 'ARRAY' ? @{ $o{by} } : $o{by} // ()],
        limit => $o{limit} // 0, quiet => $o{quiet}, place => "$kind(): ",
        package => Sonde::Program::package_of_caller(),
        every => defined $o{every} ? Sonde::Program::timer($o{every}) : undef,
    }, $class;
    push @Sonde::Program::aggregates, $self;
    return $self;
}

sub needs_field {
    my ($kind, $field) = @_;

    wrong("$kind() needs the name of a field behind the event") if !defined $field || ref $field;
    return $field;
}

%Sonde::Program::functions = (
    %Sonde::Program::functions,
    count => sub { my ($e, @o) = @_; return __PACKAGE__->new('count', $e, undef, undef, @o) },
    lhist => sub {
        my ($e, $field, $low, $high, $step, @o) = @_;
        return __PACKAGE__->new('lhist', $e, needs_field('lhist', $field), [$low, $high, $step],
            @o);
    },
    map {
        my $kind = $_;
        ($kind => sub {
            my ($e, $field, @o) = @_;
            return __PACKAGE__->new($kind, $e, needs_field($kind, $field), undef, @o);
        })
    } qw(sum stats hist)
);

# ---- for the script ------------------------------------------------------------------------------

sub made {
    my ($self) = @_;

    return $self->{counts} // do {
        require Carp;
        Carp::croak('the aggregation has no events yet: it gets them from sonde run or '
            . '$session->run');
    };
}

# References to hashes: keys (an array), is_other, count, sum, min, max, mean, percentiles, buckets.
sub rows {
    my @rows = $_[0]{counts} ? $_[0]{counts}->rows : ();

    return @rows;
}

# The value of a row: a number; for stats its hash, for histograms its buckets.
sub value {
    my ($self, @keys) = @_;
    my $kind = $self->{kind};

    for my $row ($self->rows) {
        next if $row->{is_other} || "@{[map { $_ // '' } @{ $row->{keys} }]}" ne "@keys";
        return $kind eq 'stats' ? $row : $kind =~ /hist/ ? $row->{buckets}
            : $row->{ $kind eq 'sum' ? 'sum' : 'count' };
    }
    return undef;
}

# The number of events in all rows; for sum() the sum.
sub total {
    my ($self) = @_;
    my (undef, $count, $sum) = $self->{counts} ? $self->{counts}->facts : (undef, 0, 0);

    return $self->{kind} eq 'sum' ? $sum : $count;
}

sub clear { $_[0]{counts}->clear if $_[0]{counts} }

# print(top => 5, format => 'json')
sub print {
    my ($self, @options) = @_;
    my %o = Sonde::Program::options('print()', [qw(top format)], @options);

    $self->_print($o{top} // 20, $o{format} // 'text', 0, 0);
}

# ---- for the run ---------------------------------------------------------------------------------

# False if the options are wrong; Sonde::_error() says why.
sub _attach {
    my ($self, $session) = @_;

    ($self->{counts}) = Sonde::_aggregate($session, $self->{kind}, join(',', @{ $self->{events} }),
        $self->{field}, @{ $self->{by} } ? join(',', @{ $self->{by} }) : undef, $self->{where},
        $self->{limit}, @{ $self->{linear} // [] });
    $self->{has_printed} = 0;
    return defined $self->{counts};
}

# Writes to the handle that print() writes to; nothing if it is closed.
sub _print {
    my ($self, @how) = @_;
    my $counts = $self->made;
    my $out = do { no strict 'refs'; \*{ select() } };
    my $fd = fileno $out;

    return if !defined $fd;
    if ($fd >= 0) {
        Sonde::_flush($out);
        $counts->print($fd, @how);
        return;
    }
    CORE::open my $file, '+>', undef or die "sonde: no temporary file: $!\n";
    $counts->print(fileno $file, @how);    # a handle in memory gets the text
    seek $file, 0, 0;
    local $/;
    CORE::print {$out} scalar <$file>;
}

sub _print_as {
    my ($self, $facts, $from_ns, $to_ns) = @_;
    my $format = $facts->{format} // 'text';

    CORE::print "\n" if $self->{has_printed} && $format eq 'text' && defined fileno select();
    $self->_print($facts->{top} // ($format eq 'json' ? 0 : 20), $format, $from_ns // 0,
        $to_ns // 0);
    $self->{has_printed} = 1;
}

sub _timer {
    my ($self, $facts) = @_;

    $self->{every}{code} = sub {
        $self->_print_as($facts, @_);
        $self->{counts}->clear;
    };
    return $self->{every};
}

# Prints all rows, or those since the last period.
sub _print_at_end {
    my ($self, $facts, $now_ns) = @_;
    my $t = $self->{every};

    return if $self->{quiet} || $self->{has_printed} && !($self->{counts}->facts)[1];
    return $self->_print_as($facts) if !$t || !defined $t->{next_ns} || !defined $now_ns;
    my $first = $t->{next_ns} - $t->{ns} - $t->{begin_ns};
    my $last = $now_ns - $t->{begin_ns};
    $self->_print_as($facts, $first, $last > $first ? $last : $first + 1);
}

1;
