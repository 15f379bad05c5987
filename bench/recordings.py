# SPDX-License-Identifier: MIT
"""The recordings that the bench reads; they are made once and used again."""
import json
import os
import shutil
import struct
import subprocess

import measure

LEAST_EVENTS = 3_500_000
LEAST_CHAINS = 200_000
REPORT_CHAINS = 400_000
LEAST_FILES = 1_200_000
LEAST_MIXED = 7_000_000

# A mix for $2 rounds of work: system calls, switches and wake-ups, call chains, new programs.
MIXED_WORK = '''
"$1"/bench-pingpong 4 $(($2 / 4)) &
dd if=/dev/zero of=/dev/null bs=1 count=$2 status=none &
"$1"/bench-stacks $(($2 / 10)) &
i=0
while [ $i -lt $(($2 / 500)) ]; do /bin/true; i=$((i + 1)); done
wait
'''


class Recordings:
    def __init__(self, build, folder, perf, least):
        self.build = build
        self.tools = os.path.join(build, 'bench')
        self.sonde = os.path.join(build, 'sonde')
        self.folder, self.perf, self.least = folder, perf, least
        os.makedirs(folder, exist_ok=True)

    def count(self, path):
        """{event name: number}, with 'lost'."""
        p = subprocess.run([os.path.join(self.tools, 'bench-reading'), 'count', path],
                           capture_output=True, text=True)
        if p.returncode:
            raise measure.Failed('%s: %s' % (path, p.stderr.strip()))
        return {name: int(n) for name, n in (line.rsplit(' ', 1) for line in p.stdout.splitlines())}

    def counted(self, path):
        """As count(); the result is stored next to the recording and used until the recording
        changes."""
        note, stat = path + '.counts', os.stat(path)
        key = [stat.st_size, stat.st_mtime_ns]
        try:
            with open(note) as f:
                kept = json.load(f)
            if kept['key'] == key:
                return kept['counts']
        except (OSError, ValueError, KeyError):
            pass
        counts = self.count(path)
        try:
            with open(note, 'w') as f:
                json.dump({'key': key, 'counts': counts}, f)
        except OSError:
            pass
        return counts

    def call_paths(self, path, script):
        """The number of different call paths of a recording: rows of its database export."""
        p = subprocess.run([self.sonde, 'script', '-i', path, '-s', script], capture_output=True,
                           text=True, stdin=subprocess.DEVNULL, env=measure.clean_environment())
        if p.returncode:
            raise measure.Failed('%s: %s' % (script, p.stderr.strip()))
        return json.loads(p.stdout)[1]

    def _record(self, path, options, command, by_sonde=False):
        if self.perf and not by_sonde:
            # The recorder's own writes would be most of the events. The filter follows the events.
            line = [self.perf, 'record', '-q', '-m', '4096', '-o', path] + options
            if '-g' not in options:
                line += ['-a', '--exclude-perf']
        else:
            line = [self.sonde, 'record', '-q', '-m', '4096', '-o', path] + options
            # A recorder that records its own system calls never ends.
            if '-g' not in options and 'syscalls:' not in options[1]:
                line.append('-a')
        measure.run(line + ['--'] + command, memory=False)

    def _make(self, name, options, command, loops, least, by_sonde=False):
        """command(loops) is the workload; a short recording gives the number of loops that are
        needed."""
        path = os.path.join(self.folder, name)
        if os.path.exists(path):
            return path
        part = path + '.part'
        wanted = least * 1.06
        for _ in range(5):
            if os.path.exists(part):
                os.unlink(part)  # recorders keep the old file as .old
            self._record(part, options, command(loops), by_sonde)
            counts = self.count(part)
            lost = counts.pop('lost')
            total = sum(counts.values())
            print('  %s: %d loops gave %d events, %d lost' % (name, loops, total, lost), flush=True)
            if total >= least and not lost:
                os.replace(part, path)
                return path
            if total < least:
                loops = int(loops * wanted / max(total, 1)) + 1
        os.unlink(part)
        raise measure.Failed('no complete recording of %d events could be made' % least)

    def sched(self):
        pingpong = os.path.join(self.tools, 'bench-pingpong')
        return self._make('sched.data', ['-e', 'sched:sched_switch,sched:sched_wakeup'],
                          lambda n: [pingpong, '4', str(n)], 5000, self.least)

    def syscalls(self):
        return self._make('syscalls.data',
                          ['-e', 'raw_syscalls:sys_enter,raw_syscalls:sys_exit,'
                                 'sched:sched_switch,sched:sched_wakeup'],
                          lambda n: ['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1', 'count=%d' % n,
                                     'status=none'],
                          50000, self.least)

    def files(self):
        calls = ','.join('syscalls:sys_%s_%s' % (side, call) for call in ('read', 'write')
                         for side in ('enter', 'exit'))
        return self._make('files.data', ['-e', calls],
                          lambda n: ['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1', 'count=%d' % n,
                                     'status=none'],
                          50000, min(LEAST_FILES, self.least))

    def chains(self, name='chains.data', least=LEAST_CHAINS):
        return self._make(name, ['-e', 'cpu-clock', '-F', '20000', '-g'],
                          lambda n: [os.path.join(self.tools, 'bench-stacks'), str(n)], 500_000,
                          least)

    def report_chains(self):
        return self.chains('report-chains.data', REPORT_CHAINS)

    def mixed(self):
        """A mix of some seven million events. sonde makes it: perf filters its own events only if
        all events have filters."""
        events = ('sched:sched_switch,sched:sched_wakeup,raw_syscalls:sys_enter,'
                  'raw_syscalls:sys_exit,cpu-clock/freq=4000,call-graph=fp/')
        return self._make('mixed.data', ['-e', events, '-a'],
                          lambda n: ['sh', '-c', MIXED_WORK, 'sh', self.tools, str(n)], 20000,
                          LEAST_MIXED, by_sonde=True)

    def beginning(self, path, name, data_bytes):
        """A recording of the first data_bytes of another one's records, with its header and
        features."""
        def write(src, dst, at, size):
            end = at
            while end < at + size and end - at < data_bytes:  # only complete records
                src.seek(end + 6)
                end += struct.unpack('=H', src.read(2))[0]
            copy(src, dst, at, min(end, at + size) - at)

        return self._rewritten(path, name, write)

    def repeated(self, path, name, times):
        """A recording with the records of another one, repeated."""
        def write(src, dst, at, size):
            subprocess.run([os.path.join(self.tools, 'bench-reading'), 'repeat', path, str(times)],
                           stdout=dst, check=True)
            dst.seek(0, os.SEEK_END)

        return self._rewritten(path, name, write)

    def _rewritten(self, path, name, write_data):
        ret = os.path.join(self.folder, name)
        if os.path.exists(ret) and os.stat(ret).st_mtime_ns >= os.stat(path).st_mtime_ns:
            return ret
        with open(path, 'rb') as src, open(ret + '.part', 'wb') as dst:
            header = bytearray(src.read(104))
            data_at, data_len = struct.unpack_from('=QQ', header, 40)
            nr_features = bin(int.from_bytes(header[72:104], 'little')).count('1')
            copy(src, dst, 0, data_at)
            dst.flush()
            write_data(src, dst, data_at, data_len)
            end = dst.tell()
            src.seek(data_at + data_len)
            table = [struct.unpack('=QQ', src.read(16)) for _ in range(nr_features)]
            at = end + 16 * nr_features
            for offset, size in table:
                behind = offset >= data_at  # sections before the data keep their offsets
                dst.write(struct.pack('=QQ', at if behind else offset, size))
                at += size if behind else 0
            for offset, size in table:
                if offset >= data_at:
                    copy(src, dst, offset, size)
            struct.pack_into('=Q', header, 48, end - data_at)
            dst.seek(0)
            dst.write(header)
        shutil.copymode(path, ret + '.part')
        os.replace(ret + '.part', ret)
        return ret


def copy(src, dst, at, size):
    src.seek(at)
    while size:
        block = src.read(min(size, 1 << 20))
        if not block:
            return
        dst.write(block)
        size -= len(block)
