"""Wrong configurations of every kind: each is told with its place and what to do, and nothing is started."""

import pathlib
import subprocess
import tempfile
import unittest

from support import PATIENCE, STATOR

GOOD = """version: 1
models:
  - name: m
workers:
  - engine: mock
"""
HOSTS = """version: 1
hosts: [ { name: a, address: ADDRESS, runs: [broker, core] } ]
models: [ { name: m } ]
workers: [ { engine: mock, host: a } ]
"""
LLAMA = GOOD.replace("mock", "llamacpp")

#  File, where in it, and what is said.
WRONG = [
    (GOOD + "    cuont: 2\n", "6:5", "unknown key 'cuont' in workers[0]; did you mean 'count'?"),
    (GOOD + "fronted: {}\n", "6:1", "did you mean 'frontend'?"),
    (GOOD + "<<: { a: 1 }\n", "6:1", "unknown key '<<'"),
    (GOOD + "    llamacpp: { slots: 2 }\n", "6:17", "unknown key 'slots' in workers[0].llamacpp"),
    (GOOD + "frontend: [1]\n", "6:11", "frontend must be a section, not a list"),
    (GOOD + "router: kv\n", "6:9", "router must be a section, not a value"),
    (GOOD + "frontend: { port: eighty }\n", "6:19", "'eighty' is not a whole number from 0 to 65535"),
    (GOOD + "frontend: { port: 80.5 }\n", "6:19", "is not a whole number"),
    (GOOD + "frontend: { port: -1 }\n", "6:19", "from 0 to 65535"),
    (GOOD + "frontend: { port: 99999999999999999999 }\n", "6:19", "is too large"),
    (GOOD + "frontend: { allow_public: maybe }\n", "6:27", "is not true or false"),
    (GOOD + "broker: { lease: 5 }\n", "6:18", "'5' needs a unit: 5s, 5ms or 5min"),
    (GOOD + "broker: { lease: 5 parsecs }\n", "6:18", "unknown unit 'parsecs'; known are ns"),
    (GOOD + "frontend: { body_max: 64 megs }\n", "6:23", "unknown unit 'megs'; known are B"),
    (GOOD + "router: { mode: stick }\n", "6:17", "did you mean 'sticky'?"),
    (GOOD + "broker: { endpoint: '127.0.0.1:7400' }\n", "6:21", "is not an endpoint (tcp://HOST:PORT, ipc://PATH)"),
    (GOOD + "version: 1\n", "6:1", "key 'version' is there already, in line 1"),
    (GOOD + "  - engine: mock\n", "6:5", "give one another 'name'"),
    (GOOD.replace("- name: m", "- name: m\n  - name: m") + "    model: m\n", "4:11", "is the name or alias of another model"),
    (GOOD.replace("name: m", "name: " + "m" * 300), "3:11", "longer than 256 bytes; shorten it"),
    (GOOD.replace("name: m", 'name: "m\\e[2J"'), "3:11", "models[0].name: 'm?[2J' has a control character"),
    (GOOD + '"\\e[2J": 1\n', "6:1", "unknown key '?[2J'"),
    (GOOD + "broker: { events: 'ipc:///" + "x" * 107 + "' }\n", "6:19", "the path of a socket has at most 107 bytes"),
    (GOOD + "broker: { endpoint: 'ipc:///a', events: 'ipc:///a' }\n", "6:41", "is that of broker.endpoint too; give"),
    (GOOD.replace("version: 1", "version: 7"), "1:10", "this program reads version 1"),
    (GOOD.replace("mock", "mok"), "5:13", "did you mean 'mock'?"),
    (GOOD.replace("mock", "vLLM"), "5:13", "there is no adapter for vLLM yet: what works is llamacpp, with a 'command'"),
    (GOOD.replace("mock", "sglang"), "5:13", "there is no adapter for SGLang yet: what works is llamacpp"),
    (GOOD.replace("mock", "tensorrt-llm"), "5:13", "there is no adapter for TensorRT-LLM yet: what works is llamacpp"),
    (GOOD.replace("mock", "trtllm"), "5:13", "the 'url' of one"),
    (GOOD.replace("mock", "llama-server"), "5:13", "is not mock|llamacpp; llamacpp is what speaks to a llama-server"),
    (GOOD + "    model: other\n", "6:12", "is not among the models; add it there, or name one of them"),
    (LLAMA, "5:13", "needs a 'url' of a running llama-server, or a 'command' to start one"),
    (LLAMA + "    url: localhost:8080\n", "6:10", "is not a URL (http://HOST:PORT)"),
    (LLAMA + "    command: sh {prot}\n", "6:14", "did you mean '{port}'?"),
    (LLAMA + "    command: no-such-server {port}\n", "6:14", "install it, or say where it is"),
    (LLAMA + "    command: sh\n    environment: [FOO]\n", "7:18", "'FOO' is not NAME=value"),
    (LLAMA + "    command: sh\n    port: 8000\n", "7:11", "is that of frontend.port (--port) by default too"),
    (LLAMA + "    url: http://127.0.0.1:8000\n", "6:10", "is that of frontend.port (--port) by default too"),
    (LLAMA + "    url: http://127.0.0.1:1\n    llamacpp: { api_key: 'file:/no/such' }\n", "7:26", "cannot read '/no/such'"),
    (HOSTS.replace("ADDRESS", "127.0.0.1").replace("host: a", "host: bb"), "4:34", "is not among the hosts; add it there"),
    (HOSTS.replace("ADDRESS", "head.lan"), "2:30", "write the number, not a name"),
    (HOSTS.replace("ADDRESS", "127.0.0.1").replace("[broker, core]", "core"), "2:47", "none of them 'runs' broker"),
    (HOSTS.replace("ADDRESS", "192.0.2.1"), "2:18", "make it there with `stator key new a --roles host,core,worker"),
    (GOOD + "cluster: { host: a }\n", "6:18", "the fleet names no hosts"),
    (GOOD + "frontend: { host: 0.0.0.0 }\n", "6:19", "set frontend.allow_public to allow it"),
    (GOOD + "cluster: { name: ${NOT_SET} }\n", "6:19", "put text with '{', ':' or '#' in it in quotes"),
    (GOOD + "cluster:\n  name: ${NOT_SET}\n", "7:9", "environment variable 'NOT_SET' is not set"),
    (GOOD + "cluster: { name: a: b }\n", "6:19", "in quotes"),
    ("version: 1\nmodels: [ { name: m\n", "3:1", "close the bracket"),
    ("version: 1\ncluster: { name: \"x }\n", "2:18", "the quote that begins here is not closed"),
    ("version: 1\nmodels:\n\t- name: m\n", "3:1", "indent with spaces, not tabs"),
    ("version: 1\n models:\n", "2:8", "is the line indented as its neighbours are?"),
    (GOOD.replace("\n", "\r\n") + "routr: {}\r\n", "6:1", "did you mean 'router'?"),
    ("\ufeff" + GOOD + "routr: {}\n", "6:1", "did you mean 'router'?"),
    (GOOD + "x: &a [1]\ny: *a\n", "6:4", "anchors (&), aliases (*) and tags (!) are not used here"),
    ("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", "1:4", "anchors"),
    ("a: " + "[" * 300 + "]" * 300 + "\n", "1:19", "nested too deeply"),
    (GOOD + "---\nversion: 1\n", "6:1", "one file is one document"),
    ("- a\n", "1:1", "the file must be a section of 'key: value' lines"),
    (b"version: 1\nmodels: [ { name: caf\xe9 } ]\n", "2:23", "save it as such"),
    (b"version: 1\n\0\n", "2:1", "text in UTF-8"),
    ("", None, "it says nothing; begin with examples/fleet.yaml"),
    (GOOD + "#" * (2 << 20), None, "more than 1048576 bytes; is it the right file?"),
]


class WrongTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "fleet.yaml"

    def check(self, *words):
        done = subprocess.run([STATOR, "check", self.file, "--state-dir", self.file.parent, *words], capture_output=True,
                              timeout=PATIENCE, check=False)
        self.assertEqual(done.stdout, b"")
        return done.returncode, done.stderr.decode()

    def test_each_is_told_with_its_place_and_what_to_do(self):
        for text, place, said in WRONG:
            self.file.write_bytes(text if isinstance(text, bytes) else text.encode())
            with self.subTest(said=said):
                code, error = self.check()
                self.assertEqual(code, 2, error)
                self.assertIn(said, error)
                if place:
                    self.assertTrue(error.startswith(f"{self.file}:{place}: "), error)
                self.assertIn(str(self.file), error)
                self.assertEqual(len(error.splitlines()), 1, error)

    def test_a_secret_key_that_others_can_read_is_told_with_its_file(self):
        self.file.write_text(HOSTS.replace("ADDRESS", "192.0.2.1"))
        subprocess.run([STATOR, "key", "new", "a", "--roles", "host,core,worker", "--state-dir", self.file.parent], check=True,
                       stdout=subprocess.DEVNULL)
        secret = self.file.parent / "keys" / "a.cert_secret"
        secret.chmod(0o644)
        code, error = self.check("--host", "a")
        self.assertEqual((code, f"{secret} can be read by others than its owner: chmod 600" in error), (2, True), error)
        secret.chmod(0o600)
        secret.write_text("")
        code, error = self.check("--host", "a")
        self.assertEqual((code, f"{secret}: it is no certificate" in error), (2, True), error)

    def test_what_is_no_file_is_told(self):
        self.assertEqual(self.check()[0], 2)
        self.file.mkdir()
        self.assertIn("Is a directory", self.check()[1])


if __name__ == "__main__":
    unittest.main()
