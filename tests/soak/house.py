"""The fleet under test, and what a client or an operator sees of it."""

import json
import pathlib
import resource
import signal
import socket
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/integration"), str(ROOT / "examples/python")]

from support import PATIENCE, STATOR, Fleet, http, until  # noqa: E402

LOG_DISK = "1m"
SMALL = "version: 1\nmodels: [ { name: mock } ]\nworkers: [ { engine: mock, count: 2, mock: { speed: 4 } } ]\n"


class House(Fleet):
    """A fleet whose log goes to a small disk of its own, where this user may mount one."""

    def __init__(self, folder, config, name="fleet", environment=None):
        self.folder = pathlib.Path(folder)
        self.config = self.folder / f"{name}.yaml"
        self.text = config
        self.config.write_text(config)
        self.logs = self.folder / f"{name}-logs"
        self.logs.mkdir(exist_ok=True)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={LOG_DISK}", "none", self.logs], capture_output=True,
                                 check=False)
        self.has_log_disk = mounted.returncode == 0
        self.run_dir = self.folder / f"{name}-run"
        super().__init__(folder, config=self.config, name=name, logs=self.logs, environment=environment)

    def stop(self):
        code = super().stop()
        if self.has_log_disk:
            subprocess.run(["umount", "-l", self.logs], check=False)
            self.has_log_disk = False
        return code

    def processes(self):
        """Pids by name: host, broker, core, worker/mock-0 ..."""
        found = {"host": self.process.pid}
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                parent = (folder / "stat").read_text().rsplit(")", 1)[1].split()[1]
                words = (folder / "cmdline").read_bytes().decode().split("\0")
            except OSError:
                continue
            if parent == str(self.process.pid) and "actor" in words:
                service = words[words.index("actor") + 1]
                found[f"worker/{words[words.index('--instance') + 1]}" if service == "worker" else service] = int(folder.name)
        return found

    def memory(self):
        """Resident MiB of each process."""
        sizes = {}
        for name, pid in self.processes().items():
            pages = int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1])
            sizes[name] = pages * resource.getpagesize() / (1 << 20)
        return sizes

    def limit(self, pid, what, value):
        """Sets the soft limit of a process; returns the one before."""
        before = resource.prlimit(pid, what)
        resource.prlimit(pid, what, (value, before[1]))
        return before[0]

    def figures(self):
        """What every actor counts, as {(address, name, labels): value}."""
        return {(actor["address"], figure["name"], figure["labels"]): figure["value"]
                for actor in until(self.actors_if_all_say, "every actor to say how he is")
                for figure in actor.get("status", {}).get("figures", [])}

    def actors_if_all_say(self):
        """Nothing where one that may be asked did not answer in time."""
        actors = self.actors()
        asked = [actor for actor in actors if actor.get("entry", {"endpoint": "broker"})["endpoint"]]
        return all("status" in actor for actor in asked) and actors

    def figure(self, name, labels="", address=""):
        return sum(value for (who, what, which), value in self.figures().items()
                   if what == name and labels in which and who.startswith(address))

    def connect(self, receive_buffer=0):
        """A client that leaves by a reset, so that its port is free at once."""
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if receive_buffer:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        client.settimeout(PATIENCE)
        client.connect(("127.0.0.1", self.port))
        return client

    def sibling(self, name, environment=None):
        """A fleet of its own, for what this one must not go through."""
        return House(self.folder, SMALL, name, environment)

    def incarnation(self, address):
        """Of an actor as it answers; 0 while it does not."""
        done = subprocess.run([STATOR, "call", address, "ping", "--run-dir", self.run_dir], capture_output=True, text=True,
                              check=False)
        return json.loads(done.stdout)["incarnation"] if done.returncode == 0 else 0

    def reconfigure(self, lines):
        """Appends these to the file that it was started with, and says so."""
        self.config.write_text(self.text + lines)
        self.process.send_signal(signal.SIGHUP)

    def serves(self):
        """An ordinary request is answered."""
        try:
            return status_of(ask(self, chat("mock", max_tokens=4))) == 200
        except OSError:
            return False

    def models(self):
        """Names that it serves."""
        return {model["id"] for model in json.loads(http(f"{self.url}/v1/models")[1])["data"]}

    def is_idle(self):
        return self.figure("stator_requests_running") == 0


def chat(model, content="Hello", stream=False, **fields):
    """A chat request as it goes over the wire."""
    body = json.dumps({"model": model, "messages": [{"role": "user", "content": content}], "stream": stream, **fields}).encode()
    return b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
        len(body), body)


def ask(house, request):
    """Sends a request on a connection of its own; returns the head of the answer."""
    with house.connect() as client:
        client.sendall(request)
        return read_head(client)


def read_head(client):
    """What comes up to the end of a head, or of the connection."""
    head = b""
    while b"\r\n\r\n" not in head:
        piece = client.recv(65536)
        if not piece:
            break
        head += piece
    return head


def status_of(head):
    """The status of an answer; 0 where there is none."""
    return int(head[9:12]) if head.startswith(b"HTTP/1.1 ") else 0


def take_all_descriptors():
    """Lets this program have as many connections as the system allows; returns how many."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard
