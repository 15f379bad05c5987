#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes types.data and many.data (an event of 60 fields): needs root, tracefs and perf.
cd "$(dirname "$0")" || exit 1
t=$(mktemp -d)
gcc -O1 -g -o "$t/types" types.c || exit 1
at=$(nm "$t/types" | awk '/ T look$/ { print $1 }')
probes=/sys/kernel/tracing/uprobe_events
echo "p:sonde_t/types $t/types:0x$at s8=+0(%di):s8 u8=+1(%di):u8 s16=+2(%di):s16 u16=+4(%di):u16 s32=+8(%di):s32" \
	"u32=+12(%di):u32 s64=+16(%di):s64 u64=+24(%di):u64 bytes=+32(%di):u8[8] ints=+40(%di):s32[4] text=+0(%si):string" \
	"n=%dx:s64 bits=+0(%di):b4@0/8" >>$probes
echo "p:sonde_t/many $t/types:0x$at $(for i in $(seq 60); do echo "f$i=\$stack$((i % 4)):u8"; done | tr '\n' ' ')" >>$probes
perf record -q -o types.data -e sonde_t:types "$t/types"
perf record -q -o many.data -e sonde_t:many "$t/types"
echo "-:sonde_t/types" >>$probes
echo "-:sonde_t/many" >>$probes
rm -r "$t"
