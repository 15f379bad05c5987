# SPDX-License-Identifier: MIT
"""The cases of recording.py about Table and Column: see recording_cases.py."""
import collections.abc
import ctypes
import gc
import threading

import sonde

import recording_cases
from recording_cases import CHAINS, DATA, DEMO, EXEC, LOST, MADE, MIXED, PIPELINE, SWITCH, TYPES, \
    Skip, case, raises, same

recording_cases.CASES.clear()
INSTALLED = [DATA + "/installed/%s.data" % name for name in
             ("compaction", "drops", "futex", "kmalloc", "net", "softirqs", "syscalls", "tasks",
              "plain")]
FLAGS, MANY = DATA + "/scripts/flags.data", DATA + "/scripts/many.data"
FIRST = ("time", "cpu", "pid", "tid", "comm")
SWAPPED = MADE + "/swapped.data"


def need(name):
    try:
        return __import__(name)
    except ImportError:
        raise Skip("this Python has no " + name)


def text(value):
    """A text as a table has it: bytes that are no UTF-8 as \\xNN."""
    out = value.encode("utf-8", "surrogateescape")
    return out.decode("utf-8", "backslashreplace")


def of_event(e, name, arrow):
    own = name in ("time", "cpu", "pid", "tid", "comm")
    value = getattr(e, name) if own else e[name[2:] if name.startswith("f_") else name]
    if isinstance(value, str):
        return text(value)
    return None if own and value == -1 else value


# ---- values -------------------------------------------------------------------------------------

@case
def every_event_type_equals_the_loop():
    types = 0
    for path in [DEMO, PIPELINE, CHAINS, TYPES, MANY, EXEC, MIXED, FLAGS, SWAPPED,
                 MADE + "/many-types.data", *INSTALLED]:
        rec = sonde.open(path)
        seen = {}
        for e in rec:
            seen.setdefault(e.name, []).append(e)
        for name, events in seen.items():
            t = rec.table(name)
            types += 1
            same((t.name, t.num_rows, len(t["time"])), (name, len(events), len(events)))
            fields = [f if f not in ("time", "cpu", "pid", "tid", "comm") else "f_" + f
                      for f in rec.schemas[name].fields if f[:7] != "common_"]
            is_sample = rec.schemas[name].kind == "sample"  # further columns: ip, period ...
            same(list(t)[:5 + len(fields)], ["time", "cpu", "pid", "tid", "comm", *fields])
            assert is_sample or len(t) == 5 + len(fields)
            for column in t:
                if is_sample and column not in FIRST:
                    if hasattr(events[0].sample, column):
                        same(t[column].to_list(), [getattr(e.sample, column) for e in events])
                    continue
                got = t[column].to_list()
                expected = [of_event(e, column, t[column].arrow) for e in events]
                assert got == expected, (path, name, column, t[column].arrow, got[:5], expected[:5])
                same(t[column].null_count, sum(v is None for v in got))
                same(bytes(v is None for v in got), bytes(t[column].nulls))
    assert types > 110, types


@case
def a_recording_of_many_types_equals_the_loop():
    """Sums and groups by columns, of a recording with more event types than most have."""
    rec = sonde.open(MADE + "/many-types.data")
    numbers, groups = {}, {}
    for e in rec:
        for field, value in e.asdict(own=False).items():
            if isinstance(value, int):
                numbers[e.name, field] = numbers.get((e.name, field), 0) + value
        key = e.name, e.cpu, e.comm
        groups[key] = groups.get(key, 0) + 1
    names = {key[0] for key in groups}
    assert len(names) >= 60, len(names)
    own, got = ("time", "cpu", "pid", "tid", "comm"), {}
    for name in names:
        t = rec.table(name, list(rec.schemas[name].fields))
        for cpu, comm in t.rows("cpu", "comm"):
            got[name, cpu, comm] = got.get((name, cpu, comm), 0) + 1
        for field in rec.schemas[name].fields:
            column = t["f_" + field if field in own else field]
            if (name, field) in numbers:
                assert column.arrow in "cCsSiIlL", (name, field, column.arrow)
                same((name, field, sum(v or 0 for v in column.to_list())),
                     (name, field, numbers[name, field]))
    same(got, groups)
    same(rec.count(by=("name", "cpu", "comm")), groups)


