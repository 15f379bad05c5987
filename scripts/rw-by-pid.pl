# SPDX-License-Identifier: MIT
# description: reads and writes by process: calls, bytes asked for and transferred, errors
# record: -e syscalls:sys_enter_read,syscalls:sys_exit_read,syscalls:sys_enter_write,syscalls:sys_exit_write
#
# A process is a thread here: what the kernel calls pid. Calls that had not returned at the end are told.

use strict;
use warnings;

my %total = (read => {}, write => {});    # call -> pid -> {comm, calls, asked, done, errors => {number => count}}
my %pending;                              # pid -> call it is in

sub enter {
    my ($call, $pid, $comm, $count) = @_;
    my $row = $total{$call}{$pid} //= {calls => 0, asked => 0, done => 0, errors => {}};

    $row->{comm} = $comm;
    $row->{calls}++;
    $row->{asked} += $count;
    $pending{$pid} = $call;
}

sub leave {
    my ($call, $pid, $ret) = @_;
    my $row = $total{$call}{$pid} or return;    # it was entered before the recording began

    delete $pending{$pid};
    if ($ret > 0) {
        $row->{done} += $ret;
    } elsif ($ret < 0) {
        $row->{errors}{-$ret}++;
    }
}

sub syscalls::sys_enter_read  { enter('read', $_[5], $_[6], $_[11]) }
sub syscalls::sys_exit_read   { leave('read', $_[5], $_[9]) }
sub syscalls::sys_enter_write { enter('write', $_[5], $_[6], $_[11]) }
sub syscalls::sys_exit_write  { leave('write', $_[5], $_[9]) }

sub error_name {
    local $! = shift;
    return (grep { $!{$_} } keys %!)[0] // 0 + $!;
}

sub trace_end {
    for my $call ('read', 'write') {
        my $rows = $total{$call};

        printf "%-8s %-16s %8s %14s %14s  %s\n", "pid", "${call}s by", 'calls', 'bytes asked', 'bytes done', 'errors';
        for my $pid (sort { $rows->{$b}{asked} <=> $rows->{$a}{asked} || $a <=> $b } keys %$rows) {
            my $row = $rows->{$pid};
            my $errors = join ' ', map { error_name($_) . " $row->{errors}{$_}" } sort { $a <=> $b } keys %{$row->{errors}};
            my $line = sprintf "%-8d %-16s %8d %14d %14d  %s", $pid, @$row{qw(comm calls asked done)}, $errors;

            $line =~ s/\s+$//;
            print "$line\n";
        }
        print "(none)\n" if !%$rows;
        print "\n" if $call eq 'read';
    }
    if (%pending) {
        printf "\n%d not returned at the end: %s\n", scalar keys %pending,
            join ', ', map { "$pending{$_} of $_" } sort { $a <=> $b } keys %pending;
    }
}
