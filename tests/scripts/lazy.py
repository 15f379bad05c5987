# SPDX-License-Identifier: MIT
"""Values that a handler cannot see are not built; code that looks at them finds perf's values.

Each operation is done on a lazy object, which a helper takes from the frame of the handler, and
with SONDE_EAGER=1 on an ordinary one. Both must print the same.
"""

import ast
import os
import re

from scripttest import (BINDINGS, CHAINS, DEMO, FRAMES, FULL, MIXED, SONDE, Tests, environment,
                        pythons, run)

t = Tests()

# The tables of leave_out.py, read without running it: tests do not import modules of sonde.
SAYS = {}
with open(os.path.join(BINDINGS, "lib", "leave_out.py")) as source:
    for statement in ast.parse(source.read()).body:
        if isinstance(statement, ast.Assign):
            value = (statement.value.args[0] if isinstance(statement.value, ast.Call)
                     else statement.value)
            try:
                SAYS[statement.targets[0].id] = ast.literal_eval(value)
            except ValueError:
                pass
TESTED = SAYS["TESTED"]

WALK = """
import copy, json, pickle, pprint, sys, operator, itertools
counter = 0
kinds = set()

def plain(x):
    # bytearrays and bytes are no JSON
    return json.JSONEncoder(default=lambda o: list(o), sort_keys=False)

def attempt(f, o):
    try:
        r = f(o)
    except BaseException as e:
        return '%s: %s' % (type(e).__name__, str(e)[:200])
    if hasattr(r, '__next__'):
        r = list(itertools.islice(r, 1000))
    return repr(r)

def rest(o):
    # what is left afterwards
    return repr(o)

def kw(**k): return k
def pos(*a): return a

COMMON = [
    repr, str, len, bool, list, tuple, sorted_keys := lambda o: [str(x) for x in o], lambda o: list(iter(o)),
    lambda o: list(reversed(o)),
    lambda o: '%s' % (o,), lambda o: format(o), lambda o: f'{o!r:.50}', ascii,
    hash, copy.copy, copy.deepcopy, lambda o: type(copy.copy(o)).__name__, lambda o: pickle.loads(pickle.dumps(o)),
    lambda o: [type(pickle.loads(pickle.dumps(o, p))).__name__ for p in range(2, 6)],
    lambda o: plain(o).encode(o), lambda o: json.dumps(o, default=list, indent=1),
    lambda o: json.dumps(o, default=list, sort_keys=True),
    lambda o: pprint.pformat(o), lambda o: pprint.pformat(o, width=10000),
    lambda o: pprint.pformat(o, sort_dicts=False),
    lambda o: pprint.saferepr(o), lambda o: repr(type(o).__repr__), lambda o: isinstance(o, (dict, list)), callable,
    lambda o: o == o, lambda o: o != o, lambda o: o is None, lambda o: o == copy.copy(o),
    lambda o: copy.copy(o) == o, lambda o: o < 5,
    lambda o: 5 in o, lambda o: 'common_cpu' in o, lambda o: o[0:1], lambda o: o['nothing'], lambda o: o[0],
    lambda o: o + o, lambda o: o * 2, lambda o: -o,
    lambda o: [*o], lambda o: {*map(str, o)}, lambda o: pos(*o), lambda o: list(zip(o, o)),
    lambda o: list(map(type, o)), lambda o: max(map(str, o), default=0), lambda o: any(o), lambda o: all(o),
    lambda o: list(enumerate(o)), lambda o: list(filter(None, o)), lambda o: o.clear(), lambda o: o.copy(),
    lambda o: type(o.copy()).__name__,
    lambda o: o.pop(), lambda o: o.__sizeof__() > 0, lambda o: sys.getsizeof(o) > 0, lambda o: o.nothing,
    lambda o: setattr(o, 'x', 1),
    lambda o: o.__eq__(5), lambda o: o.__contains__(5), lambda o: o.__len__(), lambda o: list(o.__iter__()),
    lambda o: o.__getitem__(0),
    lambda o: operator.length_hint(o), lambda o: bool(o) and not not o, lambda o: sum(1 for x in o),
]
DICT = [
    dict, lambda o: {**o}, lambda o: kw(**o), lambda o: dict(o, z=1), lambda o: dict([*o.items()]),
    lambda o: {} | o, lambda o: o | {'common_cpu': 'x'},
    lambda o: {'common_cpu': 'x'} | o, lambda o: type(o | {}).__name__, lambda o: operator.ior(o, {'a': 1}),
    lambda o: operator.or_(o, [('a', 1)]),
    lambda o: operator.ior({'first': 0}, o), lambda o: o.update(a=1), lambda o: o.update({'common_cpu': 7}, b=2),
    lambda o: (lambda d: (d.update(o), d))({'q': 1}),
    lambda o: list(o.keys()), lambda o: list(o.values()), lambda o: list(o.items()), lambda o: len(o.items()),
    lambda o: list(reversed(o.items())),
    lambda o: o.keys() & {'common_cpu', 'x'}, lambda o: sorted(o.items(), key=str), lambda o: sorted(o),
    lambda o: o.get('common_cpu'), lambda o: o.get('ev_name', 5), lambda o: o.get('zzz', 5),
    lambda o: o['common_comm'], lambda o: o['sample'], lambda o: o.setdefault('common_cpu', 5),
    lambda o: o.setdefault('new', 5), lambda o: o.popitem(), lambda o: o.pop('common_cpu', 9),
    lambda o: operator.setitem(o, 'common_cpu', 'set'), lambda o: operator.setitem(o, 'new', 1),
    lambda o: operator.delitem(o, 'common_cpu'), lambda o: operator.delitem(o, 'zzz'),
    lambda o: operator.itemgetter('common_pid')(o), lambda o: '%(common_comm)s' % o,
    lambda o: '{common_comm}'.format_map(o), lambda o: '{common_comm}'.format(**o),
    lambda o: type(o).fromkeys([1, 2], 3), lambda o: o.__or__({}), lambda o: o.__ior__({'a': 2}),
    lambda o: o.__ror__({'a': 2}), lambda o: o.__setitem__('k', 1), lambda o: o.__delitem__('zzz'),
    lambda o: list(o.__reversed__()),
    lambda o: [k for k in o if k in o], lambda o: {k: v for k, v in o.items()}, lambda o: next(iter(o)),
    lambda o: next(iter(o.values())),
    lambda o: o == dict(o), lambda o: dict(o) == o, lambda o: o != {}, lambda o: {} == o,
    lambda o: bool(o.__class__ and o),
    lambda o: __import__('collections').OrderedDict(o),
    lambda o: __import__('collections').ChainMap(o)['common_cpu'],
    lambda o: __import__('collections').Counter(o.keys()).most_common(1),
    lambda o: __import__('types').MappingProxyType(o).copy(),
    lambda o: list(__import__('types').MappingProxyType(o)),
    lambda o: __import__('types').SimpleNamespace(**o).__dict__ == dict(o),
    lambda o: __import__('string').Template('$common_comm').substitute(o), lambda o: type(copy.deepcopy(o)) is dict,
    lambda o: o.__reduce_ex__(4)[0] is not None,
]
if sys.version_info >= (3, 10):
    exec('''
def match_mapping(o):
    match o:
        case {'common_comm': c, **others}: return c, len(others)
        case {'ev_name': e, 'sample': {'pid': p}}: return e, p
        case [{'ip': ip}, *others]: return ip, len(others)
        case []: return 'empty'
    return None
''')
    COMMON.append(match_mapping)
LIST = [
    lambda o: o + [1], lambda o: type(o + []).__name__, lambda o: o * 2, lambda o: 2 * o,
    lambda o: operator.iadd(o, [1]), lambda o: operator.imul(o, 2), lambda o: operator.iadd([1], o),
    lambda o: o.append(1), lambda o: o.extend([1, 2]), lambda o: [0].extend(o), lambda o: o.insert(0, 1),
    lambda o: o.index(5), lambda o: o.count(5), lambda o: o.remove(5), lambda o: o.reverse(),
    lambda o: o.sort(key=str), lambda o: o[-1], lambda o: o[::2], lambda o: o[5:],
    lambda o: operator.setitem(o, 0, 'x'), lambda o: operator.setitem(o, slice(0, 1), [7, 8]),
    lambda o: operator.delitem(o, 0), lambda o: operator.delitem(o, slice(0, 2)),
    lambda o: o == list(o), lambda o: list(o) == o, lambda o: o < [1], lambda o: [] < o, lambda o: o >= [],
    lambda o: '-'.join(map(str, o)), lambda o: sorted(o, key=str), lambda o: [n['ip'] for n in o],
    lambda o: [n.get('sym') for n in o][:1],
    lambda o: [].__iadd__(o), lambda o: list.__len__(list(o)), lambda o: o.pop(0), lambda o: o.pop(99),
    lambda o: a_slice(o), lambda o: (lambda x, *y: (x, len(y)))(*o), lambda o: dict.fromkeys(range(len(o))),
    lambda o: type(copy.deepcopy(o)) is list,
]
# Everything that dir() knows, called with what it takes: nothing, or one argument.
def by_name(name, *args):
    return lambda o: getattr(o, name)(*args)
SKIP = {'__class__', '__init_subclass__', '__subclasshook__', '__new__', '__doc__', '__dir__', '__reduce__', '__reduce_ex__', '__init__', '__getattribute__', '__setattr__',
        '__delattr__', '__hash__', '__class_getitem__', '__sizeof__', '__format__', '__getstate__', '__repr__'}
def named(kind):
    for name in sorted(set(dir(kind)) - SKIP):
        for args in ((), (0,), ('common_cpu',), ({'a': 1},), ([1],), ('common_cpu', 5), (0, 5)):
            yield by_name(name, *args)

operations = {'dict': COMMON + DICT + list(named(dict)), 'list': COMMON + LIST + list(named(list))}

def helper():
    global counter
    names = sys._getframe(1).f_code.co_varnames
    o = sys._getframe(1).f_locals[names[WHICH]]
    kind = 'dict' if isinstance(o, dict) else 'list'
    kinds.add(type(o).__module__ + '.' + type(o).__name__)
    todo = operations[kind]
    if counter < len(todo):
        print(counter, attempt(todo[counter], o))
        print('  then', rest(o))
    counter += 1

# Code of another identity for the next event: what is built after all does not come key by key the next time.
def renew():
    name = sys._getframe(1).f_code.co_name
    f = globals()[name]
    globals()[name] = type(f)(f.__code__.replace(co_firstlineno=f.__code__.co_firstlineno + 1), globals())

held = []
def keeper():
    if len(held) < 50:
        held.append(sys._getframe(1).f_locals[sys._getframe(1).f_code.co_varnames[WHICH]])

def trace_end():
    todo = len(operations['dict' if WHICH != 7 else 'list'])
    print('operations', min(counter, todo) > 100)
    if counter < todo: print('next', counter)
    for o in held: print(o)
    sys.stderr.write(' '.join(sorted(kinds)) + '\\n')
"""
HANDLERS = {
    "the fields of trace_unhandled": (
        2, "def trace_unhandled(event_name, context, fields): helper(); keeper()\n", DEMO,
        "sonde.dict"),
    "perf_sample_dict": (
        3, "def trace_unhandled(event_name, context, fields, perf_sample_dict): helper(); "
           "keeper()\n", DEMO, "sonde.dict"),
    "fields of which some were read by key": (
        2, "def trace_unhandled(event_name, context, fields):\n fields['common_comm']; "
           "'common_pid' in fields; fields.get('common_ns')\n"
        " helper(); keeper(); renew()\n", DEMO, "sonde.dict"),
    "a sample of which some keys were read": (
        3, "def trace_unhandled(event_name, context, fields, perf_sample_dict):\n "
           "perf_sample_dict['sample']['cpu']\n"
        " perf_sample_dict['sample']['time']; perf_sample_dict['comm']; "
        "perf_sample_dict['callchain']\n helper(); keeper(); renew()\n",
        DEMO, "sonde.dict"),
    "a sample whose inner dict was read by key": (
        3, "def trace_unhandled(event_name, context, fields, perf_sample_dict):\n inner = "
           "perf_sample_dict['sample']\n"
        " perf_sample_dict.get('raw_buf')\n helper(); keeper(); renew()\n", DEMO, "sonde.dict"),
    "common_callchain": (
        7, "def raw_syscalls__sys_exit(a, b, c, d, e, f, g, callchain, id, ret): helper(); "
           "keeper()\n", FRAMES, "sonde.list"),
}


