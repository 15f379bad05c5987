#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files that are no recording that sonde reads: the message says what the file looks like.

    unknown.py SONDE
"""
import gzip
import pathlib
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent))
from points import ENV, done, run, say  # noqa: E402

SONDE = str(pathlib.Path(sys.argv[1]).resolve())
COMMANDS = [['script', '-i'], ['info'], ['check'], ['evlist', '-i'], ['buildid-list', '-i'],
            ['script', '-D', '-i']]
# (name, first bytes, words of the message)
FILES = [
    ('blktrace of an unknown version', struct.pack('<I', 0x65617409) + bytes(44),
     ['begins with the bytes 09 74 61 65']),
    ('CTF stream', struct.pack('<I', 0xc1fc1fc1) + bytes(44), ['CTF', 'name its folder']),
    ('CTF stream, big endian', struct.pack('>I', 0xc1fc1fc1) + bytes(44),
     ['CTF', 'name its folder']),
    ('CTF metadata, old', b'/* CTF 1.7 */\ntypealias', ['metadata', 'another version']),
    ('ELF', b'\x7fELF\2\1\1' + bytes(60), ['a program or a library', 'sonde record']),
    ('jitdump', struct.pack('<I', 0x4a695444) + bytes(40), ['jitdump']),
    ('bzip2', b'BZh91AY&SY' + bytes(20), ['bunzip2']),
    ('zip', b'PK\x03\x04' + bytes(40), ['unzip']),
    ('packed twice', gzip.compress(gzip.compress(b'x')), ['unpacked with gzip', 'packed twice']),
    ('a program, packed', gzip.compress(b'\x7fELF' + bytes(60)),
     ['unpacked with gzip', 'a program']),
    ('pcap', struct.pack('<I', 0xa1b2c3d4) + bytes(40), ['tcpdump']),
    ('SQLite', b'SQLite format 3\0' + bytes(40), ['SQLite']),
    ('JSON lines', b'{"header":{"schema":"sonde-jsonl","version":1}}\n',
     ['JSON lines', 'made from']),
    ('JSON', b'{"meta":{"interval":1}}', ['JSON']),
    ('a script', b'#!/usr/bin/python3\nprint(1)\n',
     ["text that begins with '#!/usr/bin/pytho'", '-s']),
    ('a line', b'hello\n', ["'hello'"]),
    ('bytes', bytes(range(200, 256)), ['begins with the bytes c8 c9 ca cb cc cd ce cf']),
    ('six bytes of a header', b'PERFIL', ['ends in its header']),
    ('twelve bytes of a header', b'PERFILE2hhhh', ['ends in its header']),
    ('empty', b'', ['is empty: nothing was recorded']),
    ('zeros', bytes(4096), ['begins with zeros']),
]
FOLDERS = [('metadata of nothing', ['metadata', 'channel0_0'], ["text that begins with 'x'"]),
           ('uftrace', ['info', 'task.txt'], ['uftrace']),
           ('blktrace, other bytes', ['sda.blktrace.0', 'sda.blktrace.1'],
            ["text that begins with 'x'"]),
           ('LTTng', ['kernel/metadata'], ['LTTng', "a file 'metadata'"]),
           ('one with a perf.data', ['perf.data'], ['there is a perf.data in it']),
           ('an empty one', [], ['is a directory with no recording'])]


def refused(name, path, words, stdin=None):
    wrong = ''
    for command in COMMANDS:
        if stdin is None:
            status, out, err = run([SONDE] + command + [str(path)])
        else:
            p = subprocess.run([SONDE] + command + ['-'], env=ENV, input=stdin, capture_output=True,
                               timeout=600)
            status, out, err = p.returncode, p.stdout, p.stderr
        text = err.decode('utf-8', 'replace')
        if status != 1 or out or text.count('\n') != 1 or not all(word in text for word in words):
            wrong += '%s: status %s, %s' % (' '.join(command), status, text)
    say(not wrong, name, wrong)


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / 'x'
        for name, blob, words in FILES:
            path.write_bytes(blob)
            if not any(w in words[0] for w in ('empty', 'zeros')):
                words = words + ['is not a recording that sonde knows '
                                 '(tried: perf.data, blktrace, trace.dat, CTF, ftrace text)']
            refused(name, path, words)
            refused(name + ', through a pipe', path, words, blob)
        for name, files, words in FOLDERS:
            top = pathlib.Path(folder) / name
            top.mkdir()
            for file in files:
                (top / file).parent.mkdir(exist_ok=True)
                (top / file).write_bytes(b'x')
            refused('a folder: ' + name, top, words)
    return done()


sys.exit(main())
