#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pages.py SONDE: the files that `sonde flamegraph` writes, read without a browser.

Their shares are those of the samples that `sonde script` prints. Names of any bytes stay text.
Recordings that are damaged at random give a file or a message, never a crash.
"""
import collections
import os
import pathlib
import random
import re
import sys
import tempfile
import xml.etree.ElementTree as ET

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / 'data'
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE.parent), str(HERE)]
from page import Graph, Page, percent  # noqa: E402
from points import ENV, NO_LEAKS, done, run, say  # noqa: E402

SONDE = str(pathlib.Path(sys.argv[1]).resolve())
CLOCK = DATA / 'text' / 'clock.data'
TWO = DATA / 'text' / 'mixed.data'  # several events
SVG = '{http://www.w3.org/2000/svg}'
DAMAGED = 300
# Bytes that would end an element, an attribute, a string, a line, or turn the direction of text.
NAMES = [b'</script><script>alert(1)</script>', b'"quoted"\'too\'', b'a&amp;b<!--', b']]>',
         b'\x01\x1b[31m\x7f', b'\xff\xfe\xc0\x80\xed\xa0\x80',
         '\u202eleft\u2028\u00e9\U0001f525'.encode(), b'\\u003c\\', b'x' * 300]


def flamegraph(*words):
    return run([SONDE, 'flamegraph', '-o', '-', *map(str, words)])


def page(*words):
    status, out, err = flamegraph(*words)
    return (Page(out.decode('utf-8')) if status == 0
            else sys.exit('flamegraph %s: %r' % (words, err)))


def samples(*words):
    """[(event, comm, tid, period, [function, outermost first])] by `sonde script`."""
    text = run([SONDE, 'script', '-F', 'comm,tid,event,period,ip,sym',
                *map(str, words)])[1].decode('utf-8', 'surrogateescape')
    found = []
    for line in text.split('\n'):
        m = re.match(r'\s*(\S+)\s+(-?\d+)\s+(\d+)\s+(\S+?):\s*(?:[0-9a-f]+ (.+))?$', line)
        frame = re.match(r'\s+[0-9a-f]+ (.+)$', line)
        if m:
            found.append((m[4], m[1], m[2], int(m[3]), [m[5]] if m[5] else []))
        elif frame:
            found[-1][4].insert(0, frame[1])
    return found


def kernel_map(folder, names):
    """A map of kernel symbols that gives these names to the addresses of CLOCK."""
    text = run([SONDE, 'script', '-F', 'ip', '-i', str(CLOCK)])[1].decode()
    ips = sorted({int(ip, 16) for ip in re.findall(r'^\s*(ffffffff[0-9a-f]+)', text, re.M)})
    path = folder / 'kallsyms'
    with open(path, 'wb') as f:
        f.write(b'ffffffff81000000 T _text\nffffffff81000000 T _stext\n')
        for i, ip in enumerate(ips):
            f.write(b'%x t %s\n' % (ip & ~0xf, names[i] if i < len(names) else b'function_%d' % i))
        f.write(b'ffffffff83000000 T _etext\n')
    return path


def shares(folder):
    shares_of(['-i', CLOCK, '--kallsyms', kernel_map(folder, [b'plain'])])
    shares_of(['-i', TWO])
    shares_of(['-i', DATA / 'text-cases' / 'g.data'])


def shares_of(words):
    p, found = page(*words), samples(*words)
    events = sorted({s[0] for s in found})
    say(sorted(g['event'] for g in p.data['graphs']) == events, 'a graph for each event',
        repr(events))
    for g in map(Graph, p.data['graphs']):
        mine = [s for s in found if s[0] == g.event]
        all_periods = sum(s[3] for s in mine)
        say(not g.faults(), g.event + ': a tree', g.faults())
        say(g.total[0] == all_periods and g.samples[0] == len(mine), g.event + ': sums',
            '%d of %d samples, period %d of %d' % (g.samples[0], len(mine), g.total[0],
                                                   all_periods))
        callers = collections.Counter()
        for s in mine:
            for name in set(s[4]):
                if name != '[unknown]':
                    callers[name] += s[3]
        wrong = ['%s %s, not %s' % (name, percent(g.share(name)), percent(n / all_periods))
                 for name, n in callers.items()
                 if percent(g.share(name)) != percent(n / all_periods)]
        say(callers and not wrong, '%s: shares of %d functions' % (g.event, len(callers)),
            '\n'.join(wrong))
        comms = collections.Counter()
        for s in mine:
            comms[s[1]] += s[3]
        roots = {g.name_of(i): g.total[i] for i in range(1, g.nr) if g.parent[i] == 0}
        say(roots == comms, g.event + ': a tower for each comm', '%r\n%r' % (roots, comms))
    by = Graph(page('--by', 'pid,comm', *words).data['graphs'][0])
    mine = collections.Counter()
    for s in found:
        if s[0] == by.event:
            mine['%s:%s' % (s[2], s[1]), s[1]] += s[3]
    towers = {tuple(by.path(i)): by.total[i] for i in range(by.nr) if by.depth[i] == 2}
    say(towers == mine, '--by pid,comm', '%r\n%r' % (towers, mine))
    one = Graph(page('--by', 'none', *words).data['graphs'][0])
    say(one.kind[one.frame[1]] != 'g' and one.total[0] == by.total[0], '--by none')
    g, whole = Graph(page('--min', '15', *words).data['graphs'][0]), Graph(p.data['graphs'][0])
    small = [i for i in range(1, g.nr) if g.kind[g.frame[i]] != 'r' and
             g.total[i] < .15 * g.total[0]]
    say(g.total[0] == whole.total[0] and g.samples[0] == whole.samples[0] and not small and
        (g.nr < whole.nr or whole.nr < 5) and 'r' in g.kind
        and not g.faults(), '--min 15: the sums stay',
        '%d of %d nodes, %d below the limit' % (g.nr, whole.nr, len(small)))
    say(page('--inverted', *words).data['inverted'] and not p.data['inverted'], '--inverted')
    one_event = page('-e', events[0], *words)
    say([g['event'] for g in one_event.data['graphs']] == events[:1], '-e takes one event')


def structure(folder):
    p = page('-i', CLOCK, '--title', 'A <b>title</b> & "more"')
    say(p.texts['h1'] == p.texts['title'] == 'A <b>title</b> & "more"' and
        p.data['title'] == p.texts['h1'], 'the title is text')
    say(p.tags.count('script') == 2 and p.tags.count('style') == 1 and 'b' not in p.tags,
        'its scripts and styles', repr(p.tags))
    fetched = [a for a in p.attributes if a[0] in ('src', 'href', 'action', 'srcset') or
               a[0].startswith('on')]
    say(not fetched and "default-src 'none'" in dict(a for a in p.attributes
                                                     if a[0] == 'content').get('content', '') or
        not fetched and any("default-src 'none'" in (a[1] or '') for a in p.attributes),
        'nothing is fetched', repr(fetched))
    say('http:' not in re.sub(r'www\.w3\.org', '', p.texts['script']), 'no address in its script')


def hostile(folder):
    words = ['-i', CLOCK, '--kallsyms', kernel_map(folder, NAMES)]
    status, out, err = flamegraph(*words)
    p = Page(out.decode('utf-8'))
    names = {name.encode('utf-8', 'surrogatepass') for g in p.data['graphs'] for name in g['names']}
    names |= {name.encode('utf-8', 'surrogateescape') for g in p.data['graphs']
              for name in g['names']
              if not re.search('[\ud800-\udc7f\udd00-\udfff]', name)}
    seen = [n for n in NAMES if n in names]
    say(len(seen) >= 6 and p.tags.count('script') == 2 and '<' not in p.texts['data'],
        'names of any bytes in a page', 'missing: %r' % [n for n in NAMES if n not in names])
    path = folder / 'hostile.svg'
    status, out, err = run([SONDE, 'flamegraph', '-o', str(path), '-e', 'cpu-clock',
                            *map(str, words)])
    text = path.read_bytes()
    tree = ET.fromstring(text)
    tags = collections.Counter(e.tag.replace(SVG, '') for e in tree.iter())
    titles = [e.text.split('\n')[0] for e in tree.iter(SVG + 'title')]
    say(status == 0 and set(tags) == {'svg', 'title', 'style', 'rect', 'text', 'g', 'script'} and
        tags['script'] == 1,
        'names of any bytes in a picture: elements', repr(tags))
    shown = {'</script><script>alert(1)</script>', '"quoted"\'too\'', 'a&amp;b<!--', ']]>',
             '\u2401\u241b[31m\u2421', '\\xff\\xfe\\xc0\\x80\\xed\\xa0\\x80',
             '<U+202E>left<U+2028>\u00e9\U0001f525', '\\u003c\\', 'x' * 300}
    say(len(shown & set(titles)) >= 6, 'names of any bytes in a picture: titles',
        'missing: %r' % (shown - set(titles)))


def pictures(folder):
    path = folder / 'x.svg'
    words = ['-i', str(CLOCK), '-e', 'cpu-clock', '--kallsyms', str(kernel_map(folder, [b'plain'])),
             '-o', str(path)]
    g = Graph(page(*words[:6]).data['graphs'][0])
    places = {}
    for inverted in ([], ['--inverted']):
        status, _, err = run([SONDE, 'flamegraph', '--min', '0', *words, *inverted])
        frames = [e for e in ET.parse(path).getroot().iter(SVG + 'g')
                  if e.find(SVG + 'rect') is not None]
        rects = [{k: float(v) for k, v in f.find(SVG + 'rect').items()
                  if k in ('x', 'y', 'width', 'height')} for f in frames]
        wrong = [f.find(SVG + 'title').text for f, r, i in zip(frames, rects, range(g.nr))
                 if abs(r['width'] - 1180 * g.total[i] / g.total[0]) > .01 or
                 percent(g.total[i] / g.total[0]) not in f.find(SVG + 'title').text]
        say(status == 0 and len(frames) == g.nr and not wrong, 'a picture %s' % ' '.join(inverted),
            '%d of %d frames\n%s' % (len(frames), g.nr, '\n'.join(wrong[:5])))
        outside = [i for i in range(1, g.nr) if rects[i]['x'] < rects[g.parent[i]]['x'] - .01 or
                   rects[i]['x'] + rects[i]['width'] >
                   rects[g.parent[i]]['x'] + rects[g.parent[i]]['width'] + .01]
        say(not outside, 'callees are above their callers %s' % ' '.join(inverted),
            repr(outside[:5]))
        places[bool(inverted)] = rects
    say(places[False][0]['y'] == max(r['y'] for r in places[False]) and
        places[True][0]['y'] == min(r['y'] for r in places[True]),
        'the root is at the foot, or at the top')
    status, _, err = run([SONDE, 'flamegraph', '-i', str(TWO), '-o', str(path)])
    say(status == 0 and b'choose one with -e' in err, 'a picture of two events says which it has',
        repr(err))


def differences(folder):
    other = DATA / 'text-cases' / 'g.data'
    now, base = page('-i', CLOCK, '-e', 'cpu-clock'), page('-i', other, '-e', 'cpu-clock')
    both = page('-i', CLOCK, '--diff', other, '-e', 'cpu-clock')
    now, base, both = (Graph(p.data['graphs'][0]) for p in (now, base, both))
    before = list(both.base)
    for i in range(both.nr - 1, 0, -1):
        before[both.parent[i]] += before[i]

    def sums(g, total):
        return {tuple(g.path(i)): total[i] for i in range(g.nr) if total[i]}

    say(not both.faults() and sums(both, both.total) == sums(now, now.total),
        '--diff: the sums of the recording')
    say(before[0] == base.total[0] and sums(both, before) == sums(base, base.total),
        '--diff: the sums of the other one', '%d of %d' % (before[0], base.total[0]))
    same = Graph(page('-i', CLOCK, '--diff', CLOCK).data['graphs'][0])
    say(same.base == same.self, '--diff with itself')
    status, out, err = flamegraph('-i', CLOCK, '--diff', folder / 'none')
    say(status == 1 and b'No such file' in err and not out, '--diff: the other one is not there',
        '%d %r' % (status, err))
    ENV.update(NO_LEAKS)  # looking for leaks is what a sandbox forbids
    status, out, err = flamegraph('--sandbox', '-i', CLOCK, '--diff', other)
    say((status == 0 and Graph(Page(out.decode()).data['graphs'][0]).base) or
        b'neither Landlock' in err, '--diff in a sandbox',
        '%d %r' % (status, err))
    path = folder / 'diff.svg'
    status, out, err = run([SONDE, 'flamegraph', '-i', str(CLOCK), '--diff', str(other), '-e',
                            'cpu-clock', '-o', str(path)])
    titles = [e.text for e in ET.parse(path).getroot().iter(SVG + 'title')][1:]
    say(status == 0 and all('before: ' in t for t in titles), '--diff: a picture',
        '%d %r' % (status, titles[:2]))


def mistakes(folder):
    for name, words, status, message in (
            ('--by', ['--by', 'com'], 2, b'did you mean comm?'),
            ('--min', ['--min', '12x'], 2, b'--min takes a percentage'),
            ('--min of more than all', ['--min', '101'], 2, b'--min takes a percentage'),
            ('a folder that is not there', ['-o', str(folder / 'no' / 'x.html')], 1,
             b'No such file'),
            ('no samples', ['--comms', 'nobody'], 1, b'nothing is written'),
            ('two recordings', [str(CLOCK), str(CLOCK)], 2, b'one recording at a time')):
        target = folder / 'mistake.html'
        got, out, err = run([SONDE, 'flamegraph', '-i', str(CLOCK), '-o', str(target), *words])
        say(got == status and message in err and not target.exists(), name, '%d %r' % (got, err))
    got, out, err = run(['sh', '-c', '"$0" flamegraph -i "$1" -o - >/dev/full', SONDE, str(CLOCK)])
    say(got == 1 and b'No space left' in err, 'no room for the file', '%d %r' % (got, err))


def damaged(folder):
    numbers = random.Random(18)
    bad, pages = [], 0
    originals = [((DATA / name).read_bytes(), words) for name, words in
                 (('text/clock.data', []), ('text/chains.data', []), ('text-cases/dw.data', []),
                  ('text-cases/g.data', []),
                  ('text/mixed.data', ['--by', 'cpu,trace']), ('demo.data', ['--wall']),
                  ('text/chains.data', ['--off-cpu']))]
    for nr in range(DAMAGED):
        data, words = originals[nr % len(originals)]
        data = bytearray(data)
        if numbers.random() < .3:
            del data[numbers.randrange(104, len(data)):]
        for _ in range(numbers.choice((1, 3, 20))):
            data[numbers.randrange(len(data))] ^= 1 << numbers.randrange(8)
        path = folder / 'damaged.data'
        path.write_bytes(data)
        svg = nr % 4 == 0
        out = folder / ('damaged.svg' if svg else 'damaged.html')
        out.unlink(missing_ok=True)
        status, _, err = run([SONDE, 'flamegraph', '-f', '-i', str(path), '-o', str(out), *words])
        wrong = '' if status in (0, 1) or (status == 2 and words) else 'status %d' % status
        if status == 0 and svg:
            ET.fromstring(out.read_bytes())
        elif status == 0:
            wrong = '\n'.join(Graph(g).faults()
                              for g in Page(out.read_text(encoding='utf-8')).data['graphs']).strip()
        pages += status == 0
        if wrong:
            bad.append('%d: %s %r' % (nr, wrong, err[-300:]))
    say(not bad and pages > DAMAGED / 4, '%d damaged recordings' % DAMAGED,
        '%d pictures\n%s' % (pages, '\n'.join(bad[:5])))


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for part in (shares, structure, hostile, pictures, differences, mistakes, damaged):
            part(folder)
    return done()


sys.exit(main())
