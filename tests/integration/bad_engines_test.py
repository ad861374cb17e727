"""Engines that say they are well and are not: one that hangs is left and comes back, and a fleet that fails is not hammered."""

import http.server
import json
import pathlib
import tempfile
import threading
import time
import unittest

from support import Fleet, free_port, http as ask, until

TOKENS = 60
HELD = 10    # Of these come before the engine is let go on
FLEET = """version: 1
models: [ {{ name: fake }} ]
workers:
  - {{ engine: llamacpp, name: a, url: "{first}" }}
  - {{ engine: llamacpp, name: b, url: "{second}" }}
frontend: {{ attempts: 2, retry_burst: {burst}, retry_share: 0, retry_floor: 0 }}
router: {{ mode: round_robin }}
"""


class FakeEngine(http.server.ThreadingHTTPServer):
    """Speaks as llama-server does. The text of a token is its position in prompt and answer, so a gap or a repeat shows."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", free_port()), FakeHandler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.hangs, self.fails = False, False
        self.asked, self.held = [], []    # Tokens asked for, of each completion; positions where one is held
        self.goes_on = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()


class FakeHandler(http.server.BaseHTTPRequestHandler):
    pages = {
        "/health": {"status": "ok"},
        "/props": {"total_slots": 8, "default_generation_settings": {"n_ctx": 4096}, "bos_token": "<s>", "chat_template": "x",
                   "model_path": "/m/fake.gguf", "build_info": "b1"},
        "/v1/models": {"data": [{"id": "fake", "meta": {"n_vocab": 512}}]},
        "/apply-template": {"prompt": "hello"},
        "/tokenize": {"tokens": [1, 2, 3]},
    }

    def do_GET(self):
        self.answer(200, self.pages[self.path])

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != "/completion":
            self.do_GET()
            return
        self.server.asked.append(body["n_predict"])
        if self.server.fails:
            self.answer(500, {"error": {"code": 500, "message": "out of luck", "type": "server_error"}})
        else:
            self.stream(len(body["prompt"]), body["n_predict"])

    def answer(self, code, body):
        body = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self, prompt, limit):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        try:
            for position in range(prompt, prompt + limit):
                if position == prompt + HELD:
                    self.server.held.append(position)
                    self.server.goes_on.wait()
                while self.server.hangs:
                    time.sleep(0.05)
                self.event({"content": f"{position} ", "tokens": [position], "stop": False})
                time.sleep(0.05)
            self.event({"content": "", "tokens": [], "stop": True, "stop_type": "limit", "stopping_word": "",
                        "tokens_predicted": limit, "tokens_evaluated": prompt, "tokens_cached": prompt + limit - 1})
        except OSError:
            pass    # Nobody wants it any more.

    def event(self, chunk):
        self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())

    def log_message(self, *words):
        pass


class BadEnginesTest(unittest.TestCase):
    def start(self, burst):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.engines = [FakeEngine(), FakeEngine()]
        for engine in self.engines:
            self.addCleanup(engine.server_close)
            self.addCleanup(engine.shutdown)
        config = pathlib.Path(folder.name) / "fleet.yaml"
        config.write_text(FLEET.format(first=self.engines[0].url, second=self.engines[1].url, burst=burst))
        self.fleet = Fleet(folder.name, config=config)
        self.addCleanup(self.fleet.stop)
        until(self.all_are_ready, "both workers to be ready")

    def all_are_ready(self):
        return all(actor["state"] == "ready" for actor in self.fleet.actors())

    def chat(self, tokens):
        return ask(f"{self.fleet.url}/v1/chat/completions",
                   {"model": "fake", "max_tokens": tokens, "messages": [{"role": "user", "content": "hello"}]})

    def test_an_engine_that_hangs_is_left_and_comes_back(self):
        self.start(burst=100)
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(self.chat(TOKENS))) for _ in range(6)]
        for thread in threads:
            thread.start()
        until(lambda: [len(engine.held) for engine in self.engines] == [3, 3], "answers to be under way")
        self.engines[0].hangs = True
        for engine in self.engines:
            engine.goes_on.set()
        for thread in threads:
            thread.join()
        self.assertEqual(ask(f"{self.engines[0].url}/health")[0], 200)
        whole = "".join(f"{position} " for position in range(3, 3 + TOKENS))
        for status, answer in answers:
            self.assertEqual(status, 200, answer)
            self.assertEqual(json.loads(answer)["choices"][0]["message"]["content"].rstrip(), whole.rstrip())
        self.assertEqual(self.fleet.metric("stator_worker_suspect_total"), 1)
        self.assertEqual(self.fleet.metric("stator_migrations_total"), 3)

        self.assertEqual([self.chat(4)[0] for _ in range(4)], [200] * 4)
        self.assertNotIn(4, self.engines[0].asked)    # A probe asks for one
        self.engines[0].hangs = False
        until(self.all_are_ready, "the engine to be believed again")

    def test_a_fleet_that_fails_is_not_hammered(self):
        self.start(burst=3)
        for engine in self.engines:
            engine.fails = True
        answers = [self.chat(4) for _ in range(8)]
        self.assertEqual([status for status, _ in answers], [502] * 8)
        self.assertEqual(sum(len(engine.asked) for engine in self.engines), 8 + 3)
        last = json.loads(answers[-1][1])["error"]
        self.assertEqual(last["code"], "retry_budget_spent")
        self.assertIn("out of luck; no other worker is tried, because the retry budget of this frontend is spent", last["message"])
        self.assertEqual(self.fleet.metric("stator_retries_total"), 3)
        self.assertEqual(self.fleet.metric("stator_retry_budget"), 0)


if __name__ == "__main__":
    unittest.main()
