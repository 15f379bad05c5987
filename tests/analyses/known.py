# SPDX-License-Identifier: MIT
"""Recordings with known answers: a test gives the events one by one, and gets a perf.data file.

    tr = Trace()
    tr.declare("irq:softirq_entry", "unsigned int vec")
    tr.task(7, "worker", pid=5)
    tr.event("irq:softirq_entry", 1000, cpu=1, tid=7, vec=3)
    tr.lost(2000, 12)
    tr.write(path)

Times are nanoseconds. Fields are declared as in C, arrays and __data_loc char[] included. A field
without a value is 0.
"""
import os
import re
import struct
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "tests", "gen"))
from recording import SAMPLE_TYPE, Format, Writer, recording  # noqa: E402

CALLCHAIN = 1 << 5
LOST, COMM, EXIT, FORK, SAMPLE, MMAP2 = 2, 3, 4, 7, 9, 10
HEADER_ATTR, TRACING_DATA, FINISHED_ROUND = 64, 66, 68
COMMON = ("unsigned short common_type; unsigned char common_flags; unsigned char "
          "common_preempt_count; int common_pid")
SIZES = {"char": 1, "unsigned char": 1, "u8": 1, "s8": 1, "bool": 1, "short": 2,
         "unsigned short": 2, "u16": 2, "int": 4, "unsigned int": 4, "u32": 4, "s32": 4, "pid_t": 4,
         "dev_t": 4, "long": 8, "unsigned long": 8, "u64": 8, "s64": 8, "sector_t": 8, "size_t": 8}
UNSIGNED = ("unsigned", "u", "bool", "dev_t", "sector_t", "size_t")
# The formats of current kernels.
KNOWN = {
    "raw_syscalls:sys_enter": "long id; unsigned long args[6]",
    "raw_syscalls:sys_exit": "long id; long ret",
    "syscalls:sys_enter_futex": "int __syscall_nr; u32 *uaddr; long op; u64 val; u64 *utime; u32 "
                                "*uaddr2; u64 val3",
    "syscalls:sys_exit_futex": "int __syscall_nr; long ret",
    "syscalls:sys_enter_futex_wait": "int __syscall_nr; u64 *uaddr; u64 val; u64 mask; u64 flags; "
                                     "u64 *timeout; u64 clockid",
    "syscalls:sys_exit_futex_wait": "int __syscall_nr; long ret",
    "syscalls:sys_enter_futex_wake": "int __syscall_nr; u64 *uaddr; u64 mask; u64 nr; u64 flags",
    "syscalls:sys_exit_futex_wake": "int __syscall_nr; long ret",
    "irq:irq_handler_entry": "int irq; __data_loc char[] name",
    "irq:irq_handler_exit": "int irq; int ret",
    "irq:softirq_raise": "unsigned int vec",
    "irq:softirq_entry": "unsigned int vec",
    "irq:softirq_exit": "unsigned int vec",
    "block:block_bio_queue": "dev_t dev; sector_t sector; unsigned int nr_sector; char rwbs[10]; "
                             "char comm[16]",
    "block:block_rq_insert": "dev_t dev; sector_t sector; unsigned int nr_sector; unsigned int "
                             "bytes; unsigned short ioprio; "
                             "char rwbs[10]; char comm[16]; __data_loc char[] cmd",
    "block:block_rq_issue": "dev_t dev; sector_t sector; unsigned int nr_sector; unsigned int "
                            "bytes; unsigned short ioprio; "
                            "char rwbs[10]; char comm[16]; __data_loc char[] cmd",
    "block:block_rq_requeue": "dev_t dev; sector_t sector; unsigned int nr_sector; unsigned short "
                              "ioprio; char rwbs[10]; "
                              "__data_loc char[] cmd",
    "block:block_rq_complete": "dev_t dev; sector_t sector; unsigned int nr_sector; int error; "
                               "unsigned short ioprio; "
                               "char rwbs[10]; __data_loc char[] cmd",
    "kmem:mm_page_alloc": "unsigned long pfn; unsigned int order; unsigned long gfp_flags; int "
                          "migratetype",
    "kmem:mm_page_free": "unsigned long pfn; unsigned int order",
}


class Field:
    def __init__(self, decl, offset):
        kind, self.name, count = re.fullmatch(r"(.*?)\s*(\w+)(?:\[(\d*)\])?", decl.strip()).groups()
        self.decl, self.dynamic = decl.strip(), kind.startswith("__data_loc")
        if self.dynamic:
            self.each, self.count, self.signed = 4, 1, False
        elif kind.endswith("*"):
            self.each, self.count, self.signed = 8, 1, False
        else:
            self.each, self.count = SIZES[kind], int(count or 1)
            self.signed = not kind.startswith(UNSIGNED)
        self.text = kind == "char" and count is not None
        self.offset = offset + -offset % self.each
        self.size = self.each * self.count
        self.end = self.offset + self.size


