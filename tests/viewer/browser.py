#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""browser.py SONDE: a flame graph of a real recording, opened in headless Chromium.

Searches, zooms and reads the percentages that the page shows: they are those of the recording's
samples.
"""
import json
import pathlib
import re
import statistics
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / 'data'
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE.parent), str(HERE)]
import chromium  # noqa: E402
from page import Graph, Page, percent  # noqa: E402
from points import done, run, say, skip  # noqa: E402

SONDE = str(pathlib.Path(sys.argv[1]).resolve())
CLOCK = str(DATA / 'text' / 'clock.data')
MANY = 100000  # distinct stacks with which the page stays fluid
ROW = 18


def make(folder, name, *words):
    path = folder / name
    status, _, err = run([SONDE, 'flamegraph', '-o', str(path), *words])
    if status:
        sys.exit('flamegraph %s: %r' % (words, err))
    return path


def graph_of(path):
    return Graph(Page(path.read_text(encoding='utf-8')).data['graphs'][0])


def search(browser, text):
    browser.press('/')
    browser.type(text)
    return browser.text('matched')


def centre(browser, g, i, inverted=False):
    """Where a frame is while all are shown."""
    box = browser.evaluate(
        'JSON.stringify(document.getElementById("canvas").getBoundingClientRect())')
    box = json.loads(box)
    start = [0] * g.nr
    following = [0] * g.nr
    for n in range(1, g.nr):
        start[n] = following[g.parent[n]]
        following[g.parent[n]] += g.total[n]
        following[n] = start[n]
    x = box['x'] + (start[i] + g.total[i] / 2) * box['width'] / g.total[0]
    return x, (box['y'] + (g.depth[i] + .5) * ROW if inverted else box['y'] +
               box['height'] - (g.depth[i] + .5) * ROW)


def a_recording(browser, folder):
    path = make(folder, 'clock.html', '-i', CLOCK)
    g = graph_of(path)
    browser.open(path.as_uri())
    say(not browser.problems and all(u.startswith(('file:', 'about:')) for u in browser.requests),
        'the page runs without an error and fetches nothing',
        '\n'.join(browser.problems + browser.requests))
    say(percent(1) + ' of all' in browser.text('details') and
        '%d samples' % g.samples[0] in browser.text('details'), 'all',
        browser.text('details'))
    # Names that are not contained in another name.
    names = [n for n in {g.name_of(i) for i in range(1, g.nr)}
             if sum(n in other for other in set(g.names)) == 1]
    wrong = []
    for name in sorted(names)[:12]:
        shown = search(browser, name)
        if shown != 'matched: ' + percent(g.share(name)):
            wrong.append('%s: %s, not %s' % (name, shown, percent(g.share(name))))
        browser.press('Escape')
    say(names and not wrong, 'search: matched shares of %d functions' % min(len(names), 12),
        '\n'.join(wrong))
    say(browser.text('matched') == '', 'Escape ends the search')
    search(browser, '/^do_|^ksys_/')
    say(re.match(r'matched: \d', browser.text('matched')), 'search by a regular expression',
        browser.text('matched'))
    browser.press('Escape')

    i = max((n for n in range(1, g.nr) if g.depth[n] > 1 and g.total[n] < g.total[0]),
            key=lambda n: g.total[n])
    x, y = centre(browser, g, i)
    browser.move(x, y)
    say(percent(g.total[i] / g.total[0]) + ' of all' in browser.text('tip') and
        g.name_of(i) in browser.text('tip'),
        'the tip has the share', browser.text('tip'))
    browser.click(x, y)
    say(browser.address() == '#frame=%d' % i, 'a click zooms', browser.address())
    child = max((n for n in range(g.nr) if g.parent[n] == i), key=lambda n: g.total[n])
    browser.move(0, 0)
    browser.press('ArrowUp')
    say(g.name_of(child) in browser.text('details') and percent(g.total[child] / g.total[0]) +
        ' of all' in browser.text('details')
        and percent(g.total[child] / g.total[i]) + ' of ' + g.name_of(i) in browser.text('details'),
        'a callee in the zoom, by key', browser.text('details'))
    browser.press('0')
    say(browser.address() == '' and browser.text('details').startswith('all'), 'reset',
        browser.text('details'))
    browser.press('i')
    browser.move(*centre(browser, g, i, inverted=True))
    say(g.name_of(i) in browser.text('tip'), 'turned: an icicle', browser.text('tip'))
    browser.press('t')
    theme = browser.evaluate('document.documentElement.dataset.theme')
    browser.press('t')
    say({theme, browser.evaluate('document.documentElement.dataset.theme')} == {'dark', 'light'},
        'dark and light')
    browser.call('Page.printToPDF')
    say(not browser.problems, 'it prints, and no error came', '\n'.join(browser.problems))
    browser.open(path.as_uri() + '#search=%s&frame=%d' % (names[0], i))
    say(browser.text('matched').startswith('matched: ' + percent(g.share(names[0]))) and
        percent(g.total[i] / g.total[0]) in browser.text('details'),
        'an address with search and zoom', browser.text('matched'))


def recorded(folder):
    """A new recording with kernel and user call chains; a stored one if none can be made."""
    path = folder / 'real.data'
    work = ('for i in 1 2 3 4 5; do "$0" report -i "$1" >/dev/null; "$0" script -i "$1" '
            '>/dev/null; done')
    status, _, err = run([SONDE, 'record', '--call-graph', 'dwarf,8192', '-F', '3999', '-o',
                          str(path), '--', 'sh', '-c', work, SONDE, str(DATA / 'demo.data')])
    if status == 0:
        return str(path), 'a recording of now'
    skip('a recording of now', ' '.join(err.decode('utf-8', 'replace').split())[:300])
    return CLOCK, 'a stored recording'


def like_the_report(browser, folder):
    data, what = recorded(folder)
    text = run([SONDE, 'report', '--stdio', '--children', '-g', 'none', '-s', 'sym', '-i',
                data])[1].decode('utf-8', 'replace')
    # The page shows by colour which functions are inlined.
    rows = re.findall(r'^ *([\d.]+%) +[\d.]+% +\[(.)\] (.+?)(?: \(inlined\))? *$', text, re.M)
    names = [name for _, _, name in rows]
    path = make(folder, 'real.html', '-i', data)
    browser.open(path.as_uri())
    wrong, compared = [], 0
    for share, _, name in rows:
        # Two functions with one name are two rows of the report, but one search.
        if names.count(name) > 1 or name.startswith('0x') or '[' in name:
            continue
        compared += 1
        shown = search(browser, '/^%s$/' % re.escape(name))
        if shown != 'matched: ' + share:
            wrong.append('%s: %s, in the report %s' % (name, shown, share))
        browser.press('Escape')
    say(compared > 5 and not wrong and not browser.problems, '%s: the shares of the report' % what,
        '%d functions, %d wrong\n%s' % (compared, len(wrong),
                                        '\n'.join(wrong[:10] + browser.problems)))


def a_picture(browser, folder):
    path = make(folder, 'clock.svg', '-i', CLOCK, '--min', '0')
    g = graph_of(make(folder, 'clock.html', '-i', CLOCK))
    browser.open(path.as_uri())
    # The search button opens a prompt; the test replaces prompt() and clicks the button.
    name = max((g.name_of(i) for i in range(2, g.nr) if g.share(g.name_of(i)) < 1), key=g.share)
    browser.evaluate(
        'window.prompt = () => %s; document.getElementById("search").dispatchEvent(new '
        'Event("click"))' % json.dumps(name))
    matched = sum(g.total[i] for i in range(1, g.nr) if name.lower() in g.name_of(i).lower() and
                  not any(name.lower() in n.lower() for n in g.path(i)[:-1]))
    say(browser.text('matched') == 'matched: ' + percent(matched / g.total[0]), 'a picture: search',
        browser.text('matched'))
    i = next(n for n in range(2, g.nr) if g.name_of(n) == name)
    browser.evaluate('document.querySelectorAll("#frames > g")[%d].querySelector("rect")'
                     '.dispatchEvent(new MouseEvent("click", {bubbles: true}))' % i)
    width = browser.evaluate(
        'document.querySelectorAll("#frames > g rect")[%d].getAttribute("width")' % i)
    say(float(width) == 1180 and percent(g.total[i] / g.total[0]) in browser.text('details') and
        not browser.problems,
        'a picture: zoom', '%s %s %s' % (width, browser.text('details'), browser.problems))


def differences(browser, folder):
    path = make(folder, 'diff.html', '-i', CLOCK, '--diff', str(DATA / 'text-cases' / 'g.data'),
                '-e', 'cpu-clock')
    g = graph_of(path)
    before = list(g.base)
    for i in range(g.nr - 1, 0, -1):
        before[g.parent[i]] += before[i]
    i = max((n for n in range(1, g.nr) if g.total[n] and g.depth[n] == 1), key=lambda n: g.total[n])
    browser.open(path.as_uri() + '#frame=%d' % i)
    shown = browser.text('details')
    points = 100 * (g.total[i] / g.total[0] - before[i] / before[0])
    say('before: ' + percent(before[i] / before[0]) in shown and 'difference: +%.2f points' %
        points in shown, 'a difference', shown)
    browser.press('0')
    browser.press('b')
    say(browser.text('widths') == 'widths: before' and not browser.problems,
        'widths of the other recording', '\n'.join(browser.problems))


def a_heat_map(browser, folder):
    path = folder / 'heat.html'
    run([SONDE, 'heatmap', '-i', str(DATA / 'demo.data'), '--latency', 'sched_wakeup,sched_switch',
         '-o', str(path)])
    data = Page(path.read_text(encoding='utf-8')).data
    cells = [data['cells'][i:i + 3] for i in range(0, len(data['cells']), 3)]
    every = sum(c[2] for c in cells)
    browser.open(path.as_uri())
    say(not browser.problems and browser.text('details').startswith('%d latencies; half' % every),
        'a heat map', browser.text('details') + '\n'.join(browser.problems))
    column, row, count = max(cells, key=lambda c: c[2])
    browser.press('ArrowRight')  # selects the cell beside the first one
    for _ in range(column - 1):
        browser.press('ArrowRight')
    for _ in range(row):
        browser.press('ArrowUp')
    shown = browser.text('details')
    same = sum(c[2] for c in cells if c[0] == column)
    say(column > 0 and shown.startswith('%d of ' % count) and percent(count / every) +
        ' of all' in shown and
        percent(count / same) + ' of this time' in shown, 'a cell of a heat map', shown)
    browser.press('Enter')
    say(browser.address().startswith('#zoom='), 'a heat map zooms', browser.address())
    browser.press('0')
    say(browser.address() == '' and not browser.problems, 'a heat map is reset',
        '\n'.join(browser.problems))


def hostile(browser, folder):
    path = make(folder, 'hostile.html', '-i', CLOCK, '--title',
                '</script><script>window.broken = 1</script>"\'\u202e')
    text = path.read_text(encoding='utf-8')
    g = graph_of(path)
    name = g.names[g.name[g.frame[1]]]
    path.write_text(text.replace(json.dumps(name),
                                 json.dumps('\x1b</scr<!--\u202e"\udc80').replace('<', '\\u003c')),
                    encoding='utf-8')
    browser.open(path.as_uri())
    shown = browser.evaluate(
        'window.broken === undefined && document.querySelector("h1").textContent')
    say(shown == '</script><script>window.broken = 1</script>"\'<U+202E>' and not browser.problems,
        'a title that looks like a script', repr(shown))
    browser.press('ArrowUp')
    say('\u241b</scr<!--<U+202E>"\\x80' in browser.text('details'), 'a name of any bytes',
        browser.text('details'))


def fluid(browser, folder):
    """A tree of 100,000 distinct stacks: frames are drawn within a frame of a slow screen."""
    path = make(folder, 'many.html', '-i', CLOCK)
    text = path.read_text(encoding='utf-8')
    data = Page(text).data
    depth, frame, own = [0], [0], [0]
    names = ['all'] + ['function_%d' % i for i in range(2000)]
    leaves = 0
    for a in range(50):
        for d in range(1, 21):
            depth.append(d)
            frame.append(1 + (a * 7 + d) % 2000)
            own.append(1)
        for b in range(2000):
            leaves += 1
            depth += [21, 22]
            frame += [1 + b, 1 + (b * 3 + a) % 2000]
            own += [0, 1 + b % 5]
    g = dict(data['graphs'][0], names=names, name=list(range(len(names))), file=[-1] * len(names),
             kind='g' + 'u' * 2000, depth=depth, frame=frame, self=own, count=own)
    data['graphs'] = [g]
    start, end = text.index('id="data">') + 10, text.index('</script>', text.index('id="data">'))
    path.write_text(text[:start] + json.dumps(data) + text[end:], encoding='utf-8')
    browser.open(path.as_uri())
    matched = search(browser, '/^function_1$/')
    tree = Graph(g)
    say(leaves == MANY and matched == 'matched: ' + percent(tree.share('function_1')) and
        not browser.problems,
        '100,000 stacks: search', '%s %s' % (matched, browser.problems))
    # CPU time of the page's own thread, not wall time: the machine's load does not matter.
    browser.call('Performance.enable', timeDomain='threadTicks')

    def task_seconds():
        return next(m['value'] for m in browser.call('Performance.getMetrics')['metrics']
                    if m['name'] == 'TaskDuration')

    took = []
    for key in ['Escape', 'ArrowUp', 'Enter', 'ArrowUp', 'ArrowRight', 'ArrowRight', 'Enter', '0',
                'i', 'i'] * 2:
        before = task_seconds()
        browser.press(key)
        browser.text('details')
        took.append(task_seconds() - before)
    say(statistics.median(took) < .2 and max(took) < 1, '100,000 stacks: a key is answered at once',
        'median %.0f ms, most %.0f ms of cpu' % (1e3 * statistics.median(took), 1e3 * max(took)))


def main():
    program = chromium.find()
    if not program:
        print('1..0 # SKIP no Chromium here: apt-get install chromium')
        return 0
    with tempfile.TemporaryDirectory() as name, chromium.Chromium(program) as browser:
        for part in (a_recording, like_the_report, a_picture, differences, a_heat_map, hostile,
                     fluid):
            part(browser, pathlib.Path(name))
    return done()


sys.exit(main())
