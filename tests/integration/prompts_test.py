"""Prompts that the frontend makes are the engine's own, token by token: every golden conversation by many models' templates."""

import json
import pathlib
import subprocess
import tempfile
import unittest

from support import PATIENCE, ROOT, STATOR, Engine, Fleet, http, until

TEMPLATES = ROOT / "tests/data/chat_templates"
CONVERSATIONS = json.loads((TEMPLATES / "contexts.json").read_text())["contexts"]

#  Whose template the engine is started with.
EQUAL = ["npm/qwen3", "llama.cpp/Qwen3-Coder", "llama.cpp/GLM-4.6", "llama.cpp/Kimi-K2-Instruct", "llama.cpp/google-gemma-4-31B-it",
         "llama.cpp/meta-llama-Llama-3.1-8B-Instruct", "llama.cpp/openai-gpt-oss-120b", "llama.cpp/deepseek-ai-DeepSeek-V3.1"]
#  The engine trims what people write, the template does not.
DIFFERENT = "llama.cpp/stepfun-ai-Step-3.5-Flash"


class PromptsTest(unittest.TestCase):
    def fleet(self, model, template=None, check_every=1):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        folder = pathlib.Path(folder.name)
        options = {"template": TEMPLATES / f"{template}.jinja"} if template else {}
        engine = Engine(folder, model, slots=2, context=1024, **options)
        self.addCleanup(engine.stop)
        config = folder / "fleet.yaml"
        config.write_text(f"""
version: 1
models:
  - name: model
workers:
  - {{ engine: llamacpp, name: real, model: model, url: "{engine.url}", block_size: 16 }}
frontend: {{ check_every: {check_every} }}
""")
        fleet = Fleet(folder, config=config)
        self.addCleanup(fleet.stop)
        fleet.folder = folder
        return fleet

    def said(self, fleet):
        """What the frontend says of its prompts; nothing where it does not say it in time."""
        ps = [STATOR, "ps", "--run-dir", fleet.folder / "fleet-run"]
        seen = subprocess.run(ps, capture_output=True, text=True, timeout=PATIENCE)
        line = [line for line in seen.stdout.splitlines() if line.startswith("frontend/0")]
        return line[0].partition("prompts of model are ")[2] if line else ""

    def settled(self, fleet):
        return until(lambda: "until" not in (said := self.said(fleet)) and said, "the frontend to know who makes prompts")

    def send(self, fleet, conversation):
        """Sends a golden conversation; returns the HTTP status."""
        members = {key: value for key, value in conversation.items() if key in ("messages", "tools")}
        arguments = {key: value for key, value in conversation.items()
                     if key not in members and key != "add_generation_prompt"}
        if arguments:
            members["chat_template_kwargs"] = arguments
        return http(f"{fleet.url}/v1/chat/completions", {"model": "model", "max_tokens": 1, **members})[0]

    def check_all(self, fleet):
        self.assertEqual(self.settled(fleet), "made here", fleet.output())
        for name, conversation in CONVERSATIONS.items():
            checked = fleet.metric("stator_prompts_checked_total")
            made = fleet.metric("stator_memo_prompts_total")
            status = self.send(fleet, conversation)
            self.assertIn(status, (200, 400), name)    # What does not fit the engine's small context is refused afterwards.
            if fleet.metric("stator_memo_prompts_total") > made:
                until(lambda: fleet.metric("stator_prompts_checked_total") > checked, f"{name} to be compared")
        self.assertEqual(fleet.metric("stator_prompts_differing_total"), 0, self.said(fleet))
        self.assertGreaterEqual(fleet.metric("stator_prompts_checked_total"), len(CONVERSATIONS))
        self.assertEqual(self.settled(fleet), "made here")

    def test_1_a_real_model(self):
        fleet = self.fleet("smollm2")
        self.check_all(fleet)
        self.assertGreater(fleet.metric("stator_memo_bytes_known_total"), 0)

    def test_2_templates_of_many_models(self):
        for template in EQUAL:
            with self.subTest(template):
                self.check_all(self.fleet("stories260k", template))

    def test_3_a_template_that_the_engine_treats_in_its_own_way(self):
        fleet = self.fleet("stories260k", DIFFERENT)
        self.assertIn("made by its engines, since theirs of a probe's conversation has", self.settled(fleet))
        self.assertEqual(fleet.metric("stator_prompts_differing_total"), 1)
        self.assertEqual(fleet.metric("stator_local_prompts"), 0)
        self.assertEqual(self.send(fleet, CONVERSATIONS["user"]), 200)


if __name__ == "__main__":
    unittest.main()
