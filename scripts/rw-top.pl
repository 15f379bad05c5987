# SPDX-License-Identifier: MIT
# description: reads and writes as they happen: the threads that move most bytes, every INTERVAL seconds
# args: [INTERVAL] [LINES] [--json]
# record: -e syscalls:sys_enter_read,syscalls:sys_exit_read
# record: -e syscalls:sys_enter_write,syscalls:sys_exit_write
#
#   sonde record -a -q -o - -e ... | sonde script -i - rw-top.pl [INTERVAL [LINES]] [--json]
#
# A table of LINES threads (20) every INTERVAL seconds (1), even without events, until Ctrl-C. The
# last one, at the end, covers the complete run; for a recording in a file it is the only one. On a
# terminal output never exceeds its lines and columns. Live, calls of this script are omitted; those
# of the recorder are not. --json prints one line per table.

use strict;
use warnings;
use lib __FILE__ =~ m{(.*)/}s ? $1 : '.';
use Analysis qw(wants_json print_json json_table);
use Screen qw(cut terminal text_table);
use Time::HiRes qw(setitimer ITIMER_REAL time);

# Indexes of a row.
use constant { COMM => 0, READS => 1, READ => 2, WRITES => 3, WRITTEN => 4, ERRORS => 5 };

my $json = wants_json();
my ($interval, $lines) = (@ARGV, (1, 20)[@ARGV .. 1]);
@ARGV <= 2 && "$interval $lines" =~ /^(\d+|\d*\.\d+) [1-9]\d*$/
    && $interval >= 0.01 && $interval <= 86400
    or die "usage: rw-top.pl [INTERVAL [LINES]] [--json]: "
    . "from 0.01 to 86400 seconds, 1 line or more\n";

my $is_live = -p STDIN;
my (%now, %all);             # thread -> row; since the last table, and before that
my ($first, $last);          # times of events, in ns
my ($shown, $since) = (0);
my @last;                    # last arguments of show()

# Both calls have the same arguments, so the subs of both share one text.
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
    my ($title, $seconds, $rows, $on_screen) = @_;
    my $size = terminal();
    my $columns = $size && $size->[0];
    my $room = !$size ? $lines : $size->[1] - 5;    # title, heading, rest, omitted columns, cursor
    my $is_short = $size && ($on_screen || @ARGV < 2) && $room < $lines;
    my $most = $is_short ? $room > 1 ? $room : 1 : $lines;
    my @tids = sort {
        $rows->{$b}[READ] + $rows->{$b}[WRITTEN] <=> $rows->{$a}[READ] + $rows->{$a}[WRITTEN]
            || $a <=> $b
    } keys %$rows;
    my $left = @tids - $most;

    if ($json) {
        my $total = @tids;
        return print_json('rw-top', complete => $title ? 'true' : 'false',
            seconds => sprintf('%.3f', $seconds), threads => $total,
            rows => json_table([qw(tid comm=text reads read_bytes writes written_bytes errors)],
                map { [$_, @{$rows->{$_}}] } splice @tids, 0, $lines));
    }
    my $text = cut(sprintf('%s%.1f s: %d threads', $title, $seconds, scalar @tids), $columns);
    $text .= "\n";
    $text .= text_table(
        [['tid', 8, 'number'], ['comm', 16, 'name'], ['reads', 8, 'number'],
            ['bytes read', 12, 'number'], ['writes', 8, 'number'],
            ['bytes written', 12, 'number'], ['errors', 6, 'number']],
        [map { [$_, @{$rows->{$_}}] } splice @tids, 0, $most], $columns);
    $text .= cut('(none)', $columns) . "\n" if !%$rows;
    $text .= cut("(and $left more)", $columns) . "\n" if $left > 0;
    if ($on_screen && $size) {
        my @lines = split /(?<=\n)/, $text;
        my $last_line = $size->[1] > 2 ? $size->[1] - 2 : 0;    # the cursor is below it
        $text = join '', "\e[H\e[J", @lines > $last_line ? @lines[0 .. $last_line] : @lines;
    }
    print $text;
}

sub show_now {
    my $now = time;

    print "\n" if $shown++ && !$json && !terminal();
    @last = ('', $now - $since, {%now}, 1);
    show(@last);
    STDOUT->flush;
    $since = $now;
    add_to_all();
}

# The terminal was resized.
sub show_again {
    return if !@last || $json || !terminal();
    show(@last);
    STDOUT->flush;
}

sub trace_begin {
    return if !$is_live;
    $since = time;
    # perl runs it between two statements, and while sonde waits for events.
    $SIG{ALRM} = \&show_now;
    $SIG{WINCH} = \&show_again;
    setitimer(ITIMER_REAL, $interval, $interval);
}

sub trace_end {
    setitimer(ITIMER_REAL, 0);
    add_to_all();
    print "\n" if $shown && !$json;
    show('in all, ', defined $first ? ($last - $first) / 1e9 : 0, \%all);
}