class Layout:
    """The fields of an event with their offsets, and the format text."""

    def __init__(self, name, declarations):
        self.fields, end, lines = [], 0, ""
        for i, decl in enumerate((COMMON + ";" + declarations).strip("; ").split(";")):
            f = Field(decl, end)
            end = f.end
            self.fields.append(f)
            lines += "\tfield:%s;\toffset:%d;\tsize:%d;\tsigned:%d;\n%s" % (f.decl, f.offset,
                                                                            f.size, f.signed,
                                                                            "\n" if i == 3 else "")
        self.end = end + -end % 8
        self.format = Format(name, 'name: %s\nID: 1\nformat:\n%s\nprint fmt: "x"\n' %
                             (name.split(":")[1], lines))

    def payload(self, number, tid, values):
        out, tail = bytearray(self.end), b""
        for f in self.fields:
            value = values.pop(f.name, 0)
            if f.name == "common_type":
                value = number
            elif f.name == "common_pid":
                value = tid
            if f.dynamic:
                data = (value or "").encode("utf-8", "surrogateescape") + b"\0"
                struct.pack_into("<HH", out, f.offset, self.end + len(tail), len(data))
                tail += data
            elif f.text:
                out[f.offset:f.end] = (value or "").encode("utf-8", "surrogateescape")[
                    :f.size - 1].ljust(f.size, b"\0")
            else:
                each = value if isinstance(value, (list, tuple)) else [value]
                for i, v in enumerate(each):
                    at = f.offset + i * f.each
                    out[at:at + f.each] = (v % (1 << 8 * f.each)).to_bytes(f.each, "little")
        if values:
            raise ValueError("no such field: " + ", ".join(values))
        out += tail
        return bytes(out) + bytes(-(len(out) + 4) % 8)


class Trace:
    def __init__(self, chains=False):
        self.sample_type = SAMPLE_TYPE | (CALLCHAIN if chains else 0)
        self.layouts, self.records, self.pids, self.streamed = {}, [], {}, False

    def declare(self, name, declarations=None):
        """Puts an event into the header, also if no event of that name follows."""
        self.layouts[name] = Layout(name, KNOWN[name] if declarations is None else declarations)
        return self

    def _record(self, time, kind, misc, body):
        self.records.append((time, struct.pack("<IHH", kind, misc, 8 + len(body)) + body))
        return self

    def _side(self, time, kind, misc, body, tid=0, cpu=0):
        trailer = struct.pack("<IIQIIQ", self.pids.get(tid, tid), tid, time, cpu, 0, 1)
        return self._record(time, kind, misc, body + trailer)

    def task(self, tid, comm, pid=None, time=0):
        self.pids[tid] = tid if pid is None else pid
        name = comm.encode("utf-8", "surrogateescape") + b"\0"
        return self._side(time, COMM, 0, struct.pack("<II", self.pids[tid], tid) + name +
                          bytes(-len(name) % 8), tid)

    def exit(self, tid, time):
        pid = self.pids.get(tid, tid)
        return self._side(time, EXIT, 0, struct.pack("<IIIIQ", pid, pid, tid, tid, time), tid)

    def lost(self, time, count, cpu=0):
        return self._side(time, LOST, 0, struct.pack("<QQ", 1, count), cpu=cpu)

    def mapped(self, tid, start, size, path, time=0):
        name = path.encode("utf-8", "surrogateescape") + b"\0"
        pid = self.pids.get(tid, tid)
        return self._side(time, MMAP2, 2,
                          struct.pack("<IIQQQIIQQII", pid, tid, start, size, 0, 0, 0, 1, 1, 5, 2) +
                          name + bytes(-len(name) % 8), tid)

    def event(self, event, at, cpu=0, tid=1, chain=(), **fields):
        if event not in self.layouts:
            self.declare(event)
        number = list(self.layouts).index(event) + 1
        raw = self.layouts[event].payload(number, tid, fields)
        body = struct.pack("<QQIIQIIQ", number, 0x401000, self.pids.get(tid, tid), tid, at, cpu, 0,
                           1)
        if self.sample_type & CALLCHAIN:
            body += struct.pack("<%dQ" % (1 + len(chain)), len(chain), *chain)
        return self._record(at, SAMPLE, 2, body + struct.pack("<I", len(raw)) + raw)

    def data(self):
        if not self.records:  # a recording without data looks like one that was not finished
            self.task(1, "init")
        formats = [layout.format for layout in self.layouts.values()]
        records = b"".join(r for _, r in sorted(self.records, key=lambda r: r[0]))
        return recording(formats, [[] for _ in formats], records, self.sample_type,
                         list(self.layouts))

    def write(self, path):
        with open(path, "wb") as f:
            f.write(self.data())
        return path

    def stream(self):
        """Bytes for a pipe: the records since the last call, at the first call after the header."""
        head = b""
        if not self.streamed:
            w = Writer(False, 8, self.sample_type)
            head = struct.pack("<8sQ", b"PERFILE2", 16)
            for i in range(len(self.layouts)):
                head += (struct.pack("<IHH", HEADER_ATTR, 0, 144) + w.attr(i + 1) +
                         struct.pack("<Q", i + 1))
            formats = w.tracing_data([layout.format for layout in self.layouts.values()])
            head += struct.pack("<IHHII", TRACING_DATA, 0, 16, len(formats), 0) + formats
            self.streamed = True
        records, self.records = b"".join(r for _, r in sorted(self.records, key=lambda r: r[0])), []
        # The second one says that no earlier event follows.
        return head + records + 2 * struct.pack("<IHH", FINISHED_ROUND, 0, 8)
