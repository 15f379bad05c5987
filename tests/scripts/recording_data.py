# SPDX-License-Identifier: MIT
"""Recordings that recording.py and api.py make: with lost events, damaged, a stream, and one of the
other byte order. The second argument of the test is FIXTURES.PY."""
import os
import pathlib
import sys

from scripttest import DATA, DEMO, HERE, SONDE, run

sys.path.insert(0, os.path.join(os.path.dirname(HERE), "roundtrip"))
from recordings import load_fixtures  # noqa: E402
from swapped import Swapper  # noqa: E402

STREAM = """# SPDX-License-Identifier: MIT
=== a stream
--- file
"PERFILE2" [16:u64]
HEADER_ATTR { [1,112:u32] [0,1:u64] [0x10006:u64] [0,0:u64] [0:u8]*64 [7:u64] }
SAMPLE { [7:u64] [12,12:u32] [1000:u64] }
SAMPLE { [7:u64] [12,12:u32] [1001:u64] }
"""

def make_recordings(folder):
    stream = pathlib.Path(folder, "stream.fix")
    stream.write_text(STREAM)
    pathlib.Path(folder, "stream.data").write_bytes(
        load_fixtures().parse(stream)[0].build(sys.byteorder)[0])
    for case in load_fixtures().parse(pathlib.Path(DATA, "defects", "kinds.fix")):
        if case.name in ("lost-events", "truncated"):
            data, _ = case.build(sys.byteorder)
            if case.name == "truncated":
                data = data[:-5]
            pathlib.Path(folder, case.name + ".data").write_bytes(data)
    pathlib.Path(folder, "swapped.data").write_bytes(
        Swapper(pathlib.Path(DEMO).read_bytes()).build())
    r = run([SONDE, "script", "-i", DEMO], binary=True)
    assert r.rc == 0, r.err
    pathlib.Path(folder, "demo.txt").write_bytes(r.out)
