# SPDX-License-Identifier: MIT
package Perf::Trace::Util;

# Times, means, the terminal.

use strict;
use warnings;
use Exporter 'import';

our @EXPORT = qw(avg nsecs nsecs_secs nsecs_nsecs nsecs_usecs print_nsecs nsecs_str clear_term);
our @EXPORT_OK = @EXPORT;
our %EXPORT_TAGS = (all => [@EXPORT]);

use constant NSECS_PER_SEC => 1_000_000_000;

sub avg {
    my ($total, $n) = @_;
    return $total / $n;
}

sub nsecs {
    my ($secs, $nsecs) = @_;
    return $secs * NSECS_PER_SEC + $nsecs;
}

# Keeps the fraction: scripts print it with %u.
sub nsecs_secs {
    my ($nsecs) = @_;
    return $nsecs / NSECS_PER_SEC;
}

sub nsecs_nsecs {
    my ($nsecs) = @_;
    return $nsecs % NSECS_PER_SEC;
}

sub nsecs_usecs {
    my ($nsecs) = @_;
    return int(nsecs_nsecs($nsecs) / 1000);
}

sub nsecs_str {
    my ($nsecs) = @_;
    return sprintf '%5u.%09u', int($nsecs / NSECS_PER_SEC), nsecs_nsecs($nsecs);
}

sub print_nsecs {
    my ($nsecs) = @_;
    print nsecs_str($nsecs);
}

sub clear_term {
    print "\e[H\e[2J";
}

1;
