# What happened on two recordings in one order of time? A loss is an exception, not a footnote
# SPDX-License-Identifier: MIT
#     python3 together.py server.data client.data
import sys

import sonde

try:
    with sonde.open(sys.argv[1:], on_loss="raise") as rec:
        for (index, name), n in sorted(rec.count(by=("index", "name")).items()):
            print("%s: %d %s" % (rec.path[index].rpartition("/")[2], n, name))
        order = [e.index for e in rec]
        print("%d times an event of another recording is next" %
              sum(a != b for a, b in zip(order, order[1:])))
except sonde.LossError as error:
    print("incomplete: %d events were lost; %s" % (error.lost, error.advice))
