# SPDX-License-Identifier: MIT
# What sonde script -g perl writes, with counting in place of printing.
use strict;
use warnings;
use lib "$ENV{PERF_EXEC_PATH}/scripts/perl/Perf-Trace-Util/lib";
use Perf::Trace::Core;
use Perf::Trace::Context;

my %count;

sub trace_end {
    print "$_ $count{$_}\n" for sort keys %count;
}

sub syscalls::sys_enter_read {
    my ($event_name, $context, $common_cpu, $common_secs, $common_nsecs, $common_pid,
        $common_comm, $common_callchain,
        $__syscall_nr, $fd, $buf, $count) = @_;

    $count{$event_name}++;
}

sub syscalls::sys_exit_read {
    my ($event_name, $context, $common_cpu, $common_secs, $common_nsecs, $common_pid,
        $common_comm, $common_callchain,
        $__syscall_nr, $ret) = @_;

    $count{$event_name}++;
}

sub syscalls::sys_enter_write {
    my ($event_name, $context, $common_cpu, $common_secs, $common_nsecs, $common_pid,
        $common_comm, $common_callchain,
        $__syscall_nr, $fd, $buf, $count) = @_;

    $count{$event_name}++;
}

sub syscalls::sys_exit_write {
    my ($event_name, $context, $common_cpu, $common_secs, $common_nsecs, $common_pid,
        $common_comm, $common_callchain,
        $__syscall_nr, $ret) = @_;

    $count{$event_name}++;
}
