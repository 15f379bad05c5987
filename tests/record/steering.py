# SPDX-License-Identifier: MIT
"""Times when events are enabled: -D, and --control with its commands and answers, as in perf."""
import os
import re
import select
import signal
import subprocess
import threading
import time

import perfdata
from tap import (PERF_ENV, SONDE, case, few_symbols, is_recording, need, perf, run, same, sh, sonde,
                 wait_until)

EVENT = 'sched:sched_switch'
# Sleeps 500 times a second. Prints the time of its start in a line, then a character after each
# sleep.
SWITCHER = ('import time\nprint(time.monotonic_ns(), flush=True)\n'
            'while True: time.sleep(0.002); print(end=".", flush=True)')
LISTED = ('cs', 'cpu-clock', 'page-faults', 'dummy', 'my{')
# Between the clocks of two cpus, and between this test's clock and that of events.
SLACK_NS = 2000000
PYTHON = 'python3'


def times(path='x.data', event=0):
    f = perfdata.File(path)
    return sorted(t for attr, pid, tid, t, raw in f.samples() if f.attrs.index(attr) == event)


class Recorder:
    """A recorder in the background with a channel for commands and one for answers."""
    def __init__(self, *argv, tool=(SONDE,), fifo=False):
        self.fifo = fifo
        if fifo:
            os.mkfifo('ctl')
            os.mkfifo('ack')
            self.commands, self.answers = (os.open('ctl', os.O_RDWR),
                                           os.open('ack', os.O_RDWR | os.O_NONBLOCK))
            channel, pass_fds = 'fifo:ctl,ack', ()
        else:
            theirs, self.commands = os.pipe()
            self.answers, ack = os.pipe()
            channel, pass_fds = 'fd:%d,%d' % (theirs, ack), (theirs, ack)
        self.p = subprocess.Popen([*tool, 'record', '-o', 'x.data', '--control', channel, *argv],
                                  env=PERF_ENV, pass_fds=pass_fds, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                  start_new_session=True)
        self.killer = threading.Timer(200, self.p.kill)
        self.killer.start()
        for fd in pass_fds:
            os.close(fd)
        wait_until('it records', lambda: is_recording(self.p, 'x.data'))

    def answer(self, seconds=300):
        text = more = b''
        while (not text.endswith((b'\n', b'\0')) and
               select.select([self.answers], [], [], seconds)[0]):
            more = os.read(self.answers, 4096)
            need(more, 'the recorder has ended: %s' % text)
            text += more
        # perf also writes the zero byte after its answer.
        while more and select.select([self.answers], [], [], 0.02)[0]:
            more = os.read(self.answers, 4096)
            text += more
        return text.decode()

    def send(self, command, end='\n', seconds=300):
        os.write(self.commands, (command + end).encode())
        return self.answer(seconds)

    def ask(self, command):
        same(self.send(command), 'ack\n', command)

    def hear(self, text):
        """Returns when the recorder has written this text to stderr."""
        said = ''
        while text not in said:
            line = self.p.stderr.readline()
            need(line, 'no %r in: %s' % (text, said))
            said += line

    def end(self, status=0):
        err = self.p.communicate(timeout=600)[1]
        self.close()
        same(self.p.returncode, status, err)
        return err

    def close(self):
        self.killer.cancel()
        for fd in (self.commands, self.answers):
            os.close(fd)
        if self.fifo:
            os.unlink('ctl')
            os.unlink('ack')

    def __enter__(self):
        return self

    def __exit__(self, *why):
        if self.p.poll() is None:
            os.killpg(self.p.pid, signal.SIGKILL)
            self.p.communicate()
            self.close()


class Switcher:
    def __enter__(self):
        self.p = subprocess.Popen([PYTHON, '-c', SWITCHER], stdout=subprocess.PIPE, bufsize=0)
        self.pid = self.p.pid
        self.begin_ns = int(self.p.stdout.readline())
        return self

    def __exit__(self, *why):
        self.p.kill()
        self.p.communicate()

    def wait(self, times=20):
        """Returns when it has slept so many times from now on."""
        while select.select([self.p.stdout], [], [], 0)[0]:
            self.p.stdout.read(1 << 16)
        while times > 0:
            need(select.select([self.p.stdout], [], [], 60)[0], 'it does not run')
            times -= len(self.p.stdout.read(times))