@case
def sums_and_groups_equal_those_of_the_loop():
    rec = sonde.open(PIPELINE)
    t = rec.table("syscalls:sys_enter_read", ["count"])
    same(sum(t["count"].to_list()),
         sum(e.count for e in rec.select("syscalls:sys_enter_read")))
    groups = {}
    for comm, pid in t.rows("comm", "pid"):
        groups[comm, pid] = groups.get((comm, pid), 0) + 1
    same(groups, rec.select("syscalls:sys_enter_read").count(by=("comm", "pid")))


@case
def a_table_is_a_mapping():
    t = sonde.open(DEMO).table(SWITCH, ["next_pid", "next_comm"])
    assert isinstance(t, collections.abc.Mapping) and "next_pid" in t and "x" not in t
    same((list(t), len(t)), (["time", "cpu", "pid", "tid", "comm", "next_pid", "next_comm"], 7))
    raises(KeyError, lambda: t["x"], "next_pid")
    c = t["next_pid"]
    same((c.name, c.arrow, c.dictionary, len(c), c[0], c[-1]),
         ("next_pid", "i", None, 155, c.to_list()[0], c.to_list()[-1]))
    raises(IndexError, lambda: c[155])
    raises(IndexError, lambda: c[1 << 70])
    raises(TypeError, lambda: c["time"])
    for part in (slice(2, 9), slice(None, None, -1), slice(-3, None), slice(200, None)):
        same(c[part], c.to_list()[part])
    same(list(t.rows("cpu", "next_pid"))[:3], list(zip(t["cpu"], t["next_pid"]))[:3])
    same(sonde.open(DEMO).table(SWITCH, "next_pid")["next_pid"].to_list(), c.to_list())
    assert "155 rows" in repr(t) and "next_pid" in repr(c)


@case
def fields_named_like_own_columns_have_a_prefix():
    t = sonde.open(DEMO).table("sched:sched_wakeup", ["comm", "pid"])
    same(list(t), ["time", "cpu", "pid", "tid", "comm", "f_comm", "f_pid"])
    same(t["f_pid"].to_list(), [e["pid"] for e in sonde.open(DEMO, events="sched:sched_wakeup")])


@case
def text_is_valid_utf8_or_bytes():
    t = sonde.open(TYPES).table(next(iter(sonde.open(TYPES).schemas)))
    for name in t:
        if t[name].arrow == "u":
            assert all(isinstance(v.encode(), bytes) for v in t[name].to_list()), name
    t = sonde.open(DEMO).table(SWITCH, ["next_comm"], strings="bytes")
    same(t["next_comm"].to_list()[:9],
         [e.next_comm.encode() for e in sonde.open(DEMO, events=SWITCH)][:9])
    same(t["next_comm"].arrow, "z")


@case
def flags_are_numbers_or_names():
    rec = sonde.open(FLAGS, events="kmem:kmalloc")
    number = rec.table("kmem:kmalloc", ["gfp_flags"])["gfp_flags"]
    names = rec.table("kmem:kmalloc", ["gfp_flags"], flags="names")["gfp_flags"]
    same(number.to_list(), [e.gfp_flags for e in rec])
    same(names.to_list(), [e.names("gfp_flags") for e in rec])
    states = sonde.open(DEMO, events=SWITCH)
    same(states.table(SWITCH, ["prev_state"], flags="names")["prev_state"].to_list(),
         [e.names("prev_state") for e in states])


@case
def stacks_are_lists_of_addresses():
    rec = sonde.open(CHAINS)
    c = rec.table(SWITCH, [], stacks=True)["stack"]
    same([list(v) for v in c.to_list()], [[f.ip for f in e.callchain] for e in rec])
    assert len(c.dictionary) <= 11 and all(isinstance(v, tuple) for v in c.dictionary)


def frames_of(table, stack):
    rows = list(table.frames.rows("ip", "symbol", "offset", "dso"))
    return [None if v is None else [rows[i] for i in v] for v in stack.to_list()]


def frames_of_loop(rec):
    return [[(f.ip, f.symbol and text(f.symbol), f.offset, f.dso and text(f.dso))
             for f in e.callchain] or None for e in rec]


