# SPDX-License-Identifier: MIT
package Perf::Trace::Core;

# Texts for flags and symbols of an event's fields. sonde fills the tables once per event type,
# before it delivers the first event of that type.

use strict;
use warnings;
use Exporter 'import';

our @EXPORT = qw(define_flag_field define_flag_value flag_str dump_flag_fields define_symbolic_field
    define_symbolic_value symbol_str dump_symbolic_fields trace_flag_str);
our @EXPORT_OK = @EXPORT;
our %EXPORT_TAGS = (all => [@EXPORT]);

my %flags;    # event -> field -> {delim, values => {number => text}}
my %symbols;  # event -> field -> {number => text}

# The bits of common_flags.
my @trace_flags = ([1, 'IRQS_OFF'], [2, 'IRQS_NOSUPPORT'], [4, 'NEED_RESCHED'], [8, 'HARDIRQ'],
    [16, 'SOFTIRQ']);

sub define_flag_field {
    my ($event, $field, $delim) = @_;
    $flags{$event}{$field}{delim} = $delim;
}

sub define_flag_value {
    my ($event, $field, $value, $text) = @_;
    $flags{$event}{$field}{values}{$value} = $text;
}

sub define_symbolic_field {
    my ($event, $field) = @_;
    $symbols{$event}{$field} //= {};
}

sub define_symbolic_value {
    my ($event, $field, $value, $text) = @_;
    $symbols{$event}{$field}{$value} = $text;
}

# Single bits win over names of several bits: entries are tried in ascending order, and the bits of
# a match are removed.
sub join_flags {
    my ($value, $delim, @entries) = @_;
    my @found;

    for (@entries) {
        my ($bits, $text) = @$_;
        if (!$value && !$bits) {
            push @found, $text;
            last;
        }
        if ($bits && ($value & $bits) == $bits) {
            push @found, $text;
            $value &= ~$bits;
        }
    }
    return @found ? join($delim, @found) : undef;
}

# undef if the field or the value is unknown.
sub flag_str {
    my ($event, $field, $value) = @_;
    my $known = $flags{$event} && $flags{$event}{$field} or return undef;
    my $values = $known->{values} // {};

    my $has_delim = defined $known->{delim} && $known->{delim} ne '';
    return join_flags($value, $has_delim ? " $known->{delim} " : ' ',
        map { [$_, $values->{$_}] } sort { $a <=> $b } keys %$values);
}

sub symbol_str {
    my ($event, $field, $value) = @_;
    my $known = $symbols{$event} && $symbols{$event}{$field} or return undef;

    return $known->{$value};
}

sub trace_flag_str {
    my ($value) = @_;

    return $value ? join_flags($value, ' | ', @trace_flags) : 'NONE';
}

sub dump_flag_fields {
    for my $event (sort keys %flags) {
        print "event $event:\n";
        for my $field (sort keys %{$flags{$event}}) {
            my $known = $flags{$event}{$field};
            print "    field: $field:\n";
            print "        delim: $known->{delim}\n" if defined $known->{delim};
            print "        value $_: $known->{values}{$_}\n"
                for sort { $a <=> $b } keys %{$known->{values} // {}};
        }
    }
}

sub dump_symbolic_fields {
    for my $event (sort keys %symbols) {
        print "event $event:\n";
        for my $field (sort keys %{$symbols{$event}}) {
            my $known = $symbols{$event}{$field};
            print "    field: $field:\n";
            print "        value $_: $known->{$_}\n" for sort { $a <=> $b } keys %$known;
        }
    }
}

1;
