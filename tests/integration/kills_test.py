"""Whatever is killed while answers stream, every token of every answer comes, once, in one stream; and all is well afterwards.

Two real engines answer greedily.  Each row of STRIKES hits one process of a fleet in the middle of six answers, whose texts
must be those of a run in which nothing happens.  The last fleet is one of three machines, between which nothing is said
without a key.
"""

import json
import os
import pathlib
import signal
import tempfile
import threading
import unittest
import urllib.request

import hosts
from namespaces import Network, why_not
from support import PATIENCE, Fleet, free_port, until

MODEL = "SmolLM2-135M-Instruct"
TOKENS = 32
TRIES = 10    # To hit a process while answers stream: a client may see late how far they are
WORKER = 'engine: llamacpp, block_size: 16, command: "scripts/engine run smollm2 --slots 6 --port {port}"'
HOST = "host: { restart_delay: 100ms }\n"
APART = "router: { process: own }\nindexer: { process: own }\n"


class OneHost(Fleet):
    """Both workers beside all else, on this machine."""

    def __init__(self, folder, more):
        config = pathlib.Path(folder) / "fleet.yaml"
        workers = "".join(f"  - {{ name: {name}, port: {free_port()}, {WORKER} }}\n" for name in "ab")
        config.write_text(f"version: 1\nmodels:\n  - name: {MODEL}\nworkers:\n{workers}frontend: {{ process: own }}\n{HOST}{more}")
        super().__init__(folder, config=config)


class ThreeHosts(hosts.Fleet):
    """Each worker on a machine of its own, and one for all else."""

    def __init__(self, folder, more):
        self.network = Network(3)
        try:
            super().__init__(folder, self.network, WORKER, MODEL, frontend=", process: own", more=HOST + more)
            self.start()
        except BaseException:
            self.stop()
            raise

    def stop(self):
        super().stop()
        self.network.remove()


#  Of each fleet: what is struck, how, and whether answers move to another worker for it.  {} is one that answers.
STRIKES = [
    (OneHost, APART, [("engine/{}", signal.SIGKILL, True),
                      ("worker/{}", signal.SIGKILL, True),
                      ("router/0", signal.SIGKILL, False),
                      ("broker", signal.SIGKILL, False),
                      ("indexer/0", signal.SIGKILL, False),
                      ("engine/{}", signal.SIGSTOP, True)]),
    (OneHost, "", [("core", signal.SIGKILL, False)]),
    (ThreeHosts, "", [("worker/{}", signal.SIGKILL, True),
                      ("broker", signal.SIGKILL, False),
                      ("core", signal.SIGKILL, False)]),
]

#  An engine rounds otherwise when it computes a prompt at once than when it comes to it token by token. In the answers to
#  these each token is so much likelier than the next one (by a third at least) that no rounding decides.
QUESTIONS = ["Print the squares of 1 to 10.", "Print the doubles of 1 to 10.", "List the even numbers from 2 to 60.",
             "Write the numbers from 10 to 40 separated by commas.", "Write the numbers from 10 to 50 separated by commas.",
             "Write the numbers from 30 to 70 separated by commas."]


class Answer(threading.Thread):
    """A streamed answer as a client sees it."""

    def __init__(self, fleet, question):
        super().__init__()
        self.fleet = fleet
        self.worker, self.text, self.usage, self.pieces = None, "", {}, 0
        self.finish, self.done, self.wrong = [], False, []
        self.request = urllib.request.Request(f"{fleet.url}/v1/chat/completions", json.dumps({
            "model": MODEL, "temperature": 0, "max_tokens": TOKENS, "ignore_eos": True, "stream": True,
            "stream_options": {"include_usage": True},
            "messages": [{"role": "user", "content": question}]}).encode(), {"Content-Type": "application/json"})
        self.start()

    def run(self):
        try:
            with self.fleet.inside(), urllib.request.urlopen(self.request, timeout=PATIENCE) as answer:
                self.worker = answer.headers["x-stator-worker"].split("/")[1]
                for line in answer:
                    if line.startswith(b"data: "):
                        self.take(line[6:].strip())
        except OSError as reason:
            self.wrong.append(str(reason))

    def take(self, data):
        if self.done:
            self.wrong.append(f"behind the end: {data}")
        self.done = data == b"[DONE]"
        chunk = {} if self.done else json.loads(data)
        self.wrong += [chunk["error"]] if "error" in chunk else []
        self.usage = chunk.get("usage") or self.usage
        for choice in chunk.get("choices", []):
            self.text += choice["delta"].get("content") or ""
            self.finish += [choice["finish_reason"]] if choice["finish_reason"] else []
        self.pieces += 1

    def whole(self):
        """What must be the same however it came: text, tokens, and that it ended once, well."""
        self.join()
        return {"text": self.text, "tokens": self.usage.get("completion_tokens"), "finish": self.finish, "done": self.done,
                "wrong": self.wrong}


