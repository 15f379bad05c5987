#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sonde info: recordings with known answers, and counts that are known from elsewhere.

    tests/roundtrip/info.py SONDE FIXTURES.PY

The numbers of samples in recordings of the corpus must be those of an independent program; those in
tests/data must be the numbers of lines of sonde script.
"""
import collections
import json
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DATA = ROOT / 'tests' / 'data'
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parent))
from points import done, run, say, skip  # noqa: E402
from recordings import CORPUS, NO_CORPUS, load_fixtures  # noqa: E402

SONDE = str(pathlib.Path(sys.argv[1]).resolve())

KNOWN = """=== known
--- attr type=software size=104 config=0 sample_period=1 sample_type=IDENTIFIER|IP|TID|TIME|CPU sample_id_all=1 use_clockid=1 clockid=1 ids=7
--- attr type=software size=104 config=9 sample_period=1 sample_type=IDENTIFIER|IP|TID|TIME|CPU sample_id_all=1 use_clockid=1 clockid=1 ids=8
--- feature HOSTNAME
str "box"
--- feature NRCPUS
[4:u32] [3:u32]
--- feature TOTAL_MEM
[2097152:u64]
--- feature CLOCKID
[1:u64]
--- feature CLOCK_DATA
[1,1:u32] [1700000000000000123,500:u64]
--- data
MMAP2/user { [12,12:u32] [0x1000,0x1000,0:u64] [8,1:u32] [77,0:u64] [5,2:u32] "/bin/one\\0" pad8 [12,12:u32] [50:u64] [0,0:u32] [7:u64] }
MMAP2/user { [12,12:u32] [0x2000,0x1000,0:u64] [8,1:u32] [78,0:u64] [5,2:u32] "/bin/two\\0" pad8 [12,12:u32] [50:u64] [0,0:u32] [7:u64] }
SAMPLE/user { [7:u64] [0x1010:u64] [12,12:u32] [1000000001:u64] [0,0:u32] }
SAMPLE/user { [7:u64] [0x1010:u64] [12,12:u32] [1000000002:u64] [3,0:u32] }
SAMPLE/user { [8:u64] [0x9010:u64] [12,12:u32] [3500000000:u64] [3,0:u32] }
THROTTLE { [60,8,8:u64] [12,12:u32] [60:u64] [0,0:u32] [8:u64] }
LOST { [7,5:u64] [12,12:u32] [61:u64] [0,0:u32] [7:u64] }
LOST { [8,2:u64] [12,12:u32] [62:u64] [3,0:u32] [8:u64] }
LOST { [7,6:u64] [12,12:u32] [63:u64] [0,0:u32] [7:u64] }
COUNTS
"""
COUNTS = """LOST_SAMPLES { [4:u64] [12,12:u32] [64:u64] [0,0:u32] [7:u64] }
LOST_SAMPLES { [1:u64] [12,12:u32] [64:u64] [2,0:u32] [7:u64] }"""


def made(folder, text):
    fixtures = load_fixtures()
    (folder / 'x.fix').write_text(text)
    for order in 'little', 'big':
        path = folder / ('known-%s.data' % order)
        path.write_bytes(fixtures.parse(folder / 'x.fix')[0].build(order)[0])
        yield order, path


def info(path, *words):
    status, out, err = run([SONDE, 'info', '--format', 'json', str(path)] + list(words))
    return json.loads(out) if out else {'status': status, 'error': err.decode('latin-1')}


def differences(want, got):
    return ''.join('%s: %s, not %s\n' % (key, got.get(key), value) for key, value in want.items()
                   if got.get(key) != value)


def known(folder):
    want = {'clock': {'id': 1, 'name': 'monotonic', 'resolution_ns': 1,
                      'wall_ns': 1700000000000000123, 'clock_ns': 500},
            'span': {'first_ns': 1000000001, 'last_ns': 3500000000,
                     'first_wall_ns': 1700000000999999624, 'last_wall_ns': 1700000003499999623,
                     'of': 'samples'},
            'events': [{'name': 'cpu-clock', 'samples': 2, 'throttled': 0},
                       {'name': 'dummy:HG', 'samples': 1, 'throttled': 1}],
            'cpus': [{'cpu': 0, 'samples': 1}, {'cpu': 3, 'samples': 2}],
            'lost': [{'event': 'cpu-clock', 'cpu': 0, 'count': 11},
                     {'event': 'dummy:HG', 'cpu': 3, 'count': 2}],
            'records': {'mmap2': 2, 'lost': 3, 'throttle': 1}, 'missing_build_ids': ['/bin/one'],
            'build_ids': [], 'complete': True}
    for order, path in made(folder, KNOWN.replace('COUNTS\n', '')):
        got = info(path)
        for event in got['events']:
            event['name'] = event['name'] if event['name'].startswith('dummy') else 'cpu-clock'
        for event in got['lost']:
            event['name'] = event['event'] = event['event'] if event['event'].startswith(
                'dummy') else 'cpu-clock'
            del event['name']
        why = differences(want, got)
        host = got['host']
        if (host.get('hostname'), host.get('nrcpus_online'),
            host['byte_order']) != ('box', 3, order):
            why += 'host: %s\n' % host
        say(not why, 'known answers, %s' % order, why)
    for order, path in made(folder, KNOWN.replace('COUNTS', COUNTS)):
        lost = [(entry.get('cpu'), entry['count']) for entry in info(path)['lost']]
        say(lost == [(0, 4), (2, 1)], 'losses counted by event, %s' % order, '%s' % lost)
        quick = info(path, '--no-events')
        say('cpus' not in quick and not quick['complete'] and
            [sorted(e) for e in quick['events']] == [['name']] * 2,
            '--no-events, %s' % order, '%s' % quick)
        status, text, err = run([SONDE, 'info', '-i', str(path)])
        say(not status and
            all(word in text for word in (b'host         box', b'           4    0  cpu-clock',
                                          b'/bin/one',
                                          b'0.000000500 was 2023-11-14 22:13:20.000000123 +0000',
                                          b'2.499999999 s')), 'text, %s' % order,
            text.decode('latin-1'))
        blob, worst = path.read_bytes(), ''
        for cut in range(0, len(blob), 29):
            path.write_bytes(blob[:cut])
            status, out, err = run([SONDE, 'info', '--format', 'json', str(path)])
            if status not in (0, 1) or (status == 0 and 'defects' not in json.loads(out)):
                worst += 'at %d: %s\n' % (cut, status)
        say(not worst, 'cut anywhere, %s' % order, worst)
    status, out, err = run([SONDE, 'info', '-i', 'x', 'y'])
    say(status == 2 and not out, 'refused: two recordings', err.decode())
    status, out, err = run([SONDE, 'info', '--format', 'xml', 'y'])
    say(status == 2 and b'xml' in err, 'refused: an unknown format', err.decode())


def compare_with_script():
    wrong = ''
    for path in sorted(DATA.rglob('*.data')):
        lines = run([SONDE, 'script', '-F', 'event', '-G', '-i',
                     str(path)])[1].decode('latin-1').split('\n')
        want = collections.Counter(line.strip().rstrip(':').strip() for line in lines
                                   if line.endswith(': '))
        got = {e['name']: e['samples'] for e in info(path)['events'] if e['samples']}
        if dict(want) != got and lines[0].strip():
            wrong += '%s: %s, not %s\n' % (path.name, got, dict(want))
    say(not wrong, 'as many samples as lines of sonde script', wrong)


def compare_with_corpus():
    expected = CORPUS and CORPUS / 'EXPECT.json'
    if not expected or not expected.exists():
        return skip('recordings of other machines', NO_CORPUS)
    wrong, seen = '', 0
    for name, want in json.loads(expected.read_text()).items():
        if (want['kind'] != 'perf' or name.startswith('perf-fuzz') or
            'raw_samples_by_attr' not in want):
            continue
        got = info(CORPUS / name)
        groups = want['perf61'].get('rc') == 0 and sum(want['perf61']['events'].values()) or 0
        walked = sum(want['raw_samples_by_attr'].values())
        samples = sum(e['samples'] for e in got['events'])
        seen += 1
        # A group read is one record, and an event for each of its members.
        if samples != walked and not ('read-group' in name and samples >= max(walked, groups)):
            wrong += '%s: %d samples, not %d\n' % (name, samples, walked)
    say(not wrong and seen > 40, '%d recordings of other machines' % seen, wrong)


def never_written(folder):
    """Clock data of zeros, and feature bits in the header of a killed recorder, are ignored."""
    for order, path in made(folder, KNOWN.replace('COUNTS\n',
                                                  '').replace('1700000000000000123,500',
                                                              '0,0').replace('[1,1:u32]',
                                                                             '[0,0:u32]')):
        got = info(path)['clock']
        say('wall_ns' not in got and 'clock_ns' not in got,
            'JSON: clock data of zeros are ignored, ' + order, str(got))
        out = run([SONDE, 'info', str(path)])[1]
        say(b'1970' not in out and b'the time of day is not recorded' in out,
            'text: clock data of zeros are ignored, ' + order, out.decode())
    for order, path in made(folder, KNOWN.replace('COUNTS\n',
                                                  '').replace('--- data',
                                                              '--- layout data_size=0\n--- data')):
        blob = bytearray(path.read_bytes())
        blob[72:80] = (1 << 13 | 1 << 14 | 1 << 15 | 1 << 27).to_bytes(8, order)
        path.write_bytes(blob)
        out = run([SONDE, 'script', '--header-only', '-i', str(path)])[1].decode()
        say('available' not in out and 'branch stack' not in out and
            'NUMA_TOPOLOGY' in out.partition('missing features: ')[2],
            'sections that were never written are listed as missing, ' + order, out)
        out = run([SONDE, 'info', str(path)])[1].decode()
        say(', compressed' not in out,
            'the bit without the section does not mean compressed, ' + order, out)
    for ratio, is_compressed in (0, False), (24, True):
        feature = '--- feature COMPRESSED\n[1,1,1,%d,528384:u32]\n' % ratio
        text = KNOWN.replace('COUNTS\n', '').replace('--- data', feature + '--- data')
        for order, path in made(folder, text):
            say(info(path)['file']['compressed'] is is_compressed and
                (b', compressed' in run([SONDE, 'info', str(path)])[1]) is is_compressed,
                'a compression ratio of %d, %s' % (ratio, order))


def main():
    with tempfile.TemporaryDirectory() as folder:
        known(pathlib.Path(folder))
        never_written(pathlib.Path(folder))
    compare_with_script()
    compare_with_corpus()
    return done()


sys.exit(main())
