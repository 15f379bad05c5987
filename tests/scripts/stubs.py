# SPDX-License-Identifier: MIT
"""The type stub of `import sonde`: mypy accepts it, and it has the module's names and no others."""

import ast
import shutil

from scripttest import BINDINGS, DEMO, HERE, Tests, environment, pythons, run

t = Tests()
STUB = BINDINGS + "/module/sonde/__init__.pyi"
TYPED = HERE + "/typed.py"


def mypy(name, *args):
    r = run(["mypy", "--strict", "--python-version", "3.9", "--cache-dir", t.dir + "/cache",
             *args], env=environment(MYPYPATH=BINDINGS + "/module", LD_PRELOAD=""), cwd=t.dir)
    return t.ok(r.rc == 0, name, r.out, r.err)


if shutil.which("mypy"):
    mypy("mypy --strict accepts the stub", STUB)
    mypy("mypy --strict accepts a program with types", TYPED)
    wrong = t.write("wrong.py", "import sonde\nfor e in sonde.open('x'):\n    n: str = e.cpu\n"
                    "sonde.open(evnts=3, clock='utc')\nsonde.open('x').cuont()\n"
                    "sonde.open('x', clock='mars')\n")
    r = run(["mypy", "--strict", "--cache-dir", t.dir + "/cache", wrong],
            env=environment(MYPYPATH=BINDINGS + "/module", LD_PRELOAD=""), cwd=t.dir)
    t.is_([line.split(":")[1] for line in r.out.splitlines() if ": error:" in line],
          ["3", "5", "6"], "mypy finds mistakes in a program", r.out, r.err)
else:
    t.skip("mypy accepts the stub", "there is no mypy")


# ---- the stub and dir() --------------------------------------------------------------------------

def names_of(body):
    """Names that statements of a stub define."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.AnnAssign):
            yield node.target.id


with open(STUB) as f:
    tree = ast.parse(f.read())
CLASSES = {node.name: (sorted(set(names_of(node.body))), [ast.unparse(b) for b in node.bases])
           for node in tree.body if isinstance(node, ast.ClassDef)}
MODULE = sorted(n for n in set(names_of(tree.body)) if n == "__version__" or n[0] != "_")
ALL = sorted(next(ast.literal_eval(node.value) for node in tree.body
                  if isinstance(node, ast.Assign)))

CODE = """
import inspect, sonde, sys
DEMO, CLASSES, MODULE, ALL = %r, %r, %r, %r
# Special names that every class has, that the stub has another way, or that are no one's business.
SILENT = set(dir(type('C', (), {}))) | {
    '__getattribute__', '__init__', '__new__', '__abstractmethods__', '__slots__', '__buffer__',
    '__release_buffer__', '__static_attributes__', '__firstlineno__', '__annotations__'}
ORDERED = {'__eq__', '__ne__', '__hash__', '__lt__', '__le__', '__gt__', '__ge__'}

public = sorted(n for n in dir(sonde) if n[0] != '_' and n not in ('annotations',)
                and not inspect.ismodule(getattr(sonde, n)))
assert sorted(sonde.__all__) == ALL == public, (sonde.__all__, ALL, public)
# args, target and is_live are of a run: the module computes them when it is asked
assert [n for n in MODULE if n not in ('__version__', 'args', 'is_live', 'target')] == ALL, (MODULE, ALL)
assert isinstance(sonde.args, list) and sonde.target is None and sonde.is_live is False
assert isinstance(sonde.__version__, str)

rec = sonde.open(DEMO)
s = sonde.session('input=' + DEMO + '\\n')
events = [e for e, n in zip(rec, range(100))]
table = rec.table('sched:sched_switch')
objects = {'Recording': rec, 'Session': s, 'Event': events[0], 'Table': table,
           'Column': table['time'], 'Stack': events[0].callchain, 'Sample': events[0].sample,
           'Schema': events[0].schema, 'Profile': rec.profile(keys='comm'),
           'Aggregate': sonde.count('x'), 'Field': rec.schemas['sched:sched_switch'].fields['prev_state']}
for call in (lambda: events[0].nothing, lambda: sonde.open(DEMO, events='nothing'),
             lambda: sonde.open(DEMO + '.none'), lambda: sonde.open(DEMO, on_loss='x'),
             lambda: sonde.open('/')):
    try: call()
    except sonde.Error as e: objects[type(e).__name__] = e