@case
def stacks_refer_to_a_table_of_frames():
    for path, name in ((CHAINS, SWITCH), (MADE + "/places.data", "cpu-clock"), (EXEC, None)):
        rec = sonde.open(path)
        rec = rec.select(name or next(iter(rec.count(by="name"))))
        t = rec.table(next(iter(rec.count(by="name"))), [], stacks="frames")
        same(list(t.frames), ["ip", "symbol", "offset", "dso"])
        same(frames_of(t, t["stack"]), frames_of_loop(rec))
        rows = list(t.frames.rows())
        same((len(set(rows)), t.frames.num_rows), (len(rows), len(rows)))
        pieces = list(rec.batches(t.name, [], rows=2, stacks="frames"))
        same(sum((frames_of(p, p["stack"]) for p in pieces), []), frames_of_loop(rec))
        for p in pieces:  # rows keep their place
            same(list(p.frames.rows()), rows[:p.frames.num_rows])
        same(sum(stream_of(t.frames), []), rows)
    t = sonde.open(MADE + "/places.data").table("cpu-clock", [], stacks="frames")
    same(t["stack"].to_list(), [(0, 1), (2, 3), None, (4, 5), (2, 3)])
    same([dso and dso.rpartition("/")[2] for dso in t.frames["dso"]],
         ["one", "one", "two", "two", "three", "three"])
    same(t.frames["ip"].to_list(), 3 * [0x401000, 0x402000])
    empty = sonde.open(CHAINS, comm="nothing").table(SWITCH, [], stacks="frames")
    same((empty.num_rows, empty.frames.num_rows), (0, 0))
    same(sonde.open(CHAINS).table(SWITCH, [], stacks=True).frames, None)
    raises(sonde.OptionError, lambda: rec.table(SWITCH, stacks="names"), "frames")


@case
def batches_are_the_table_in_pieces():
    rec = sonde.open(PIPELINE)
    for rows in (1, 7, 100, 65536):
        whole = rec.table("sched:sched_switch")
        pieces = list(rec.batches("sched:sched_switch", rows=rows))
        same(sum(p.num_rows for p in pieces), whole.num_rows)
        assert all(p.num_rows <= rows for p in pieces)
        for name in whole:
            same(sum((p[name].to_list() for p in pieces), []), whole[name].to_list())
        known = ()
        for p in pieces:  # codes keep their meaning
            same(p["comm"].dictionary[:len(known)], known)
            known = p["comm"].dictionary


@case
def a_table_without_rows_has_its_columns():
    t = sonde.open(DEMO, comm='nothing').table(SWITCH)
    same((t.num_rows, t["next_pid"].to_list(), t["next_comm"].to_list()), (0, [], []))
    same(list(t), list(sonde.open(DEMO).table(SWITCH)))
    same(list(sonde.open(DEMO, comm='nothing').batches(SWITCH)), [])
    same([len(a) for a in stream_of(t)], [0])


@case
def a_table_knows_losses():
    rec = sonde.open(LOST)
    t = rec.table(next(iter(rec.schemas)))
    same((t.num_rows, t.lost, rec.lost), (1, 4, 4))


# ---- consumers ----------------------------------------------------------------------------------

@case
def numpy_shares_the_memory():
    np = need("numpy")
    t = sonde.open(DEMO).table(SWITCH,
                               ["next_pid", "prev_state", "common_type", "next_comm"])
    for name, kind in (("time", "int64"), ("next_pid", "int32"), ("prev_state", "int64"),
                       ("common_type", "uint16"), ("comm", "int32")):
        a, b = np.asarray(t[name]), np.asarray(t[name])
        same(str(a.dtype), kind)
        assert np.shares_memory(a, b) and not a.flags.writeable, name
    same(np.asarray(t["next_pid"]).tolist(), t["next_pid"].to_list())
    codes = np.asarray(t["next_comm"])
    same([t["next_comm"].dictionary[i] for i in codes], t["next_comm"].to_list())
    a = np.asarray(t["time"])
    expected = t["time"].to_list()
    del t
    gc.collect()
    same(a.tolist(), expected)
    name = next(iter(sonde.open(TYPES).schemas))
    c = sonde.open(TYPES).table(name)["bytes"]
    raises(AttributeError, lambda: c.__array_interface__, "to_list")


@case
def memoryview_shares_the_memory():
    t = sonde.open(DEMO).table(SWITCH)
    try:
        view = memoryview(t["next_pid"])
    except TypeError:
        raise Skip("the limited API of this Python has no buffers")
    same((view.format, view.readonly, view.shape), ("i", True, (155,)))
    same(view.tolist(), t["next_pid"].to_list())
    del t
    gc.collect()
    same(len(view.tolist()), 155)


