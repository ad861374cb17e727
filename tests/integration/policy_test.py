"""Programs that are no actors: a policy that decides where requests go, in three languages and with every bad habit, and
followers of the bus."""

import contextlib
import pathlib
import shutil
import signal
import sys
import tempfile
import threading
import time
import unittest
import urllib.request

import msgpack
import zmq

from support import CLIENTS, PATIENCE, ROOT, Fleet, Program, free_port, until

sys.path.insert(0, str(ROOT / "examples" / "python"))

import stator_codec  # noqa: E402

LAST = "worker/mock-1"
BODY = b'{"model": "mock", "max_tokens": 2, "messages": [{"role": "user", "content": "Where do you run?"}]}'
NODE = {"NODE_PATH": str(CLIENTS / "node" / "node_modules")}
PING = 3    # Seconds of silence in which a socket of the fleet pings
LEFT = 9    # And after which it has left who did not answer


def examples(name, folder):
    """The command of an example in each language."""
    return {"Python": [sys.executable, ROOT / f"examples/{folder}/{name}.py"],
            "JavaScript": ["node", ROOT / f"examples/{folder}/{name}.js"],
            "Go": [CLIENTS / "go" / folder]}


class Records:
    """Listens to the decision records of a fleet."""

    def __init__(self, events):
        self.socket = zmq.Context.instance().socket(zmq.SUB)
        self.socket.connect(events)
        self.socket.subscribe(b"req.router/0.")
        self.heard = {}

    def listen(self):
        while self.socket.poll(20):
            for name, event in stator_codec.decode_batch("req", self.socket.recv_multipart()[2]):
                if name == "route_decided":
                    self.heard[event["request"]] = event

    def of(self, request):
        def heard():
            self.listen()
            return self.heard.get(request)
        return until(heard, f"the record of {request}")


class Bad:
    """A policy bound in this process that answers each question with what `answer` makes of it; None for silence."""

    def __init__(self, endpoint, answer):
        self.socket = zmq.Context.instance().socket(zmq.ROUTER)
        self.socket.linger = 0
        until(lambda: self.binds(endpoint), f"{endpoint} to be free")
        self.answer = answer
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.serve)

    def binds(self, endpoint):
        try:
            self.socket.bind(endpoint)
        except zmq.ZMQError:
            return False
        return True

    def serve(self):
        while not self.ended.is_set():
            if self.socket.poll(20):
                *envelope, header, question = self.socket.recv_multipart()
                frames = self.answer(msgpack.unpackb(header)["id"], msgpack.unpackb(question))
                if frames:
                    self.socket.send_multipart([*envelope, *frames])

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        self.socket.close()


def replies(body):
    """Frames of an answer with this body, whatever was asked."""
    return lambda id, _: [msgpack.packb({"v": 1, "t": 2, "id": id}), body if isinstance(body, bytes) else msgpack.packb(body)]


def chooses(worker):
    return replies({"w": worker})


LIES = {
    "an error": (lambda id, _: [msgpack.packb({"v": 1, "t": 3, "id": id}), msgpack.packb({"s": 15, "e": "oops"})], "failed"),
    "too few scores": (replies({"s": [{"s": 1}]}), "wrong"),
    "too many scores": (replies({"s": [{"s": 1}] * 3}), "wrong"),
    "not a number": (replies({"s": [{"s": float("nan")}, {"s": 1.0}]}), "wrong"),
    "an unknown worker": (chooses("worker/nobody"), "wrong"),
    "nothing": (replies({}), "wrong"),
    "no message": (replies(b"\xc1\xff"), "wrong"),
    "a message cut short": (replies(msgpack.packb({"w": LAST})[:-3]), "wrong"),
}