for name, (which, handler, data, kind) in HANDLERS.items():
    for py, python in pythons():
        if tuple(int(x) for x in py.split()[-1].split(".")) > TESTED:
            continue
        results = {}
        for eager in ("0", "1"):
            # If a recording has fewer events than there are operations, the next round begins
            # where this one ended.
            out, err, rc, start = [], "", 0, 0
            while start is not None:
                r = run([SONDE, "script", "-i", data, "-s",
                         t.write("walk.py", "WHICH = %d\n%s\ncounter = %d\n%s" %
                                 (which, WALK, start, handler))],
                        env=environment(SONDE_PYTHON=python, SONDE_EAGER=eager), cwd=t.dir)
                out.append(r.out)
                err, rc = r.err, max(rc, r.rc)
                more = re.search(r"^next (\d+)$", r.out, re.M)
                start = int(more[1]) if more and not rc and int(more[1]) > start else None
            results[eager] = ("".join(out), err, rc)
        lazy, eager = results["0"], results["1"]
        a, b = lazy[0].splitlines(), eager[0].splitlines()
        at = next((i for i in range(max(len(a), len(b))) if a[i:i + 1] != b[i:i + 1]), None)
        t.ok(at is None and not lazy[2] and not eager[2],
             "%s in %s: every operation as on an ordinary object" % (name, py),
             lazy[2], eager[2], lazy[1][-800:], "lazy: ", "".join(a[at or 0:(at or 0) + 1])[:800],
             "eager: ", "".join(b[at or 0:(at or 0) + 1])[:800])
        t.ok(kind in lazy[1] and kind not in eager[1], "%s in %s: the object is lazy" % (name, py),
             lazy[1], eager[1])

