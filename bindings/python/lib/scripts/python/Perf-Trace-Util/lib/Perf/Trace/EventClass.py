# SPDX-License-Identifier: MIT
"""What scripts import as EventClass: samples as objects, those of Intel's precise events with what the processor wrote."""

import struct

# Values of ev_type.
EVTYPE_GENERIC = 0
EVTYPE_PEBS = 1
EVTYPE_PEBS_LL = 2
EVTYPE_IBS = 3


class PerfEvent:
    """Any sample."""

    event_num = 0  # how many were made; of this class and those below

    def __init__(self, name, comm, dso, symbol, raw_buf, ev_type=EVTYPE_GENERIC):
        self.name = name
        self.comm = comm
        self.dso = dso
        self.symbol = symbol
        self.raw_buf = raw_buf
        self.ev_type = ev_type
        PerfEvent.event_num += 1

    def show(self):
        print("PMU event: name=%12s, symbol=%24s, comm=%8s, dso=%12s" % (self.name, self.symbol, self.comm, self.dso))


class PebsEvent(PerfEvent):
    """A PEBS record of the first form: u64 flags, ip, then registers."""

    pebs_num = 0

    def __init__(self, name, comm, dso, symbol, raw_buf, ev_type=EVTYPE_PEBS):
        super().__init__(name, comm, dso, symbol, raw_buf, ev_type)
        (self.flags, self.ip, self.ax, self.bx, self.cx, self.dx, self.si, self.di, self.bp,
         self.sp) = struct.unpack_from("=10Q", raw_buf)
        PebsEvent.pebs_num += 1


class PebsNHM(PebsEvent):
    """One with a load's latency: behind eight more registers u64 status, address of the data, its source, latency."""

    pebs_nhm_num = 0

    def __init__(self, name, comm, dso, symbol, raw_buf, ev_type=EVTYPE_PEBS_LL):
        super().__init__(name, comm, dso, symbol, raw_buf, ev_type)
        self.status, self.dla, self.dse, self.lat = struct.unpack_from("=4Q", raw_buf, 144)
        PebsNHM.pebs_nhm_num += 1


_BY_SIZE = {144: PebsEvent, 176: PebsNHM}


def create_event(name, comm, dso, symbol, raw_buf):
    """The kind is told by the size of the raw bytes."""
    return _BY_SIZE.get(len(raw_buf), PerfEvent)(name, comm, dso, symbol, raw_buf)
