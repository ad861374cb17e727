"""A real llama-server behind a worker: the protocol is kept, prompts are the server's own, caches are found, death is noticed."""

import json
import pathlib
import signal
import subprocess
import tempfile
import unittest

from support import PATIENCE, STATOR, Engine, Fleet, http, until

STORY = ("Once upon a time there was a little girl named Lily who loved to play in the park with her red ball. "
         "One day she and her friend Tom saw a big dog")


class LlamacppTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.engine = Engine(cls.folder, slots=2, context=1024)
        cls.addClassCleanup(cls.stop_engine)
        config = cls.folder / "fleet.yaml"
        config.write_text(f"""
version: 1
models:
  - name: stories260k
workers:
  - {{ engine: llamacpp, name: real, model: stories260k, url: "{cls.engine.url}", block_size: 16 }}
""")
        cls.fleet = Fleet(cls.folder, config=config)
        cls.addClassCleanup(cls.fleet.stop)

    @classmethod
    def stop_engine(cls):
        cls.engine.stop()

    def chat(self, text, **options):
        status, answer = http(f"{self.fleet.url}/v1/chat/completions", {
            "model": "stories260k", "messages": [{"role": "user", "content": text}], "temperature": 0, **options})
        return status, json.loads(answer)

    def test_1_keeps_the_worker_protocol(self):
        checked = subprocess.run([STATOR, "worker", "test", "worker/real-0", "--timeout", "1min", "--run-dir",
                                  self.folder / "fleet-run"], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        self.assertRegex(checked.stdout, r"(?m)^ok +files ")

    def test_2_computes_the_prompt_that_the_servers_own_chat_would(self):
        status, own = http(f"{self.engine.url}/v1/chat/completions", {
            "messages": [{"role": "user", "content": STORY}], "max_tokens": 20, "temperature": 0})
        self.assertEqual(status, 200)
        own = json.loads(own)
        status, ours = self.chat(STORY, max_tokens=20)
        self.assertEqual(status, 200, ours)
        self.assertEqual(ours["usage"]["prompt_tokens"], own["usage"]["prompt_tokens"])
        self.assertEqual(ours["choices"][0]["message"]["content"], own["choices"][0]["message"]["content"])

    def test_3_finds_the_last_turn_in_its_slot(self):
        self.chat(STORY, max_tokens=10)
        status, answer = self.chat(STORY, max_tokens=10)
        self.assertEqual(status, 200, answer)
        usage = answer["usage"]
        self.assertEqual(usage["prompt_tokens_details"]["cached_tokens"], usage["prompt_tokens"] - 1)
        self.assertGreater(self.fleet.metric("stator_kv_blocks_held"), 3)

    def test_4_refuses_what_the_context_cannot_hold(self):
        status, answer = self.chat("hi " * 600)
        self.assertEqual((status, answer["error"]["code"]), (400, "context_length_exceeded"))

    def test_5_notices_death_and_return(self):
        port = self.engine.port
        self.engine.process.send_signal(signal.SIGKILL)
        self.engine.process.wait()
        until(lambda: self.chat("hello", max_tokens=2)[0] == 503, "the fleet to say that nobody serves the model")
        type(self).engine = Engine(self.folder, slots=2, context=1024, port=port)
        until(lambda: self.chat("hello", max_tokens=2)[0] == 200, "the model to be served again")


if __name__ == "__main__":
    unittest.main()