name = "this test ran with Python %d.%d, the newest with lazy arguments" % TESTED
if any(py.endswith(" %d.%d" % TESTED) for py, _ in pythons()):
    t.ok(True, name)
else:
    t.skip(name, "it is not installed", installable=False)

# ---- when every value must be built ------------------------------------------------------------

KIND = """
import gc, sys
def kinds():
    return sorted({type(o).__name__ for o in gc.get_objects() if type(o).__module__ == 'sonde' and isinstance(o, (dict, list))})
"""
for what, handler in (
    ("a closure",
     "def trace_unhandled(a, b, c):\n def inner(): return c\n print(kinds()); sys.exit()"),
    ("**kw", "def trace_unhandled(a, b, c, **k): print(kinds()); sys.exit()"),
    ("*args", "def trace_unhandled(a, b, c, *k): print(kinds()); sys.exit()"),
    ("locals()", "def trace_unhandled(a, b, c): locals(); print(kinds()); sys.exit()"),
    ("sys._getframe", "def trace_unhandled(a, b, c): sys._getframe; print(kinds()); sys.exit()"),
    ("exec in nested code",
     "def trace_unhandled(a, b, c):\n [exec(x) for x in []]\n print(kinds()); sys.exit()"),
    ("del", "def trace_unhandled(a, b, c): print(kinds()); sys.exit(); del c"),
    ("a method",
     "class C:\n def m(self, a, b, c): print(kinds()); sys.exit()\ntrace_unhandled = C().m"),
    ("a generator", "def trace_unhandled(a, b, c): yield\ndef trace_end(): print(kinds())"),
    ("a trace function",
     "sys.settrace(lambda *a: None)\ndef trace_unhandled(a, b, c): print(kinds()); sys.exit()"),
    ("a profile function",
     "sys.setprofile(lambda *a: None)\ndef trace_unhandled(a, b, c): print(kinds()); sys.exit()"),
):
    r = t.script(KIND + handler)
    t.is_((r.out, r.rc), ("[]\n", 0), "every value is built with %s" % what, r.err)
