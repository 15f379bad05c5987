# SPDX-License-Identifier: MIT
"""`import sonde` in the user's own Python: sessions, events that may be kept, frames, errors."""

import os


from scripttest import BINDINGS, CHAINS, DEMO, EXEC, TYPES, Tests, environment, pythons, run

t = Tests()


def python(path, code, **env):
    return run([path, t.write("user.py", code)],
               env=environment(PYTHONPATH=BINDINGS + "/module", **env), cwd=t.dir)


CODE = """
import random, sonde, sys
DEMO, CHAINS, EXEC, TYPES = %r, %r, %r, %r

def line(e):
    return (e.name, e.time_ns, e.cpu, e.pid, e.tid, e.comm, e.text, sorted(map(str, e.fields.items())), e.raw, e.late,
            [(f.ip, f.cpumode, f.symbol, f.offset, f.dso) for f in e.callchain])

for window in (4096, 1 << 20):
    for path in (DEMO, CHAINS, EXEC, TYPES):
        dump = [line(e) for e in sonde.open(path, window=window)]
        events = list(sonde.open(path, window=window))
        order = list(range(len(events)))
        random.Random(1).shuffle(order)
        later = {i: line(events[i]) for i in order}
        assert [later[i] for i in range(len(events))] == dump, path
        kept = [e for i, e in enumerate(sonde.open(path, window=window)) if i %% 7 == 0]
        assert [line(e) for e in kept] == dump[::7], path
        assert [e.time_ns for e in events] == sorted(e.time_ns for e in events)

frames = [f for e in sonde.open(CHAINS) for f in e.callchain]
assert len(frames) > 50 and all(f.cpumode == 1 for f in frames) and 'Frame 0xffffffff' in repr(frames[0])
comms = [e.comm for e in sonde.open(EXEC, window=4096)]
assert comms == [e.comm for e in list(sonde.open(EXEC, window=4096))] and comms[0] == 'sh' and 'env' in comms and comms[-1] == 'ls'

with sonde.open(DEMO) as rec:
    it = iter(rec)
    first = next(it)
    assert iter(it) is it and first['fd'] == first.fd == first.f.fd == first.fields['fd'], first.fields
    assert 'fd' in first and 'nothing' not in first and first.get('nothing', 3) == 3 == first.get('fd')
    for bad, kind in (('nothing', sonde.UnknownField), (99, TypeError), (None, TypeError)):
        try: first[bad]
        except kind: pass
        else: assert 0, bad
    try: first.fb
    except AttributeError as e: assert 'did you mean' in str(e) and (e.name, e.near, e.event) == ('fb', ('fd',), first.name), e
    assert 'sched:sched_switch' in rec.schemas
    kinds = {name: schema.kind for name, schema in rec.schemas.items()}
    switch = rec.schemas['sched:sched_switch']
    assert set(kinds.values()) == {'tracepoint'} and list(switch.fields)[-7:] == ['prev_comm', 'prev_pid', 'prev_prio', 'prev_state', 'next_comm', 'next_pid', 'next_prio']
    assert switch.fields['prev_pid'].type == 'pid_t' and switch.family == switch.id and first.schema.name == first.name
    state = switch.fields['prev_state']
    assert state.flags and state.values[1] == 'S' and (state.size, state.signed, state.array, state.arrow) == (8, True, False, 'l'), state
    assert rec.info('arch') == 'x86_64' and rec.info('nothing') is None and rec.info('byte-order') == 'little'
    assert it.defects == [] and it.defects_line == '' and 'input=' in it.text and rec.defects == [] and rec.lost == 0
    text = it.text
    assert sum(1 for e in it) == 473 and sum(1 for e in rec) == 474 and rec.count() == 474
assert line(first)[0] == first.name  # still there after the recording was closed
for f in (lambda: next(it), lambda: it.schemas, lambda: it.info('arch'), lambda: switch.kind, lambda: iter(rec), lambda: rec.schemas):
    try: f()
    except ValueError as e: assert 'closed' in str(e)
    else: assert 0
rec.close()
s = sonde.session(text)
assert sum(1 for e in s) == 474 and list(s) == []
assert sum(1 for e in sonde.open(DEMO, cpu='1')) < 474
assert {e.comm for e in sonde.open(DEMO, comm=['cat', 'grep'])} == {'cat', 'grep'}
assert {e.cpu for e in sonde.open(DEMO, cpu=[0])} == {0}
s = sonde.session('input=%%s\\n' %% DEMO); s.stop(); assert list(s) == []
rows = sonde.profile(DEMO, keys=['comm', 'cpu'])
assert sum(r['samples'] for r in rows) == 474 and {r['comm'] for r in rows} >= {'cat', 'grep'}, rows
s = iter(sonde.open(DEMO)); held = next(s); rows = sonde.profile(s, keys='comm')
assert sum(r['samples'] for r in rows) == 473 and list(s) == [] and held.name == 'syscalls:sys_enter_read'
assert all(r['children_period'] == r['period'] for r in rows) and rows[0]['event'] == held.name
try: sonde.profile(DEMO, keys='comn')
except sonde.Error as e: assert 'did you mean comm' in str(e), e
else: assert 0
p, half = sonde.profile(DEMO, keys='comm'), sonde.profile(DEMO, keys='comm', callgraph='caller', comms='cat')
twice, rest, none = p.merge(p), p.merge(p).subtract(p), p.subtract(p)
assert {r['comm']: r['samples'] * 2 for r in p} == {r['comm']: r['samples'] for r in twice}, twice.rows
assert rest.rows == p.rows and rest.facts['is_difference'] and not twice.facts['is_difference']
assert len(none) == len(p) and not any(r['period'] for r in none) and none.facts['samples'] == 0
assert min(r['samples'] for r in p.subtract(twice)) < 0 and p.facts['samples'] == 474
assert half.tree(0) == [] and half.tree(-1) == [] and p[0] is p.rows[0] and 'sonde.Profile' in repr(p)
for call, kind in ((lambda: p.merge(5), TypeError), (lambda: half.tree(1000), IndexError), (lambda: half.tree('x'), TypeError),
                   (sonde.Profile if hasattr(sonde, 'Profile') else type(p), TypeError),
                   (lambda: half.merge(p), sonde.Error), (lambda: p.subtract(sonde.profile(DEMO, keys='cpu')), sonde.Error)):
    try: call()
    except kind as e: assert str(e)
    else: assert 0, kind
switched = sonde.pair('sched:sched_switch', 'sched:sched_switch', ('next_pid', 'prev_pid'))
began, ran = {}, []
for e in sonde.open(DEMO, events='sched:sched_switch'):
    if began.get(e.prev_pid): ran.append(e.time - began[e.prev_pid].pop())
    began.setdefault(e.next_pid, []).append(e.time)
rec = sonde.open(DEMO, events=switched)
assert [e.ns for e in rec] == ran == sonde.open(DEMO).table(switched, 'ns')['ns'].to_list() and len(ran) > 50, ran
facts = rec.pairs[switched]
assert (facts.pairs, facts.dropped) == (len(ran), 0) and facts.unmatched_starts + facts.pairs == 155, facts
assert sonde.open(DEMO).select('sched:sched_wakeup,' + switched).count(by='name') == {'sched:sched_wakeup': 35, switched: len(ran)}
assert set(next(iter(rec)).keys()) >= {'ns', 'next_pid', 'stop_next_pid'} and rec.select(where='ns > 0').count() <= len(ran)
for bad, kind in (((), TypeError), (('a', 'b', ()), sonde.OptionError)):
    try: sonde.pair(*bad)
    except kind: pass
    else: assert 0, bad
signed = [e for e in sonde.open(TYPES)]
assert signed[0].s8 == -1 and signed[0].s32 == -3 and signed[0].text.startswith('(') and signed[0]['text'] == 'plain'
assert next(iter(sonde.open(TYPES, compat='perf-6.1'))).s8 == 255

for call, kind in ((lambda: sonde.open('/nothing/there'), sonde.Error), (lambda: sonde.open(DEMO, colour='red'), sonde.Error),
                   (lambda: sonde.open(DEMO, time='x'), sonde.Error), (lambda: sonde.open(DEMO, time='1\\n2'), ValueError),
                   (lambda: sonde.open(None), TypeError), (lambda: sonde.open('a', 'b'), TypeError), (lambda: sonde.session(5), TypeError),
                   (lambda: sonde.session('input=a\\0b'), ValueError), (lambda: sonde.session('nonsense'), sonde.Error)):
    try: call()
    except kind as e: assert str(e)
    else: assert 0, kind
try: sonde.open('/nothing/there')
except OSError as e: assert e.errno == 2 and '/nothing/there' in str(e), e

import threading
a, b = sonde.open(DEMO), sonde.open(DEMO)
counts = []
def count(s): counts.append(sum(1 for e in s))
threads = [threading.Thread(target=count, args=(x,)) for x in (a, b)]
[x.start() for x in threads]; [x.join() for x in threads]
assert counts == [474, 474], counts
for thing in (sonde.open, sonde.session, sonde.Session, sonde.Event, sonde.Schema, sonde.Frame, sonde.Error, sonde.Event.time_ns, sonde.Session.info,
              *(getattr(sonde, name) for name in sonde.__all__)):
    assert thing.__doc__, thing
import gc
del events, kept, frames, first, a, b, threads, it, rec; gc.collect()
print('fine')
""" % (DEMO, CHAINS, EXEC, TYPES)

for name, path in pythons():
    r = python(path, CODE)
    t.is_((r.out, r.rc), ("fine\n", 0), "events, lists of them, frames, schemas and errors in %s" %
          name, r.err)

LEAK = """
import sonde, resource
def once():
    for e in sonde.open(%r, window=4096):
        e.text, e.fields, e.callchain, e.schema
for i in range(20): once()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for i in range(150): once()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2000)
""" % CHAINS
if os.environ.get("SONDE_ASAN"):
    t.skip("no memory is leaked",
           "ASan manages the memory") if not os.environ.get("SONDE_CI") else None
else:
    r = python(t.python, LEAK)
    t.is_(r.out, "True\n", "no memory is leaked", r.err)

t.done()