assert {'UnknownField', 'UnknownEvent', 'InputNotFoundError', 'OptionError'} <= set(objects)

def with_own(names, cls, bases):
    others = set()
    for b in bases: others |= set(dir(b))
    return {n for n in names if n not in others or n in vars(cls)}

for name, (stubbed, bases) in CLASSES.items():
    cls, stubbed = getattr(sonde, name), set(stubbed)
    if issubclass(cls, BaseException):
        assert [b.__name__ for b in cls.__bases__] == bases, (name, cls.__bases__, bases)
        if name in objects:
            has = dir(objects[name])
            assert stubbed <= set(has), (name, stubbed - set(has))
            more = set(vars(objects[name])) - stubbed - {'errno', 'advice', 'name', 'obj'}
            assert not more, (name, more)
        continue
    real = with_own(dir(cls), cls, [b for b in cls.__mro__[1:] if b is not object])
    real |= set(getattr(objects.get(name), '__dict__', ()))
    if issubclass(cls, tuple):  # a struct sequence or a named tuple: only its members are its own
        real = {n for n in real
                if type(vars(cls)[n]).__name__ in ('member_descriptor', '_tuplegetter')}
    real = {n for n in real if n[:1] != '_' or n[:2] == '__' and n not in SILENT}
    real |= {n for n in ORDERED if n in vars(cls) and n in stubbed}
    real |= {'__dir__'} if '__dir__' in vars(cls) else set()
    if name in ('Event', 'Fields'):
        assert '__getattribute__' in vars(cls)
        real.add('__getattr__')  # any field
    assert real == stubbed, (name, 'only in dir():', real - stubbed, 'only in the stub:',
                             stubbed - real)
    for n in real:
        if n[:2] != '__' and n in vars(cls):
            assert getattr(vars(cls)[n], '__doc__', None), (name, n, 'has no docstring')
    assert cls.__doc__, name
print('fine')
""" % (DEMO, CLASSES, MODULE, ALL)

for name, path in pythons():
    r = run([path, t.write("user.py", CODE)], env=environment(PYTHONPATH=BINDINGS + "/module"),
            cwd=t.dir)
    t.is_((r.out, r.rc), ("fine\n", 0), "dir() and the stub have the same names in %s" % name,
          r.err)

# Parameters of what is written in Python, in both directions.
FUNCTIONS = {}
for node in tree.body:
    for owner, f in ([("", node)] if isinstance(node, ast.FunctionDef) else
                     [(node.name + ".", g) for g in node.body if isinstance(g, ast.FunctionDef)]
                     if isinstance(node, ast.ClassDef) and node.name in ("Recording", "Table")
                     else []):
        if not f.name.startswith("__"):
            a = f.args
            FUNCTIONS[owner + f.name] = ([p.arg for p in a.posonlyargs + a.args],
                                         [p.arg for p in a.kwonlyargs],
                                         [p.arg for p in (a.vararg, a.kwarg) if p])
r = run([t.python, t.write("user.py", """
import inspect, operator, sonde
K = inspect.Parameter
for name, (plain, only, more) in %r.items():
    f = operator.attrgetter(name)(sonde)
    if not inspect.isfunction(f): continue
    p = list(inspect.signature(f).parameters.values())
    real = ([q.name for q in p if q.kind in (K.POSITIONAL_ONLY, K.POSITIONAL_OR_KEYWORD)],
            [q.name for q in p if q.kind == K.KEYWORD_ONLY],
            [q.name for q in p if q.kind in (K.VAR_POSITIONAL, K.VAR_KEYWORD)])
    assert real == (plain, only, more), (name, real, (plain, only, more))
print('fine')
""" % FUNCTIONS)], env=environment(PYTHONPATH=BINDINGS + "/module"), cwd=t.dir)
t.is_((r.out, r.rc), ("fine\n", 0), "functions and the stub have the same parameters", r.err)

r = run([t.python, TYPED, DEMO], env=environment(PYTHONPATH=BINDINGS + "/module"), cwd=t.dir)
t.ok(r.rc == 0 and r.out.endswith("\n"), "the program with types runs", r.out, r.err)
t.done()
