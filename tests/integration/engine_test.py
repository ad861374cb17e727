"""The real engine that the other tests rely on is real: it is there, it is deterministic, it reuses its cache."""

import json
import tempfile
import unittest

from support import Engine, http

#  What llama.cpp says at temperature 0; computed by another build of it than the one under test.
STORY = "Once upon a time"
GOES_ON = ", there was a little girl named Lily. She loved to play outside in the park."


class EngineTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.engine = Engine(cls.folder.name, slots=2, context=1024)
        cls.addClassCleanup(cls.engine.stop)

    def complete(self, **body):
        status, answer = http(f"{self.engine.url}/completion", {"temperature": 0, "return_tokens": True, **body})
        self.assertEqual(status, 200, answer)
        return json.loads(answer)

    def test_tells_the_story_that_another_build_told(self):
        self.assertTrue(self.complete(prompt=STORY, n_predict=40)["content"].startswith(GOES_ON))

    def test_takes_and_gives_token_ids(self):
        status, answer = http(f"{self.engine.url}/tokenize", {"content": STORY, "add_special": True})
        self.assertEqual(status, 200)
        tokens = json.loads(answer)["tokens"]
        told = self.complete(prompt=tokens, n_predict=5)
        self.assertEqual(len(told["tokens"]), 5)
        self.assertTrue(GOES_ON.startswith(told["content"]))

    def test_reuses_what_a_slot_holds(self):
        first = self.complete(prompt=STORY + GOES_ON, n_predict=1, id_slot=1)
        again = self.complete(prompt=STORY + GOES_ON, n_predict=1, id_slot=1)
        prompt = first["timings"]["cache_n"] + first["timings"]["prompt_n"]
        self.assertEqual(again["timings"]["cache_n"], prompt - 1)

    def test_renders_messages_as_chatml(self):
        status, answer = http(f"{self.engine.url}/apply-template", {"messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "Hello"}]}]})
        self.assertEqual(status, 200)
        self.assertEqual(json.loads(answer)["prompt"], "<|im_start|>system\nBe brief.<|im_end|>\n"
                                                       "<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n")


if __name__ == "__main__":
    unittest.main()
