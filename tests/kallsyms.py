# SPDX-License-Identifier: MIT
"""A shorter list of kernel symbols, for programs that a test starts.

    sys.path.insert(0, str(HERE.parent))
    import kallsyms

    kallsyms.thin_out()     # a sixteenth of the symbols: names are compared
    kallsyms.cut_short()    # only the first ones: names do not matter

Both perf and sonde read /proc/kallsyms completely whenever a recording needs a name of it: more
than 100,000 lines, which the kernel formats anew each time. That is most of what either does with a
short recording. The shorter list is mounted in a mount namespace of this process, so that no other
process sees it. Without the right to mount, the list stays as it is, and the test is only slower.
"""
import ctypes
import os
import tempfile

PATH = '/proc/kallsyms'
PRIVATE, BIND, NEW_NAMESPACE = 1 << 18 | 1 << 14, 1 << 12, 1 << 17
# Groups of neighbours stay together, so that several names of one address do.
KEPT, OF = 8, 128
# Where the kernel's text begins and ends, and what perf maps on its own.
NEEDED = tuple(b' %s\n' % name for name in (
    b'_text', b'_stext', b'_etext', b'_sinittext', b'_einittext', b'_edata', b'_end',
    b'_entry_trampoline', b'__entry_SYSCALL_64_trampoline'))
FIRST_BYTES = 1 << 16


def replace(make_shorter):
    """make_shorter: gets all lines, returns those to keep."""
    libc = ctypes.CDLL(None)
    if (os.geteuid() != 0 or libc.unshare(NEW_NAMESPACE) or
        libc.mount(b'none', b'/', None, PRIVATE, None)):
        return
    with open(PATH, 'rb') as full, tempfile.NamedTemporaryFile() as short:
        short.writelines(make_shorter(full.readlines()))
        short.flush()
        libc.mount(short.name.encode(), PATH.encode(), None, BIND, None)


def thin_out():
    """SONDE_FULL=1 leaves the list as it is."""
    if os.environ.get('SONDE_FULL') == '1':
        return
    replace(lambda lines: (line for i, line in enumerate(lines)
                           if i % OF < KEPT or line.endswith(NEEDED)))


def cut_short():
    def first(lines):
        size = 0
        for line in lines:
            size += len(line)
            if size <= FIRST_BYTES or line.endswith(b' _etext\n'):
                yield line
    replace(first)
