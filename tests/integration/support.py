"""What integration tests share: where things are, free ports, programs that are stopped again, HTTP with JSON."""

import contextlib
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
STATOR = pathlib.Path(os.environ.get("STATOR", ROOT / "build/release/stator"))
CLIENTS = pathlib.Path(os.environ.get("STATOR_CLIENTS", ROOT / "build/clients"))
PATIENCE = 120    # Seconds that may pass before what must happen has: only what never comes is missed by it
PORTS = range(10000, 60000)
taken = []        # What keeps the ports of this program


def has_ipv6():
    """Whether something can listen on ::1."""
    try:
        with socket.socket(socket.AF_INET6) as listener:
            listener.bind(("::1", 0))
    except OSError:
        return False
    return True


def free_port():
    """A TCP port that nobody listens on, and that nobody else who asks here gets before this program ends.  It is none that the
    system gives to whoever connects, or binds without a number."""
    first, last = map(int, pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    ours = [port for port in PORTS if not first <= port <= last] or list(PORTS)
    for port in random.sample(ours, len(ours)):
        claim = socket.socket(socket.AF_UNIX)
        try:
            claim.bind(f"\0stator-test-port-{port}")
            with socket.socket() as listener:
                listener.bind(("127.0.0.1", port))
        except OSError:
            claim.close()
        else:
            taken.append(claim)
            return port
    raise AssertionError("every port is taken")


def until(condition, what):
    """Waits until condition () gives something true and returns that; raises when patience is at its end."""
    deadline = time.monotonic() + PATIENCE
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {PATIENCE} s for {what}")
        time.sleep(0.02)


def http(url, body=None, headers=None, timeout=PATIENCE):
    """Asks for a page, posts JSON when there is a body; returns (status, bytes), (0, b"") when nobody answers."""
    request = urllib.request.Request(url, None if body is None else json.dumps(body).encode(), headers or {})
    if body is not None:
        request.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as answer:
        return answer.code, answer.read()
    except OSError:
        return 0, b""


class Program:
    """A process with its output in a file, stopped when the with block ends."""

    def __init__(self, command, folder, name="program", environment=None):
        self.log = pathlib.Path(folder) / f"{name}.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([str(word) for word in command], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=subprocess.STDOUT, env={**os.environ, **(environment or {})})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def output(self):
        return self.log.read_text(errors="replace")

    def stop(self):
        """Asks it to end, insists when patience is at its end; returns its exit code."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


class Engine(Program):
    """A real llama-server with a small model, ready when constructed."""

    def __init__(self, folder, model="stories260k", name="engine", port=None, **options):
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        words = [word for key, value in options.items() for word in (f"--{key}", value)]
        super().__init__([ROOT / "scripts/engine", "run", model, "--port", self.port, *words], folder, name)
        try:
            until(self.is_ready, f"{model} to be ready")
        except AssertionError:
            self.stop()
            raise

    def is_ready(self):
        if self.process.poll() is not None:
            raise AssertionError(f"the engine ended: {self.output()}")
        return http(f"{self.url}/health")[0] == 200


class View:
    """What a fleet says of itself, for whoever has its url and can run verbs of `stator` that find it."""

    def inside(self):
        """Where its url can be reached, while the with block runs."""
        return contextlib.nullcontext()

    missed = None    # Actors that were not on pages of figures in time, as the last page counts them

    def page(self):
        """Its figures, of all who can be reached; None where one of them did not say his in time."""
        with self.inside():
            lines = http(f"{self.url}/metrics")[1].decode().splitlines()
        before, self.missed = self.missed, [line for line in lines if line.startswith("stator_scrapes_missed_total{")]
        return lines if self.missed and self.missed == before else None

    def metric(self, name, labels=""):
        """The sum of the samples of a metric that have this in their labels."""
        lines = until(self.page, "figures of everybody")
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(name + "{") and labels in line)

    def actors(self):
        """What every actor says; one that says nothing while nobody can be asked."""
        try:
            return json.loads(self.stator("ps", "--json", "--timeout", "3s")[1])["actors"]
        except (json.JSONDecodeError, KeyError):
            return [{"address": "", "state": "unknown"}]

    def processes(self):
        """What the hosts that can be reached say, by name."""
        return until(self.processes_if_said, "the hosts to say what they run")

    def processes_if_said(self):
        hosts = [actor for actor in self.actors() if actor["address"].startswith("host/")]
        hosts = [host for host in hosts if host["state"] not in ("unreachable", "gone")]
        return all("runs" in host for host in hosts) and {process["name"]: process for host in hosts
                                                          for process in host["runs"]["processes"]}


class Fleet(Program, View):
    """A fleet of simulated workers, ready when constructed. Words are flags of `stator up`."""

    def __init__(self, folder, *words, config=ROOT / "examples/mock.yaml", name="fleet", logs=None, environment=None):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        folder = pathlib.Path(folder)
        self.run_dir = folder / f"{name}-run"
        super().__init__([STATOR, "up", config, "--port", self.port, "--state-dir", folder / f"{name}-state",
                          "--run-dir", self.run_dir, *words], logs or folder, name, environment)
        try:
            until(self.is_ready, "the fleet to be ready")
        except AssertionError:
            self.stop()
            raise

    def is_ready(self):
        if self.process.poll() is not None:
            raise AssertionError(f"the fleet ended: {self.output()}")
        return http(f"{self.url}/health")[0] == 200

    def stator(self, *words):
        """Runs a verb that looks at the fleet; returns (exit code, output)."""
        done = subprocess.run([STATOR, *words, "--run-dir", self.run_dir], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    def kill(self, address):
        """Kills the process of an actor: "worker/mock-0"."""
        service, instance = address.split("/")
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes().decode().split("\0")
            except OSError:
                continue
            mine = str(self.process.pid) == (folder / "stat").read_text().rsplit(")", 1)[1].split()[1]
            if mine and service in words and instance in words:
                os.kill(int(folder.name), signal.SIGKILL)
                return
        raise AssertionError(f"{address} has no process of its own")
