# SPDX-License-Identifier: MIT
# perf 6.1 printed the stored text, with the same options.
in=$DATA/demo.data
try() { echo "== $*"; sonde --compat perf-6.1 script -i "$in" "$@" >out; head -n 4 out; wc -l <out; cksum <out; }
try
try --ns
try -F comm,tid,time,event,trace
try -F comm,pid,tid,cpu,time,event --ns
try -C 1
try --comms grep
try --comms cat,grep -C 0
try -G
try --time 2374.494,2374.4976
try --time ,2374.492
try --pid 10463 --ns
try --tid 10463,10465
