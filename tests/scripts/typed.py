# SPDX-License-Identifier: MIT
"""A small program with types, which mypy --strict checks against the stub, and which runs.

    typed.py RECORDING
"""
import sys
from collections import Counter
from typing import Any, Dict, List, Optional, Tuple

import sonde


def waits(rec: sonde.Recording) -> Dict[int, int]:
    """Nanoseconds from a wake-up to the switch, by thread."""
    woken: Dict[int, int] = {}
    sums: Dict[int, int] = {}
    for e in rec.select(["sched:sched_wakeup", "sched:sched_switch"], where="common_pid >= 0"):
        time: Optional[int] = e.time
        if time is None:
            continue
        if e.name == "sched:sched_wakeup":
            woken[e["pid"]] = time
        elif e.next_pid in woken:
            sums[e.next_pid] = sums.get(e.next_pid, 0) + time - woken.pop(e.next_pid)
    return sums


def facts(rec: sonde.Recording) -> List[str]:
    field: sonde.Field = rec.schemas["sched:sched_switch"].fields["prev_state"]
    number: int = field.size
    names: Dict[int, str] = field.values
    lost: int = rec.lost
    span: Tuple[Optional[int], Optional[int]] = (rec.start, rec.end)
    defects: List[str] = [d.name + d.severity for d in rec.defects if d.count > 1]
    return [str(number), names[1], str(lost), str(span), rec.host or "", *defects]


def counts(rec: sonde.Recording) -> Tuple[int, Dict[Any, int], Dict[Tuple[Any, ...], int]]:
    return rec.count(), rec.count(by="comm"), rec.count(by=("cpu", "name"))


def stacks(rec: sonde.Recording) -> "Counter[sonde.Stack]":
    found: "Counter[sonde.Stack]" = Counter()
    for e in rec:
        stack: sonde.Stack = e.callchain
        found[stack] += 1
        for frame in stack:
            symbol: Optional[str] = frame.symbol
            assert symbol is None or frame.ip + len(symbol) > 0
        sample: Optional[sonde.Sample] = e.sample
        assert sample is None or sample.period >= 0
    return found


def columns(rec: sonde.Recording) -> int:
    table: sonde.Table = rec.table("sched:sched_switch", ["next_pid"], flags="names")
    column: sonde.Column = table["next_pid"]
    pieces = sum(t.num_rows for t in rec.batches("sched:sched_switch", rows=10))
    assert pieces == len(column.to_list()) == len(list(table.rows())) == sum(1 for _ in column)
    return pieces


def rows(rec: sonde.Recording) -> int:
    both: sonde.Profile = rec.profile(keys="comm")
    return len(both.merge(sonde.profile(rec, keys="comm")).rows)


def main() -> int:
    try:
        with sonde.open(sys.argv[1], callchain=True, on_loss="report") as rec:
            print(len(waits(rec)), len(facts(rec)), counts(rec)[0], sum(stacks(rec).values()),
                  columns(rec), rows(rec) > 0, len(list(rec.text())))
    except sonde.UnknownEvent as e:
        print(e.name, e.near, e.errno, e.advice, file=sys.stderr)
        return 1
    except OSError as e:
        print(e.filename, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