ASK = """
import sys
sys.path.insert(0, sys.argv[1])
from leave_out import may_leave_out
for what, body in (("nothing", "pass"), ("naming", "WORD"), ("naming in nested code", "lambda: WORD"),
                   ("as an attribute", "a.WORD"), ("as a variable", "WORD = 1"), ("as text", "getattr(a, 'WORD')"),
                   ("from outside", "WORD")):
    for word in sys.argv[2:]:
        code = "def handler(a, b, c): " + body.replace("WORD", word)
        if what == "from outside":
            code = "def around():\\n WORD = 1\\n def handler(a, b, c): WORD\\n return handler\\nhandler = around()".replace("WORD", word)
        names = {}
        exec(code, names)
        if may_leave_out(names["handler"], "c") != (what == "nothing"):
            print(what, word)
print("asked")
"""
for py, python in pythons():
    if tuple(int(x) for x in py.split()[-1].split(".")) <= TESTED:
        r = run([python, t.write("ask.py", ASK), os.path.join(BINDINGS, "lib")] +
                sorted(SAYS["LOOKERS"]))
        t.is_((r.out, r.rc), ("asked\n", 0),
              "in %s each word that can see all variables has everything built" % py, r.err)
t.is_(SAYS["LOOKERS"], ("locals", "vars", "dir", "eval", "exec", "globals", "_getframe",
                        "currentframe", "settrace", "breakpoint"),
      "the list of words that can see all variables is complete")
r = t.script(KIND + "def trace_unhandled(a, b, c): print(kinds()); sys.exit()", both=False)
t.is_(r.out, "['dict']\n", "some arguments are lazy without such words", r.err)
r = t.script(KIND + "def trace_unhandled(a, b, *rest): print(kinds()); sys.exit()", both=False)
t.is_(r.out, "['dict']\n", "arguments in *rest are lazy", r.err)
r = t.script("import sys\nkept = []\n"
             "def keep(): kept.append(sys._getframe(1).f_locals['rest'])\n"
             "def trace_unhandled(a, b, *rest): keep()\n"
             "def trace_end():\n"
             " print([sorted(k[0]) == sorted(k[0].keys()) for k in kept][:5],\n"
             "       [type(k[0]['common_pid']) for k in kept][:5],\n"
             "       len({k[0]['common_ns'] for k in kept}) > 5)")
