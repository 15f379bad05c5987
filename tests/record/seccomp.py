# SPDX-License-Identifier: MIT
"""Filters that refuse a system call, as in containers: preexec_fn=deny('pidfd_open',
errno.EPERM)."""
import ctypes
import platform
import struct

NUMBERS = {'x86_64': {'perf_event_open': 298, 'pidfd_open': 434},
           'aarch64': {'perf_event_open': 241, 'pidfd_open': 434}}
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, MODE_FILTER = 38, 22, 2
LOAD_WORD, JUMP_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, ERRNO = 0x7fff0000, 0x00050000


class Program(ctypes.Structure):
    _fields_ = [('len', ctypes.c_ushort), ('filter', ctypes.c_char_p)]


def can_deny():
    return platform.machine() in NUMBERS


def deny(call, error):
    number = NUMBERS[platform.machine()][call]
    code = b''.join(struct.pack('<HBBI', *step) for step in (
        (LOAD_WORD, 0, 0, 0), (JUMP_EQUAL, 0, 1, number), (RETURN, 0, 0, ERRNO | error),
        (RETURN, 0, 0, ALLOW)))
    program = Program(len(code) // 8, code)
    libc = ctypes.CDLL(None, use_errno=True)

    def before_exec():
        if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or \
                libc.prctl(PR_SET_SECCOMP, MODE_FILTER, ctypes.byref(program)):
            raise OSError(ctypes.get_errno(), 'seccomp')
    return before_exec
