# SPDX-License-Identifier: MIT
#
#   use lib __FILE__ =~ m{(.*)/}s ? $1 : '.';
#   use Screen qw(cut terminal text_table);
#
#   my $size = terminal();                # [columns, lines]; undef: a pipe, a file, TERM=dumb
#   print text_table([['tid', 8, 'number'], ['comm', 16, 'name']], \@rows, $size && $size->[0]);
#
# Tables that fit the terminal on which they are printed, as in screen.py: rows never wrap, names
# are cut, then columns are omitted. Output to a pipe or a file is never cut.

package Screen;

use strict;
use warnings;
use POSIX ();
use Exporter 'import';

our @EXPORT_OK = qw(cut printable terminal text_table $utf8);

use constant { GAP => 2, NAME => 12 };    # NAME: kept while a column can be omitted

# _IOR('t', 104, struct winsize) if the machine encodes its requests so, otherwise the older number.
my $TIOCGWINSZ = (POSIX::uname())[4] =~ /^(?:mips|ppc|powerpc|sparc|alpha)/ ? 0x40087468 : 0x5413;

sub env_number {
    my ($variable, $usual) = @_;
    return ($ENV{$variable} // '') =~ /^([1-9]\d{0,5})$/ ? $1 : $usual;
}

sub terminal {
    my $size = '';
    return if !-t STDOUT || ($ENV{TERM} // 'dumb') =~ /^(?:dumb)?$/;
    my $is_known = ioctl(STDOUT, $TIOCGWINSZ, $size = "\0" x 8);
    my ($lines, $columns) = $is_known ? unpack 'SS', $size : (0, 0);
    return [$columns || env_number('COLUMNS', 80), $lines || env_number('LINES', 24)];
}

# One character of valid UTF-8, except controls below U+0080.
our $utf8 = qr/[\x20-\x7e]|[\xc2-\xdf][\x80-\xbf]
    |\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]
    |\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}/x;

# A name of a recording as text that is safe on a terminal, as screen.py's printable(): control
# characters and bytes that are not UTF-8 appear as \x1b, one for each byte, as in sonde's own
# output.
sub printable {
    my ($text) = @_;
    return $text if $text !~ /[^ -~]/;
    utf8::encode($text) if utf8::is_utf8($text);
    $text =~ s{((?!\xc2[\x80-\x9f])$utf8)|(.)}{$1 // sprintf '\\x%02x', ord $2}ges;
    return $text;
}

# Number of characters of a text: names in recordings are bytes, usually UTF-8.
sub chars {
    my ($text) = @_;
    utf8::decode($text) if !utf8::is_utf8($text);
    return $text;
}

sub width {
    my $text = chars(@_);
    return length $text if $text !~ /[^ -~]/;
    my $wide = () = $text =~ /[\p{East_Asian_Width=W}\p{East_Asian_Width=F}]/g;
    my $none = () = $text =~ /[\p{Mn}\p{Me}\p{Cf}]/g;
    return length($text) + $wide - $none;
}

# The text cut to so many columns; "+" marks a cut. $columns undef: no limit.
sub cut {
    my ($text, $columns) = @_;
    return $text if !defined $columns || width($text) <= $columns;
    my $chars = chars($text);
    my ($kept, $left) = ('', $columns - 1);
    for my $char (split //, $chars) {
        $left -= width($char);
        last if $left < 0;
        $kept .= $char;
    }
    utf8::encode($kept) if !utf8::is_utf8($text);
    return $kept . ($columns > 0 ? '+' : '');
}

# Takes $over columns from the widest names, none below $least; returns the remaining excess.
sub shrink {
    my ($widths, $names, $over, $least) = @_;
    for (; $over > 0; $over--) {
        my ($widest) = sort { $widths->{$b} <=> $widths->{$a} || $a <=> $b }
            grep { $widths->{$_} > $least } @$names;
        last if !defined $widest;
        $widths->{$widest}--;
    }
    return $over;
}

# {index => width} of the columns that fit.
sub fit {
    my ($widths, $kinds, $columns) = @_;
    my @chosen = 0 .. $#$widths;

    while (1) {
        my %found = map { $_ => $widths->[$_] } @chosen;
        my @names = grep { $kinds->[$_] eq 'name' } @chosen;
        my @numbers = grep { $kinds->[$_] ne 'name' } @chosen;
        my $over = GAP * $#chosen - $columns;
        $over += $_ for values %found;

        $over = shrink(\%found, \@names, $over, NAME);
        return \%found if $over <= 0;
        if (@numbers > 1 || @numbers && !@names && @chosen > 1) {
            @chosen = grep { $_ != $numbers[-1] } @chosen;
        } elsif (shrink(\%found, \@names, $over, 1) <= 0) {
            return \%found;
        } elsif (@chosen > 1) {
            pop @chosen;
        } else {
            return { $chosen[0] => $columns };
        }
    }
}

# Lines with their ends; the last one names columns that have no room. $heads: [heading, least width
# where there is room, 'name' (to the left, may be cut) or 'number']; $rows: [texts]; $columns: of
# the screen, undef: as many as there are.
sub text_table {
    my ($heads, $rows, $columns) = @_;
    my @rows = map { [map { printable($_) } @$_] } [map { $_->[0] } @$heads], @$rows;
    my @kinds = map { $_->[2] } @$heads;
    my @widths = (0) x @$heads;
    my $lines = '';

    for my $row (@rows) {
        for my $i (0 .. $#widths) {
            my $width = width($row->[$i]);
            $widths[$i] = $width if $width > $widths[$i];
        }
    }
    my @usual = map { $widths[$_] > $heads->[$_][1] ? $widths[$_] : $heads->[$_][1] } 0 .. $#widths;
    my $fit = { map { $_ => $usual[$_] } 0 .. $#usual };
    my $all = GAP * $#usual;
    $all += $_ for @usual;
    $fit = fit(\@widths, \@kinds, $columns) if defined $columns && $all > $columns;
    for my $row (@rows) {
        my $line = join ' ' x GAP, map {
            my $text = cut($row->[$_], $fit->{$_});
            my $space = ' ' x ($fit->{$_} - width($text));
            $kinds[$_] eq 'name' ? $text . $space : $space . $text;
        } sort { $a <=> $b } keys %$fit;
        $line =~ s/ +$//;
        $lines .= "$line\n";
    }
    my @left_out = grep { length } map { $fit->{$_} ? () : $rows[0][$_] } 0 .. $#usual;
    $lines .= cut('no room for ' . join(', ', @left_out), $columns) . "\n" if @left_out;
    return $lines;
}

1;
