# SPDX-License-Identifier: MIT
# description: reads and writes by process: calls, bytes asked for and transferred, errors
# args: [--json]
# record: -e syscalls:sys_enter_read,syscalls:sys_exit_read
# record: -e syscalls:sys_enter_write,syscalls:sys_exit_write
#
# A process is a thread here: the kernel's pid. Calls that had not returned at the end are reported.

use strict;
use warnings;
use lib __FILE__ =~ m{(.*)/}s ? $1 : '.';
use Analysis qw(wants_json print_json json_table);
use Screen qw(terminal text_table);

# Indexes of a row.
use constant { COMM => 0, CALLS => 1, ASKED => 2, DONE => 3, ERRORS => 4, ENTERED => 5 };

my $json = wants_json();
# The first argument of a call in @_: LTTng's events have no number of the call in front of it.
my $first = 9;
# call -> pid -> row; ERRORS is {number => count}; ENTERED: it has not returned
my %rows = (read => {}, write => {});

# Both calls have the same arguments, so the subs of both share one text.
for my $call (keys %rows) {
    my $rows = $rows{$call};

    no strict 'refs';
    *{"syscalls::sys_enter_$call"} = sub {
        my ($pid, $comm, $count) = @_[5, 6, -1];
        my $row = $rows->{$pid} //= [$comm, 0, 0, 0, {}, 0];

        $first = @_ < 12 ? 8 : 9;
        $row->[COMM] = $comm;
        $row->[CALLS]++;
        $row->[ASKED] += $count;
        $row->[ENTERED] = 1;
    };
    *{"syscalls::sys_exit_$call"} = sub {
        my ($pid, $ret) = @_[5, $first];
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
    return (grep { $!{$_} } sort keys %!)[0] // 0 + $!;
}

sub by_bytes {
    my ($rows) = @_;

    return sort { $rows->{$b}[ASKED] <=> $rows->{$a}[ASKED] || $a <=> $b } keys %$rows;
}

sub table {
    my ($rows) = @_;
    my @table;

    for my $pid (by_bytes($rows)) {
        my $row = $rows->{$pid};
        my $errors = $row->[ERRORS];
        my @errors = map { [error_name($_), $_, $errors->{$_}] } sort { $a <=> $b } keys %$errors;
        push @table, [$pid, @$row[COMM, CALLS, ASKED, DONE], $row->[ENTERED] ? 'true' : 'false',
            json_table([qw(error=text number count)], @errors)];
    }
    return json_table([qw(pid comm=text calls asked_bytes done_bytes pending errors)], @table);
}

sub show {
    my ($call, $rows) = @_;
    my ($columns) = @{terminal() // []};
    my @lines;

    for my $pid (by_bytes($rows)) {
        my $row = $rows->{$pid};
        my $errors = join ' ', map { error_name($_) . " $row->[ERRORS]{$_}" }
            sort { $a <=> $b } keys %{$row->[ERRORS]};
        push @lines, [$pid, @$row[COMM, CALLS, ASKED, DONE], $errors];
    }
    print text_table(
        [['pid', 8, 'number'], ["${call}s by", 16, 'name'], ['calls', 8, 'number'],
            ['bytes asked', 12, 'number'], ['bytes done', 12, 'number'], ['errors', 6, 'name']],
        \@lines, $columns);
    print "(none)\n" if !%$rows;
}

sub trace_end {
    return print_json('rw-by-pid', reads => table($rows{read}), writes => table($rows{write}))
        if $json;
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