@case
def pandas_gets_a_frame():
    pd = need("pandas")
    for path, name in ((DEMO, SWITCH), (FLAGS, "kmem:kmalloc"), (TYPES, None), (LOST, None),
                       (DATA + "/installed/net.data", "net:net_dev_xmit")):
        rec = sonde.open(path)
        t = rec.table(name or next(iter(rec.schemas)), stacks=path == DEMO)
        frame = t.to_pandas()
        same((list(frame.columns), len(frame)), (list(t), t.num_rows))
        for column in t:
            got = [None if v is None or v is pd.NA or v != v else v for v in frame[column].tolist()]
            want = [tuple(v) if isinstance(v, list) and t[column].dictionary else v
                    for v in t[column].to_list()]
            assert got == want, (path, column, got[:3], want[:3])
    frame = sonde.open(DEMO).table(SWITCH).to_pandas()
    same(frame.groupby("cpu").size().to_dict(), sonde.open(DEMO, events=SWITCH).count(by="cpu"))
    same(str(frame["next_comm"].dtype), "category")


# ---- a consumer of Arrow's C structs -------------------------------------------------------------

class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


RELEASE_SCHEMA, RELEASE_ARRAY, RELEASE_STREAM = (
    ctypes.CFUNCTYPE(None, ctypes.POINTER(s)) for s in (Schema, Array, Stream))
Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p),
                   ("metadata", ctypes.c_void_p), ("flags", ctypes.c_int64),
                   ("n_children", ctypes.c_int64),
                   ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
                   ("dictionary", ctypes.POINTER(Schema)), ("release", RELEASE_SCHEMA),
                   ("private_data", ctypes.c_void_p)]
Array._fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64),
                  ("offset", ctypes.c_int64), ("n_buffers", ctypes.c_int64),
                  ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p)),
                  ("children", ctypes.POINTER(ctypes.POINTER(Array))),
                  ("dictionary", ctypes.POINTER(Array)), ("release", RELEASE_ARRAY),
                  ("private_data", ctypes.c_void_p)]
Stream._fields_ = [("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream),
                                                   ctypes.POINTER(Schema))),
                   ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream),
                                                 ctypes.POINTER(Array))),
                   ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(Stream))),
                   ("release", RELEASE_STREAM), ("private_data", ctypes.c_void_p)]
pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
NUMBERS = {b"c": ctypes.c_int8, b"C": ctypes.c_uint8, b"s": ctypes.c_int16, b"S": ctypes.c_uint16,
           b"i": ctypes.c_int32, b"I": ctypes.c_uint32, b"l": ctypes.c_int64, b"L": ctypes.c_uint64,
           b"f": ctypes.c_float, b"g": ctypes.c_double}


