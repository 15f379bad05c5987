# SPDX-License-Identifier: MIT
package Perf::Trace::Context;

# What a sub may ask of the event it is called for, by the context that it is given. The functions are in the extension.

use strict;
use warnings;
use Exporter 'import';

our @EXPORT = qw(common_pc common_flags common_lock_depth);
our @EXPORT_OK = @EXPORT;
our %EXPORT_TAGS = (all => [@EXPORT]);

1;
