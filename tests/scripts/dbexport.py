# SPDX-License-Identifier: MIT
"""Database export: compares every row with perf's, and with known rows of a recording made by
hand."""
import os
import random
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from scripttest import DATA, DEMO, SONDE, Tests, environment, pythons, run  # noqa: E402

t = Tests()
HERE = os.path.dirname(os.path.abspath(__file__))
TABLES = ("evsel machine thread comm comm_thread dso symbol branch_type sample call_path "
          "call_return context_switch".split())
ALL = """
import sys
perf_db_export_mode = True
perf_db_export_calls = 'calls' in sys.argv
perf_db_export_callchains = 'cc' in sys.argv
def printer(name):
    def table(*row): print(name, row)
    return table
for name in %r: globals()[name] = printer(name)
def context_switch(*a): print('context_switch', a)
def process_event(d): print('process_event')
def trace_unhandled(name, context, fields): print('unhandled', name)
def trace_end(): print('end')
""" % ([n + "_table" for n in TABLES] + ["synth_data"])

# ---- a recording made by hand ----

IP, TID, TIME, ADDR, CALLCHAIN, RAW, IDENTIFIER = 1, 2, 4, 8, 0x20, 0x400, 0x10000
COMM, EXIT, FORK, SAMPLE, MMAP, SWITCH, SWITCH_WIDE = 3, 4, 7, 9, 1, 14, 15
EXEC, OUT, PREEMPT, USER = 0x2000, 0x2000, 0x4000, 2


def attr(type_, config, sample_type):
    flags = 1 << 9 | 1 << 18 | 1 << 20 | 1 << 24  # comm, sample_id_all, exclude_guest, comm_exec
    a = struct.pack("<IIQQQQQ", type_, 128, config, 1, sample_type, 0, flags)
    return a.ljust(128, b"\0")


def record(type_, body, misc=0):
    return struct.pack("<IHH", type_, misc, 8 + len(body)) + body


def text(s):
    return s.encode() + bytes(8 - len(s) % 8)


def made_by_hand():
    faults, synth = 11, 12
    attrs = [(attr(1, 2, IP | TID | TIME | ADDR | CALLCHAIN | IDENTIFIER), faults),
             (attr(0x80000000, 5, IP | TID | TIME | RAW | IDENTIFIER), synth)]

    def trailer(pid, tid, time):
        return struct.pack("<IIQQ", pid, tid, time, faults)

    def fault(pid, tid, time, ip, addr, *chain):
        return record(SAMPLE, struct.pack("<QQIIQQ", faults, ip, pid, tid, time, addr) +
                      struct.pack("<%dQ" % (len(chain) + 1), len(chain), *chain), USER)

    user = 0xfffffffffffffe00
    data = b"".join([
        record(COMM, struct.pack("<II", 10, 10) + text("shell") + trailer(10, 10, 0)),
        record(FORK, struct.pack("<IIIIQ", 20, 10, 20, 10, 100) + trailer(10, 10, 100)),
        record(COMM, struct.pack("<II", 20, 20) + text("prog") + trailer(20, 20, 200), EXEC),
        record(MMAP, struct.pack("<IIQQQ", 20, 20, 0x400000, 0x1000, 0) + text("/no/such/prog") +
               trailer(20, 20, 210), USER),
        fault(20, 20, 300, 0x400100, 0x400180, user, 0x400100, 0x400200),
        record(FORK, struct.pack("<IIIIQ", 20, 20, 21, 20, 310) + trailer(20, 20, 310)),
        record(COMM, struct.pack("<II", 20, 21) + text("worker") + trailer(20, 21, 320)),
        fault(20, 21, 400, 0x400100, 0x9000, user, 0x400100, 0x400200),
        record(SWITCH_WIDE, struct.pack("<II", 20, 20) + trailer(20, 21, 500), OUT | PREEMPT),
        record(SWITCH_WIDE, struct.pack("<II", 99, 99) + trailer(0, 0, 510), OUT),
        record(SWITCH, trailer(20, 20, 520)),
        record(COMM, struct.pack("<II", 20, 20) + text("again") + trailer(20, 20, 600), EXEC),
        record(MMAP, struct.pack("<IIQQQ", 20, 20, 0x400000, 0x1000, 0) + text("/no/such/prog") +
               trailer(20, 20, 610), USER),
        fault(20, 20, 700, 0x400300, 0x400300),
        record(SAMPLE, struct.pack("<QQIIQI", synth, 0x400340, 20, 20, 800, 4) + b"\1\2\3\0", USER),
    ])
    return file_of(attrs, data)


