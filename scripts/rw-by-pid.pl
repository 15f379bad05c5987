# SPDX-License-Identifier: MIT
# description: reads and writes by process: calls, bytes asked for and transferred, errors
# record: -e syscalls:sys_enter_read,syscalls:sys_exit_read,syscalls:sys_enter_write,syscalls:sys_exit_write
#
# A process is a thread here: what the kernel calls pid. Calls that had not returned at the end are told.

use strict;
use warnings;

use constant { COMM => 0, CALLS => 1, ASKED => 2, DONE => 3, ERRORS => 4, ENTERED => 5 };    # of a row

my %rows = (read => {}, write => {});    # call -> pid -> row; ERRORS is {number => count}, ENTERED: it has not returned

# Both calls have the same arguments, so that one text serves for the subs of both.
for my $call (keys %rows) {
    my $rows = $rows{$call};

    no strict 'refs';
    *{"syscalls::sys_enter_$call"} = sub {
        my ($pid, $comm, $count) = @_[5, 6, 11];
        my $row = $rows->{$pid} //= [$comm, 0, 0, 0, {}, 0];

        $row->[COMM] = $comm;
        $row->[CALLS]++;
        $row->[ASKED] += $count;
        $row->[ENTERED] = 1;
    };
    *{"syscalls::sys_exit_$call"} = sub {
        my ($pid, $ret) = @_[5, 9];
        my $row = $rows->{$pid} or return;    # it was entered before the recording began

        $row->[ENTERED] = 0;
        if ($ret > 0) {
            $row->[DONE] += $ret;
        } elsif ($ret < 0) {
            $row->[ERRORS]{-$ret}++;
        }
    };
}

sub error_name {
    local $! = shift;
    return (grep { $!{$_} } keys %!)[0] // 0 + $!;
}

sub show {
    my ($call, $rows) = @_;

    printf "%-8s %-16s %8s %14s %14s  %s\n", 'pid', "${call}s by", 'calls', 'bytes asked', 'bytes done', 'errors';
    for my $pid (sort { $rows->{$b}[ASKED] <=> $rows->{$a}[ASKED] || $a <=> $b } keys %$rows) {
        my $row = $rows->{$pid};
        my $errors = join ' ', map { error_name($_) . " $row->[ERRORS]{$_}" } sort { $a <=> $b } keys %{$row->[ERRORS]};
        my $line = sprintf "%-8d %-16s %8d %14d %14d  %s", $pid, @$row[COMM, CALLS, ASKED, DONE], $errors;

        $line =~ s/\s+$//;
        print "$line\n";
    }
    print "(none)\n" if !%$rows;
}

sub trace_end {
    show('read', $rows{read});
    print "\n";
    show('write', $rows{write});
    my %pending;
    for my $call (sort keys %rows) {
        $pending{$_} = $call for grep { $rows{$call}{$_}[ENTERED] } keys %{$rows{$call}};
    }
    if (%pending) {
        printf "\n%d not returned at the end: %s\n", scalar keys %pending,
            join ', ', map { "$pending{$_} of $_" } sort { $a <=> $b } keys %pending;
    }
}
