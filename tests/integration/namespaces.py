"""Machines for tests: network namespaces on one switch, each with a cable that can be pulled."""

import contextlib
import ctypes
import os
import pathlib
import re
import secrets
import signal
import subprocess
import threading

CLONE_NEWNET = 0x40000000


def ip(*words):
    subprocess.run(["ip", *map(str, words)], check=True, capture_output=True)


def remove(name):
    subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)


def remove_orphans():
    """Ends what a test that was killed has left running in namespaces, and removes them. The name says whose they are."""
    for path in pathlib.Path("/run/netns").glob("stator-*"):
        owner = re.search(r"^stator-(?:try-)?(\d+)", path.name)
        if not owner or pathlib.Path("/proc", owner[1]).exists():
            continue
        inside = subprocess.run(["ip", "netns", "pids", path.name], check=False, capture_output=True, text=True).stdout
        for pid in inside.split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        remove(path.name)


def why_not():
    """What keeps this machine from having namespaces; None when nothing does."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    remove_orphans()
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
        self.switch = f"stator-{os.getpid()}-{secrets.token_hex(2)}"    # A number may have been that of a test which was killed
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
            remove(name)
