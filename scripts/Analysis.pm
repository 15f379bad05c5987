# SPDX-License-Identifier: MIT
# Shared by the Perl analyses: --json (-j), which prints one JSON object in place of tables.
#
#   use lib __FILE__ =~ m{(.*)/}s ? $1 : '.';
#   use Analysis qw(wants_json print_json json_table);
#
#   my $json = wants_json();    # takes the option out of @ARGV
#   print_json('rw-by-file', reads => json_table([qw(pid fd comm=text)], @rows)) if $json;
#
# Times are nanoseconds. Bytes of names that are not UTF-8 become lone surrogates, as in
# docs/formats/jsonl.md.

package Analysis;

use strict;
use warnings;
use Exporter 'import';
use Screen qw($utf8);

our @EXPORT_OK = qw(wants_json print_json json_table json_text);

sub wants_json {
    my $given = @ARGV;

    @ARGV = grep { $_ ne '-j' && $_ ne '--json' } @ARGV;
    return @ARGV < $given;
}

sub escape {
    my ($character) = @_;

    return "\\$character" if $character =~ /["\\]/;
    return sprintf '\u%04x', ord substr $character, 1 if $character =~ /^\xc2[\x80-\x9f]/;
    return $character if length $character > 1 || $character =~ /[\x20-\x7e]/;
    return sprintf '\u%04x', ord $character < 0x80 ? ord $character : 0xdc00 | ord $character;
}

sub json_text {
    my ($text) = @_;

    return 'null' if !defined $text;
    utf8::encode($text) if utf8::is_utf8($text);
    $text =~ s/($utf8|.)/escape($1)/ges;
    return "\"$text\"";
}

# Columns are keys of numbers, or KEY=text, or KEY=json for a JSON value.
sub json_table {
    my ($columns, @rows) = @_;
    my @objects;

    for my $row (@rows) {
        my @members;
        for my $i (0 .. $#$columns) {
            my ($key, $kind) = split /=/, $columns->[$i];
            my $value = $row->[$i];
            $value = json_text($value) if ($kind // '') eq 'text';
            push @members, "\"$key\": " . ($value // 'null');
        }
        push @objects, '{' . join(', ', @members) . '}';
    }
    return '[' . join(', ', @objects) . ']';
}

# Members are keys and JSON values, including numbers.
sub print_json {
    my ($analysis, @members) = @_;
    my $object = '{"analysis": ' . json_text($analysis);

    while (my ($key, $value) = splice @members, 0, 2) {
        $object .= ", \"$key\": $value";
    }
    print "$object}\n";
}

1;