def file_of(attrs, data):
    head, body = 104, b""
    ids = b"".join(struct.pack("<Q", i) for _, i in attrs)
    for n, (a, _) in enumerate(attrs):
        body += a + struct.pack("<QQ", head + 8 * n, 8)
    at = head + len(ids)
    data_at = at + len(body)
    return (b"PERFILE2" + struct.pack("<QQQQQQQQ", head, 144, at, len(body), data_at, len(data), 0,
                                      0) + bytes(32) +
            ids + body + data)


def many_chains():
    """A recording, and the call chain of each sample: (dso, offset) or an address, outermost
    first."""
    random.seed(3)
    user, sampled, data, wanted, time = 0xfffffffffffffe00, 11, [], [], 1000

    def trailer(pid):
        return struct.pack("<IIQQ", pid, pid, time, sampled)

    def program(pid, name):
        data.append(record(COMM, struct.pack("<II", pid, pid) + text(name) + trailer(pid), EXEC))
        data.append(record(MMAP, struct.pack("<IIQQQ", pid, pid, 0x400000, 0x1000, 0) +
                           text("/no/such/" + name) + trailer(pid), USER))
        return "/no/such/" + name

    programs = {pid: program(pid, "first") for pid in (20, 30)}
    for n in range(1500):
        time += 1
        anew = n in (500, 1000)  # the addresses of the sample before, in another program
        if anew:
            programs[pid] = program(pid, "another%d" % n)
        else:
            pid = random.choice((20, 20, 20, 30))
        chain = chain if anew else [random.choice((0x400000, 0x500000)) +
                                    random.randrange(8 if random.random() < .8 else 40)
                 for _ in range(random.randrange(1, 7))] + [0x500800,
                                                            0x400800][:random.randrange(3)]
        data.append(record(SAMPLE, struct.pack("<QQIIQ%dQ" % (2 + len(chain)), sampled, chain[0],
                                               pid, pid, time, 1 + len(chain), user, *chain), USER))
        wanted.append([(programs[pid], ip - 0x400000) if ip < 0x500000 else ip
                       for ip in reversed(chain)])
    return file_of([(attr(1, 0, IP | TID | TIME | CALLCHAIN | IDENTIFIER), sampled)],
                   b"".join(data)), wanted


def same_chain_after_exit():
    """A recording, and an address in _start of a program with symbols, which it maps."""
    with open(SONDE, "rb") as f:
        elf = f.read(4096)
    entry, headers = struct.unpack_from("<QQ", elf, 24)
    width, n = struct.unpack_from("<HH", elf, 54)
    loads = [struct.unpack_from("<IIQQQQ", elf, headers + i * width) for i in range(n)]
    off, vaddr, size = [(h[2], h[3], h[5]) for h in loads if h[0] == 1 and h[1] & 1][0]
    start = 0x400000 + entry - vaddr

    def trailer(time):
        return struct.pack("<IIQQ", 20, 20, time, 11)

    def sample(time):
        return record(SAMPLE, struct.pack("<QQIIQ4Q", 11, start, 20, 20, time, 3,
                                          0xfffffffffffffe00, start, start + 4), USER)

    mapped = struct.pack("<IIQQQ", 20, 20, 0x400000, size + 4095 & ~4095, off)
    data = [record(COMM, struct.pack("<II", 20, 20) + text("prog") + trailer(200), EXEC),
            record(MMAP, mapped + text(SONDE) + trailer(210), USER), sample(300), sample(301),
            record(EXIT, struct.pack("<IIIIQ", 20, 10, 20, 10, 400) + trailer(400)), sample(500),
            sample(501), record(FORK, struct.pack("<IIIIQ", 20, 10, 20, 10, 600) + trailer(600)),
            sample(700)]
    return (file_of([(attr(1, 0, IP | TID | TIME | CALLCHAIN | IDENTIFIER), 11)], b"".join(data)),
            start)


HAND = t.write("hand.data", made_by_hand())
made, START = same_chain_after_exit()
AFTER_EXIT = t.write("after-exit.data", made)
made, CHAINS_OF_MANY = many_chains()
MANY_CHAINS = t.write("many-chains.data", made)


def rows(out, table):
    return [eval(line.split(" ", 1)[1]) for line in out.splitlines()
            if line.startswith(table + " ")]


def no_branch_types(out):
    return "".join(line + "\n" for line in out.splitlines() if not line.startswith("branch_type"))


