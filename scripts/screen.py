# SPDX-License-Identifier: MIT
"""Tables that fit the terminal on which they are printed.

    size = terminal()  # (columns, lines) of this moment; None: a pipe, a file, TERM=dumb
    for line in table(cells, right, names, size[0] if size else None):
        print(line)

Rows never wrap: names are cut, then columns are omitted. Output to a pipe or a file is never cut.
"""

import os
import sys
import textwrap
import unicodedata

GAP = "  "  # between columns
NAME = 12   # columns of the screen that a name keeps while another column can be omitted
# Headings of the columns that are omitted first, in this order; then the last number.
SPARE = ("p50", "p99", "p95", "p90", "mean", "per s")


def terminal():
    """(columns, lines) of the terminal on standard output, or None if tables are not fitted."""
    try:
        fd = sys.stdout.fileno()
        if not os.isatty(fd) or os.environ.get("TERM", "dumb") in ("", "dumb"):
            return None
    except (AttributeError, OSError, ValueError):  # standard output is not a file
        return None
    try:
        size = os.get_terminal_size(fd)
    except OSError:
        size = 0, 0
    return tuple(each or _told(variable, usual)
                 for each, variable, usual in zip(size, ("COLUMNS", "LINES"), (80, 24)))


def _told(variable, usual):
    text = os.environ.get(variable, "")
    return int(text) if text.isdecimal() and int(text) else usual


def printable(text):
    """A name of a recording as text that is safe on a terminal, the same as Screen.pm's
    printable().

    A control character and a byte that is not UTF-8 appear as \\x1b, one for each byte, as in
    sonde's own text.
    """
    if text.isprintable():
        return text
    return "".join("".join("\\x%02x" % byte for byte in c.encode("utf-8", "surrogateescape"))
                   if c < " " or "\x7f" <= c < "\xa0" or "\udc80" <= c <= "\udcff" else c
                   for c in text)


def width(text):
    """Columns of the screen for a text without control characters."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.category(c) in ("Mn", "Me", "Cf") else 2
               if unicodedata.east_asian_width(c) in "WF" else 1
               for c in text)


def cut(text, columns):
    """The text cut to so many columns; "+" marks a cut. columns None: no limit."""
    if columns is None or width(text) <= columns:
        return text
    kept, left = "", columns - 1
    for c in text:
        left -= width(c)
        if left < 0:
            break
        kept += c
    return kept + "+" * min(columns, 1)


def redraw(lines):
    """Replaces what is on the terminal, in one write: the rest of each line and of the screen is
    cleared after the new text, so that nothing is dark in between."""
    text = "\x1b[H" + "".join(line + "\x1b[K\n" for line in lines) + "\x1b[J"
    sys.stdout.flush()
    data = text.encode(sys.stdout.encoding, "backslashreplace")
    while data:
        data = data[os.write(sys.stdout.fileno(), data):]


def wrap(text, columns):
    """Lines of a sentence; it is not cut, and words are not split if they fit."""
    if columns is None or width(text) <= columns:
        return [text]
    return [cut(line, columns) for line in textwrap.wrap(text, max(columns, 1))] or [""]


def _shrink(widths, names, over, least):
    """Takes `over` columns from the widest names, none below `least`; returns the remaining
    excess."""
    while over > 0:
        wide = [i for i in names if widths[i] > least]
        if not wide:
            break
        widths[max(wide, key=lambda i: widths[i])] -= 1
        over -= 1
    return over


def fit(widths, headings, names, columns):
    """{index: width} of the columns that fit. names: indexes of columns that may be cut."""
    chosen = list(range(len(widths)))
    while True:
        found = {i: widths[i] for i in chosen}
        over = sum(found.values()) + len(GAP) * (len(chosen) - 1) - columns
        kept = [i for i in chosen if i in names]
        numbers = [i for i in chosen if i not in names]
        over = _shrink(found, kept, over, NAME)
        if over <= 0:
            return found
        if len(numbers) > 1 or numbers and not kept:
            if len(chosen) == 1:
                return {chosen[0]: max(columns, 0)}
            spare = [i for word in SPARE for i in numbers if headings[i] == word]
            chosen.remove(spare[0] if spare else numbers[-1])
        elif _shrink(found, kept, over, 1) <= 0:
            return found
        elif len(chosen) > 1:
            chosen.pop()
        else:
            return {chosen[0]: max(columns, 0)}


def table(rows, right, names, columns, widths=None):
    """Lines of rows of texts, the headings first, and the headings of the omitted columns.

    right: for each column whether it is aligned to the right; names: indexes of columns that may be
    cut; columns: the width of the screen, None for no limit; widths: the smallest, if they fit.
    """
    rows = [[printable(text) for text in row] for row in rows]
    natural = [max(width(row[i]) for row in rows) for i in range(len(right))]
    usual = [max(pair) for pair in zip(natural, widths or natural)]
    if columns is None or sum(usual) + len(GAP) * (len(usual) - 1) <= columns:
        chosen = dict(enumerate(usual))
    else:
        chosen = fit(natural, rows[0], names, columns)
    lines = []
    for row in rows:
        cells = []
        for i, wide in chosen.items():
            text = cut(row[i], wide)
            space = " " * (wide - width(text))
            cells.append(space + text if right[i] else text + space)
        lines.append(GAP.join(cells).rstrip())
    return lines, [heading for i, heading in enumerate(rows[0]) if i not in chosen]
