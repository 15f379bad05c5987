# SPDX-License-Identifier: MIT
"""page-allocations.py: sites in call chains, kept pages, orders and types, pages freed in other
pieces than allocated.
"""
import sys

from analysistest import Analyses
from known import Trace

ALLOC, FREE = "kmem:mm_page_alloc", "kmem:mm_page_free"
KERNEL, USER = 0xffffffff81000000, 0x401000
A, B = ((KERNEL + 0x10, KERNEL + 0x20, KERNEL + 0x30, USER),
        (KERNEL + 0x40, KERNEL + 0x20, KERNEL + 0x30, USER + 8))
UNMOVABLE, MOVABLE, CMA = 0, 1, 4

t = Analyses("page-allocations.py")


def recording():
    tr = Trace(chains=True).task(5, "worker").task(6, "helper", pid=5).task(9, "other")

    def alloc(pfn, order=0, kind=MOVABLE, tid=5, chain=A):
        tr.event(ALLOC, 1000 * len(tr.records), tid=tid, chain=chain, pfn=pfn, order=order,
                 migratetype=kind)

    def free(pfn, order=0):
        tr.event(FREE, 1000 * len(tr.records), tid=9, chain=B, pfn=pfn, order=order)

    free(3)  # allocated before the recording
    for pfn in (10, 11, 12, 13):
        alloc(pfn)
    free(11)
    free(12)
    alloc(64, 3, UNMOVABLE, tid=9, chain=B)  # 8 pages, freed one by one except for the first
    for pfn in range(71, 64, -1):
        free(pfn)
    alloc(128, 2, UNMOVABLE, tid=6, chain=B)  # 4 pages, freed as halves
    free(128, 1)
    free(130, 1)
    alloc(11, kind=CMA, tid=6)  # again
    alloc(11)  # its free was not recorded: the page cannot be allocated twice
    alloc((1 << 64) - 1, 4, UNMOVABLE, tid=6, chain=B)  # the allocation failed
    alloc(256, tid=9, chain=())
    return tr


SITE_A, SITE_B = ("0xffffffff81000010 < 0xffffffff81000020",
                  "0xffffffff81000040 < 0xffffffff81000020")
TAIL = ["",
        "by order and type",
        "order  type       allocations  pages",
        "    0  movable              6      6",
        "    0  CMA                  1      1",
        "    2  unmovable            1      4",
        "    3  unmovable            1      8",
        "1 page was freed that had been allocated before"]
t.prints(recording(), [
    "allocations  pages  kept  most kept  failed  highest order  type              site",
    "          2     12     1          8       1              3  unmovable         " + SITE_B,
    "          6      6     3          4       0              0  movable 5, CMA 1  " + SITE_A,
    "          1      1     1          1       0              0  movable           (no call chain)"]
    + TAIL, "by site")
t.prints(recording(), [
    "allocations  pages  kept  most kept  failed  highest order  type                           "
    "process  pid",
    "          7     10     3          6       1              2  movable 5, unmovable 4, CMA 1  "
    "worker     5",
    "          2      9     2          8       0              3  unmovable 8, movable 1         "
    "other      9"] + TAIL,
         "by process", "--by", "process")
d = t.json(recording(), "--by", "chain")
t.is_([(r["chain"].count("<"), r["pages"], r["types"]) for r in d["allocations"]],
      [(2, 12, {"unmovable": 12}), (2, 6, {"movable": 5, "CMA": 1}), (0, 1, {"movable": 1})],
      "by chain, user space left out")
t.is_(d["freed_from_before"], 1, "pages that were only freed")

nothing = "no page was allocated; record kmem:mm_page_alloc and kmem:mm_page_free, with -g"
t.prints(Trace().declare(ALLOC).declare(FREE), [nothing], "no page at all")

live = t.record(["-g", "-e", "kmem:mm_page_alloc,kmem:mm_page_free"],
                [sys.executable, "-S", "-E", "-c", "x = b'x' * (8 << 20)"], "a live recording")
if live:
    d = t.json(live)
    pages = sum(r["pages"] for r in d["allocations"])
    t.ok(pages >= 2048, "8 MiB are 2048 pages", d)
    sites = " ".join(r["site"].split(" ")[0] for r in d["allocations"])
    if "0xffff" in sites:
        t.skip("sites are functions", "the kernel's symbols cannot be read here", installable=False)
    else:
        t.ok("alloc_pages" not in sites and "page" in sites,
             "sites are functions, not the allocator's own", sites)
t.done()
