# SPDX-License-Identifier: MIT
# description: reads and writes as they happen: the threads that move most bytes, every INTERVAL seconds
# args: [INTERVAL] [LINES]
# record: -e syscalls:sys_enter_read,syscalls:sys_exit_read,syscalls:sys_enter_write,syscalls:sys_exit_write
#
#   sonde record -a -q -o - -e ... | sonde script -i - rw-top.pl [INTERVAL [LINES]]
#
# A table of LINES threads (20) every INTERVAL seconds (1), also while no event comes, until Ctrl-C. The last one, at the
# end, is about the whole time; of a recording in a file it is the only one. Live, the calls of this script itself are left
# out; those of the recorder are not.

use strict;
use warnings;
use Time::HiRes qw(setitimer ITIMER_REAL time);

use constant { COMM => 0, READS => 1, READ => 2, WRITES => 3, WRITTEN => 4, ERRORS => 5 };    # of a row

my ($interval, $lines) = (@ARGV, (1, 20)[@ARGV .. 1]);
@ARGV <= 2 && "$interval $lines" =~ /^(\d+|\d*\.\d+) [1-9]\d*$/ && $interval >= 0.01 && $interval <= 86400
    or die "usage: rw-top.pl [INTERVAL [LINES]]: from 0.01 to 86400 seconds, 1 line or more\n";

my $is_live = -p STDIN;
my $is_screen = -t STDOUT;
my (%now, %all);             # thread -> row; since the last table, and before that
my ($first, $last);          # times of events, in ns
my ($shown, $since) = (0);

# Both calls have the same arguments, so that one text serves for the subs of both.
for (['read', READS, READ], ['write', WRITES, WRITTEN]) {
    my ($call, $calls, $bytes) = @$_;

    no strict 'refs';
    *{"syscalls::sys_exit_$call"} = sub {
        my ($secs, $nsecs, $tid, $comm, $ret) = @_[3, 4, 5, 6, 9];
        return if $is_live && $tid == $$;
        my $row = $now{$tid} //= [$comm, (0) x 5];

        $last = $secs * 1_000_000_000 + $nsecs;
        $first //= $last;
        $row->[COMM] = $comm;
        $row->[$calls]++;
        $row->[$ret < 0 ? ERRORS : $bytes] += $ret < 0 ? 1 : $ret;
    };
}

sub add_to_all {
    while (my ($tid, $row) = each %now) {
        my $sum = $all{$tid} //= [$row->[COMM], (0) x 5];
        $sum->[COMM] = $row->[COMM];
        $sum->[$_] += $row->[$_] for READS .. ERRORS;
    }
    %now = ();
}

sub show {
    my ($title, $seconds, $rows) = @_;
    my @tids = sort { $rows->{$b}[READ] + $rows->{$b}[WRITTEN] <=> $rows->{$a}[READ] + $rows->{$a}[WRITTEN] || $a <=> $b } keys %$rows;
    my $left = @tids - $lines;

    printf "%s%.1f s: %d threads\n", $title, $seconds, scalar @tids;
    printf "%8s  %-16s %8s %14s %8s %14s %8s\n", 'tid', 'comm', 'reads', 'bytes read', 'writes', 'bytes written', 'errors';
    printf "%8d  %-16s %8d %14d %8d %14d %8d\n", $_, @{$rows->{$_}} for splice @tids, 0, $lines;
    print "(none)\n" if !%$rows;
    print "(and $left more)\n" if $left > 0;
}

sub show_now {
    my $now = time;

    print $is_screen ? "\e[H\e[J" : $shown++ ? "\n" : '';
    show('', $now - $since, \%now);
    STDOUT->flush;
    $since = $now;
    add_to_all();
}

sub trace_begin {
    return if !$is_live;
    $since = time;
    $SIG{ALRM} = \&show_now;    # perl runs it between two statements, and while sonde waits for events
    setitimer(ITIMER_REAL, $interval, $interval);
}

sub trace_end {
    setitimer(ITIMER_REAL, 0);
    add_to_all();
    print "\n" if $shown;
    show('in all, ', defined $first ? ($last - $first) / 1e9 : 0, \%all);
}
