# SPDX-License-Identifier: MIT
# description: shows what a script sees of an event: its common fields, flags and symbols by name
# args: [--json]
# record: -a -e irq:softirq_entry,kmem:kmalloc
#
# One line for each of the first events, then how many there were of each kind.

use strict;
use warnings;
use lib "$ENV{PERF_EXEC_PATH}/scripts/perl/Perf-Trace-Util/lib";
use Perf::Trace::Core;
use Perf::Trace::Context;
use lib __FILE__ =~ m{(.*)/}s ? $1 : '.';
use Analysis qw(wants_json print_json json_table json_text);
use Screen qw(printable terminal text_table);

use constant SHOWN => 5;    # of each event

my $json = wants_json();
my %count;
my %other;
my @shown;    # rows of JSON

# The fields after the common ones: [key, text in a line, value].
sub show {
    my ($common, @fields) = @_;
    my ($event_name, $context, $cpu, $secs, $nsecs, $pid, $comm) = @$common;

    if ($json) {
        my @values = map {
            "\"$_->[0]\": " . ($_->[1] eq '%s' ? json_text($_->[2]) : $_->[2])
        } @fields;
        push @shown, [$event_name, $cpu, $secs * 1_000_000_000 + $nsecs, $comm, $pid,
            common_pc($context), trace_flag_str(common_flags($context)),
            common_lock_depth($context), '{' . join(', ', @values) . '}'];
        return;
    }
    printf "%-20s [%03d] %d.%09d %-16s %7d preempt=%d flags=%s lock_depth=%d",
        printable($event_name), $cpu, $secs, $nsecs, printable($comm), $pid, common_pc($context),
        trace_flag_str(common_flags($context)) // '?', common_lock_depth($context);
    printf " %s=$_->[1]", $_->[0], printable($_->[2]) for @fields;
    print "\n";
}

sub irq::softirq_entry {
    my ($event_name, $vec) = @_[0, 8];

    return if $count{$event_name}++ >= SHOWN;
    show(\@_, ['vec', '%s', symbol_str($event_name, 'vec', $vec) // $vec]);
}

sub kmem::kmalloc {
    my ($event_name, $call_site, $ptr, $asked, $given, $flags) = @_[0, 8 .. 12];

    return if $count{$event_name}++ >= SHOWN;
    show(\@_, ['call_site', '%x', $call_site], ['ptr', '%x', $ptr], ['bytes_req', '%d', $asked],
        ['bytes_alloc', '%d', $given],
        ['gfp_flags', '%s', flag_str($event_name, 'gfp_flags', $flags) // $flags]);
}

sub trace_unhandled {
    $other{$_[0]}++;
}

sub trace_end {
    if ($json) {
        my @counts = ((map { [$_, $count{$_}, 'true'] } sort keys %count),
            map { [$_, $other{$_}, 'false'] } sort keys %other);
        my @columns = qw(event=text cpu time_ns comm=text pid preempt flags=text lock_depth fields);
        return print_json('flags-and-symbols', events => json_table(\@columns, @shown),
            counts => json_table([qw(event=text count shown)], @counts));
    }
    my ($columns) = @{terminal() // []};

    print "\n", text_table([['event', 30, 'name'], ['count', 8, 'number'], ['', 0, 'name']],
        [(map { [$_, $count{$_}, ''] } sort keys %count),
            (map { [$_, $other{$_}, '(not shown)'] } sort keys %other)], $columns);
    print "(no events)\n" if !%count && !%other;
}
