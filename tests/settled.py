# SPDX-License-Identifier: MIT
"""Importing this sets what a test program counts on and inherits: signals, umask, limits,
environment.

Whoever runs the tests may have SIGHUP ignored (nohup), a umask of 077, a small limit, or PERF_PAGER
set. Programs that a test starts inherit the values set here, unless the test gives them others.
"""
import os
import resource
import signal

# A recording is read with the user's configuration, pager and terminal size; messages come in the
# user's language.
DROPPED = ('PAGER', 'LESS', 'MANPAGER', 'NO_COLOR', 'COLUMNS', 'LINES', 'LANGUAGE', 'LANG',
           'POSIXLY_CORRECT', 'CDPATH', 'ENV', 'BASH_ENV', 'GREP_OPTIONS', 'XDG_CONFIG_HOME',
           'PYTHONOPTIMIZE', 'PYTHONWARNINGS', 'PYTHONINSPECT', 'PYTHONUTF8', 'PYTHONIOENCODING',
           'PERL5OPT', 'PERL5LIB', 'PERL_UNICODE', 'TAR_OPTIONS', 'GZIP', 'SONDE_COMPAT',
           'SONDE_CONFIG', 'SONDE_EXEC_PATH', 'SONDE_LIBDIR', 'SONDE_PAGER', 'SONDE_PERL',
           'SONDE_PYTHON', 'SONDE_SCRIPT_OPTIONS', 'SONDE_SCRIPT_PATH', 'SONDE_EAGER',
           'SONDE_STRICT')
DROPPED_FAMILIES = ('PERF_', 'LC_')
# Soft limits; every other one is as large as its hard limit. A core of each test that kills
# something fills disks.
SOFT = {resource.RLIMIT_CORE: 0, resource.RLIMIT_NOFILE: 1024, resource.RLIMIT_STACK: 8 << 20}
LIMITS = [getattr(resource, name) for name in dir(resource) if name.startswith('RLIMIT_')]


def settle_signals():
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for number in signal.valid_signals():
        # SIGPIPE stays ignored in Python; subprocess gives it back to what it starts.
        if number != signal.SIGPIPE and signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT
                          else signal.SIG_DFL)


def settle_limits():
    for limit in set(LIMITS):
        try:
            soft, hard = resource.getrlimit(limit)
            wanted = SOFT.get(limit, hard)
            if (hard != resource.RLIM_INFINITY and
                (wanted == resource.RLIM_INFINITY or wanted > hard)):
                wanted = hard
            if soft != wanted:
                resource.setrlimit(limit, (wanted, hard))
        except (OSError, ValueError):  # a limit that this kernel does not have
            pass


def settle_environment():
    for name in list(os.environ):
        if name in DROPPED or name.startswith(DROPPED_FAMILIES):
            del os.environ[name]
    os.environ['LC_ALL'] = 'C.UTF-8'
    folder = os.environ.get('TMPDIR')
    if folder is not None and not (os.path.isabs(folder) and os.access(folder, os.W_OK | os.X_OK)):
        del os.environ['TMPDIR']


settle_signals()
os.umask(0o22)
settle_limits()
settle_environment()