t.is_((r.out, r.rc), (repr([True] * 5) + " " + repr([int] * 5) + " True\n", 0),
      "arguments in *rest that somebody holds are built", r.err)

# ---- built key by key --------------------------------------------------------------------------

ASK = """
import sys
sys.path.insert(0, sys.argv[1])
from leave_out import how_read
for how, bodies in ((0, ("c", "x = c", "return c", "f(c)", "f(*c)", "f(**c)", "f(k=c)", "c.x", "c.keys()", "c['a'] = 1", "del c['a']", "del c",
                         "c = 1; c['a']", "for x in c: pass", "[x for x in c]", "c[b]", "c[0]", "c['a':'b']", "c | b",
                         "c == b", "c in b", "c is b", "not c", "if c: pass", "f'{c}'", "'%(a)s' % c", "x = c.get", "f(c.get)",
                         "c['a'] += 1", "with c: pass", "raise c", "assert c", "lambda: c['a']", "a.c", "c['a']; locals()",
                         "c['a']; c", "x, c['a'] = 1, 2", "(c, c['a'])", "(x := c)['a']")),
                    (1, ("pass", "a['a']")),
                    (2, ("c['sample']", "x = c['sample']; x['a']", "c.get('a')", "c.get('sample')['a']", "c.setdefault('a', 1)",
                         "c['sample'][b]", "c['sample']['a'] = 1", "c['sample'].x", "f(c['sample'])", "c['sample']['a']; c['sample']")),
                    (3, ("c['a']", "x = c['a']['b']", "c['sample']['a']", "c['a']; c['b']", "'a' in c", "a in c", "f(c['sample']['a'].b)",
                         "for x in c['a']: x['b'] = 1", "c['a']['b'] = 1", "if 'a' in c: return c['a']", "return a + c['a'] * c['sample']['b']",
                         "[x['a'] for x in c['a']]", "lambda: 1; c['a']", "(b or c)['a']", "(a or b)[c['a']]"))):
    for body in bodies:
        names = {}
        exec("def handler(a, b, c):\\n " + body, names)
        said = how_read(names["handler"], "c")
        # 3.13 loads two variables at once
        if said != how and not (said == 0 and sys.version_info >= (3, 13) and body in ("a in c", "return a + c['a'] * c['sample']['b']")):
            print(body, said)
for how, of_rest in ((0, ("r", "r[0]", "f(*r)", "x = r", "r = 1", "del r", "lambda: r", "a; locals()",
                          "yield", "[exec(x) for x in []]")), (1, ("pass", "a['a']", "f(*a)"))):
    for body in of_rest:
        for head, may in (("a, b, *r", True), ("a, *r, k=1", True), ("*r", True), ("a, *r, **k", False)):
            names = {}
            exec("def handler(" + head + "):\\n " + body, names)
            if how_read(names["handler"], None) != (how if may else 0):
                print("*", head, body)
print("asked")
"""
for py, python in pythons():
    if tuple(int(x) for x in py.split()[-1].split(".")) <= TESTED:
        r = run([python, t.write("ask.py", ASK), os.path.join(BINDINGS, "lib")])
        t.is_((r.out, r.rc), ("asked\n", 0),
              "in %s handlers that only read keys are recognised" % py, r.err)

