# Which programs asked for most bytes? One table for DuckDB and for Polars, without a copy
# SPDX-License-Identifier: MIT
#     sonde record -a -e syscalls:sys_enter_read -- sleep 1
#     python3 bytes_read.py perf.data
import sys

import duckdb
import polars

import sonde

t = sonde.open(sys.argv[1]).table("syscalls:sys_enter_read", ["count"])
print(duckdb.sql("select comm, sum(count) as bytes from t group by 1 order by 2 desc"))
print(polars.DataFrame(t).group_by("comm").agg(polars.sum("count")))
