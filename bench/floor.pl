# SPDX-License-Identifier: MIT
# The floor of a script in Perl: a plain loop that calls its subs with constant arguments.
#
#	floor.pl SCRIPT SUB=CALLS...
#
# Subs are called in turn as long as each has calls left.

use strict;
use warnings;

our %fields = (
    'syscalls::sys_enter_read'  => [0, 3, 140_000_000_000_000, 512],
    'syscalls::sys_enter_write' => [1, 1, 140_000_000_000_000, 512],
    'syscalls::sys_exit_read'   => [0, 512],
    'syscalls::sys_exit_write'  => [1, 512],
);

# Calls all subs in turn. The loop is compiled, with variables for arguments, as in an event loop in
# C.
sub rounds {
    my ($nr, @names) = @_;
    my ($declared, $body) = ('', '');

    for my $i (0 .. $#names) {
        my $fields = $fields{$names[$i]} // [];
        my @args = map { "\$a${i}_$_" } 0 .. 7 + @$fields;

        $declared .= "my (" . join(', ', @args) . ") = "
            . "('$names[$i]', 94_000_000_000_000, 1, 5000, 123_456_789, 1234, 'workload', [], "
            . join(', ', @$fields) . ");\nmy \$sub$i = \\&$names[$i];\n";
        $body .= "\$sub$i->(" . join(', ', @args) . ");\n";
    }
    eval "$declared for (1 .. $nr) { $body } 1" or die $@;
}

my $script = shift @ARGV;
my %left = map { /^(.*)=(\d+)$/ or die "SUB=CALLS, not $_\n"; ($1, $2) } splice @ARGV;
defined do $script or $@ eq '' or die $@;
while (my @turn = sort grep { $left{$_} } keys %left) {
    my ($least) = sort { $a <=> $b } @left{@turn};

    rounds($least, @turn);
    $left{$_} -= $least for @turn;
}