BY_KEY = """
import collections
seen = collections.Counter()
def trace_unhandled(event_name, context, fields, sample):
    seen[sample['sample']['cpu'], sample['sample']['pid'], sample['comm'], len(sample['raw_buf']), sample['ev_name']] += 1
    print(fields['common_s'], fields['common_ns'], fields['common_pid'], fields['common_cpu'], fields['common_comm'])
    print(sample['sample']['time'], sample['sample']['ip'], sample['sample']['period'], sample['sample']['values'],
          sample['sample']['cpumode'], sample['sample']['tid'], sample['sample']['phys_addr'], sample['attr'][:8], sample['callchain'],
          sample['iregs'], sample['brstack'])
    assert sample['sample']['time'] is sample['sample']['time'] and sample['callchain'] is sample['callchain']
    assert 'comm' in sample and 'nothing' not in sample
    for key in ('dso', 'symbol', 'symoff', 'dso_map_start'):
        if key in sample: print(key)
    if 'dso' in sample: print(sample['dso'], sample['dso_bid'], sample['dso_map_start'], sample['dso_map_end'])
    if 'symbol' in sample: print(sample['symbol'], sample['symoff'])
    sample['callchain'].append(5)
    assert sample['callchain'][-1] == 5
    try:
        sample['sample']['nothing']
    except KeyError as e:
        print(repr(e), sample['sample']['id'], len(e.__traceback__.tb_frame.f_locals['sample']['sample']))
    try:
        fields['nothing']
    except KeyError as e:
        print(repr(e), sorted(e.__traceback__.tb_frame.f_locals['fields']))
def trace_end():
    print(sorted(seen.items()))
"""
# Each Python reads each recording with one of the two, and each of the two meets every Python.
for i, data in enumerate((DEMO, CHAINS, FRAMES)):
    for j, compat in enumerate((None, "perf-6.1")):
        for k, (py, python) in enumerate(pythons()):
            if tuple(int(x) for x in py.split()[-1].split(".")) > TESTED:
                continue
            if (i + j + k) % 2 and not FULL:
                continue
            r = t.script(BY_KEY if compat is None
                         else BY_KEY.replace("sample['sample']['id']", "0"), data, compat=compat,
                         python=python)
            t.ok(not r.rc and "KeyError('nothing')" in r.out,
                 "single keys of %s in %s%s" % (os.path.basename(data), py, compat or ""), r.err)
# A value that was read by key stays the same object, with the script's changes, when the rest of
# the dict is built. The handler itself only reads keys; other code sees its parameters through its
# frame.
r = t.script("""
n = 0
kinds = set()
def whole(e, name): return e.__traceback__.tb_frame.f_locals[name]
def look(whole, read):
    global n
    kinds.add(type(whole).__module__)
    assert len(list(whole)) > 6, whole
    for key, value in read.items():
        assert whole[key] is value, (key, whole[key], value)
        assert dict(whole)[key] is value and dict(whole.items())[key] is value, key
        n += 1
def look_at_sample(e, read): look(whole(e, 'sample'), read)
def look_inside(e, read): look(whole(e, 'sample')['sample'], read)
def look_at_fields(e, read): look(whole(e, 'fields'), read)
def trace_unhandled(event_name, context, fields, sample):
    raw, chain, common = sample['raw_buf'], sample['callchain'], fields['common_callchain']
    chain.append('mine')
    common.append('mine, too')
    values = sample['sample']['values']
    values.append('mine, as well')
    try:
        sample['nothing']
    except KeyError as e:
        look_at_sample(e, {'raw_buf': raw, 'callchain': chain})
        look_inside(e, {'values': values})
    try:
        fields['nothing']
    except KeyError as e:
        look_at_fields(e, {'common_callchain': common})
    assert chain[-1] == 'mine' and common[-1] == 'mine, too'
def trace_end():
    import os
    assert os.environ['SONDE_EAGER'] == '1' or 'sonde' in kinds, kinds
    print(n)
""", FRAMES)
t.ok(not r.rc and int(r.out or 0) > 400,
     "a value that was read by key is the same object in the dict that is built later", r.out,
     r.err)
r = t.script("""
def process_event(param_dict):
    if 'callchain' in param_dict:
        for entry in param_dict['callchain']:
            entry.setdefault('sym', dict())
            entry['sym'].setdefault('name', None)
            entry.setdefault('dso', None)
            print(entry['sym']['name'], entry['dso'], len(entry))
    print(param_dict['comm'], param_dict['sample']['addr'], param_dict['sample'].get('addr_dso'))
    for entry in param_dict['callchain']: entry.clear()
    held.append((param_dict['callchain'], param_dict['sample']['values'], repr(param_dict['sample']['values'])))
held = []
def trace_end():
    for chain, values, then in held: assert not any(chain) and repr(values) == then
    print(len(held))
""", MIXED)
t.ok(not r.rc and len(r.out.splitlines()) > 10, "the value of a key may be changed and kept", r.err)
r = t.script("""
def trace_unhandled(event_name, context, fields, sample):
    if len(seen) % 3 == 2: sample.setdefault('new', 1); fields.setdefault('new', 2)
    seen.append((sample.get('new'), fields.get('new'), sample.get('comm'), sample['sample']['tid'], fields.get('common_pid')))
seen = []
def trace_end(): print(seen)
""")
t.ok(not r.rc and "(1, 2, " in r.out and "(None, None, " in r.out,
     "a key that the script sets is only in the dict of that event", r.err)
