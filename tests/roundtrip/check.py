#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sonde check: recordings with known answers, limits and exit statuses.

    tests/roundtrip/check.py SONDE FIXTURES.PY
"""
import json
import pathlib
import re
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / 'data'
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent))
from points import done, run, say  # noqa: E402
from recordings import load_fixtures  # noqa: E402

SONDE = str(pathlib.Path(sys.argv[1]).resolve())

# Three of the four addresses of the kernel have a symbol, the one of user space has none; two of
# five stacks have the largest depth.
FIXTURE = """=== known
--- attr type=software size=112 config=0 sample_period=1 sample_type=IDENTIFIER|IP|TID|TIME|CALLCHAIN sample_id_all=1 sample_max_stack=3 ids=7
--- data
MMAP/kernel { [0xffffffff,0:u32] [0xffffffff81000000,0x1000000,0xffffffff81000000:u64] "[kernel.kallsyms]_text\\0" pad8 ids }
MMAP2/user { [12,12:u32] [0x1000,0x1000,0:u64] [8,1:u32] [77,0:u64] [5,2:u32] "/bin/o\\x1b[1mne\\0" pad8 ids }
SAMPLE/kernel { [7:u64] [0xffffffff81000010:u64] [12,12:u32] [1000:u64] [4:u64] [-128,1,2,3:u64] }
SAMPLE/kernel { [7:u64] [0xffffffff81000020:u64] [12,12:u32] [1001:u64] [4:u64] [-128,1,2,3:u64] }
SAMPLE/kernel { [7:u64] [0xffffffff81000030:u64] [12,12:u32] [1002:u64] [3:u64] [-128,1,2:u64] }
SAMPLE/kernel { [7:u64] [0xffffffff80000000:u64] [12,12:u32] [1003:u64] [0:u64] }
SAMPLE/user { [7:u64] [0x1010:u64] [12,12:u32] [1004:u64] [2:u64] [-512,1:u64] }
THROTTLE { [60,8,7:u64] [12,12:u32] [1005:u64] [7:u64] }
THROTTLE { [60,8,7:u64] [12,12:u32] [1006:u64] [7:u64] }
LOST { [7,5:u64] [12,12:u32] [1007:u64] [7:u64] }
"""
KALLSYMS = ('ffffffff81000000 T _text\nffffffff81000000 T _stext\nffffffff81000100 T '
            'next\nffffffff82000000 T _etext\n')
WANT = {'symbols': 'OVER  40.00 % of 5 samples have none (limit 10 %)',
        'stacks': 'OVER  40.00 % of 5 are truncated (limit 10 %)',
        'build ids': 'OVER  2 of 2 files with samples have none, first ',
        'losses': 'OVER  50.00 %: 5 events lost for 5 samples, and 0 records of names and '
                  'mappings (limit 1 %)',
        'throttling': 'OVER  2 times (limit 0)',
        'clock': 'ok    0 events out of order, 0 without a time (limit 0)',
        'damage': 'ok    0 (limit 0)'}
LIMITS = '--max-unknown 40 --max-cut=40% --max-missing 2 --max-lost 50 --max-throttled 2'.split()


def made(folder, text):
    fixtures = load_fixtures()
    (folder / 'x.fix').write_text(text.replace(' ids }',
                                               ' [12,12:u32] [900:u64] [7:u64] }').replace(
                                                   '-128', '0xffffffffffffff80')
                                  .replace('-512', '0xfffffffffffffe00'))
    for order in 'little', 'big':
        path = folder / ('known-%s.data' % order)
        path.write_bytes(fixtures.parse(folder / 'x.fix')[0].build(order)[0])
        yield order, path


def results(out):
    """{name: 'ok    text'} of the lines that begin with a result."""
    lines = [line for line in out.decode('latin-1').splitlines() if line[:4] in ('ok  ', 'OVER')]
    return {line[6:17].strip(): line[:6] + line[19:] for line in lines}


def known(folder):
    kallsyms = folder / 'kallsyms'
    kallsyms.write_text(KALLSYMS)
    for order, path in made(folder, FIXTURE):
        words = [SONDE, 'check', str(path), '--kallsyms', str(kallsyms)]
        status, out, err = run(words)
        got = results(out)
        wrong = ['%s: %s' % (name, got.get(name)) for name, text in WANT.items()
                 if not got.get(name, '').startswith(text)]
        say(status == 3 and not wrong, 'known answers, ' + order,
            '\n'.join(wrong + [out.decode('latin-1')]))
        say(b'\x1b' not in out and rb'\x1b' in out, 'control characters are escaped, ' + order)
        status, out, err = run(words + LIMITS)
        say(status == 0 and set(text[:2] for text in results(out).values()) == {'ok'},
            'within limits, ' + order, out.decode())
        for i in range(len(LIMITS)):
            if not LIMITS[i].startswith('--') or '=' in LIMITS[i]:
                continue
            status, out, err = run(words + LIMITS +
                                   ['-q', LIMITS[i], str(float(LIMITS[i + 1]) - 1)])
            say(status == 3 and len(results(out)) == 1,
                'over one limit, %s, %s' % (LIMITS[i], order), out.decode())
        blob, bad = path.read_bytes(), ''
        for cut in range(0, len(blob), 23):
            path.write_bytes(blob[:cut])
            status, out, err = run(words)
            damage = results(out).get('damage', '')
            if status not in (1,
                              3) or status == 3 and not damage.startswith('OVER') and cut < len(
                                      blob):
                bad += 'at %d: %s, %s\n' % (cut, status, damage)
        say(not bad, 'cut anywhere, ' + order, bad)


# Why an address has no name: the file is missing, stripped, or another one (by its inode); nothing
# is mapped.
REASONS = """=== reasons
--- attr type=software size=112 config=0 sample_period=1 sample_type=IDENTIFIER|IP|TID|TIME sample_id_all=1 ids=7
--- data
MMAP2/user { [12,12:u32] [0x1000,0x1000,0:u64] [8,1:u32] [0,0:u64] [5,2:u32] "HERE/gone\\0" pad8 ids }
MMAP2/user { [12,12:u32] [0x10000,0x1000,0x40:u64] [8,1:u32] [0,0:u64] [5,2:u32] "HERE/stripped\\0" pad8 ids }
MMAP2/user { [12,12:u32] [0x20000,0x1000,0:u64] [8,1:u32] [1,0:u64] [5,2:u32] "HERE/other\\0" pad8 ids }
SAMPLE/user { [7:u64] [0x1010:u64] [12,12:u32] [1000:u64] }
SAMPLE/user { [7:u64] [0x1020:u64] [12,12:u32] [1001:u64] }
SAMPLE/user { [7:u64] [0x10000:u64] [12,12:u32] [1002:u64] }
SAMPLE/user { [7:u64] [0x20010:u64] [12,12:u32] [1003:u64] }
SAMPLE/user { [7:u64] [0x50000:u64] [12,12:u32] [1004:u64] }
"""
WHY = {'gone': 'not on this machine', 'stripped': 'stripped',
       'other': 'another build than the recorded one',
       '(nothing is mapped there)': 'nothing is mapped there'}


def reasons(folder):
    for name in 'stripped', 'other':
        shutil.copy('/bin/true', folder / name)
    for order, path in made(folder, REASONS.replace('HERE', str(folder))):
        status, out, err = run([SONDE, 'check', str(path), '--max-unknown', '100', '--max-missing',
                                '9'])
        lines = dict(
            re.findall(r'^ {19}(?:.*/)?([^/\n]*): \d+ without(?:: )?(.*?)(?:, no build id)?$',
                       out.decode(), re.M))
        say(status == 0 and lines == dict(WHY, **{'(nothing is mapped there)': ''}),
            'check: reasons for missing names, ' + order, out.decode())
        files = json.loads(run([SONDE, 'check', str(path), '--json'])[1])['files']
        say({f['file'].split('/')[-1]: f['why'] for f in files} == WHY,
            'check --json: reasons for missing names, ' + order, str(files))
        status, out, err = run([SONDE, 'info', str(path)])
        lines = dict(re.findall(r'^ {13}.*/(gone|stripped|other): (.*)$', out.decode(), re.M))
        say({n: WHY[n] for n in ('gone', 'stripped', 'other')} == lines and
            b'1 samples: nothing is mapped there' in out and b'missing of 3 of 3 files' in out and
            not err, 'info: reasons for missing names, ' + order, (out + err).decode())
        data = json.loads(run([SONDE, 'info', '--json', str(path)])[1])
        say({f['file'].split('/')[-1]: f['why'] for f in data['missing_symbols']} == lines and
            data['unmapped_samples'] == 1,
            'info --json: reasons for missing names, ' + order, str(data['missing_symbols']))
        out = run([SONDE, 'info', '--no-events', str(path)])[1]
        say(b'symbols ' not in out, 'info --no-events: no symbols, ' + order, out.decode())
        status, out, err = run([SONDE, 'script', '-i', str(path)])
        first = '(first %s/gone: not on this machine); ' % folder
        say(out.count(b'[unknown]') and err.count(b'\n') == 1 and b'unknown-symbols: 3 ' in err and
            first.encode() in err and b'other-build: 1 ' in err and
            err.count(b'sonde check lists') == 1,
            'missing names are one part of the closing line, ' + order, err.decode())
        status, out, err = run([SONDE, '--compat', 'perf-6.1', 'script', '-i', str(path)])
        say(not err, '--compat reports no missing names, ' + order, err.decode())


# The sample's address is in one file; its callers are in another file, in none, and in the first
# one; 0 ends the chain.
CALLERS = REASONS[:REASONS.index('SAMPLE')].replace('|TIME ', '|TIME|CALLCHAIN ').replace(
    '=== reasons', '=== callers') + (
        'SAMPLE/user { [7:u64] [0x1010:u64] [12,12:u32] [1000:u64] [6:u64] '
        '[-512,0x1010,0x10010,0x50000,0x1020,0:u64] }\n')


def callers(folder):
    for order, path in made(folder, CALLERS.replace('HERE', str(folder))):
        out = run([SONDE, 'check', str(path), '--max-unknown', '100', '--max-missing',
                   '9'])[1].decode()
        lines = dict(re.findall(r'^ {19}(?:.*/)?([^/:\n]*): (.*)$', out, re.M))
        want = {'gone': '1 samples, 1 callers without: not on this machine, no build id',
                'stripped': '0 samples, 1 callers without: stripped, no build id',
                '(nothing is mapped there)': '0 samples, 1 callers without'}
        say(lines == want and 'of 1 files' in out, 'callers without a symbol, ' + order, out)
        files = {f['file'].split('/')[-1]: (f['samples'], f['unknown'], f['unknown_frames'],
                                            f['why'])
                 for f in json.loads(run([SONDE, 'check', str(path), '--json'])[1])['files']}
        say(files == {'gone': (1, 1, 1, WHY['gone']), 'stripped': (0, 0, 1, 'stripped'),
                      '(nothing is mapped there)': (0, 0, 1, 'nothing is mapped there')},
            'callers without a symbol, --json, ' + order, str(files))
    maps = ''.join(
        'MMAP2/user { [12,12:u32] [0x%d0000,0x1000,0:u64] [8,1:u32] [0,0:u64] [5,2:u32] '
        '"/gone%d\\0" pad8 ids }\n' % (i, i)
                   for i in range(3, 7))
    chain = ('SAMPLE/user { [7:u64] [0x1010:u64] [12,12:u32] [1001:u64] [6:u64] '
             '[-512,0x1010,0x30000,0x40000,0x50000,0x60000:u64] }\n')
    for order, path in made(folder, CALLERS.replace('HERE', str(folder)) + maps + chain):
        lines = run([SONDE, 'check', str(path)])[1].decode().splitlines()
        say(lines[6] == ' ' * 19 + '... 1 more; --json lists all' and
            lines[7].startswith('ok    stacks'),
            'the number of files left out of the list, ' + order, '\n'.join(lines))


def closing_line(folder):
    """The closing line has every defect with its advice; no sentence is cut, even if names are
    long."""
    long = str(folder) + '/' + '/'.join(['d' * 100] * 5) + '/gone'
    text = REASONS.replace('HERE/gone', long).replace('HERE', str(folder)).replace(
        '0x1000,0x1000,0', '0x1000,0x1000,0')
    for order, path in made(folder, text + 'LOST { [7,5:u64] [12,12:u32] [1007:u64] [7:u64] }\n'):
        err = run([SONDE, 'script', '-i', str(path)])[2].decode()
        sentences = ('lost-events: 5; events were dropped',
                     'other-build: 1 (first %s/other); files were replaced' % folder,
                     'unknown-symbols: 3 (first %s: not on this machine); functions are shown' %
                     long)
        say(all(s in err for s in sentences) and err.count('\n') == 1,
            'one closing line with all advice, ' + order, err)


UNFINISHED = """=== unfinished
--- attr type=software config=0 sample_period=1 sample_type=IDENTIFIER|IP|TID|TIME ids=7
--- layout data_size=0
--- data
COMM { [12,12:u32] "one\\0" pad8 }
"""


def unfinished(folder):
    for order, path in made(folder, UNFINISHED):
        status, out, err = run([SONDE, 'check', str(path)])
        say(status == 3 and
            results(out)['damage'].startswith('OVER  1: unfinished without a sample'),
            'an unfinished file without a sample, ' + order, out.decode())
    for order, path in made(folder, UNFINISHED +
                            'SAMPLE/user { [7:u64] [0x1010:u64] [12,12:u32] [1000:u64] }\n'):
        out = run([SONDE, 'check', str(path)])[1]
        say(results(out)['damage'].startswith('ok    0'),
            'an unfinished file with a sample, ' + order, out.decode())


def main():
    with tempfile.TemporaryDirectory() as name:
        known(pathlib.Path(name))
        reasons(pathlib.Path(name))
        callers(pathlib.Path(name))
        closing_line(pathlib.Path(name))
        unfinished(pathlib.Path(name))
    status, out, err = run([SONDE, 'check', str(DATA / 'demo.data')])
    say(status == 0 and 'no sample has' in results(out)['symbols'], 'only tracepoints',
        out.decode())
    for words in (['--max-lost', 'x'], ['--max-lost=-1'], ['--max-cut', '5%%'],
                  ['--max-missing', 'inf'], ['--max-unknown', ''],
                  ['--max-throttled', '-'], ['--max-doubts', 'nan'], ['--max-damage', '0x'],
                  ['a', 'b']):
        status, out, err = run([SONDE, 'check'] + words)
        say(status == 2 and not out and words[0].partition('=')[0].encode() in err,
            'refused: ' + ' '.join(words), err.decode())
    status, out, err = run([SONDE, 'check', '/nonexistent'])
    say(status == 1 and not out, 'a missing file', err.decode())
    return done()


sys.exit(main())
