# SPDX-License-Identifier: MIT
package Perf::Trace::Context;

# Questions about the current event, through the context that a sub gets. The functions are in the
# extension.

use strict;
use warnings;
use Exporter 'import';

our @EXPORT = qw(common_pc common_flags common_lock_depth);
our @EXPORT_OK = @EXPORT;
our %EXPORT_TAGS = (all => [@EXPORT]);

1;