def plain(schema, array):
    """The values of an array: a strict reading of the structs."""
    fmt, n, first = schema.format, array.length, array.offset
    same((array.n_children, bool(array.dictionary)), (schema.n_children, bool(schema.dictionary)))
    buffers = [array.buffers[i] for i in range(array.n_buffers)]
    assert all(b is None or b % 8 == 0 for b in buffers), "alignment"
    valid = [True] * n
    if buffers and buffers[0]:
        bits = (ctypes.c_uint8 * ((first + n + 7) // 8)).from_address(buffers[0])
        valid = [bool(bits[(first + i) // 8] >> (first + i) % 8 & 1) for i in range(n)]
    same(array.null_count, n - sum(valid))
    if fmt in NUMBERS:
        same(array.n_buffers, 2)
        values = list((NUMBERS[fmt] * (first + n)).from_address(buffers[1]))[first:] if n else []
    elif fmt in (b"u", b"z"):
        same(array.n_buffers, 3)
        offsets = list((ctypes.c_int32 * (first + n + 1)).from_address(buffers[1]))[first:] \
            if n else [0]
        assert offsets == sorted(offsets)
        data = ctypes.string_at(buffers[2], offsets[-1]) if offsets[-1] else b""
        values = [data[a:b] for a, b in zip(offsets, offsets[1:])]
        values = [v.decode("utf-8", "strict") for v in values] if fmt == b"u" else values
    elif fmt == b"+l":
        same((array.n_buffers, array.n_children), (2, 1))
        offsets = list((ctypes.c_int32 * (first + n + 1)).from_address(buffers[1]))[first:] \
            if n else [0]
        items = plain(schema.children[0][0], array.children[0][0])
        assert offsets == sorted(offsets) and offsets[-1] <= len(items)
        values = [items[a:b] for a, b in zip(offsets, offsets[1:])]
    else:
        raise AssertionError("format %r" % fmt)
    if schema.dictionary:
        words = plain(schema.dictionary[0], array.dictionary[0])
        assert all(not v or 0 <= c < len(words) for c, v in zip(values, valid))
        values = [words[c] if v else None for c, v in zip(values, valid)]
    return [value if v else None for value, v in zip(values, valid)]


def release(struct):
    struct.release(ctypes.byref(struct))
    assert not struct.release, "release() sets release to NULL"


def stream_of(table):
    """The batches of the table's stream, as dicts of lists."""
    capsule = table.__arrow_c_stream__()
    stream = ctypes.cast(pointer_of(capsule, b"arrow_array_stream"), ctypes.POINTER(Stream))[0]
    schema = Schema()
    same(stream.get_schema(ctypes.byref(stream), ctypes.byref(schema)), 0)
    same(schema.format, b"+s")
    batches = []
    while True:
        array = Array()
        same(stream.get_next(ctypes.byref(stream), ctypes.byref(array)), 0)
        if not array.release:
            break
        batches.append({schema.children[i][0].name.decode():
                        plain(schema.children[i][0], array.children[i][0])
                        for i in range(schema.n_children)})
        release(array)
    release(schema)
    release(stream)
    return [list(zip(*b.values())) for b in batches]


@case
def streams_give_the_values_as_often_as_asked():
    for path, name in ((DEMO, SWITCH), (TYPES, None), (FLAGS, "kmem:kmalloc"), (MANY, None)):
        rec = sonde.open(path)
        for options in ({}, dict(strings="bytes"), dict(flags="names", stacks=True)):
            t = rec.table(name or next(iter(rec.schemas)), **options)
            expected = list(t.rows())
            for _ in range(2):
                same(sum(stream_of(t), []), expected)


@case
def capsules_nobody_reads_are_released():
    t = sonde.open(DEMO).table(SWITCH)
    for _ in range(100):
        t.__arrow_c_stream__(), t.__arrow_c_schema__(), t["comm"].__arrow_c_array__(), \
            t["comm"].__arrow_c_stream__(), t["comm"].__arrow_c_schema__()
    t.__arrow_c_stream__(None), t.__arrow_c_stream__(requested_schema=None)
    same(t["cpu"].to_list(), sonde.open(DEMO).table(SWITCH)["cpu"].to_list())


@case
def one_column_is_an_array():
    c = sonde.open(DEMO).table(SWITCH)["next_comm"]
    schema, array = c.__arrow_c_array__()
    s = ctypes.cast(pointer_of(schema, b"arrow_schema"), ctypes.POINTER(Schema))[0]
    a = ctypes.cast(pointer_of(array, b"arrow_array"), ctypes.POINTER(Array))[0]
    same((s.name, plain(s, a)), (b"next_comm", c.to_list()))
    del schema, array


@case
def arrays_outlive_the_recording_and_end_in_any_thread():
    rec = sonde.open(DEMO)
    t = rec.table(SWITCH, ["next_comm", "next_pid"])
    expected = [t[name].to_list() for name in t]
    capsule = t.__arrow_c_stream__()
    stream = ctypes.cast(pointer_of(capsule, b"arrow_array_stream"), ctypes.POINTER(Stream))[0]
    schema, array = Schema(), Array()
    same(stream.get_schema(ctypes.byref(stream), ctypes.byref(schema)), 0)
    same(stream.get_next(ctypes.byref(stream), ctypes.byref(array)), 0)
    rec.close()
    del rec, t
    gc.collect()
    # A consumer may take a child out of its parent and keep it.
    child = Array.from_buffer_copy(array.children[5][0])
    array.children[5][0].release = RELEASE_ARRAY()
    got = [plain(schema.children[i][0], array.children[i][0]) for i in range(5)]
    failures = []

    def end():
        try:
            release(array)
            release(stream)
        except BaseException as error:
            failures.append(error)
    thread = threading.Thread(target=end)
    thread.start()
    thread.join()
    del capsule
    gc.collect()
    same(failures, [])
    same(got + [plain(schema.children[5][0], child)], expected[:6])
    release(child)
    release(schema)


recording_cases.run_all()