def record_until_events(*argv):
    """Ends a recorder when its file has events; returns its stderr."""
    p = subprocess.Popen([SONDE, 'record', '-k', 'monotonic', '-e', EVENT, '-o', 'x.data', *argv],
                         env=PERF_ENV, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, text=True)
    try:
        wait_until('it records', lambda: is_recording(p, 'x.data'))
        wait_until('its file has events', times)
        p.send_signal(signal.SIGINT)
        return p.communicate(timeout=600)[1]
    finally:
        p.kill()


def evlists(*options):
    text = []
    for argv in (('perf', 'record'), (SONDE, 'record')):
        r = sh(*argv, '-q', '-o', 'x.data', *options)
        same(r.returncode, 0, '%r: %s' % (options, r.stderr))
        text.append(re.sub(r'\|(ID|IDENTIFIER)\b', '',
                           sh('perf', 'evlist', '-v', '-i', 'x.data').stdout))
    return text


@case('-D N: no event before N milliseconds, and tasks have their names')
def _():
    begin = time.monotonic_ns()
    said = record_until_events('-q', '-D', '300', '--', 'timeout', '300', PYTHON, '-c', SWITCHER)
    same(said, '')
    t = times()
    need(t and t[0] > begin + 300 * 10**6,
         'the first event is %.3f s after the start' % ((t[0] - begin) / 1e9))
    text = sonde('script', '-i', 'x.data', '-F', 'comm').stdout.split()
    need(set(text) <= {'python3', 'timeout'}, 'names: %r' % set(text))
    with Switcher() as p:
        begin = time.monotonic_ns()
        said = record_until_events('-D', '300', '-p', str(p.pid))
        t = times()
        need(t and t[0] > begin + 300 * 10**6,
             'the first event is %.3f s after the start' % ((t[0] - begin) / 1e9))
        need('events are disabled' in said and 'events are enabled' in said, said)


@case('-D 0 waits for nothing, and -D -1 for --control')
def _():
    r = sonde('record', '-D', '0', '-e', EVENT, '-o', 'x.data', '--', 'sleep', '0.01')
    need(r.returncode == 0 and 'disabled' not in r.stderr and times(), r.stderr)
    r = sonde('record', '-D', '-1', '-e', EVENT, '-o', 'x.data', '--', 'sleep', '0.01')
    need(r.returncode == 0 and '--control' in r.stderr and not times(), r.stderr)


@case("-D: the same attrs as perf's for a command and whole cpus; for processes the dummy is "
      "enabled from the start")
def _():
    perf()
    for options in (['-D', '5', '-e', 'cs', '--', 'true'],
                    ['-D', '5', '-a', '-e', 'cs', '--', 'true'],
                    ['-D', '1-60000', '-e', 'cs', '--', 'true'],
                    ['-D', '-1', '-e', 'cs,' + EVENT, '--', 'true']):
        theirs, ours = evlists(*options)
        same(ours, theirs, repr(options))
        need('dummy' in ours, ours)
    theirs, ours = evlists('-D', '5', '-p', str(os.getpid()), '-e', 'cs', '--', 'true')
    same(ours.split('\n')[0], theirs.split('\n')[0])
    same(ours.split('\n')[1],
         theirs.split('\n')[1].replace(' disabled: 1,', '').replace(' enable_on_exec: 1,', ''))


@case('-D with ranges: no events outside of them, and the recording ends with the last')
def _():
    # On a busy machine a range may end before recorder and switcher have run.
    for attempt in range(5):
        with Switcher() as p:
            begin = time.monotonic_ns()
            r = sonde('record', '-k', 'monotonic', '-D', '100-200 , 500-600', '-p', str(p.pid),
                      '-e', EVENT, '-o', 'x.data')
            same(r.returncode, 0, r.stderr)
            same(re.findall('events are (..)', r.stderr), ['di', 'en', 'di', 'en', 'di'])
        t = times()
        gap = max((b - a for a, b in zip(t, t[1:])), default=0)
        need(not t or t[0] > begin + 100 * 10**6, 'not before the first')
        if gap > 200 * 10**6:
            break
    need(gap > 200 * 10**6, 'a gap between them: %d' % gap)
    for attempt in range(5):
        r = sonde('record', '-D', '0-50,60-100', '-e', EVENT, '-o', 'x.data', '--', 'sleep', '600')
        need(r.returncode == 143, 'the command is ended, as by perf: %s' % r.stderr)
        need(perfdata.File('x.data').finished, 'the file is finished')
        if times():
            break
    need(times(), 'events')


