# SPDX-License-Identifier: MIT
# description: how long threads wait for a cpu after they were woken
# args: [--json]
# record: -a -e sched:sched_switch,sched:sched_wakeup
#
# From sched_wakeup to the sched_switch that runs the thread.

use strict;
use warnings;
use lib __FILE__ =~ m{(.*)/}s ? $1 : '.';
use Analysis qw(wants_json print_json json_table);
use Screen qw(cut printable terminal);

my $json = wants_json();
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

sub print_wait {
    my ($what, $row, $columns) = @_;
    my $before = sprintf '%-10s %12.1f us  ', $what, $row->[0] / 1000;
    my ($secs, $nsecs) = ($row->[3] / 1_000_000_000, $row->[3] % 1_000_000_000);
    my $behind = sprintf ':%d at %d.%06d', $row->[2], $secs, $nsecs / 1000;
    my $room = defined $columns ? $columns - length("$before$behind") : undef;

    my $name = cut(printable($row->[1]), defined $room && $room < 1 ? 1 : $room);
    print cut($before . $name . $behind, $columns), "\n";
}

sub json {
    my @columns = qw(wait_ns comm=text tid end_ns);
    my @lengths = map { [$_ ? 1 << $_ - 1 : 0, 1 << $_, $lengths{$_}] }
        sort { $a <=> $b } keys %lengths;

    print_json('wakeup-latency', wakeups => $count,
        mean_ns => $count ? int($total / $count + 0.5) : 'null',
        shortest => json_table(\@columns, $least // ()),
        longest => json_table(\@columns, $most // ()),
        histogram => json_table([qw(from_us below_us count)], @lengths));
}

sub trace_end {
    return json() if $json;
    if (!$count) {
        print "no thread was woken in this recording\n";
        return;
    }
    my ($columns) = @{terminal() // []};
    my $bar = defined $columns ? $columns - 33 : 50;    # after the lengths and their counts

    print cut(sprintf('%d wake-ups, mean %.1f us', $count, $total / $count / 1000), $columns), "\n";
    print_wait('shortest', $least, $columns);
    print_wait('longest', $most, $columns);
    print "\n";
    $bar = $bar > 50 ? 50 : $bar < 0 ? 0 : $bar;
    for my $bits (sort { $a <=> $b } keys %lengths) {
        print cut(sprintf('%8d .. %-8d us %8d %s', $bits ? 1 << $bits - 1 : 0, 1 << $bits,
            $lengths{$bits}, '#' x ($lengths{$bits} * $bar / $count)), $columns), "\n";
    }
}
