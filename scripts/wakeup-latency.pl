# SPDX-License-Identifier: MIT
# description: how long threads wait for a cpu after they were woken
# record: -a -e sched:sched_switch,sched:sched_wakeup
#
# From sched_wakeup to the sched_switch that runs the thread.

use strict;
use warnings;

my %woken;                          # thread -> ns when it was woken
my ($count, $total) = (0, 0);
my ($least, $most);                 # [ns, comm, thread, ns when that ended]
my %lengths;                        # power of two of microseconds -> count

sub sched::sched_wakeup {
    my ($secs, $nsecs, $pid) = @_[3, 4, 9];
    $woken{$pid} //= $secs * 1_000_000_000 + $nsecs;
}

sub sched::sched_switch {
    my ($secs, $nsecs, $next_comm, $next_pid) = @_[3, 4, 12, 13];
    my $since = delete $woken{$next_pid} // return;
    my $now = $secs * 1_000_000_000 + $nsecs;
    my $wait = $now - $since;
    my $us = int($wait / 1000);

    $count++;
    $total += $wait;
    $least = [$wait, $next_comm, $next_pid, $now] if !$least || $wait < $least->[0];
    $most = [$wait, $next_comm, $next_pid, $now] if !$most || $wait > $most->[0];
    $lengths{$us ? length sprintf '%b', $us : 0}++;
}

sub told {
    my ($what, $row) = @_;
    printf "%-10s %12.1f us  %s:%d at %d.%06d\n", $what, $row->[0] / 1000, $row->[1], $row->[2],
        $row->[3] / 1_000_000_000, $row->[3] % 1_000_000_000 / 1000;
}

sub trace_end {
    if (!$count) {
        print "no thread was woken in this recording\n";
        return;
    }
    printf "%d wake-ups, mean %.1f us\n", $count, $total / $count / 1000;
    told('shortest', $least);
    told('longest', $most);
    print "\n";
    for my $bits (sort { $a <=> $b } keys %lengths) {
        printf "%8d .. %-8d us %8d %s\n", $bits ? 1 << $bits - 1 : 0, 1 << $bits, $lengths{$bits},
            '#' x ($lengths{$bits} * 50 / $count);
    }
}
