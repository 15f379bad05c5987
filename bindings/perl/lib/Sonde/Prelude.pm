# SPDX-License-Identifier: MIT
package Sonde::Prelude;

# What `sonde script -s x.pl` loads before the script: perl -MSonde::Prelude x.pl. The script is the program; when its own
# statements have run, its subs get the events, and only then come its END blocks.

use strict;
use warnings;

our $run;

# The script is not to blame, so its author is told in one line.
BEGIN {
    eval { require Sonde; 1 } or do {
        print STDERR $@ =~ /^(.*\n)/;
        exit 1;
    };
}

# How a run ends that fails: by default, and perf's under --compat.
my %statuses = ('not begun' => [1, 255], 'reading' => [1, 255]);

# Names out of recordings are in what is told, and a terminal may read it: no control characters but tabs, no bytes but UTF-8.
sub quiet {
    my ($line) = @_;
    $line =~ s{ ( [\t\x20-\x7e] | \xc2[\xa0-\xbf] | [\xc3-\xdf][\x80-\xbf] | [\xe0-\xef][\x80-\xbf]{2} | [\xf0-\xf4][\x80-\xbf]{3} )
                | (.) }{ $1 // sprintf '\\x%02x', ord $2 }gsex;
    return $line;
}

sub say_line {
    my ($line) = @_;
    print STDERR 'sonde: ', quiet($line), "\n";
}

sub fail {
    my ($why, $compat) = @_;
    my ($first, @causes) = split /\n/, Sonde::_error();
    say_line($first // 'out of memory');
    print STDERR '  ', quiet($_), "\n" for @causes;
    exit $statuses{$why}[$compat ? 1 : 0];
}

sub session_text {
    my $fd = delete $ENV{SONDE_SESSION_FD};
    defined $fd or die "sonde: Sonde::Prelude is for sonde script: use Sonde in other programs\n";
    open my $in, '<&=', $fd or die "sonde: the session cannot be read: $!\n";
    binmode $in;
    local $/;
    return scalar <$in>;
}

# Whether a recording comes through a pipe.
sub comes_live {
    for my $path ($_[0] =~ /^input=(.*)$/mg) {
        return 1 if $path eq '-' ? -p STDIN || -S STDIN : -p $path || -S $path;
    }
    return 0;
}

sub import {
    my $text = session_text();

    # Scripts load it by this name; its functions are in the extension.
    my ($lib) = __FILE__ =~ m{^(.*)/Sonde/[^/]*$};
    $ENV{PERF_EXEC_PATH} //= $lib;
    require "$lib/scripts/perl/Perf-Trace-Util/lib/Perf/Trace/Context.pm";
    $INC{'Perf/Trace/Context.pm'} //= "$lib/scripts/perl/Perf-Trace-Util/lib/Perf/Trace/Context.pm";
    @INC = grep { $_ ne $lib } @INC;

    $run = Sonde::Run->new("${text}events=all\n", comes_live($text)) or fail('not begun', $text =~ /^compat=perf/m);
    Sonde::_behind_program();
}

sub call_if_there {
    my ($name) = @_;
    no strict 'refs';
    &{"main::$name"}() if defined &{"main::$name"};
}

# Subs that no event of the recording will call: a name is mistyped, or the event was not recorded.
sub warn_unmatched {
    my %known = map { $_ => 1 } $run->subs;
    my %systems = map { (/^(.*)::/ ? $1 : '') => 1 } keys %known;

    no strict 'refs';
    for my $system (sort keys %systems) {
        for my $name (sort keys %{"${system}::"}) {
            next if !defined &{"${system}::$name"} || $known{"${system}::$name"} || $name =~ /^(?:AUTOLOAD|DESTROY|import)$/;
            say_line("$0: sub ${system}::$name is never called: no event $system:$name in this recording");
        }
    }
}

sub events {
    my $ours;

    call_if_there('trace_begin');
    # The sub at hand finishes, then no further events; again: as in plain perl. What the script set stays.
    $SIG{INT} = $ours = sub { $run->stop; $SIG{INT} = 'DEFAULT' } if !defined $SIG{INT} || $SIG{INT} eq 'DEFAULT';
    my $code = $run->events;
    $SIG{INT} = 'DEFAULT' if $ours && defined $SIG{INT} && $SIG{INT} eq $ours;
    fail('reading', $run->compat) if $code < 0;
    warn_unmatched() if !$run->compat;
    call_if_there('trace_end');
    my ($line, $is_loss) = $run->defects;
    if ($line ne '') {
        STDOUT->flush if STDOUT->can('flush');
        say_line($line);
    }
    my $strict = delete $ENV{SONDE_STRICT} // '';
    exit 3 if $line ne '' && $strict eq '1' || $is_loss && $strict eq 'loss';
    undef $run;
}

1;
