# SPDX-License-Identifier: MIT
"""Pairs of a recording and an option set: read from tables, run through perf and sonde, compared.

    sets = read_table(HERE / 'sets.txt')              [(kinds, options)]
    pairs = make_pairs(made, sets)                    [(Recording, options)]
    want = Oracle(folder).ask(recording, options)     Answer of perf, computed once for a folder
    why = compare(want, sonde_answer(...), again)     '' or what differs
"""
import collections
import hashlib
import pathlib
import pickle
import re
import shlex
import sys
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from points import run  # noqa: E402

Answer = collections.namedtuple('Answer', 'status out err')

# Two things differ between runs of perf: the tip, chosen by the time of day, and '(inlined)' after
# '[...]', which depends on uninitialised memory.
TIP = re.compile(rb'^# \(Tip: .*\)$', re.M)
DUMMY = re.compile(rb'\[\.\.\.\] \(inlined\)')
# perf copies the vdso into a temporary file.
VDSO = re.compile(rb'/tmp/perf-vdso\.so-\w{6}')


def read_table(path):
    """Lines KINDS: OPTIONS; the same options may have several lines."""
    table = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line or line.startswith('#'):
            continue
        kinds, colon, options = line.partition(':')
        if not colon:
            raise ValueError('%s:%d: no KINDS: before the options' % (path, number))
        table.append((kinds.split(), options.strip()))
    return table


def make_pairs(made, table):
    """Each recording with each option set that names one of its kinds, in table order."""
    return [(r, options) for kinds, options in table for r in made if r.kinds & set(kinds)]


def is_in_share(recording, options, share):
    """True for one in `share` pairs. It depends on the pair alone, not on other lines of the
    table."""
    return zlib.crc32(('%s: %s' % (recording.name, options)).encode()) % share == 0


def words(recording, options, known):
    return ['report', '--stdio', '-i', str(recording.path)] + shlex.split(options.format(**known))


class Oracle:
    """perf's answers over the recordings of a folder, kept there from run to run."""

    def __init__(self, folder, perf='perf'):
        self.folder, self.perf = folder / 'answers', perf
        self.folder.mkdir(exist_ok=True)

    def ask(self, recording, command):
        return self.run(recording, self.words(command))

    def words(self, command):
        """perf prints bytes of memory that it does not initialise behind raw fields: here 0."""
        has_raw = any('raw' in word for word in command)
        return (['env', 'MALLOC_PERTURB_=255'] if has_raw else []) + [self.perf] + command

    def ask_elsewhere(self, recording, command):
        """The answer with other addresses of perf's own memory."""
        return self.run(
            recording, ['env', 'PAD=' + 'x' * 20000, 'setarch', '-R'] + self.words(command)
        )

    def run(self, recording, words):
        key = hashlib.sha1('\0'.join(words).encode()).hexdigest()[:16]
        path = self.folder / ('%s-%s' % (recording.name, key))
        if path.exists():
            return Answer(*pickle.loads(zlib.decompress(path.read_bytes())))
        answer = Answer(*run(words))
        path.write_bytes(zlib.compress(pickle.dumps(tuple(answer)), 1))
        return answer


def normalised(out):
    return VDSO.sub(b'[vdso]', DUMMY.sub(b'[...]', TIP.sub(b'# (Tip)', out)))


def text(line):
    return repr(line.decode('utf-8', 'backslashreplace'))


def first_difference(want, got):
    want, got = want.split(b'\n'), got.split(b'\n')
    at = next((i for i, line in enumerate(want) if i >= len(got) or got[i] != line), len(want))

    def show(lines):
        return text(lines[at]) if at < len(lines) else 'nothing'

    return 'line %d of %d\nperf:  %s\nsonde: %s (%d lines)' % (
        at + 1,
        len(want),
        show(want),
        show(got),
        len(got),
    )


def is_unstable(want, other, got):
    """True if ours differs from perf's text only where two runs of perf differ from each other.

    Rows that move are compared as sets. Lines with bytes of memory that perf does not initialise
    are in one of its runs only; they are not compared.
    """
    want, other, got = want.split(b'\n'), other.split(b'\n'), got.split(b'\n')
    if want == other or not len(want) == len(other) == len(got):
        return False
    differ = [i for i, (a, b) in enumerate(zip(want, other)) if a != b]
    moved, ours = sorted(want[i] for i in differ), sorted(got[i] for i in differ)
    if any(want[i] != got[i] for i in set(range(len(want))) - set(differ)):
        return False
    return moved == ours or moved != sorted(other[i] for i in differ)


def died(status):
    """True if a signal ended it. SIGPIPE: perf wrote to an addr2line that had ended."""
    return isinstance(status, int) and (status < 0 or status in (134, 136, 139, 141))


def last_words(err):
    return ' / '.join(err.decode('utf-8', 'replace').split('\n'))[:300]


def compare(want, got, ask_elsewhere):
    """'' or what differs. ask_elsewhere(): perf's answer with its memory at other addresses."""
    if died(want.status):
        return 'sonde: %s' % got.status if died(got.status) else ''
    if want.status != got.status:
        return 'exit status: perf %s (%s)\nsonde %s (%s)' % (
            want.status,
            last_words(want.err),
            got.status,
            last_words(got.err),
        )
    a, b = normalised(want.out), normalised(got.out)
    if a == b:
        return ''
    same_length = a.count(b'\n') == b.count(b'\n')
    if same_length and is_unstable(a, normalised(ask_elsewhere().out), b):
        return ''
    return first_difference(a, b) + ('\nstderr: ' + last_words(got.err) if got.err else '')
