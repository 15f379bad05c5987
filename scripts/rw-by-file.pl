# SPDX-License-Identifier: MIT
# description: reads and writes by file descriptor of the processes of one name
# args: <comm> [--json]
# record: -e syscalls:sys_enter_read,syscalls:sys_enter_write
#
# A file is a descriptor of a thread: the events contain no more about it.

use strict;
use warnings;
use lib __FILE__ =~ m{(.*)/}s ? $1 : '.';
use Analysis qw(wants_json print_json json_table json_text);
use Screen qw(terminal text_table);

my $json = wants_json();
my $wanted = shift @ARGV // die "usage: rw-by-file.pl COMM [--json]\n";
my %total;    # call -> "pid fd" -> [calls, bytes]

sub note {
    my ($call, $pid, $comm, $fd, $count) = @_;
    return if $comm ne $wanted;
    my $row = $total{$call}{"$pid $fd"} //= [0, 0];

    $row->[0]++;
    $row->[1] += $count;
}

# LTTng's events have no number of the call in front of their fields.
sub syscalls::sys_enter_read  { note('read', @_[5, 6, @_ < 12 ? 8 : 9, -1]) }
sub syscalls::sys_enter_write { note('write', @_[5, 6, @_ < 12 ? 8 : 9, -1]) }

sub by_bytes {
    my ($rows) = @_;

    return sort { $rows->{$b}[1] <=> $rows->{$a}[1] || $a cmp $b } keys %$rows;
}

sub table {
    my ($rows) = @_;

    return json_table([qw(pid fd calls asked_bytes)],
        map { [split(/ /, $_), @{$rows->{$_}}] } by_bytes($rows));
}

sub trace_end {
    return print_json('rw-by-file', comm => json_text($wanted), reads => table($total{read} // {}),
        writes => table($total{write} // {})) if $json;
    my ($columns) = @{terminal() // []};

    for my $call ('read', 'write') {
        my $rows = $total{$call} // {};

        print text_table(
            [['pid', 8, 'number'], ['fd', 6, 'number'], ['calls', 10, 'number'],
                ['bytes asked', 12, 'number'], ["${call}s of $wanted", 0, 'name']],
            [map { [split(/ /), @{$rows->{$_}}, ''] } by_bytes($rows)],
            $columns);
        print "(none)\n" if !%$rows;
        print "\n" if $call eq 'read';
    }
}
