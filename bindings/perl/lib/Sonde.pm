# SPDX-License-Identifier: MIT
package Sonde;

=head1 NAME

Sonde - events of a Linux machine, in time order, with names and types

=head1 SYNOPSIS

    use Sonde;

    my $session = Sonde->open(input => 'perf.data');
    while (my $event = $session->next) {
        printf "%s %s %s\n", $event->time // '-', $event->comm, $event->name;
    }
    warn $session->defects_line, "\n" if $session->defects_line ne '';

=head1 METHODS

C<< Sonde->open(KEY => VALUE, ...) >> opens a recording. Keys are those of a session's text form
(sonde.h): input, time, cpu, comm, events, callchain, ... Several values of one key are passed as an
array reference. On failure it dies with the causes.

C<< $session->next >> returns the next event, undef at the end. C<info(KEY)> returns a fact from the
recording's header (hostname, osrelease, arch, ...). C<defects_line> is one line about losses and
damages, '' if there are none. C<close> ends the session.

An event has C<name> ("sched:sched_switch"), C<system>, C<event>, C<kind> (tracepoint, sample,
record, defect), C<time> in nanoseconds of the recording's clock (undef if not recorded), C<cpu>,
C<pid>, C<tid> (-1 if not recorded), C<comm>, C<text> (by its print format), C<fields> (a hash
reference), C<field(NAME)> (undef if there is none of that name) and C<callchain> (an array
reference, innermost first, of hashes: ip, sym => {start, end, binding, name}, dso). Texts are
strings of bytes. Arrays of numbers are their bytes, for unpack().

=cut

use strict;
use warnings;

our $VERSION;

    # The extension is built for one perl: its version and, where it matters, its configuration.
sub _build {
    require Config;
    return join '-', $Config::Config{version}, $Config::Config{useithreads} ? 'thread' : 'single';
}

BEGIN {
    $VERSION = '0.1';
    require DynaLoader;
    my $self = __FILE__;
    if (-l $self) {    # installed: a link in a folder of perl's search path
        require Cwd;
        $self = Cwd::realpath($self);
    }
    my ($lib) = $self =~ m{^(.*)/[^/]*$};
    my $file = "$lib/../module/Sonde-" . _build() . ".so";
    if (!-e $file) {
        die "sonde: this perl ($^X, " . _build() . ") has no extension yet: "
            . "make perl PERL=$^X builds it in sonde's sources\n";
    }
    my $object = DynaLoader::dl_load_file($file, 0)
        or die "sonde: " . DynaLoader::dl_error() . "\n";
    my $boot = DynaLoader::dl_find_symbol($object, 'boot_Sonde')
        or die "sonde: " . DynaLoader::dl_error() . "\n";
    DynaLoader::dl_install_xsub('Sonde::bootstrap', $boot, $file)->('Sonde', $VERSION);
}

sub open {
    my ($class, @settings) = @_;
    my $text = '';

    require Carp;
    Carp::croak("Sonde->open(KEY => VALUE, ...): a value is missing") if @settings % 2;
    while (my ($key, $value) = splice @settings, 0, 2) {
        for (ref $value eq 'ARRAY' ? @$value : $value) {
            Carp::croak("Sonde->open: $key holds the end of a line") if /\n/;
            $text .= "$key=$_\n";
        }
    }
    return $class->_open($text);
}

1;
