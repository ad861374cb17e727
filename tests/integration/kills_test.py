"""Whatever is killed while answers stream, every token of every answer comes, once, in one stream; and all is well afterwards.

Two real engines answer greedily.  Each row of STRIKES hits one process of a fleet in the middle of six answers, whose texts
must be those of a run in which nothing happens.
"""

import json
import os
import pathlib
import signal
import tempfile
import threading
import unittest
import urllib.request

from support import Fleet, free_port, until

MODEL = "SmolLM2-135M-Instruct"
TOKENS = 32
FLEET = """version: 1
models:
  - name: {model}
workers:
  - {{ engine: llamacpp, name: a, port: {first}, block_size: 16, command: "scripts/engine run smollm2 --slots 4 --port {{port}}" }}
  - {{ engine: llamacpp, name: b, port: {second}, block_size: 16, command: "scripts/engine run smollm2 --slots 4 --port {{port}}" }}
frontend: {{ process: own }}
host: {{ restart_delay: 100ms }}
"""
APART = FLEET + """router: {{ process: own }}
indexer: {{ process: own }}
"""

#  Of each fleet: what is struck, how, and whether answers move to another worker for it.  {} is one that answers.
STRIKES = [
    (APART, [("engine/{}", signal.SIGKILL, True),
             ("worker/{}", signal.SIGKILL, True),
             ("router/0", signal.SIGKILL, False),
             ("broker", signal.SIGKILL, False),
             ("indexer/0", signal.SIGKILL, False),
             ("engine/{}", signal.SIGSTOP, True)]),
    (FLEET, [("core", signal.SIGKILL, False)]),
]

#  An engine rounds otherwise when it computes a prompt at once than when it comes to it token by token. In the answers to
#  these each token is so much likelier than the next one (by a third at least) that no rounding decides.
QUESTIONS = ["Print the squares of 1 to 10.", "Print the doubles of 1 to 10.", "List the even numbers from 2 to 60.",
             "Write the numbers from 10 to 40 separated by commas.", "Write the numbers from 10 to 50 separated by commas.",
             "Write the numbers from 30 to 70 separated by commas."]


class Answer(threading.Thread):
    """A streamed answer as a client sees it."""

    def __init__(self, url, question):
        super().__init__()
        self.worker, self.text, self.usage, self.pieces = None, "", {}, 0
        self.finish, self.done, self.wrong = [], False, []
        self.request = urllib.request.Request(f"{url}/v1/chat/completions", json.dumps({
            "model": MODEL, "temperature": 0, "max_tokens": TOKENS, "ignore_eos": True, "stream": True,
            "stream_options": {"include_usage": True},
            "messages": [{"role": "user", "content": question}]}).encode(), {"Content-Type": "application/json"})
        self.start()

    def run(self):
        try:
            with urllib.request.urlopen(self.request, timeout=60) as answer:
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
    """A fleet of one of the files, and what it answers while nothing happens."""

    def __init__(self, folder, text):
        config = pathlib.Path(folder) / "fleet.yaml"
        config.write_text(text.format(model=MODEL, first=free_port(), second=free_port()))
        self.fleet = Fleet(folder, config=config)
        try:
            self.await_well()
            self.expected = [answer.whole() for answer in self.ask()]
        except BaseException:
            self.fleet.stop()
            raise

    def ask(self):
        return [Answer(self.fleet.url, question) for question in QUESTIONS]

    def moved(self):
        return self.fleet.metric("stator_migrations_total")

    def await_well(self):
        until(lambda: all(process["state"] == "running" for process in self.fleet.processes().values()), 60, "all to run")
        until(lambda: all(actor["state"] == "ready" for actor in self.fleet.actors()), 30, "all to be well")

    def strike(self, name, how):
        """Hits a process in the middle of answers; returns these, how many of them were still open then, and its id."""
        pids = {name: self.pid(name, process["pid"]) for name, process in self.fleet.processes().items()}
        answers = self.ask()
        until(lambda: all(answer.pieces > 3 for answer in answers), 40, "answers to stream")
        pid = pids[name.format(answers[0].worker)]
        os.kill(pid, how)
        return answers, sum(not answer.done for answer in answers), pid

    @staticmethod
    def pid(name, pid):
        """Of what a name stands for: the host has started a keeper of an engine, whose only child it is."""
        return int(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()) if name.startswith("engine/") else pid


class KillsTest(unittest.TestCase):
    maxDiff = None

    def check(self, stage, name, how, moves):
        moved = stage.moved()
        restarts = sum(process["restarts"] for process in stage.fleet.processes().values())
        answers, still_open, pid = stage.strike(name, how)
        self.assertGreaterEqual(still_open, len(answers) / 2, "the answers were over too soon")
        self.assertEqual([answer.whole() for answer in answers], stage.expected)
        if how == signal.SIGSTOP:
            self.assertEqual(stage.fleet.metric("stator_worker_suspect_total"), 1)
            os.kill(pid, signal.SIGCONT)
        else:
            until(lambda: sum(process["restarts"] for process in stage.fleet.processes().values()) > restarts, 20,
                  f"{name} to be started again")
        stage.await_well()
        self.assertEqual(stage.moved() > moved, moves)

    def test_no_token_is_lost_or_comes_twice(self):
        for text, strikes in STRIKES:
            with tempfile.TemporaryDirectory() as folder:
                stage = Stage(folder, text)
                try:
                    for name, how, moves in strikes:
                        with self.subTest(name, how=how.name):
                            self.check(stage, name, how, moves)
                    self.assertEqual([answer.whole() for answer in stage.ask()], stage.expected)
                finally:
                    stage.fleet.stop()


if __name__ == "__main__":
    unittest.main()