r = t.script(ALL, HAND, ["cc", "calls"])
t.is_(no_branch_types(r.out), """\
evsel_table (1, 'page-faults')
machine_table (1, -1, '')
thread_table (1, 1, 1, 20, 20)
comm_table (1, 'prog', 1, 200, 1)
comm_thread_table (1, 1, 1)
dso_table (1, 1, 'prog', '/no/such/prog', '')
symbol_table (1, 1, 256, 256, 0, 'unknown')
symbol_table (2, 1, 512, 512, 0, 'unknown')
call_path_table (1, 0, 0, 0)
call_path_table (2, 1, 2, 0)
call_path_table (3, 2, 1, 0)
symbol_table (3, 1, 384, 384, 0, 'unknown')
sample_table (1, 1, 1, 1, 1, 1, 1, 0, 4194560, 300, -1, 1, 3, 0, 4194688, 1, 0, 0, 84410401, 0, 0, 3, 0, 0, 0, 11, -1, 0)
thread_table (2, 1, 1, 20, 21)
comm_thread_table (2, 1, 2)
comm_table (2, 'worker', 2, 320, 0)
sample_table (2, 1, 1, 2, 1, 1, 1, 0, 4194560, 400, -1, 0, 0, 0, 36864, 1, 0, 0, 84410401, 0, 0, 3, 0, 0, 0, 11, -1, 0)
context_switch_table (1, 1, 500, -1, 2, 1, 1, 1, 3)
thread_table (3, 1, 3, 0, 0)
comm_table (3, 'swapper', 3, 0, 0)
comm_thread_table (3, 3, 3)
context_switch_table (2, 1, 520, -1, 0, 0, 1, 1, 0)
comm_table (4, 'again', 1, 600, 1)
comm_thread_table (4, 4, 1)
symbol_table (4, 1, 768, 768, 0, 'unknown')
call_path_table (4, 1, 1, 0)
call_return_table (1, 1, 1, 4, 300, 300, 1, 1, 0, 1, 3, 0, 0, 0)
sample_table (3, 1, 1, 1, 4, 1, 4, 0, 4195072, 700, -1, 1, 4, 0, 4195072, 1, 0, 0, 84410401, 0, 0, 0, 0, 0, 0, 11, -1, 0)
evsel_table (2, 'unknown attr type: -2147483648')
symbol_table (5, 1, 832, 832, 0, 'unknown')
sample_table (4, 2, 1, 1, 4, 1, 5, 0, 4195136, 800, -1, 0, 0, 0, 0, 1, 0, 0, 84410401, 0, 0, 0, 0, 0, 0, 12, -1, 0)
synth_data (4, 5, b'\\x01\\x02\\x03\\x00')
call_path_table (5, 1, 4, 0)
call_return_table (2, 1, 4, 5, 700, 700, 1, 3, 0, 1, 3, 0, 0, 0)
call_return_table (3, 2, 1, 4, 400, 400, 1, 2, 0, 1, 3, 0, 0, 0)
end
""", "each row is exported once, before other rows refer to it")
types = rows(r.out, "branch_type_table")
t.ok(len(types) == len(set(types)) == 42 and types[0] == (0, "no branch") and
     (515, "call / trace end") in types,
     "kinds of branches", types)

r = t.script(ALL, HAND)
t.ok("call_path" not in r.out and "call_return" not in r.out and
     rows(r.out, "sample_table")[0][21] == 0,
     "no call paths and no calls by default", r.out)

# ---- call paths ----


def chain_of(paths, where, path):
    chain = []
    while path != 1:
        parent, symbol, ip = paths[path]
        chain.insert(0, where[symbol] if symbol else ip)
        path = parent
    return chain


for args in ["cc"], ["cc", "calls"]:
    r = t.script(ALL, MANY_CHAINS, args)
    exported = rows(r.out, "call_path_table")
    dsos = {row[0]: row[3] for row in rows(r.out, "dso_table")}
    where = {row[0]: (dsos[row[1]], row[2]) for row in rows(r.out, "symbol_table")}
    paths = {row[0]: row[1:] for row in exported}
    t.ok([row[0] for row in exported] == list(range(1, len(exported) + 1)) and
         len(set(paths.values())) == len(exported) > 2000 and exported[0] == (1, 0, 0, 0) and
         all(row[1] < row[0] for row in exported),
         "many call paths, each exported once: %s" % args, r.err, exported[:5])
    got = [chain_of(paths, where, row[21]) for row in rows(r.out, "sample_table")]
    wrong = [i for i, (a, b) in enumerate(zip(got, CHAINS_OF_MANY)) if a != b]
    t.ok(len(got) == len(CHAINS_OF_MANY) and not wrong,
         "each call path has the frames of its sample: %s" % args,
         *[(i, got[i], CHAINS_OF_MANY[i]) for i in wrong[:3]])

known, unknown = ["_start"] * 2, [START + 4, START]
for compat, after in (None, known), ("perf-6.1", known), ("perf-6.12", unknown):
    r = t.script(ALL, AFTER_EXIT, ["cc"], compat=compat)
    names = {row[0]: row[5] for row in rows(r.out, "symbol_table")}
    paths = {row[0]: row[1:] for row in rows(r.out, "call_path_table")}
    got = [chain_of(paths, names, row[21]) for row in rows(r.out, "sample_table")]
    t.is_(got, [known, known, after, after, unknown],
          "the same chain after the process ended: %s" % (compat or "no compat"))

