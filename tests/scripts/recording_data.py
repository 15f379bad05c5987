# SPDX-License-Identifier: MIT
"""Recordings that recording.py and api.py make: with lost events, damaged, a stream, and one of the
other byte order. The second argument of the test is FIXTURES.PY."""
import os
import pathlib
import re
import sys

from scripttest import DATA, DEMO, HERE, SONDE, run

sys.path[:0] = [os.path.join(os.path.dirname(HERE), name) for name in ("roundtrip", "gen")]
from payloads import payloads  # noqa: E402
from recording import Format, recording  # noqa: E402
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

# Chains of four frames, recorded with a limit.
LIMIT = """# SPDX-License-Identifier: MIT
=== a limit
--- attr type=software config=0 sample_type=IDENTIFIER|TID|TIME|CALLCHAIN %s ids=7
--- data
SAMPLE/user { [7:u64] [12,12:u32] [1000:u64] [5:u64] [-512:u64] [0x1000,0x2000,0x3000,0x4000:u64] }
"""

# One address in two processes, and in one of them after another file was mapped there.
PLACES = """# SPDX-License-Identifier: MIT
=== places
--- attr type=software config=0 exclude_guest sample_id_all sample_type=IDENTIFIER|TID|TIME|CALLCHAIN ids=7
--- data
MMAP/user { [12,12:u32] [0x400000:u64] [0x4000:u64] [0:u64] "/nothing/one\\0" pad8 [0,0:u32] [0,0:u64] }
MMAP/user { [13,13:u32] [0x400000:u64] [0x4000:u64] [0:u64] "/nothing/two\\0" pad8 [0,0:u32] [0,0:u64] }
SAMPLE/user { [7:u64] [12,12:u32] [1000:u64] [3:u64] [-512:u64] [0x401000,0x402000:u64] }
SAMPLE/user { [7:u64] [13,13:u32] [1001:u64] [3:u64] [-512:u64] [0x401000,0x402000:u64] }
SAMPLE/user { [7:u64] [12,12:u32] [1002:u64] [0:u64] }
MMAP/user { [12,12:u32] [0x400000:u64] [0x4000:u64] [0:u64] "/nothing/three\\0" pad8 [12,12:u32] [1002,7:u64] }
SAMPLE/user { [7:u64] [12,12:u32] [1003:u64] [3:u64] [-512:u64] [0x401000,0x402000:u64] }
SAMPLE/user { [7:u64] [13,13:u32] [1004:u64] [3:u64] [-512:u64] [0x401000,0x402000:u64] }
"""


def make(folder, name, text):
    fix = pathlib.Path(folder, name + ".fix")
    fix.write_text(text)
    pathlib.Path(folder, name + ".data").write_bytes(
        load_fixtures().parse(fix)[0].build(sys.byteorder)[0])


def make_many_types(folder):
    """A recording of more than 60 event types: formats of all kinds, and payloads for them."""
    formats = []
    for path in sorted(pathlib.Path(DATA, "formats").glob("*.format")):
        head, _, text = path.read_text().partition("\n")
        if head.startswith("# little 8 "):
            name = head.split()[3] + ":" + re.search(r"^name: (\S+)", text, re.M)[1]
            formats.append(Format(name, text))
    pathlib.Path(folder, "many-types.data").write_bytes(recording(
        formats, [payloads(f, "many types") for f in formats], names=[f.name for f in formats]))


def make_recordings(folder):
    make(folder, "stream", STREAM)
    for limit in (0, 4, 5):
        make(folder, "limit-%d" % limit, LIMIT % ("sample_max_stack=%d" % limit))
    make(folder, "places", PLACES)
    make_many_types(folder)
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
