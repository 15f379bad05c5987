# SPDX-License-Identifier: MIT
"""The module EventClass for scripts: samples as objects; for Intel's precise events with the data
that the processor wrote."""

import struct

# Values of ev_type.
EVTYPE_GENERIC = 0
EVTYPE_PEBS = 1
EVTYPE_PEBS_LL = 2
EVTYPE_IBS = 3


class PerfEvent:
    """Any sample."""

    event_num = 0  # number of objects of this class and its subclasses

    def __init__(self, name, comm, dso, symbol, raw_buf, ev_type=EVTYPE_GENERIC):
        self.name = name
        self.comm = comm
        self.dso = dso
        self.symbol = symbol
        self.raw_buf = raw_buf
        self.ev_type = ev_type
        PerfEvent.event_num += 1

    def show(self):
        print("PMU event: name=%12s, symbol=%24s, comm=%8s, dso=%12s" %
              (self.name, self.symbol, self.comm, self.dso))


class PebsEvent(PerfEvent):
    """A PEBS record of the first format: u64 flags, ip, then registers."""

    pebs_num = 0

    def __init__(self, name, comm, dso, symbol, raw_buf, ev_type=EVTYPE_PEBS):
        super().__init__(name, comm, dso, symbol, raw_buf, ev_type)
        (self.flags, self.ip, self.ax, self.bx, self.cx, self.dx, self.si, self.di, self.bp,
         self.sp) = struct.unpack_from("=10Q", raw_buf)
        PebsEvent.pebs_num += 1


class PebsNHM(PebsEvent):
    """A PEBS record with a load's latency: after eight more registers u64 status, data address,
    data source, latency."""

    pebs_nhm_num = 0

    def __init__(self, name, comm, dso, symbol, raw_buf, ev_type=EVTYPE_PEBS_LL):
        super().__init__(name, comm, dso, symbol, raw_buf, ev_type)
        self.status, self.dla, self.dse, self.lat = struct.unpack_from("=4Q", raw_buf, 144)
        PebsNHM.pebs_nhm_num += 1


_BY_SIZE = {144: PebsEvent, 176: PebsNHM}


def create_event(name, comm, dso, symbol, raw_buf):
    """The size of the raw bytes decides the kind."""
    return _BY_SIZE.get(len(raw_buf), PerfEvent)(name, comm, dso, symbol, raw_buf)
