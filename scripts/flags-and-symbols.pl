# SPDX-License-Identifier: MIT
# description: shows what a script sees of an event: its common fields, flags and symbols by name
# record: -a -e irq:softirq_entry,kmem:kmalloc
#
# One line for each of the first events, then how many there were of each kind.

use strict;
use warnings;
use lib "$ENV{PERF_EXEC_PATH}/scripts/perl/Perf-Trace-Util/lib";
use Perf::Trace::Core;
use Perf::Trace::Context;

use constant SHOWN => 5;    # of each event

my %count;
my %other;

sub common {
    my ($event_name, $context, $cpu, $secs, $nsecs, $pid, $comm) = @_;

    printf "%-20s [%03d] %d.%09d %-16s %7d preempt=%d flags=%s lock_depth=%d", $event_name, $cpu, $secs, $nsecs, $comm, $pid,
        common_pc($context), trace_flag_str(common_flags($context)) // '?', common_lock_depth($context);
}

sub irq::softirq_entry {
    my ($event_name, $vec) = @_[0, 8];

    return if $count{$event_name}++ >= SHOWN;
    common(@_);
    printf " vec=%s\n", symbol_str($event_name, 'vec', $vec) // $vec;
}

sub kmem::kmalloc {
    my ($event_name, $call_site, $ptr, $asked, $given, $flags) = @_[0, 8 .. 12];

    return if $count{$event_name}++ >= SHOWN;
    common(@_);
    printf " call_site=%x ptr=%x bytes_req=%d bytes_alloc=%d gfp_flags=%s\n", $call_site, $ptr, $asked, $given,
        flag_str($event_name, 'gfp_flags', $flags) // $flags;
}

sub trace_unhandled {
    $other{$_[0]}++;
}

sub trace_end {
    printf "\n%-30s %8s\n", 'event', 'count';
    printf "%-30s %8d\n", $_, $count{$_} for sort keys %count;
    printf "%-30s %8d (not shown)\n", $_, $other{$_} for sort keys %other;
    print "(no events)\n" if !%count && !%other;
}
