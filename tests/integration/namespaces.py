"""Machines for tests: network namespaces on one switch, each with a cable that can be pulled."""

import contextlib
import ctypes
import os
import subprocess
import threading

CLONE_NEWNET = 0x40000000


def ip(*words):
    subprocess.run(["ip", *map(str, words)], check=True, capture_output=True)


def why_not():
    """What keeps this machine from having namespaces; None when nothing does."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    name = f"stator-try-{os.getpid()}"
    try:
        ip("netns", "add", name)
        ip("netns", "delete", name)
    except (OSError, subprocess.CalledProcessError) as reason:
        return f"no network namespaces here: {reason}"
    return None


class Machine:
    """One namespace with an address of its own."""

    def __init__(self, switch, number):
        self.switch, self.number = switch, number
        self.name, self.address = f"{switch}-{number}", f"10.91.7.{number}"
        self.cable = f"cable{number}"
        ip("netns", "add", self.name)
        ip("-n", switch, "link", "add", self.cable, "type", "veth", "peer", "name", "eth0", "netns", self.name)
        ip("-n", switch, "link", "set", self.cable, "master", "switch", "up")
        ip("-n", self.name, "address", "add", f"{self.address}/24", "dev", "eth0")
        ip("-n", self.name, "link", "set", "eth0", "up")
        ip("-n", self.name, "link", "set", "lo", "up")

    def command(self, *words):
        """The same command, on this machine."""
        return ["ip", "netns", "exec", self.name, *map(str, words)]

    def pull(self):
        ip("-n", self.switch, "link", "set", self.cable, "down")

    def plug(self):
        ip("-n", self.switch, "link", "set", self.cable, "up")

    @contextlib.contextmanager
    def inside(self):
        """What this thread opens meanwhile is opened on this machine."""
        libc = ctypes.CDLL(None, use_errno=True)
        with open(f"/proc/self/task/{threading.get_native_id()}/ns/net") as home, open(f"/run/netns/{self.name}") as there:
            if libc.setns(there.fileno(), CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), "setns")
            try:
                yield
            finally:
                libc.setns(home.fileno(), CLONE_NEWNET)


class Network:
    """A switch with so many machines, gone when the with block ends."""

    def __init__(self, machines):
        self.switch = f"stator-{os.getpid()}"
        ip("netns", "add", self.switch)
        self.machines = []
        try:
            ip("-n", self.switch, "link", "add", "switch", "type", "bridge")
            ip("-n", self.switch, "link", "set", "switch", "up")
            for number in range(1, machines + 1):
                self.machines.append(Machine(self.switch, number))
        except BaseException:
            self.remove()
            raise

    def remove(self):
        for name in [machine.name for machine in self.machines] + [self.switch]:
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)