@case('-D refuses values that are no time')
def _():
    for text in ('', 'x', '-2', '-10', '1.5', '10ms', '10-', '-1-5', '10-20,', '10-20,30', '10,20',
                 '99999999999'):
        r = sonde('record', '-D', text, '-o', 'x.data', '-e', 'cs', '--', 'touch', 'ran')
        need(r.returncode == 2 and '-D needs milliseconds' in r.stderr, '%r: %s' % (text, r.stderr))
    for text in ('5-5', '10-5', '10-20,15-30', '10-20,20-30'):
        r = sonde('record', '-D', text, '-o', 'x.data', '-e', 'cs', '--', 'touch', 'ran')
        need(r.returncode == 2 and 'each range must end after it begins' in r.stderr,
             '%r: %s' % (text, r.stderr))
    same(os.listdir(), [], 'files')


def switched(fifo):
    with Switcher() as p, Recorder('-k', 'monotonic', '-D', '-1', '-p', str(p.pid), '-e', EVENT,
                                   '-e', 'cs:u', fifo=fifo) as r:
        ranges = []
        for i in range(3):
            p.wait()
            begin = time.monotonic_ns()
            r.ask('enable')
            p.wait()
            r.ask('disable')
            ranges.append((begin, time.monotonic_ns()))
        r.ask('stop')
        said = r.end()
    same(re.findall('events are (..)', said), ['di'] + ['en', 'di'] * 3, said)
    inside = [0] * len(ranges)
    for t in times():
        at = [i for i, (begin, end) in enumerate(ranges) if begin - SLACK_NS <= t <= end + SLACK_NS]
        need(at, 'an event outside the ranges: %d, %r' % (t, ranges))
        inside[at[0]] += 1
    need(all(inside), 'events in each range: %r' % inside)


@case('--control fd: enable, disable and stop, each answered after it is done')
def _():
    switched(fifo=False)


@case('--control fifo: the same')
def _():
    switched(fifo=True)


@case('enable and disable of one event')
def _():
    with Switcher() as p, Recorder('-k', 'monotonic', '-D', '-1', '-p', str(p.pid), '-e', EVENT,
                                   '-e', 'sched:sched_wakeup,sched:sched_waking') as r:
        r.ask('enable ' + EVENT)
        p.wait()
        off = time.monotonic_ns()
        r.ask('disable ' + EVENT)
        on = time.monotonic_ns()
        r.ask('enable sched:sched_wakeup')
        same(r.send('enable no:such'), "failed: there is no event 'no:such'\n")
        time.sleep(0.1)
        r.ask('stop')
        said = r.end()
    need('event %s is enabled' % EVENT in said and 'event %s is disabled' % EVENT in said, said)
    a = times(event=0)
    need(a and a[-1] <= on + SLACK_NS and a[0] < off, 'first event')
    same(times(event=2), [], 'the third')


@case('ping, evlist and wrong commands')
def _():
    perf()
    # (command, what ends it)
    right = [('ping', '\n'), ('ping ', '\n'), ('ping', '\0'), ('ping', ''), ('evlist', '\n'),
             ('evlist -v', '\n'),
             ('evlist -F', '\n'), ('evlist -g', '\n'), ('enable', '\n'), ('disable', '\n')]
    wrong = [('bogus', 'commands are'), ('enablefoo', 'commands are'),
             ('evlist -x', 'evlist takes'), ('ack', 'commands are'),
             ('snapshot', 'hardware tracing'), ('x' * 10000, 'too long'),
             ('\x01\xff%s%n', 'commands are')]
    said = {}
    for name, tool in (('perf', ('perf',)), ('sonde', (SONDE,))):
        with Recorder('-e', 'cs,my{cpu-clock,page-faults}', '-c', '7', '-D', '-1', '--', 'sleep',
                      '60', tool=tool) as r:
            for command, end in right:
                same(r.send(command, end).rstrip('\0'), 'ack\n', '%s to %s' % (command, name))
            if name == 'sonde':
                for command, why in wrong:
                    answer = r.send(command)
                    need(answer.startswith('failed: ') and answer.endswith('\n') and why in answer,
                         answer)
                same(r.send('', seconds=0.1), '', 'an empty line')
                same(r.send('ping\nping\n\nping'), 'ack\n' * 3, 'several at once')
            same(r.send('stop').rstrip('\0'), 'ack\n')
            r.p.wait(timeout=600)
            said[name] = r.p.stderr.read()
            r.p.stderr.close()
            r.close()
    # evlist prints perf's lines, with the name of the program before each.
    listed = [x for x in said['perf'].split('\n') if x.startswith(LISTED)]
    ours = [x[len('sonde: '):] for x in said['sonde'].split('\n')]
    need(len(listed) == 15 and 'my{cpu-clock,page-faults}' in listed, said['perf'])
    same([re.sub(r'\|(ID|IDENTIFIER)(?=,)', '', x, 1) for x in ours if x.startswith(LISTED)],
         [re.sub(r'\|(ID|IDENTIFIER)(?=,)', '', x, 1) for x in listed])
    need('failed' not in said['sonde'] and '--control: evlist takes -v, -g or -F' in said['sonde'],
         said['sonde'])


