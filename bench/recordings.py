# SPDX-License-Identifier: MIT
"""The recordings that the bench reads; they are made once and used again."""
import collections
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
LEAST_STACKS = 10_000
FUNCTIONS, FUNCTIONS_OF_A_FILE = 24_000, 400

# A mix for $2 rounds of work: system calls, switches and wake-ups, pages that are allocated and
# freed, call chains, new programs. One after the other: the recorder needs a cpu.
MIXED_WORK = '''
"$1"/bench-pingpong 4 $(($2 / 4))
dd if=/dev/zero of=/dev/null bs=1 count=$2 status=none
dd if=/dev/zero bs=64k count=$(($2 / 80)) status=none | cat >/dev/null
"$1"/bench-stacks $(($2 / 10))
i=0
while [ $i -lt $(($2 / 500)) ]; do /bin/true; i=$((i + 1)); done
'''


# Twelve lines and a loop: a sample's line is not known from its function.
FUNCTION = '''
uint64_t work_%(i)d(uint64_t x, int n)
{
	for (int k = 0; k < n; k++) {
		x ^= x >> %(shift)d;
		x *= %(factor)du;
		if (x & %(bit)d)
			x += %(i)du;
	}
	return x;
}
'''

MAIN = '''
int main(int argc, char **argv)
{
	uint64_t x = 1;

	for (int turns = argc > 1 ? atoi(argv[1]) : 1; turns > 0; turns--)
		for (int i = 0; i < %d; i++)
			for (int k = 0; k < %d; k++)
				x = all[i][k](x, 1000);
	return x == 0;
}
'''


def make_program(compiler, folder, path):
    """Compiles a program of FUNCTIONS functions."""
    nr_files = FUNCTIONS // FUNCTIONS_OF_A_FILE
    objects = []
    for file in range(nr_files + 1):
        name = os.path.join(folder, 'part%d' % file)
        with open(name + '.c', 'w') as f:
            f.write('#include <stdint.h>\n#include <stdlib.h>\n'
                    'typedef uint64_t work(uint64_t x, int n);\n')
            numbers = range(file * FUNCTIONS_OF_A_FILE, (file + 1) * FUNCTIONS_OF_A_FILE)
            if file < nr_files:
                for i in numbers:
                    f.write(FUNCTION % {'i': i, 'shift': 7 + i % 20, 'bit': 1 << i % 6,
                                        'factor': 2654435761 + 2 * i})
                f.write('work *const table_%d[] = { %s };\n' % (
                    file, ', '.join('work_%d' % i for i in numbers)))
            else:
                for i in range(nr_files):
                    f.write('extern work *const table_%d[];\n' % i)
                f.write('static work *const *const all[] = { %s };\n%s' % (
                    ', '.join('table_%d' % i for i in range(nr_files)),
                    MAIN % (nr_files, FUNCTIONS_OF_A_FILE)))
        subprocess.run([compiler, '-g', '-O1', '-fno-pie', '-c', name + '.c', '-o', name + '.o'],
                       check=True)
        objects.append(name + '.o')
    subprocess.run([compiler, '-no-pie', '-o', path, *objects], check=True)
    for name in objects:
        os.unlink(name)


def one_task(options):
    """True if the recording is of one command, not of the machine."""
    return '-g' in options or '--call-graph' in options or options[1].endswith(':u')


def print_mix(counts):
    """Prints the mix of a recording: shares of its systems, and of its most frequent events.
    counts: those of Recordings.count()."""
    counts = {name: n for name, n in counts.items() if name != 'lost' and n}
    systems, total = collections.Counter(), sum(counts.values())
    for name, n in counts.items():
        systems[name.partition(':')[0].partition('/')[0]] += n
    frequent = {name: n for name, n in counts.items() if n * 50 >= total}
    print('\n%d events: %s.\nThe most frequent: %s.' %
          (total, _shares(systems, total), _shares(frequent, total)))


def _shares(counts, total):
    return ', '.join('%s %.*f %%' % (name, n * 50 < total, 100 * n / total)
                     for name, n in sorted(counts.items(), key=lambda item: -item[1]))


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
            if not one_task(options):
                line += ['-a', '--exclude-perf']
        else:
            line = [self.sonde, 'record', '-q', '-m', '4096', '-o', path] + options
            # A recorder that records its own system calls never ends.
            if not one_task(options) and 'syscalls:' not in options[1]:
                line.append('-a')
        measure.run(line + ['--'] + command, memory=False)

    def _make(self, name, options, command, loops, least, by_sonde=False, may_lose=0):
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
            if total >= least and lost <= may_lose:
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

    def stacks(self):
        """Copied pieces of the stack: --call-graph dwarf."""
        return self._make('stacks.data', ['-e', 'cpu-clock', '-F', '10000', '--call-graph',
                                          'dwarf,8192'],
                          lambda n: [os.path.join(self.tools, 'bench-stacks'), str(n)], 700_000,
                          LEAST_STACKS)

    def functions(self):
        """(recording, program, file of addresses): samples at some 20,000 addresses of a program
        with a debug file of FUNCTIONS functions. None without a compiler."""
        compiler = shutil.which('cc')
        folder = os.path.join(self.folder, 'functions')
        data, program, addresses = (os.path.join(folder, name)
                                    for name in ('perf.data', 'program', 'addresses'))
        if os.path.exists(addresses):
            return data, program, addresses
        if not compiler:
            return None
        os.makedirs(folder, exist_ok=True)
        make_program(compiler, folder, program)
        self._record(data, ['-e', 'cpu-clock:u', '-F', '20000'], [program, '2'])
        p = subprocess.run([self.sonde, 'script', '-i', data, '-F', 'ip'], capture_output=True,
                           text=True, check=True, env=measure.clean_environment())
        found = sorted({int(ip, 16) for ip in p.stdout.split()})
        with open(addresses, 'w') as f:
            # The program is not relocatable, so these are addresses of its file.
            f.writelines('%#x\n' % ip for ip in found if ip < 1 << 28)
        return data, program, addresses

    def mixed(self, chains=False):
        """A mix of seven million events or more; print_mix() states it. chains: with samples that
        have call chains and no fields. sonde makes it: perf filters its own events only if all
        events have filters. The kernel loses an event now and then that happens while it writes
        another one."""
        events = ('sched:sched_switch,sched:sched_wakeup,sched:sched_process_*,'
                  'raw_syscalls:sys_enter,raw_syscalls:sys_exit,irq:*,kmem:*')
        if chains:
            events += ',cpu-clock/freq=4000,call-graph=fp/'
        return self._make('mix-chains.data' if chains else 'mix.data',
                          ['-e', events, '-a', '-m', '16384', '-r', '1'],
                          lambda n: ['sh', '-c', MIXED_WORK, 'sh', self.tools, str(n)], 20000,
                          LEAST_MIXED, by_sonde=True, may_lose=9)

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
