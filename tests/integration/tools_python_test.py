"""OpenAI's own Python client gets tool calls and thoughts of a model, streamed and whole, and sends them back.

Behind the worker stands a real llama-server, but for what it generates: that is a script."""

import http.client
import http.server
import json
import pathlib
import tempfile
import threading
import unittest

import openai

from support import PATIENCE, ROOT, Engine, Fleet, until

TOOLS = [{"type": "function", "function": {"name": "get_weather", "description": "The weather of a place.", "parameters": {
    "type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]}}}]
ASKED = [{"role": "user", "content": "How is the weather in Paris and Rome?"}]
CALLS = ('<think>\nTwo places, two calls.\n</think>\n\nI look it up.\n'
         '<tool_call>\n{"name": "get_weather", "arguments": {"place": "Paris, \\"F\\" é"}}\n</tool_call>\n'
         '<tool_call>\n{"name": "get_weather", "arguments": {"place": "Rome"}}\n</tool_call>')


class Script(http.server.BaseHTTPRequestHandler):
    """Passes everything on to a real server, and answers completions itself: with `text`, a token an event."""

    engine = None
    text = ""
    asked = []

    def log_message(self, *_):
        pass

    def forward(self, path, body=None):
        with_engine = http.client.HTTPConnection("127.0.0.1", self.engine.port, timeout=PATIENCE)
        with_engine.request("POST" if body is not None else "GET", path, body, {"Content-Type": "application/json"})
        answer = with_engine.getresponse()
        status, content = answer.status, answer.read()
        with_engine.close()
        return status, content

    def answer(self, status, content, kind="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self):
        self.answer(*self.forward(self.path))

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path != "/completion":
            self.answer(*self.forward(self.path, body))
            return
        Script.asked.append(json.loads(body))
        question = json.dumps({"content": self.text, "add_special": False, "with_pieces": True}).encode()
        tokens = json.loads(self.forward("/tokenize", question)[1])["tokens"]
        events, rest = [], self.text
        for token in tokens:
            piece = token["piece"] if isinstance(token["piece"], str) else ""
            piece = piece if rest.startswith(piece) else piece.lstrip()
            rest = rest[len(piece):]
            events.append({"content": piece, "tokens": [token["id"]], "stop": False})
        events[-1]["content"] += rest
        events.append({"content": "", "tokens": [], "stop": True, "stop_type": "eos", "tokens_predicted": len(tokens),
                       "tokens_evaluated": 10, "tokens_cached": 10})
        self.answer(200, "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode(), "text/event-stream")


class ToolsPythonTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        folder = pathlib.Path(folder.name)
        Script.engine = Engine(folder, "smollm2", slots=2, template=ROOT / "tests/data/chat_templates/npm/qwen3.jinja")
        cls.addClassCleanup(Script.engine.stop)
        script = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Script)
        threading.Thread(target=script.serve_forever, daemon=True).start()
        cls.addClassCleanup(script.server_close)
        cls.addClassCleanup(script.shutdown)
        config = folder / "fleet.yaml"
        config.write_text(f"""
version: 1
models:
  - name: model
workers:
  - {{ engine: llamacpp, name: script, model: model, url: "http://127.0.0.1:{script.server_port}", block_size: 16 }}
frontend: {{ check_every: 1 }}
""")
        cls.fleet = Fleet(folder, config=config)
        cls.addClassCleanup(cls.fleet.stop)
        until(lambda: cls.fleet.metric("stator_local_prompts") == 1, "prompts to be made by the frontend")
        cls.client = openai.OpenAI(base_url=f"{cls.fleet.url}/v1", api_key="any", max_retries=0, timeout=PATIENCE)
        cls.addClassCleanup(cls.client.close)

    def ask(self, text, messages=ASKED, **options):
        Script.text = text
        return self.client.chat.completions.create(**{"model": "model", "messages": messages, "tools": TOOLS, **options})

    def check_calls(self, message):
        self.assertEqual([(call.type, call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls],
                         [("function", "get_weather", {"place": 'Paris, "F" é'}), ("function", "get_weather", {"place": "Rome"})])
        self.assertEqual(len({call.id for call in message.tool_calls}), 2)
        self.assertEqual(message.content.strip(), "I look it up.")

    def test_gets_calls_and_thoughts_whole(self):
        choice = self.ask(CALLS).choices[0]
        self.assertEqual(choice.finish_reason, "tool_calls")
        self.assertEqual(choice.message.reasoning_content, "Two places, two calls.")
        self.check_calls(choice.message)

    def test_its_accumulator_puts_streamed_calls_together(self):
        Script.text = CALLS
        with self.client.chat.completions.stream(model="model", messages=ASKED, tools=TOOLS) as stream:
            kinds = {event.type for event in stream}
            final = stream.get_final_completion()
        self.assertIn("tool_calls.function.arguments.delta", kinds)
        self.assertEqual(final.choices[0].finish_reason, "tool_calls")
        self.check_calls(final.choices[0].message)

    def test_gets_thoughts_as_they_come(self):
        chunks = [chunk.choices[0] for chunk in self.ask(CALLS, stream=True) if chunk.choices]
        thoughts = "".join(getattr(choice.delta, "reasoning_content", None) or "" for choice in chunks)
        self.assertEqual(thoughts, "Two places, two calls.")
        self.assertEqual([choice.finish_reason for choice in chunks if choice.finish_reason], ["tool_calls"])
        firsts = [call for choice in chunks for call in choice.delta.tool_calls or [] if call.id]
        self.assertEqual([call.index for call in firsts], [0, 1])
        self.assertFalse(any("<" in (choice.delta.content or "") for choice in chunks))

    def test_without_tools_or_with_none_wanted_a_call_is_text(self):
        for options in ({"tools": openai.NOT_GIVEN}, {"tool_choice": "none"}):
            choice = self.ask(CALLS, **options).choices[0]
            self.assertEqual(choice.finish_reason, "stop")
            self.assertIsNone(choice.message.tool_calls)
            self.assertIn("<tool_call>", choice.message.content)

    def test_a_call_sent_back_with_its_result_makes_the_engines_own_prompt(self):
        message = self.ask(CALLS).choices[0].message
        results = [{"role": "tool", "tool_call_id": call.id, "content": "sunny"} for call in message.tool_calls]
        checked = self.fleet.metric("stator_prompts_checked_total")
        again = self.ask("It is sunny in both.", [*ASKED, message, *results]).choices[0]
        self.assertEqual((again.message.content, again.finish_reason), ("It is sunny in both.", "stop"))
        until(lambda: self.fleet.metric("stator_prompts_checked_total") > checked, "the prompt to be compared")
        self.assertEqual(self.fleet.metric("stator_prompts_differing_total"), 0)


if __name__ == "__main__":
    unittest.main()