class Stage:
    """A fleet, and what it answers while nothing happens."""

    def __init__(self, fleet):
        self.fleet = fleet
        try:
            self.await_well()
            self.expected = [answer.whole() for answer in self.ask()]
        except BaseException:
            self.fleet.stop()
            raise

    def ask(self):
        return [Answer(self.fleet, question) for question in QUESTIONS]

    def restarts(self):
        return sum(process["restarts"] for process in self.fleet.processes().values())

    def moved(self):
        return self.fleet.metric("stator_migrations_total")

    def await_well(self):
        until(lambda: all(process["state"] == "running" for process in self.fleet.processes().values()), "all to run")
        until(lambda: all(actor["state"] == "ready" for actor in self.fleet.actors()), "all to be well")

    def strike(self, name, how):
        """Hits a process while answers stream; returns these, how many of them were still open then, and its id."""
        pids = {name: self.pid(name, process["pid"]) for name, process in self.fleet.processes().items()}
        answers = self.ask()
        streaming = until(lambda: self.half(answer for answer in answers if answer.pieces > 3), "half of the answers to stream")
        pid = pids[name.format(streaming[0].worker)]
        os.kill(pid, how)
        return answers, sum(not answer.done for answer in answers), pid

    @staticmethod
    def half(answers):
        """These, when they are half of all. The others may not have begun, or be at the end already."""
        answers = list(answers)
        return answers if len(answers) >= len(QUESTIONS) / 2 else []

    @staticmethod
    def pid(name, pid):
        """Of what a name stands for: the host has started a keeper of an engine, whose only child it is."""
        return int(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()) if name.startswith("engine/") else pid


class KillsTest(unittest.TestCase):
    maxDiff = None

    def check(self, stage, name, how, moves):
        self.assertTrue(any(self.strike(stage, name, how, moves) for _ in range(TRIES)), "answers were over too soon each time")
        if how == signal.SIGSTOP:
            self.assertEqual(stage.fleet.metric("stator_worker_suspect_total"), 1)

    def strike(self, stage, name, how, moves):
        """Whatever is hit, and when: the answers are whole and all is well again.  Returns whether it was hit in time: where
        answers are to move, whether one did, else whether half of them were still open."""
        moved, restarts = stage.moved(), stage.restarts()
        answers, still_open, pid = stage.strike(name, how)
        self.assertEqual([answer.whole() for answer in answers], stage.expected)
        if how == signal.SIGSTOP:
            os.kill(pid, signal.SIGCONT)
        else:
            until(lambda: stage.restarts() > restarts, f"{name} to be started again")
        stage.await_well()
        if moves:
            return stage.moved() > moved
        self.assertEqual(stage.moved(), moved)
        return still_open >= len(answers) / 2

    def test_no_token_is_lost_or_comes_twice(self):
        for fleet, more, strikes in STRIKES:
            if fleet is ThreeHosts and why_not():
                continue
            with tempfile.TemporaryDirectory() as folder:
                stage = Stage(fleet(folder, more))
                try:
                    for name, how, moves in strikes:
                        with self.subTest(name, how=how.name, fleet=fleet.__name__):
                            self.check(stage, name, how, moves)
                    self.assertEqual([answer.whole() for answer in stage.ask()], stage.expected)
                    if fleet is ThreeHosts:
                        self.check_that_a_revoked_worker_stays_out_until_it_is_let_in(stage)
                finally:
                    stage.fleet.stop()

    def check_that_a_revoked_worker_stays_out_until_it_is_let_in(self, stage):
        """Its answers move; killed and started again it is turned away however often it comes, and the other one answers
        everything.  Once its key is known again so is the worker, which nobody has to start anew."""
        fleet, outcast = stage.fleet, stage.fleet.others[1]
        address = f"worker/{outcast.name}-0"
        pid = fleet.processes()[address]["pid"]
        answers = stage.ask()
        until(lambda: all(answer.pieces > 3 for answer in answers), "answers to stream")
        self.assertIn(f"{outcast.name}-0", [answer.worker for answer in answers])
        fleet.revoke(outcast.name)
        self.assertEqual([answer.whole() for answer in answers], stage.expected)
        fleet.await_state(address, "unreachable")

        strangers, starts = fleet.count("stranger"), outcast.output().count(f"{address} is starting")
        os.kill(pid, signal.SIGKILL)
        until(lambda: outcast.output().count(f"{address} is starting") > starts, f"{address} to be started again")
        until(lambda: fleet.count("stranger") > strangers + 2, f"{address} to be turned away, and to try again")
        self.assertEqual(fleet.states()[address], "unreachable")
        answers = stage.ask()
        self.assertEqual([answer.whole() for answer in answers], stage.expected)
        self.assertNotIn(f"{outcast.name}-0", [answer.worker for answer in answers])

        starts = outcast.output().count(f"{address} is starting")
        fleet.admit(outcast)
        fleet.await_state(address, "ready")
        self.assertEqual(outcast.output().count(f"{address} is starting"), starts)


if __name__ == "__main__":
    unittest.main()
