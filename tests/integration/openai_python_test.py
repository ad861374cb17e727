"""OpenAI's own Python client talks to a fleet, and finds everything where it expects it."""

import tempfile
import unittest

import openai

from support import PATIENCE, Fleet, until

HELLO = [{"role": "user", "content": "hello"}]


class OpenAIPythonTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.fleet = Fleet(folder.name)
        cls.addClassCleanup(cls.fleet.stop)
        cls.client = openai.OpenAI(base_url=f"{cls.fleet.url}/v1", api_key="any", max_retries=0, timeout=PATIENCE)
        cls.addClassCleanup(cls.client.close)

    def ask(self, **options):
        return self.client.chat.completions.create(**{"model": "mock", "messages": HELLO, "max_tokens": 30, **options})

    def test_lists_the_models_and_finds_each(self):
        names = [model.id for model in self.client.models.list()]
        self.assertEqual(names, ["mock", "gpt-4o-mini"])
        for name in names:
            self.assertEqual(self.client.models.retrieve(name).id, name)

    def test_gets_a_whole_answer(self):
        answer = self.ask()
        choice = answer.choices[0]
        self.assertEqual(answer.object, "chat.completion")
        self.assertEqual(choice.message.role, "assistant")
        self.assertEqual(choice.finish_reason, "length")
        self.assertEqual(answer.usage.completion_tokens, 30)
        self.assertEqual(answer.usage.total_tokens, answer.usage.prompt_tokens + 30)
        self.assertEqual(len(choice.message.content.encode()), 30)

    def test_gets_the_same_answer_in_pieces(self):
        whole = self.ask(seed=7, temperature=0)
        chunks = list(self.ask(seed=7, temperature=0, stream=True, stream_options={"include_usage": True}))
        self.assertEqual(len({(chunk.id, chunk.created, chunk.model) for chunk in chunks}), 1)
        self.assertEqual(chunks[0].choices[0].delta.role, "assistant")
        text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
        self.assertEqual(text, whole.choices[0].message.content)
        self.assertEqual(chunks[-2].choices[0].finish_reason, "length")
        self.assertEqual(chunks[-1].choices, [])
        self.assertEqual(chunks[-1].usage.completion_tokens, 30)
        self.assertTrue(all(chunk.usage is None for chunk in chunks[:-1]))

    def test_its_accumulator_takes_the_pieces_up_to_a_stop_string(self):
        with self.client.chat.completions.stream(model="mock", messages=HELLO, max_tokens=300, stop=[" "]) as stream:
            for _ in stream:
                pass
            final = stream.get_final_completion()
        self.assertEqual(final.choices[0].finish_reason, "stop")
        self.assertRegex(final.choices[0].message.content, r"^\S+$")

    def test_the_next_turn_finds_the_last_one_in_the_cache(self):
        history = [{"role": "system", "content": "An agent. " * 100}, {"role": "user", "content": "First."}]
        headers = {"x-session-id": "conversation"}
        first = self.client.chat.completions.with_raw_response.create(
            model="mock", messages=history, max_tokens=200, extra_headers=headers)
        answer = first.parse()
        history += [{"role": "assistant", "content": answer.choices[0].message.content}, {"role": "user", "content": "Second."}]
        second = self.client.chat.completions.with_raw_response.create(
            model="mock", messages=history, max_tokens=5, extra_headers=headers)
        self.assertEqual(second.headers["x-stator-worker"], first.headers["x-stator-worker"])
        cached = second.parse().usage.prompt_tokens_details.cached_tokens
        self.assertGreater(cached, answer.usage.prompt_tokens * 0.9)
        self.assertEqual(second.headers["x-stator-cached-tokens"], str(cached))

    def test_hears_of_its_ids_and_hints(self):
        answer = self.client.chat.completions.with_raw_response.create(
            model="mock", messages=HELLO, max_tokens=1, extra_headers={"x-request-id": "mine-1", "x-vllm-priority": "soon"},
            extra_body={"stator": {"hints": {"session": "s", "priority": 99999}}})
        self.assertEqual(answer.headers["x-request-id"], "mine-1")
        self.assertTrue(answer.headers["x-stator-worker"].startswith("worker/"))
        self.assertTrue(answer.headers["x-stator-queue-ms"].isdigit())
        receipt = answer.headers["x-stator-receipt"]
        self.assertIn("priority:x-vllm-priority=rejected(not a whole number)", receipt)
        self.assertIn("session:stator.hints.session=accepted", receipt)
        self.assertLessEqual(len(receipt), 512)

    def test_errors_are_the_classes_it_knows(self):
        too_long = [{"role": "user", "content": "x" * 140000}]
        for error, code, param, options in [
            (openai.NotFoundError, "model_not_found", "model", {"model": "huge"}),
            (openai.BadRequestError, "invalid_value", "temperature", {"temperature": 3}),
            (openai.BadRequestError, "unsupported_parameter", "n", {"n": 2}),
            (openai.BadRequestError, "unsupported_parameter", "logprobs", {"logprobs": True}),
            (openai.BadRequestError, "unsupported_parameter", "response_format", {"response_format": {"type": "json_object"}}),
            (openai.BadRequestError, "context_length_exceeded", "messages", {"messages": too_long}),
        ]:
            with self.subTest(code=code, param=param), self.assertRaises(error) as raised:
                self.ask(**options)
            self.assertEqual(raised.exception.code, code)
            self.assertEqual(raised.exception.param, param)
        with self.assertRaises(openai.NotFoundError):
            self.client.models.retrieve("huge")
        with self.assertRaises(openai.NotFoundError):
            self.client.embeddings.create(model="mock", input="x")

    def test_many_at_once(self):
        streams = [self.ask(stream=True, max_tokens=20, messages=[{"role": "user", "content": f"{i}"}]) for i in range(16)]
        for stream in streams:
            self.assertEqual(sum(len(chunk.choices[0].delta.content or "") for chunk in stream), 20)

    def test_leaving_stops_the_work(self):
        before = self.fleet.metric("stator_disconnected_clients_total")
        stream = self.ask(stream=True, max_tokens=50000)
        next(iter(stream))
        self.assertEqual(self.fleet.metric("stator_requests_running", "frontend/0"), 1)
        stream.close()
        until(lambda: self.fleet.metric("stator_requests_running", "frontend/0") == 0, "the request to end")
        self.assertEqual(self.fleet.metric("stator_disconnected_clients_total"), before + 1)
        self.assertEqual(self.fleet.metric("stator_requests_total", 'code="499"'), before + 1)

    def test_a_killed_worker_does_not_cut_the_text(self):
        fixed = {"seed": 3, "temperature": 0, "max_tokens": 4000}
        whole = self.ask(**fixed).choices[0].message.content

        def killed():
            raw = self.client.chat.completions.with_raw_response.create(model="mock", messages=HELLO, stream=True, **fixed)
            text = ""
            for number, chunk in enumerate(raw.parse()):
                text += chunk.choices[0].delta.content or ""
                if number == 10:
                    self.fleet.kill(raw.headers["x-stator-worker"])
            self.assertEqual(text, whole)
            return self.fleet.metric("stator_migrations_total")
        self.assertEqual(until(killed, "a worker to be killed before it was at the end"), 1)


if __name__ == "__main__":
    unittest.main()