r = t.script("""
import sys
def kind(): return type(sys._getframe(1).f_locals['sample']).__module__
def sched__sched_switch(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, sample):
    kinds.append((sample['sample']['cpu'] >= 0, kind()))
kinds = []
def trace_end(): print(len(kinds) > 20, set(kinds))
""", both=False)
t.is_((r.out, r.rc), ("True {(True, 'sonde')}\n", 0), "a sample that is read by key is not built",
      r.err)

# ---- kept after the event ----------------------------------------------------------------------

r = t.script("""
import sys
def keep(): kept.append(sys._getframe(1).f_locals['fields'])
kept, want = [], []
def trace_unhandled(event_name, context, fields): keep()
def trace_end():
    print(len(kept), len({id(k) for k in kept}), kept[0]['common_ns'] != kept[9]['common_ns'])
    print([k['common_comm'] for k in kept[:5]], sorted(kept[-1]))
""")
t.ok(r.out.startswith("474 474 True\n") and not r.rc,
     "an object that is kept has the values of its event", r)
r = t.script("""
chains = []
def sched__sched_switch(a, b, c, d, e, f, g, callchain, *rest):
    chains.append((callchain, callchain[0] if callchain else None, (n['ip'] for n in callchain)))
def trace_end():
    for chain, first, ips in chains:
        assert chain[0] is first and list(ips) == [n['ip'] for n in chain]
    print(len(chains), len({str(c[0]) for c in chains}) > 3)
""", CHAINS)
t.ok(r.out and r.out.endswith("True\n"),
     "call chains, their nodes and generators over them may be kept", r)

# ---- used outside of the handler ---------------------------------------------------------------

FIND = """
import gc
def ours():
    return [o for o in gc.get_objects() if type(o).__module__ == 'sonde' and isinstance(o, (dict, list))]
"""
r = t.script("""
import gc
def trace_unhandled(a, b, c): pass
def trace_end():
    for o in gc.get_objects():
        if isinstance(o, dict): repr(o)
""")
t.is_((r.out, r.err, r.rc), ("", "", 0),
      "objects that are used again can be read after the last event")
r = t.script(FIND + """
import sys
def look():
    return sys._getframe(1).f_locals['fields']
def trace_unhandled(event_name, context, fields): pass
def first(event_name, context, common_cpu, common_secs, common_nsecs, common_pid, common_comm, common_callchain, *rest):
    for o in ours():
        assert not isinstance(o, dict) or set(o.values()) == {None}, o
    global sched__sched_switch, trace_unhandled
    del sched__sched_switch
    def trace_unhandled(event_name, context, fields, more=None):
        assert look()['common_ns'] is not None
sched__sched_switch = first
def trace_end(): print('end')
""", both=False)
t.is_((r.out, r.rc), ("end\n", 0), "an object of one event type never gets values of another one",
      r.err)
r = t.script(FIND + """
import sys
def look():
    fields = sys._getframe(1).f_locals['fields']
    assert fields['common_comm'] is not None and 'spoilt' not in fields, fields
    return fields
seen = found = 0
spoil = None
def trace_unhandled(event_name, context, fields):
    global seen
    seen += 1
    if seen % 3 == 0: look()
def sched__sched_switch(*all):
    global found
    for o in ours():
        found += 1
        if found % 2: o['spoilt'] = 1
        elif found % 4: held.append(o)
held = []
def trace_end():
    print(seen > 10, found > 10)
    for o in held: repr(o)
""", both=False)
t.is_((r.out, r.rc), ("True True\n", 0),
      "an object that was changed or kept outside of its handler is not used again", r.err)
r = t.script(FIND + """
import sys, threading, time
sys.setswitchinterval(1e-6)
stop = False
bad = []
def look_on():
    while not stop:
        for o in ours():
            if isinstance(o, dict):
                values = set(map(str, o.values()))
                if 'None' in values and len(values) > 1: bad.append(dict(o))
        time.sleep(0)
thread = threading.Thread(target=look_on)
thread.start()
def trace_unhandled(a, b, c): pass
def trace_end():
    global stop
    stop = True
    thread.join()
    for o in ours(): repr(o)
    print(bad[:3])
""", both=False)
t.is_((r.out, r.rc), ("[]\n", 0), "another thread may read lazy objects at any time", r.err)

