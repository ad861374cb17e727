"""What integration tests share: where things are, free ports, programs that are stopped again, HTTP with JSON."""

import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
STATOR = pathlib.Path(os.environ.get("STATOR", ROOT / "build/release/stator"))
NOBODY = {"": {"state": "unknown", "restarts": 0, "pid": 0}}
CLIENTS = pathlib.Path(os.environ.get("STATOR_CLIENTS", ROOT / "build/clients"))


def has_ipv6():
    """Whether something can listen on ::1."""
    try:
        with socket.socket(socket.AF_INET6) as listener:
            listener.bind(("::1", 0))
    except OSError:
        return False
    return True


def free_port():
    """A TCP port that nobody listens on now. The system does not give it out again soon."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def until(condition, seconds, what):
    """Waits until condition () gives something true and returns that; raises after so many seconds."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds} s for {what}")
        time.sleep(0.02)


def http(url, body=None, headers=None, timeout=60):
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

    def stop(self, seconds=20):
        """Asks it to end, insists after so many seconds; returns its exit code."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            return self.process.wait(seconds)
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
            until(self.is_ready, 120, f"{model} to be ready")
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

    def metric(self, name, labels=""):
        """The sum of the samples of a metric that have this in their labels."""
        with self.inside():
            text = http(f"{self.url}/metrics")[1].decode()
        lines = [line for line in text.splitlines() if line.startswith(name + "{") and labels in line]
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines)

    def actors(self):
        """What every actor says; one that says nothing while nobody can be asked."""
        try:
            return json.loads(self.stator("ps", "--json", "--timeout", "1s")[1])["actors"]
        except (json.JSONDecodeError, KeyError):
            return [{"address": "", "state": "unknown"}]

    def processes(self):
        """What the hosts say, by name; one row that says nothing while they cannot be asked."""
        hosts = [actor for actor in self.actors() if actor["address"].startswith("host/")]
        try:
            return {process["name"]: process for host in hosts for process in host["runs"]["processes"]} or NOBODY
        except KeyError:
            return NOBODY


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
            until(self.is_ready, 60, "the fleet to be ready")
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
