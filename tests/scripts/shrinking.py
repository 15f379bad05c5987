# SPDX-License-Identifier: MIT
"""A recording that becomes shorter or longer while a script reads it: the run ends normally, with a
defect."""

import os
import struct
import sys

from scripttest import Tests

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "unit",
                                "perfdata"))
import fixtures  # noqa: E402

t = Tests()

EVENTS, RAW = 6000, 4036          # 24 MiB: more than the reader keeps in memory
DATA_AT = 104 + 128 + 16
RECORD = 8 + 8 + 8 + 8 + 4 + RAW  # IP, TID, TIME, RAW
ROUND = struct.pack("<IHH", 68, 0, 8)
PER_ROUND = 500

SCRIPT = """
import os
WHEN, SIZE = %d, %d
seen = 0
def change():
    os.truncate(%r, SIZE)
def trace_begin():
    if not WHEN:
        change()
def process_event(event):
    global seen
    if event['sample']['ip'] != 0x1000 + seen:
        raise ValueError('event %%#x comes as number %%d' %% (event['sample']['ip'], seen))
    seen += 1
    if seen == WHEN:
        change()
def trace_end():
    print(seen)
"""


def recording(rounds):
    """(the bytes, where each event ends)"""
    attr = fixtures.build_attr(fixtures.Bytes("little", {}),
                               ["type=software", "exclude_guest", "sample_id_all",
                                "sample_type=IP|TID|TIME|RAW"])[0]
    data, ends = bytearray(), []
    for i in range(EVENTS):
        data += struct.pack("<IHHQIIQI", 9, 2, RECORD, 0x1000 + i, 7, 7, 1000 + i, RAW) + bytes(RAW)
        ends.append(DATA_AT + len(data))
        if rounds and i % PER_ROUND == PER_ROUND - 1:
            data += ROUND
    head = b"PERFILE2" + struct.pack("<13Q", 104, 144, 104, 144, DATA_AT, len(data), *[0] * 7)
    return head[:104] + attr.ljust(128, b"\0") + bytes(16) + bytes(data), ends


for rounds in (True, False):
    whole, ends = recording(rounds)
    sizes = (0, 50, DATA_AT, DATA_AT + 100000, ends[1999], ends[3999] + 5, len(whole) - 1,
             len(whole) + 4096)
    for when in (0, 1, 700, 3000):
        for size in sizes:
            name = "%s, %d bytes from event %d on" % ("in rounds" if rounds else "in one run", size,
                                                      when)
            path = t.write("shrinking.data", whole)
            r = t.script(SCRIPT % (when, size, path), path, both=False, options=("--strict",))
            before = sum(end <= size for end in ends)
            seen = int(r.out) if r.out.strip().isdigit() else -1
            # A read during the change may see the rest of the last page as zeros.
            is_reported = "truncated" in r.err or "bad-size" in r.err
            good = (max(before, when) <= seen <= EVENTS and r.rc == (3 if is_reported else 0) and
                    (is_reported or seen == EVENTS) and
                    (not is_reported or size < len(whole)))
            if not when and not before:  # the reader has read everything
                good = r.rc == 1 and is_reported and "no event of" in r.err and seen == -1
            t.ok(good, name, "events before: %d" % before, r)
t.done()
