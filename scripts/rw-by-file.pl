# SPDX-License-Identifier: MIT
# description: reads and writes by file descriptor of the processes of one name
# args: <comm>
# record: -e syscalls:sys_enter_read,syscalls:sys_enter_write
#
# A file is a descriptor of a thread: events do not say more of it.

use strict;
use warnings;

my $wanted = shift @ARGV // die "usage: rw-by-file.pl COMM\n";
my %total;    # call -> "pid fd" -> [calls, bytes]

sub note {
    my ($call, $pid, $comm, $fd, $count) = @_;
    return if $comm ne $wanted;
    my $row = $total{$call}{"$pid $fd"} //= [0, 0];

    $row->[0]++;
    $row->[1] += $count;
}

sub syscalls::sys_enter_read  { note('read', @_[5, 6, 9, 11]) }
sub syscalls::sys_enter_write { note('write', @_[5, 6, 9, 11]) }

sub trace_end {
    for my $call ('read', 'write') {
        my $rows = $total{$call} // {};

        printf "%-8s %6s %10s %14s   %ss of %s\n", 'pid', 'fd', 'calls', 'bytes asked', $call, $wanted;
        for my $key (sort { $rows->{$b}[1] <=> $rows->{$a}[1] || $a cmp $b } keys %$rows) {
            printf "%-8d %6d %10d %14d\n", split(/ /, $key), @{$rows->{$key}};
        }
        print "(none)\n" if !%$rows;
        print "\n" if $call eq 'read';
    }
}
