# SPDX-License-Identifier: MIT
# description: workqueues: how long work waits and runs, by function and by cpu
# args: [--json]
# record: -a -e workqueue:workqueue_queue_work
# record: -e workqueue:workqueue_execute_start,workqueue:workqueue_execute_end
#
# A work item waits from queue_work to execute_start and runs until execute_end. Kernels before 5.x
# do not name the function in execute_end: the item's address connects the events.

use strict;
use warnings;
use lib __FILE__ =~ m{(.*)/}s ? $1 : '.';
use Analysis qw(wants_json print_json json_table);
use Screen qw(terminal text_table);

my $json = wants_json();
my %queued;     # item -> ns when it was queued
my %running;    # item -> [ns when it began, function, ns when it was queued]
# function -> [runs, waits counted, waited ns, longest wait ns, ran ns, longest run ns]
my %by_function;
my %by_cpu;     # cpu -> [runs, ran ns]

# Arguments are positional, and their order has changed: the first field is the item in all kernels.
sub workqueue::workqueue_queue_work {
    my ($secs, $nsecs, $item) = @_[3, 4, 8];
    $queued{$item} //= $secs * 1_000_000_000 + $nsecs;
}

sub workqueue::workqueue_execute_start {
    my ($secs, $nsecs, $item, $function) = @_[3, 4, 8, 9];
    # It may be queued again while it runs, usually by itself.
    $running{$item} = [$secs * 1_000_000_000 + $nsecs, $function // 0, delete $queued{$item}];
}

sub workqueue::workqueue_execute_end {
    my ($cpu, $secs, $nsecs, $item) = @_[2, 3, 4, 8];
    my $started = delete $running{$item} or return;    # it began before the recording
    my ($begin, $function, $queued) = @$started;
    my $ran = $secs * 1_000_000_000 + $nsecs - $begin;
    my $row = $by_function{$function} //= [(0) x 6];

    $row->[0]++;
    if (defined $queued) {
        my $wait = $begin - $queued;
        $row->[1]++;
        $row->[2] += $wait;
        $row->[3] = $wait if $wait > $row->[3];
    }
    $row->[4] += $ran;
    $row->[5] = $ran if $ran > $row->[5];
    $by_cpu{$cpu}[0]++;
    $by_cpu{$cpu}[1] += $ran;
}

# Names of functions, from /proc/kallsyms if the recorded kernel is the running one.
sub function_names {
    my @wanted = @_;
    my %name;

    return \%name if !@wanted || !open my $in, '<', '/proc/kallsyms';
    my %at = map { sprintf('%016x', $_) => $_ } @wanted;
    while (<$in>) {
        my $of = $at{substr $_, 0, 16} // next;
        $name{$of} //= (split)[2];
    }
    return \%name;
}

sub us { return sprintf '%.1f', $_[0] / 1000 }

sub by_run_time {
    return sort { $by_function{$b}[4] <=> $by_function{$a}[4] || $a <=> $b } keys %by_function;
}

sub json {
    my ($names) = @_;
    my @columns = qw(address function=text runs waits wait_ns max_wait_ns run_ns max_run_ns);

    print_json('workqueue-stats',
        functions => json_table(\@columns,
            map { [$_, $names->{$_}, @{$by_function{$_}}] } by_run_time()),
        cpus => json_table([qw(cpu runs run_ns)],
            map { [$_, @{$by_cpu{$_}}] } sort { $a <=> $b } keys %by_cpu),
        running => scalar keys %running);
}

sub trace_end {
    my $names = function_names(grep { $_ } keys %by_function);
    my ($columns) = @{terminal() // []};
    my @lines;

    return json($names) if $json;
    for my $f (by_run_time()) {
        my ($runs, $waits, $waited, $longest_wait, $ran, $longest_run) = @{$by_function{$f}};

        push @lines, [$names->{$f} // sprintf('0x%x', $f), $runs,
            $waits ? (us($waited / $waits), us($longest_wait)) : ('-', '-'),
            us($ran / $runs), us($longest_run)];
    }
    print text_table(
        [['function', 40, 'name'], ['runs', 8, 'number'], ['wait us', 8, 'number'],
            ['longest', 8, 'number'], ['run us', 8, 'number'], ['longest', 8, 'number']],
        \@lines, $columns);
    print "(no work was run)\n" if !%by_function;
    print "\n", text_table([['cpu', 8, 'number'], ['runs', 8, 'number'], ['run us', 12, 'number']],
        [map { [$_, $by_cpu{$_}[0], us($by_cpu{$_}[1])] } sort { $a <=> $b } keys %by_cpu],
        $columns);
    printf "\n%d items were running at the end\n", scalar keys %running if %running;
}
