# SPDX-License-Identifier: MIT
# description: page allocations: by site, call chain or process; how many pages, how many of them were not given back
# args: [--by site|chain|process] [--top N] [--json]
# record: -a -g -e kmem:mm_page_alloc,kmem:mm_page_free
"""Pages that the kernel allocated: where, how many, and how many of them remained at the end.

    sonde record -a -g -e kmem:mm_page_alloc,kmem:mm_page_free -- sleep 10
    sonde script page-allocations.py [--by site|chain|process] [--top N] [--json]

A site is the function that called the page allocator, with its caller; --by chain distinguishes all
callers in the kernel. Both need call chains (-g). "kept" are pages of this recording's allocations
that were not freed before its end.
"""

from analysis import Report, any_kernel, arguments, losses, name, plural

options = arguments(__doc__, by=("site", "chain", "process"), top=20)

# The page allocator's own functions, with the names of all kernel versions.
ALLOCATOR = ("alloc_pages", "alloc_page", "alloc_frozen_pages", "folio_alloc", "vma_alloc_folio",
             "get_free_page", "get_free_pages", "get_zeroed_page", "alloc_pages_vma",
             "alloc_pages_current", "alloc_pages_nodemask", "alloc_pages_node", "alloc_pages_bulk",
             "alloc_pages_bulk_array", "alloc_pages_bulk_array_mempolicy", "alloc_pages_mpol",
             "folio_alloc_mpol", "alloc_page_interleave", "folio_alloc_node",
             "alloc_pages_bulk_mempolicy", "alloc_pages_exact", "alloc_pages_internal")
KERNEL = 1 << 63
TYPES = ("unmovable", "movable", "reclaimable", "high atomic", "CMA", "isolate")
FAILED = ((1 << 64) - 1, -1)  # page frame number for no page; perf and sonde differ in its sign


class Site:
    def __init__(self):
        self.allocations = self.pages = self.failed = self.highest_order = 0
        self.kept = self.most_kept = 0
        self.types = {}  # migrate type -> pages


sites = {}  # key -> Site
chains = {}  # tuple of addresses -> key
live = {}   # first page frame -> (Site, order)
shapes = {}  # (order, migrate type) -> allocations
names = {}  # pid -> comm
largest = 0  # order
freed_unknown = 0


def bare(symbol):
    """The allocator's function without the additions of compilers and kernel options to its
    name."""
    symbol = symbol.split(".")[0].lstrip("_")
    return symbol[:-7] if symbol.endswith("_noprof") else symbol


def frame_text(node):
    symbol = node.get("sym")
    return name(symbol["name"]) if symbol else "%#x" % node["ip"]


def kernel_part(chain):
    frames = [node for node in chain if node["ip"] & KERNEL]
    for i, node in enumerate(frames):
        if bare(frame_text(node)) not in ALLOCATOR:
            return frames[i:]
    return frames


def by_site(chain):
    return " < ".join(frame_text(node) for node in kernel_part(chain)[:2]) or "(no call chain)"


def by_chain(chain):
    return " < ".join(map(frame_text, kernel_part(chain))) or "(no call chain)"


describe = by_chain if options.by == "chain" else by_site


def allocated(key, pfn, order, migratetype):
    global largest
    site = sites.get(key)
    if site is None:
        site = sites[key] = Site()
    if pfn in FAILED:
        site.failed += 1
        return
    pages = 1 << order
    site.allocations += 1
    site.pages += pages
    site.kept += pages
    if site.kept > site.most_kept:
        site.most_kept = site.kept
    if order > site.highest_order:
        site.highest_order = order
    site.types[migratetype] = site.types.get(migratetype, 0) + pages
    shape = order, migratetype
    shapes[shape] = shapes.get(shape, 0) + 1
    if order > largest:
        largest = order
    before = live.get(pfn)
    if before is not None:  # its free was not recorded
        before[0].kept -= 1 << before[1]
    live[pfn] = site, order


def kmem__mm_page_alloc(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                        common_comm, common_callchain, pfn, order, migratetype):
    addresses = tuple([node["ip"] for node in common_callchain])
    key = chains.get(addresses)
    if key is None:
        key = chains[addresses] = describe(common_callchain)
        if len(chains) > 1 << 16:  # mostly differences in user space
            chains.clear()
    allocated(key, pfn, order, migratetype)


def allocated_by_process(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                         common_comm, common_callchain, pfn, order, migratetype, perf_sample_dict):
    pid = perf_sample_dict["sample"]["pid"]
    if common_pid == pid or pid not in names:
        names[pid] = common_comm
    allocated(pid, pfn, order, migratetype)


if options.by == "process":
    kmem__mm_page_alloc = allocated_by_process


def split(pfn):
    """Splits the allocation of this page into single pages, if it is known."""
    for order in range(1, largest + 1):
        first = pfn & -(1 << order)
        site, its_order = live.get(first, (None, 0))
        if its_order >= order:
            for i in range(1 << its_order):
                live[first + i] = site, 0
            return True
    return False


def kmem__mm_page_free(event_name, context, common_cpu, common_secs, common_nsecs, common_pid,
                       common_comm, common_callchain, pfn, order):
    global freed_unknown
    found = live.pop(pfn, None)
    if found is not None and found[1] == order:
        found[0].kept -= 1 << order
        return
    if found is not None:
        live[pfn] = found
        if found[1]:
            for i in range(1 << found[1]):
                live[pfn + i] = found[0], 0
    elif not split(pfn):
        freed_unknown += 1 << order
        return
    for page in range(pfn, pfn + (1 << order)):
        found = live.pop(page, None)
        if found is not None:
            found[0].kept -= 1


def trace_lost(cpu, time, count):
    losses.add(count)


def type_name(number):
    return TYPES[number] if number < len(TYPES) else "type %d" % number


def type_text(site):
    words = [(type_name(number), pages)
             for number, pages in sorted(site.types.items(), key=lambda item: (-item[1], item[0]))]
    if options.json:
        return dict(words)
    return words[0][0] if len(words) == 1 else ", ".join("%s %d" % pair for pair in words)


def trace_end():
    rows = []
    for key, site in sites.items():
        about = (names[key], key) if options.by == "process" else (key,)
        rows.append((site.allocations, site.pages, site.kept, site.most_kept, site.failed,
                     site.highest_order, type_text(site)) + about)
    rows.sort(key=lambda row: (-row[1], -row[4]) + row[7:])
    columns = [("allocations", "allocations", "number"), ("pages", "pages", "number"),
               ("kept", "kept", "number"),
               ("most_kept", "most kept", "number"), ("failed", "failed", "rare"),
               ("highest_order", "highest order", "number"), ("types", "type", "text")]
    columns += [("comm", "process", "text"),
                ("pid", "pid", "number")] if options.by == "process" else [
                    (options.by, options.by, "text")]
    report = Report(options)
    report.table("allocations", None, columns, rows,
                 "no page was allocated; record kmem:mm_page_alloc and kmem:mm_page_free, with -g")
    if shapes or options.json:
        report.table("orders", "by order and type",
                     [("order", "order", "number"), ("type", "type", "text"),
                      ("allocations", "allocations", "number"), ("pages", "pages", "number")],
                     [(order, type_name(number), count, count << order)
                      for (order, number), count in sorted(shapes.items())])
    report.note("freed_from_before", freed_unknown, "%s freed that had been allocated before" %
                plural(freed_unknown, "page was", "pages were"))
    report.print()


any_kernel(globals())
