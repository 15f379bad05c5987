# SPDX-License-Identifier: MIT
"""A headless Chromium, driven through a pair of pipes by its debugging protocol.

    with Chromium(program) as browser:
        browser.open('file:///tmp/x.html')
        browser.evaluate('document.title')
        browser.type('text'); browser.press('Enter'); browser.click(10, 20)
"""
import fcntl
import json
import os
import shutil
import subprocess
import tempfile
import time

NAMES = ('chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable')
SECONDS = 120  # most that one answer may take


def find():
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Chromium:
    def __init__(self, program, size=(1200, 800)):
        self.folder = tempfile.mkdtemp()
        to_read, self.to = os.pipe()
        self.from_, to_write = os.pipe()

        def connect():  # the browser reads 3 and writes 4
            high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (to_read, to_write)]
            for fd, wanted in zip(high, (3, 4)):
                os.dup2(fd, wanted)
                os.close(fd)

        self.process = subprocess.Popen(
            [program, '--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run',
             '--disable-dev-shm-usage', '--disable-background-networking',
             '--disable-component-update', '--disable-sync', '--mute-audio', '--hide-scrollbars',
             '--user-data-dir=' + self.folder, '--window-size=%d,%d' % size,
             '--remote-debugging-pipe', 'about:blank'],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            close_fds=False, preexec_fn=connect)
        os.close(to_read)
        os.close(to_write)
        self.nr, self.rest, self.session, self.problems, self.requests = 0, b'', None, [], []
        targets = self.call('Target.getTargets')['targetInfos']
        page = next(t['targetId'] for t in targets if t['type'] == 'page')
        self.session = self.call('Target.attachToTarget', targetId=page, flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Log', 'Network'):
            self.call(domain + '.enable')

    def message(self):
        while b'\0' not in self.rest:
            more = os.read(self.from_, 1 << 16)
            if not more:
                raise EOFError('the browser ended')
            self.rest += more
        text, _, self.rest = self.rest.partition(b'\0')
        return json.loads(text)

    def call(self, method, **params):
        self.nr += 1
        command = {'id': self.nr, 'method': method, 'params': params}
        if self.session:
            command['sessionId'] = self.session
        os.write(self.to, json.dumps(command).encode() + b'\0')
        while True:
            m = self.message()
            self.note(m)
            if m.get('id') == self.nr:
                if 'error' in m:
                    raise RuntimeError('%s: %s' % (method, m['error']))
                return m['result']

    def note(self, m):
        if m.get('method') == 'Runtime.exceptionThrown':
            self.problems.append(json.dumps(m['params']['exceptionDetails'])[:600])
        elif m.get('method') == 'Log.entryAdded':
            self.problems.append(m['params']['entry']['text'])
        elif m.get('method') == 'Network.requestWillBeSent':
            self.requests.append(m['params']['request']['url'])

    def open(self, url):
        self.problems, self.requests = [], []
        self.call('Page.navigate', url='about:blank')
        self.call('Page.navigate', url=url)
        self.until('document.readyState === "complete" && location.href !== "about:blank"')

    def evaluate(self, expression):
        answer = self.call('Runtime.evaluate', expression=expression, returnByValue=True,
                           awaitPromise=True)
        if 'exceptionDetails' in answer:
            raise RuntimeError('%s: %s' % (expression, answer['exceptionDetails']))
        return answer['result'].get('value')

    def until(self, expression):
        end = time.monotonic() + SECONDS
        while not self.evaluate(expression):
            if time.monotonic() > end:
                raise TimeoutError(expression)
            time.sleep(.02)

    def text(self, element):
        """What the page shows in an element, once it has drawn."""
        self.evaluate(
            'new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))')
        return self.evaluate('document.getElementById(%s).textContent' % json.dumps(element))

    def address(self):
        """What follows the page's address, once the page has stored what it shows."""
        return self.evaluate('new Promise(done => setTimeout(() => done(location.hash), 400))')

    def type(self, text):
        self.call('Input.insertText', text=text)

    def press(self, key):
        text = {'Enter': '\r'}.get(key, key if len(key) == 1 else '')
        event = {'key': key, 'text': text} if text else {'key': key}
        if key == 'Enter':
            event.update(code='Enter', windowsVirtualKeyCode=13)
        self.call('Input.dispatchKeyEvent', type='keyDown' if text else 'rawKeyDown', **event)
        self.call('Input.dispatchKeyEvent', type='keyUp', key=key)

    def move(self, x, y):
        self.call('Input.dispatchMouseEvent', type='mouseMoved', x=x, y=y)

    def click(self, x, y):
        self.move(x, y)
        for kind in ('mousePressed', 'mouseReleased'):
            self.call('Input.dispatchMouseEvent', type=kind, x=x, y=y, button='left', clickCount=1)

    def close(self):
        try:
            self.session = None
            self.call('Browser.close')
            self.process.wait(20)
        except (OSError, EOFError, RuntimeError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.from_)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