# ---- scripts ----

r = t.script(ALL.replace("'calls' in sys.argv", "'False'").replace("'cc' in sys.argv", "0"), HAND)
t.ok("call_return_table" in r.out and not [s for s in rows(r.out, "sample_table") if s[21]],
     "flags are tested as Python tests values",
     r.out)
r = t.script(
    "perf_db_export_mode = False\ndef sample_table(*x): print(x)\ndef process_event(d): "
    "print(d['ev_name'])\n", HAND)
t.is_(r.out.splitlines()[0], "page-faults", "perf_db_export_mode = False exports nothing")
r = t.script("def trace_begin():\n global perf_db_export_mode\n perf_db_export_mode = 1\n"
             "def sample_table(a, b, *rest): print(a, b, len(rest))\n", HAND)
t.is_(r.out, "1 1 26\n2 1 26\n3 1 26\n4 2 26\n",
      "the flag is read after trace_begin; rows have ids of tables that are not exported")
r = t.script("perf_db_export_mode = True\ndef sample_table(%s, *x): print(len(x), insn)\n" %
             ", ".join("c%d" % i for i in range(22)) .replace("c21", "insn"), HAND,
             compat="perf-6.1")
t.is_(r.out.splitlines()[0][0], "3", "25 columns as in perf 6.1, 28 as in perf 6.12")
r = t.script("perf_db_export_mode = True\nsample_table = 5\ndef thread_table(*x):\n"
             " global thread_table\n print(x)\n def thread_table(*x): print('another')\n", HAND)
t.is_(r.out, "(1, 1, 1, 20, 20)\n(2, 1, 1, 20, 21)\n(3, 1, 3, 0, 0)\n",
      "handlers are looked up once; an object that cannot be called is no handler")
r = t.script(
    "perf_db_export_mode = True\ndef sample_table(*x): raise ValueError('full')\ndef trace_end(): "
    "print('end')\n", HAND)
t.ok(r.rc == 1 and "ValueError: full" in r.err and "page-faults" in r.err,
     "a handler that raises ends the run", r)
r = t.script(
    "class No:\n def __bool__(self): raise ValueError('neither')\nperf_db_export_mode = No()\n",
    HAND)
t.ok(r.rc == 1 and "ValueError: neither" in r.err, "a flag whose __bool__ raises ends the run", r)
r = t.script("perf_db_export_mode = True\nn = 0\ndef sample_table(*x): print('table')\n"
             "def trace_unhandled(*x):\n global n\n n += 1\ndef trace_end(): print(n > 0)\n", DEMO)
t.is_(r.out, "True\n", "tracepoints are given to their handlers, not to the tables")

for name, path in pythons():
    r = t.script(ALL, HAND, ["cc", "calls"], python=path, both=False)
    t.ok(len(rows(r.out, "sample_table")) == 4 and r.out.endswith("end\n"), "rows under Python: " +
         name, r)

# ---- compared with perf ----

RECORDINGS = ([HAND, MANY_CHAINS, AFTER_EXIT] +
              [DATA + "/text/" + n for n in ("clock.data", "faults.data", "mixed.data")] +
              [DATA + "/text-cases/" + n for n in ("addr.data", "g.data", "dw.data", "br.data",
                                                   "perf.data")])
for data in RECORDINGS:
    t.like_perf(ALL, "rows as perf 6.1's: " + os.path.basename(data), data, ["cc", "calls"])

newer = run([os.path.join(HERE, "../../tools/perf-6.12"),
             os.path.join(os.path.dirname(SONDE), "perf-6.12")], env=dict(os.environ))
RUNNING_KERNEL = run([SONDE, "buildid-list", "-k"]).out.strip()
for data in [d for d in RECORDINGS
             if os.path.basename(d) in ("hand.data", "many-chains.data", "after-exit.data",
                                        "faults.data", "g.data", "dw.data")]:
    name = "rows as perf 6.12's: " + os.path.basename(data)
    if newer.rc:
        t.skip(name, newer.err.strip(), installable=False)
        continue
    # It reads /proc/kallsyms of the recorded kernel, and finds no function in it.
    if RUNNING_KERNEL and RUNNING_KERNEL in run([SONDE, "buildid-list", "-i", data]).out.split():
        t.skip(name, "the recorded kernel is the running one", installable=False)
        continue
    path = t.write("script.py", ALL)
    theirs = run([newer.out.strip(), "script", "-i", data, "-s", path, "cc", "calls"], None,
                 environment(LD_PRELOAD=""), t.dir)
    ours = t.script(ALL, data, ["cc", "calls"], compat="perf-6.12")
    t.ok(ours.out == theirs.out, name, *t.difference(ours, theirs))

t.done()
