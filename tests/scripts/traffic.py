# SPDX-License-Identifier: MIT
"""Datagrams over a pair of network devices, for recordings of the network: traffic.py COUNT [BYTES]

Has to run in a network namespace of its own (unshare --net), in which it makes tx0; rx0 goes into a second one, so that
nothing takes the short way over loopback. All is done on one cpu, so that packets are freed by who has read them. COUNT
datagrams of BYTES go from tx0 to a socket that reads all of them, and as many to a port where nobody listens, a millisecond
apart. Prints how many arrived.
"""

import os
import socket
import subprocess
import sys
import time


def ip(line):
    subprocess.run(["ip"] + line.split(), check=True)


def receive(count):
    """What runs in the second namespace; its stdin and stdout are the sender's pipes."""
    sys.stdin.readline()
    ip("addr add 10.99.0.2/24 dev rx0")
    ip("link set rx0 up")
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("10.99.0.2", 9))
    s.settimeout(30)
    print("ready", flush=True)
    got = 0
    try:
        while got < count:
            s.recv(65536)
            got += 1
    except socket.timeout:
        pass
    print(got, flush=True)


def send(count, size):
    other = subprocess.Popen(["unshare", "--net", sys.executable, os.path.abspath(__file__), "--receive", str(count)],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    ours = os.readlink("/proc/self/ns/net")
    for _ in range(6000):  # until unshare has done its work
        if os.readlink("/proc/%d/ns/net" % other.pid) != ours:
            break
        time.sleep(0.01)
    ip("link add tx0 type veth peer name rx0")
    ip("link set rx0 netns %d" % other.pid)
    ip("addr add 10.99.0.1/24 dev tx0")
    ip("link set tx0 up")
    other.stdin.write("go\n")
    other.stdin.flush()
    assert other.stdout.readline() == "ready\n"
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for i in range(count):
        for port in (9, 10):
            s.sendto(bytes(size), ("10.99.0.2", port))
            time.sleep(0.001)
    print(other.stdout.readline().strip())
    other.wait()


os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
if sys.argv[1] == "--receive":
    receive(int(sys.argv[2]))
else:
    send(int(sys.argv[1]), int((sys.argv[2:] or ["100"])[0]))
