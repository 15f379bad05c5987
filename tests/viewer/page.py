# SPDX-License-Identifier: MIT
"""The files of `sonde flamegraph` as data, read without a browser."""
import html.parser
import json


class Page(html.parser.HTMLParser):
    """The elements of a page and the text of those with an id."""
    VOID = ('meta', 'input', 'br')

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.texts, self.open = [], [], {}, []
        self.feed(text)
        self.close()
        self.data = json.loads(self.texts['data'])

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append((tag, dict(attrs).get('id')))

    def handle_endtag(self, tag):
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        tag, name = self.open[-1] if self.open else (None, None)
        for key in (name, tag):
            if key:
                self.texts[key] = self.texts.get(key, '') + data


class Graph:
    """A tree of calls. Each node has a frame, a parent, and sums that include its callees."""

    def __init__(self, g):
        self.__dict__.update(g)
        self.nr = len(g['depth'])
        self.parent, at = [], {}
        for i, depth in enumerate(g['depth']):
            self.parent.append(at[depth - 1] if depth else -1)
            at[depth] = i
        self.total, self.samples = list(g['self']), list(g['count'])
        for i in range(self.nr - 1, 0, -1):
            self.total[self.parent[i]] += self.total[i]
            self.samples[self.parent[i]] += self.samples[i]

    def name_of(self, i):
        return self.names[self.name[self.frame[i]]]

    def path(self, i):
        names = []
        while i > 0:
            names.insert(0, self.name_of(i))
            i = self.parent[i]
        return names

    def faults(self):
        """What is wrong with the tree, as text."""
        wrong = []
        for key in ('frame', 'self', 'count'):
            if len(getattr(self, key)) != self.nr:
                wrong.append('%s has %d elements, depth %d' %
                             (key, len(getattr(self, key)), self.nr))
        if self.depth[0] != 0 or any(b > a + 1 or b < 1
                                     for a, b in zip(self.depth, self.depth[1:])):
            wrong.append('depths are not those of a tree')
        if not len(self.name) == len(self.file) == len(self.kind):
            wrong.append('frames: %d names, %d files, %d kinds' %
                         (len(self.name), len(self.file), len(self.kind)))
        if (max(self.frame) >= len(self.name) or max(self.name) >= len(self.names) or
            max(self.file) >= len(self.files)):
            wrong.append('an index is too large')
        seen = set()
        for i in range(1, self.nr):
            key = (self.parent[i], self.frame[i])
            if key in seen:
                wrong.append('a caller has two callees %r' % self.name_of(i))
            seen.add(key)
        return '\n'.join(wrong)

    def share(self, name):
        """The share of the total that is in calls of a function; recursive calls count once."""
        inside = [False] * self.nr
        total = 0
        for i in range(1, self.nr):
            inside[i] = inside[self.parent[i]]
            if not inside[i] and self.name_of(i) == name:
                inside[i] = True
                total += self.total[i]
        return total / self.total[0]


def percent(value):
    return '%.2f%%' % (100 * value)