@case('answers are not read, or the other end is closed: the recording continues')
def _():
    until = 'until [ -e go ]; do sleep 0.02; done'
    with Recorder('-e', EVENT, '--', 'sh', '-c', until) as r:
        # More answers than a pipe holds; each write waits until the recorder has read.
        for i in range(101):
            os.write(r.commands, b'ping\n' * 200)
        r.hear('could not be written')
        with open('go', 'w'):
            said = r.end()
    need(perfdata.File('x.data').finished, said)
    os.unlink('go')
    r = Recorder('-v', '-e', EVENT, '--', 'sh', '-c', until)
    os.close(r.commands)
    os.close(r.answers)
    r.commands, r.answers = os.open('/dev/null', os.O_RDWR), os.open('/dev/null', os.O_RDWR)
    r.hear('the other end is closed')
    with open('go', 'w'):
        said = r.end()
    need(times(), said)


@case('the shell script of the manual page')
def _():
    script = '''
        mkfifo ctl ack
        exec {ctl}<>ctl {ack}<>ack
        "$0" record -D -1 -e %s -o x.data --control fd:${ctl},${ack} -- sh -c 'until [ -e done ]; do sleep 0.1; done' &
        sleep 0.3 && echo enable >&${ctl} && read -u ${ack} e1 && echo "enabled(${e1})"
        sleep 0.3 && echo disable >&${ctl} && read -u ${ack} d1 && echo "disabled(${d1})"
        : > done
        wait -n
    ''' % EVENT
    r = sh('bash', '-c', script, SONDE)
    same((r.returncode, r.stdout), (0, 'enabled(ack)\ndisabled(ack)\n'), r.stderr)
    need(times(), 'events')


@case('a recorded command may control its recorder')
def _():
    theirs, ours = os.pipe()
    answers, ack = os.pipe()
    script = ('import os, time\n'
              'def send(x):\n'
              '    os.write(%d, x + b"\\n")\n'
              '    assert os.read(%d, 100) == b"ack\\n"\n'
              'time.sleep(0.05); print(time.monotonic_ns()); send(b"enable"); time.sleep(0.05); '
              'send(b"disable")\n'
              % (ours, answers))
    r = sonde('record', '-q', '-k', 'monotonic', '-D', '-1', '-e', EVENT, '-o', 'x.data',
              '--control', 'fd:%d,%d' % (theirs, ack), '--', PYTHON, '-c', script,
              pass_fds=(theirs, ours, answers, ack))
    same(r.returncode, 0, r.stderr)
    need(times() and times()[0] >= int(r.stdout) - SLACK_NS, 'events')
    for fd in (theirs, ours, answers, ack):
        os.close(fd)


@case('--control refuses wrong channels')
def _():
    with open('file', 'w'):
        pass
    for text, status, says in (('foo', 2, '--control needs'), ('fd:', 2, '--control needs'),
                               ('fd:x', 2, '--control needs'),
                               ('fd:0,', 2, '--control needs'), ('fd:0,x', 2, '--control needs'),
                               ('fifo:', 2, '--control needs'), ('fifo:a,', 2, '--control needs'),
                               ('fd:77', 1, 'descriptor 77 is not open'),
                               ('fd:0,77', 1, 'descriptor 77 is not open'),
                               ('fifo:no', 1, 'mkfifo no'), ('fifo:file', 1, 'file is not a fifo')):
        r = sonde('record', '--control', text, '-o', 'x.data', '-e', 'cs', '--', 'touch', 'ran')
        need(r.returncode == status and says in r.stderr,
             '%r: %d %s' % (text, r.returncode, r.stderr))
    same(os.listdir(), ['file'], 'files')


few_symbols()
run()