# Dicts that were read are used again for the next event, unless the script keeps or changed a part.
r = t.script("""
import copy, random
random.seed(5)
held = []
def hold(what):
    held.append((what, copy.deepcopy(what)))
def trace_unhandled(event_name, context, fields, sample):
    todo = random.randrange(14)
    assert list(fields)[:2] == ['common_cpu', 'common_s'] and len(sample['sample']) == 17, todo
    assert sample['sample']['time'] == fields['common_s'] * 10 ** 9 + fields['common_ns']
    assert sample['comm'] == fields['common_comm'] and sample['sample']['tid'] == fields['common_pid']
    if todo == 0: hold(fields)
    elif todo == 1: hold(sample)
    elif todo == 2: hold(sample['sample'])
    elif todo == 3: hold(fields['common_callchain'])
    elif todo == 4: hold(sample['sample']['values'])
    elif todo == 5: fields.clear()
    elif todo == 6: fields['new'] = 1
    elif todo == 7: del sample['sample']
    elif todo == 8: sample['sample'] = 5
    elif todo == 9: sample['sample']['ip'] = 'changed'
    elif todo == 10: sample['sample'].popitem()
    elif todo == 11: held.append((fields.keys(), list(fields)))
    elif todo == 12: sample['callchain'].append(1)
    elif todo == 13: fields['common_cpu'] += 1
def trace_end():
    for what, then in held:
        assert (list(what) if not isinstance(what, (dict, list)) else what) == then
    print(len(held) > 100)
""")
t.is_(r.out, "True\n", "dicts that the script keeps or changed are not used again", r.err)

# The same is true for frames of call chains: two chains of each event, and changes of their parts.
r = t.script("""
import copy, random
random.seed(7)
held = []
seen = {}
def hold(what):
    held.append((what, copy.deepcopy(what)))
def plain(chain):
    return repr(chain)
def trace_unhandled(event_name, context, fields, sample):
    key = sample['sample']['time'], sample['sample']['tid']
    chain, again = fields['common_callchain'], sample['callchain']
    assert chain and chain == again and chain is not again
    parts = [id(part) for c in (chain, again) for f in c for part in (f, f.get('sym', f))]
    assert len(set(parts)) == len({id(f) for c in (chain, again) for f in c}) + \\
        len([1 for c in (chain, again) for f in c if 'sym' in f]), 'each frame has dicts of its own'
    assert seen.setdefault(tuple(f['ip'] for f in chain), plain(chain)) == plain(again), (seen, chain)
    for c in chain, again:
        frame = random.choice(c)
        symbol = frame.get('sym', frame)
        todo = random.randrange(15)
        if todo == 0: hold(frame)
        elif todo == 1: hold(symbol)
        elif todo == 2: hold(c)
        elif todo == 3: frame['ip'] = 'changed'
        elif todo == 4: symbol['name'] = 'changed'
        elif todo == 5: frame['new'] = 1
        elif todo == 6: frame.pop('sym', None)
        elif todo == 7: frame['sym'] = {}
        elif todo == 8: symbol.clear()
        elif todo == 9: c.clear()
        elif todo == 10: c.append(c[0])
        elif todo == 11: held.append((frame.items(), list(frame.items())))
        elif todo == 12: held.append((iter(c), list(c)))
        elif todo == 13: fields['common_callchain'] = c[:1]
        elif todo == 14: frame['self'] = frame
def trace_end():
    for what, then in held:
        assert (what if isinstance(what, (dict, list)) else list(what)) == then, (what, then)
    print(len(held) > 100)
""", FRAMES)
t.is_(r.out, "True\n", "frames that the script keeps or changed are not used again", r.err)

# ---- names that are not read are not looked up -------------------------------------------------


def reads_symbols(script):
    """True if a run read the file of kernel symbols: its access time is updated if the file is
    newer."""
    path = t.write("kallsyms",
                   "ffffffff81000000 T _text\nffffffff81000100 T first\nffffffff82000000 T last\n")
    os.utime(path, (1, 2))
    r = run([SONDE, "script", "--kallsyms", path, "-i", FRAMES, "-s",
             t.write("symbols.py", script)],
            env=environment(SONDE_PYTHON=t.python), cwd=t.dir)
    return os.stat(path).st_atime != 1 if not r.rc and not r.err else r.err


if reads_symbols("def trace_unhandled(a, b, fields): fields['common_callchain']\n") is not True:
    t.skip("names of functions are looked up only if a script reads them",
           "this file system has no access times", installable=False)
else:
    for what, script in (("the fields", "def trace_unhandled(a, b, fields): pass\n"),
                         ("the sample", "def trace_unhandled(a, b, fields, sample): pass\n"),
                         ("the call chain",
                          "def raw_syscalls__sys_exit(a, b, c, d, e, f, g, callchain, id, ret): "
                          "pass\n")):
        t.is_(reads_symbols(script), False,
              "no name of a function is looked up if %s is not read" % what)

t.done()