class Base(unittest.TestCase):
    deadline, pause = "10s", "1s"    # Of the policy: as long as may be said

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.endpoint = f"tcp://127.0.0.1:{free_port()}"
        cls.fleet = Fleet(folder.name, "--router-policy-endpoint", cls.endpoint, "--router-policy-deadline", cls.deadline,
                          "--router-policy-pause", cls.pause)
        cls.addClassCleanup(cls.fleet.stop)
        cls.events = f"ipc://{cls.folder}/fleet-run/events"
        cls.records = Records(cls.events)
        cls.addClassCleanup(cls.records.socket.close)
        until(cls.can_hear, "the first record")

    @classmethod
    def can_hear(cls):
        cls.ask()
        cls.records.listen()
        return cls.records.heard

    @classmethod
    def ask(cls):
        """Sends a request; returns (its id, who served it)."""
        request = urllib.request.Request(f"{cls.fleet.url}/v1/chat/completions", BODY, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            answer.read()
            return answer.headers["x-request-id"], answer.headers["x-stator-worker"]

    def decide(self):
        """The decision record of a new request."""
        request, worker = self.ask()
        record = self.records.of(request)
        self.assertEqual(record["worker"], worker)
        return record

    def until_it_decides(self):
        until(lambda: self.decide()["policy"] == "outside", "the policy to be asked again")

    def count(self, result):
        return self.fleet.metric("stator_router_policy_requests_total", f'result="{result}"')

    def example(self, language, command, *words):
        """An example that runs; skips where it cannot."""
        if not shutil.which(command[0]) or command[0] == "node" and not shutil.which("npm"):
            self.skipTest(f"{language} is not installed")
        return Program([*command, *words], self.folder, f"{language}-{len(words)}", NODE)


class StrangersTest(Base):
    def test_a_policy_in_any_language_decides(self):
        for language, command in examples("policy", "routing").items():
            with self.subTest(language), self.example(language, command, self.endpoint):
                self.until_it_decides()
                time.sleep(PING)
                records = [self.decide() for _ in range(4)]
                self.assertEqual({(record["policy"], record["worker"]) for record in records}, {("outside", LAST)})
                self.assertEqual([candidate["cost"] for candidate in records[0]["candidates"]], [0, 1000000])

    def test_every_lie_is_passed_over_at_once(self):
        for lie, (answer, result) in LIES.items():
            with self.subTest(lie), Bad(self.endpoint, chooses(LAST)) as policy:
                self.until_it_decides()
                before = self.count(result)
                policy.answer = answer
                record = self.decide()
                self.assertEqual(record["policy"], "kv")
                self.assertIn("the policy outside was passed over: it", record["reason"])
                self.assertNotIn("it did not answer in time", record["reason"])
                until(lambda: self.count(result) == before + 1, "the lie to be counted")


class HastyTest(Base):
    deadline, pause = "500ms", "3s"

    def test_one_that_is_killed_costs_little_and_is_missed_when_it_is_back(self):
        command = examples("policy", "routing")["Python"]
        with Program([*command, self.endpoint], self.folder, "killed") as program:
            self.until_it_decides()
            program.process.send_signal(signal.SIGKILL)
            program.process.wait()
        records = [self.decide() for _ in range(4)]
        self.assertTrue(all(record["policy"] == "kv" for record in records))
        self.assertIn("it did not answer in time", records[0]["reason"])
        until(lambda: "it failed too often" in self.decide()["reason"], "it not to be asked for a while")
        with Program([*command, self.endpoint], self.folder, "again"):
            self.until_it_decides()

    def test_one_that_is_slow_does_not_hold_a_request(self):
        served = threading.Event()

        def slowly(id, question):
            served.wait(PATIENCE)
            return chooses(LAST)(id, question)
        with Bad(self.endpoint, chooses(LAST)) as policy:
            self.until_it_decides()
            policy.answer = slowly
            record = self.decide()
            served.set()
            self.assertIn("it did not answer in time", record["reason"])
            policy.answer = chooses(LAST)
            self.until_it_decides()

    def sees_one(self, follower):
        """Asks until the follower has printed the decision about a request and its end."""
        asked = []

        def heard():
            asked.append(self.ask()[0])
            seen = [line for line in follower.output().splitlines() if any(request in line for request in asked)]
            return {line.split()[1] for line in seen} >= {"1", "2"} and seen
        seen = until(heard, "a decision and an end")
        self.assertTrue(any(line.startswith("req.router/0. 1 {") and '"w"' in line for line in seen))
        self.assertTrue(any(line.startswith("req.frontend/0. 2 {") for line in seen))

    def test_a_follower_in_any_language_sees_requests_pass(self):
        with contextlib.ExitStack() as stack:
            followers = {}
            for language, command in examples("follow", "follow").items():
                with self.subTest(language):
                    followers[language] = stack.enter_context(self.example(language, command, self.events, "req."))
            for silence in (0, LEFT):
                time.sleep(silence)
                for language, follower in followers.items():
                    with self.subTest(language, silence=silence):
                        self.sees_one(follower)


if __name__ == "__main__":
    unittest.main()
