# SPDX-License-Identifier: MIT
"""Evaluates the rows of api.table in Python: a line of JSON for each row.

    PYTHON api_python.py TABLE TESTS-DATA MADE

A language that is added needs such a program, and a line in api.py.
"""
import json
import re
import sys

import sonde


def count(rec, keys):
    """Rows of the values of the keys and the number, as text they are sorted by."""
    if not keys:
        return rec.count()
    found = rec.count(by=keys[0] if len(keys) == 1 else keys)
    rows = [[*(key if len(keys) > 1 else (key,)), n] for key, n in found.items()]
    return sorted(rows, key=json.dumps)


def of_recording(rec, what, words):
    if what == "count":
        return count(rec, words)
    if what == "types":
        return sorted(rec.schemas)
    if what == "fields":
        return list(rec.schemas[words[0]].fields)
    if what == "field":
        return getattr(rec.schemas[words[0]].fields[words[1]], words[2])
    if what == "value":  # what the print format calls a value
        return rec.schemas[words[0]].fields[words[1]].values[int(words[2])]
    if what == "kind":
        return rec.schemas[words[0]].kind
    if what == "info":
        return rec.info(words[0])
    if what == "column":
        return rec.table(words[0], [words[1]])[words[1]].to_list()[:4]
    if what == "columns":
        return list(rec.table(words[0]))
    if what == "defects":
        return [[d.name, d.severity, d.count] for d in rec.defects]
    return getattr(rec, what)


def of_event(e, what, words):
    if what.startswith("e."):
        value = e.f if what.startswith("e.f.") else e
        return getattr(value, what.rpartition(".")[2])
    if what == "e[":
        return e[words[0]]
    if what == "names":
        return e.names(words[0])
    if what == "folded":
        return e.callchain.folded()
    if what == "frames":
        return len(e.callchain)
    if what == "frame":
        return getattr(e.callchain[int(words[0])], words[1])
    if what == "sample":
        return getattr(e.sample, words[0])
    if what == "has":
        return words[0] in e
    if what == "raw":
        return e.raw.hex()
    return getattr(e, what)


def evaluate(folders, names, options, event, expression):
    where = [folders["made" if n.startswith("made/") else "data"] + "/" + n.replace("made/", "")
             for n in names.split("+")]
    rec = sonde.open(where, **json.loads(options.replace("DATA", folders["data"])))
    item = re.fullmatch(r'e\["(.*)"\]', expression)
    m = re.fullmatch(r"([\w.]+)(?:\((.*)\))?", expression)
    what, words = ("e[", [item[1]]) if item else \
        (m[1], [w.strip() for w in m[2].split(",")] if m[2] else [])
    if event == "-":
        return of_recording(rec, what, words)
    name, _, nr = event.rpartition(" ")
    for e in rec:
        if e.name == name:
            if nr == "0":
                return of_event(e, what, words)
            nr = str(int(nr) - 1)
    raise LookupError("no such event: " + event)


def main():
    folders = {"data": sys.argv[2], "made": sys.argv[3]}
    with open(sys.argv[1], encoding="utf-8") as f:
        for line in f:
            if line.strip() and line[0] != "#":
                try:
                    value = evaluate(folders, *line.rstrip("\n").split("\t")[:4])
                    if isinstance(value, bytes):
                        value = {"bytes": value.hex()}
                    print(json.dumps(value, ensure_ascii=True))
                except Exception as error:
                    kind = next(c for c in type(error).__mro__
                                if c.__module__ in ("sonde", "builtins"))
                    print(json.dumps({"error": kind.__name__}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
