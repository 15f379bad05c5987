# What is in a recording? Event types, their fields, and how the kernel calls the values
# SPDX-License-Identifier: MIT
#     python3 contents.py perf.data
import sys

import sonde

rec = sonde.open(sys.argv[1])
print("Linux %s, %.3f ms, %d events, %d lost" %
      (rec.kernel, (rec.end - rec.start) / 1e6, rec.count(), rec.lost))
for name, schema in rec.schemas.items():
    print(name)
    for field in schema.fields.values():
        if not field.name.startswith("common_"):
            words = ", ".join("%d %s" % item for item in list(field.values.items())[:4])
            print("    %s: %s%s" % (field.name, field.type, "  (%s)" % words if words else ""))
