"""A real model answers through the whole house, and a conversation stays with the engine that knows it."""

import json
import pathlib
import tempfile
import unittest
import urllib.request

from support import PATIENCE, ROOT, Fleet, Program, free_port, until

MODEL = "SmolLM2-135M-Instruct"
FLEET = """version: 1
models:
  - name: {model}
workers:
  - {{ engine: llamacpp, name: first, port: {first}, command: "scripts/engine run smollm2 --port {{port}}" }}
  - {{ engine: llamacpp, name: second, port: {second}, command: "scripts/engine run smollm2 --port {{port}}" }}
"""
PEOPLE = ["Ada", "Grace", "Edsger", "Barbara"]


def system_prompt(name):
    """Some blocks of text that no other conversation begins with."""
    return f"You help {name}. " + " ".join(f"{name} has a box with the number {number}." for number in range(40))


class HouseTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        config = pathlib.Path(folder.name) / "fleet.yaml"
        config.write_text(FLEET.format(model=MODEL, first=free_port(), second=free_port()))
        cls.fleet = Fleet(folder.name, config=config)
        cls.addClassCleanup(cls.fleet.stop)
        until(lambda: all(f"worker/{name}-0 is running" in cls.fleet.output() for name in ("first", "second")),
              "both workers to run")

    def post(self, body):
        request = urllib.request.Request(f"{self.fleet.url}/v1/chat/completions", json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        return urllib.request.urlopen(request, timeout=PATIENCE)

    def turn(self, messages):
        """Asks for the next turn and adds it; returns (worker, cached tokens)."""
        with self.post({"model": MODEL, "messages": messages, "max_tokens": 12, "temperature": 0}) as answer:
            worker, said = answer.headers["x-stator-worker"], json.loads(answer.read())
        messages.append(said["choices"][0]["message"])
        return worker, said["usage"]["prompt_tokens_details"]["cached_tokens"]

    def test_a_real_model_answers(self):
        with self.post({"model": MODEL, "temperature": 0, "max_tokens": 20, "messages": [
                {"role": "user", "content": "What is the capital of France?"}]}) as answer:
            said = json.loads(answer.read())
        self.assertIn("Paris", said["choices"][0]["message"]["content"])
        self.assertEqual(said["choices"][0]["finish_reason"], "stop")

    def test_streams_as_it_comes(self):
        with self.post({"model": MODEL, "temperature": 0, "max_tokens": 20, "stream": True, "messages": [
                {"role": "user", "content": "What is the capital of France?"}]}) as answer:
            data = [line[6:].strip() for line in answer.read().decode().splitlines() if line.startswith("data: ")]
        self.assertEqual(data[-1], "[DONE]")
        pieces = [json.loads(chunk)["choices"][0]["delta"].get("content") or "" for chunk in data[:-1]]
        self.assertGreater(len([piece for piece in pieces if piece]), 3)
        self.assertIn("Paris", "".join(pieces))

    def test_a_second_turn_finds_its_cache_on_the_same_engine(self):
        conversations = [[{"role": "system", "content": system_prompt(name)},
                          {"role": "user", "content": "Which boxes are there?"}] for name in PEOPLE]
        first = [self.turn(messages) for messages in conversations]
        self.assertEqual({worker for worker, _ in first}, {"worker/first-0", "worker/second-0"})
        self.assertTrue(all(cached < 64 for _, cached in first), first)
        for messages, (worker, _) in zip(conversations, first):
            messages.append({"role": "user", "content": "And which is the last?"})
            again, cached = self.turn(messages)
            self.assertEqual(again, worker)
            self.assertGreater(cached, 300)


class RunTest(unittest.TestCase):
    def test_one_command_shows_an_answer_and_leaves_nothing_behind(self):
        with tempfile.TemporaryDirectory() as folder:
            words = ["--port", free_port(), "--state-dir", f"{folder}/state", "--run-dir", f"{folder}/run"]
            with Program([ROOT / "scripts/run", "--mock", "--once", "--", *words], folder) as run:
                self.assertEqual(run.process.wait(PATIENCE), 0, run.output())
                self.assertRegex(run.output(), r"mock> .*\n\S+")
            self.assertIn("broker is stopped", pathlib.Path(f"{folder}/run/stator.log").read_text())


if __name__ == "__main__":
    unittest.main()
