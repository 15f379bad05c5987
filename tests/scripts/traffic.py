# SPDX-License-Identifier: MIT
"""Datagrams over a pair of network devices, for recordings of the network: traffic.py COUNT [BYTES]

It must run in a network namespace of its own (unshare --net), in which it creates tx0. rx0 is in a
second namespace, so that packets do not take the short way over loopback. Both processes run on one
cpu, so that the process that reads a packet also frees it. COUNT datagrams of BYTES are sent from
tx0 to a socket that is read, each one after the one before it was read, and as many to a port where
nobody listens. Prints how many were read.
"""

import os
import select
import socket
import subprocess
import sys
import time


def ip(line):
    subprocess.run(["ip"] + line.split(), check=True)


def receive(count):
    """The process in the second namespace. stdin and stdout are pipes to the sender."""
    sys.stdin.readline()
    ip("addr add 10.99.0.2/24 dev rx0")
    ip("link set rx0 up")
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("10.99.0.2", 9))
    print("ready", flush=True)
    got = 0
    while got < count:
        size = len(s.recv(65536))
        got += size > 0
        print(size, flush=True)
    print(got, flush=True)


def wait_for_device(s, other):
    """Sends empty datagrams until one was read.

    The kernel drops packets until a worker has activated a device whose other end was set up.
    """
    while True:
        s.sendto(b"", ("10.99.0.2", 9))
        if select.select([other.stdout], [], [], 0.1)[0]:
            return


def send(count, size):
    other = subprocess.Popen(["unshare", "--net", sys.executable, os.path.abspath(__file__),
                              "--receive", str(count)],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    ours = os.readlink("/proc/self/ns/net")
    for _ in range(6000):  # until unshare has created the namespace
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
    wait_for_device(s, other)
    for _ in range(count):
        s.sendto(bytes(size), ("10.99.0.2", 10))
        s.sendto(bytes(size), ("10.99.0.2", 9))  # read after the other one was dropped
        while int(other.stdout.readline()) == 0:  # an empty datagram
            pass
    print(other.stdout.readline().strip())
    other.wait()


os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
if sys.argv[1] == "--receive":
    receive(int(sys.argv[2]))
else:
    send(int(sys.argv[1]), int((sys.argv[2:] or ["100"])[0]))
