"""The verbs that look at a running fleet, and what they say to mistakes."""

import json
import os
import pathlib
import re
import resource
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest
from http.client import HTTPConnection

from support import PATIENCE, ROOT, STATOR, Fleet, Program, free_port, http, until

MOCK = """
version: 1
cluster: { name: cli }
models: [ { name: mock } ]
workers: [ { engine: mock, count: 2 } ]
"""

TWO_HOSTS = """
version: 1
hosts: [ { name: head, address: 127.0.0.1, runs: [broker, core] }, { name: gpu-1, address: 127.0.0.2 } ]
models: [ { name: mock } ]
workers: [ { engine: mock, host: gpu-1 } ]
frontend: { port: 0 }
broker: { endpoint: "tcp://127.0.0.1:%d", events: "tcp://127.0.0.1:%d" }
"""


def stator(*words, text=None):
    """Runs the program; returns (exit code, standard output, standard error)."""
    done = subprocess.run([STATOR, *map(str, words)], capture_output=True, text=True, timeout=PATIENCE, input=text, check=False)
    return done.returncode, done.stdout, done.stderr


class MistakesTest(unittest.TestCase):
    def test_no_verb_says_what_there_is(self):
        code, _, said = stator()
        self.assertEqual(code, 2)
        self.assertIn("Usage: stator VERB", said)

    def test_a_wrong_verb_is_refused_with_what_was_meant(self):
        code, _, said = stator("chek")
        self.assertEqual((code, said), (2, "stator: unknown verb 'chek'; did you mean 'check'?\n"))
        self.assertEqual(stator("help", "zzzzzz")[2], "stator: unknown verb 'zzzzzz'; `stator help` lists them\n")

    def test_a_wrong_flag_is_refused_with_what_was_meant(self):
        code, _, said = stator("up", "--router-moed", "kv")
        self.assertEqual((code, said), (2, "stator up: unknown flag '--router-moed'; did you mean '--router-mode'?\n"))

    def test_help_of_every_verb_names_its_flags(self):
        _, overview, _ = stator("--help")
        verbs = [line.split()[0] for line in overview.splitlines() if line.startswith("  ") and not line.startswith("  stator")]
        for verb in "up run actor ps check tail call worker".split():
            self.assertIn(verb, verbs)
        for verb in verbs:
            code, said, _ = stator(verb, "--help")
            self.assertEqual(code, 0)
            self.assertIn(f"Usage: stator {verb}", said)
            self.assertIn("--help", said)

    def test_help_of_help_is_the_overview(self):
        for verb in "help", "version":
            self.assertEqual(stator("help", verb), stator("help"))

    def test_what_is_named_wrongly_is_wrong_usage_for_every_verb(self):
        with tempfile.TemporaryDirectory() as folder:
            none = pathlib.Path(folder) / "none"
            for words in (["up", none], ["run", none], ["check", none], ["replay", none], ["simulate", none],
                          ["model", "inspect", none], ["template", "render", none], ["tokenizer", "encode", none],
                          ["parser", "run", "--format", none], ["parser", "run", "--format", "hermes", "--split", "foo"],
                          ["ps", "--config", none], ["tail", "--config", none], ["key", "list", "--config", none],
                          ["call", "router/0", "no_such_method"]):
                code, _, said = stator(*words, text="")
                self.assertEqual(code, 2, (words, said))

    def test_only_a_new_key_makes_a_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            none = pathlib.Path(folder) / "none"
            for words in ("list",), ("revoke", "gpu-1"):
                code, _, said = stator("key", *words, "--state-dir", none)
                self.assertEqual(code, 2)
                self.assertIn(f"there is no folder of keys {none}/keys: `stator key new` makes it", said)
                self.assertFalse(none.exists())
            self.assertEqual(stator("key", "new", "gpu-1", "--roles", "host", "--state-dir", none)[0], 0)
            self.assertIn("gpu-1", stator("key", "list", "--state-dir", none)[1])

    def test_a_slip_in_a_word_out_of_a_closed_set_is_understood(self):
        with tempfile.TemporaryDirectory() as folder:
            keys = ("--keys-dir", folder, "--state-dir", folder)
            self.assertEqual(stator("key", "new", "gpu-1", "--roles", "host", *keys)[0], 0)
            for meant, *words in (("help", "hlep"), ("check", "help", "chekc"), ("revoke", "key", "reovke", "gpu-1"),
                                  ("host", "key", "new", "x", "--roles", "hots", *keys), ("gpu-1", "key", "revoke", "gpu1", *keys),
                                  ("worker", "actor", "wrker"), ("mock-0", "actor", "worker", "--instance", "mock0"),
                                  ("inspect", "model", "inspct", "x"), ("render", "template", "rendr", "x"),
                                  ("encode", "tokenizer", "encod", "x"), ("formats", "parser", "formts"),
                                  ("hermes", "parser", "run", "--format", "hermse"),
                                  ("gpt_oss", "parser", "run", "--format", "gpt_os"),
                                  ("test", "worker", "tset", "x"), ("card", "worker", "test", "x", "--only", "crad"),
                                  ("hop", "bench", "hpo"), ("sticky", "replay", "-", "--policy", "stick")):
                code, _, said = stator(*words, text="")
                self.assertEqual((code, f"; did you mean '{meant}'?" in said), (2, True), (words, said))

    def test_what_is_no_slip_is_told_what_there_is(self):
        for known, *words in (("new|list|revoke", "key", "make"), ("broker|core|frontend|router|indexer|worker", "actor", "kvbm"),
                              ("host|core|worker|operator|policy", "key", "new", "x", "--roles", "nobody")):
            code, _, said = stator(*words)
            self.assertEqual((code, known in said), (2, True), said)

    def test_version_names_the_schemas(self):
        code, said, _ = stator("--version")
        self.assertEqual(code, 0)
        self.assertRegex(said, r"^stator \d+\.\d+\.\d+ \(schemas [0-9a-f]{16}\)$")

    def test_check_says_all_that_is_wrong(self):
        code, _, said = stator("check", "-", text="version: 1\nmodles: []\nfrontend: {port: 70000}\n")
        self.assertEqual(code, 2)
        self.assertEqual(said, "-:2:1: unknown key 'modles'; did you mean 'models'?\n"
                               "-:3:18: frontend.port: '70000' is not a whole number from 0 to 65535\n")

    def test_check_says_that_a_file_says_nothing(self):
        for text in "", "\n", "#  Later\n\n  #  More":
            code, _, said = stator("check", "-", text=text)
            self.assertEqual(code, 2)
            self.assertIn("-: it says nothing; begin with", said)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "fleet.yaml"
            file.write_text("")
            code, _, said = stator("up", file, "--port", "0", "--run-dir", folder, "--state-dir", folder)
        self.assertEqual(code, 2)
        self.assertIn("it says nothing; begin with", said)

    def test_a_secret_of_the_cluster_that_others_can_read_is_not_used(self):
        with tempfile.TemporaryDirectory() as folder:
            file, secret = pathlib.Path(folder) / "fleet.yaml", pathlib.Path(folder) / "secret"
            file.write_text(MOCK)
            secret.write_bytes(bytes(32))
            secret.chmod(0o644)
            code, _, said = stator("up", file, "--port", "0", "--run-dir", folder, "--state-dir", folder)
        self.assertEqual(code, 1)
        self.assertIn(f"chmod 600 {secret}", said)

    def test_a_row_of_calls_is_a_line(self):
        says = '<tool_call>{"name": "f", "arguments": {\n"a":\r\n1}}</tool_call>'
        for split in "whole", "bytes":
            code, said, _ = stator("parser", "run", "--format", "hermes", "--split", split, text=json.dumps({"text": says}))
            self.assertEqual(code, 0)
            rows = [json.loads(line) for line in said.splitlines()]
            self.assertEqual([row["calls"] for row in rows], [[{"name": "f", "arguments": {"a": 1}}]])

    def test_a_program_that_is_not_there_is_named_before_anything_starts(self):
        text = MOCK.replace("workers: [", "workers: [ { engine: llamacpp, name: a, command: no-such-server -m x }, "
                            "{ engine: llamacpp, name: b, port: 9000, command: sh },")
        missing = "workers[0].command: there is no program 'no-such-server' here"
        code, _, said = stator("check", "-", text=text)
        self.assertEqual((code, said), (2, f"-:5:50: {missing}; install it, or say where it is\n"))
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "fleet.yaml"
            file.write_text(text)
            code, _, said = stator("up", file, "--port", "0", "--run-dir", folder, "--state-dir", folder)
        self.assertEqual(code, 2)
        self.assertIn(missing, said)

    def test_a_program_is_missed_only_where_it_is_to_run(self):
        text = MOCK.replace("workers: [", "hosts: [ { name: head, address: 127.0.0.1, runs: [broker, core] }, "
                            "{ name: gpu-1, address: 127.0.0.2 } ]\nworkers: [ { engine: llamacpp, name: a, host: gpu-1, "
                            "command: no-such-server -m x }, ").replace("engine: mock", "engine: mock, host: head")
        for words, expected in (([], 0), (["--host", "head"], 0), (["--host", "gpu-1"], 2)):
            code, _, said = stator("check", "-", *words, text=text)
            self.assertEqual((code, "no-such-server" in said), (expected, expected == 2), said)

    def test_check_says_it_as_json(self):
        code, said, _ = stator("check", "-", "--json", text="workers: [ {} ]\n")
        self.assertEqual(code, 2)
        report = json.loads(said)
        self.assertFalse(report["valid"])
        self.assertEqual([(c["line"], c["column"]) for c in report["complaints"]], [(1, 12), (1, 12)])

    def test_what_is_understood_can_be_checked_again(self):
        _, printed, _ = stator("check", "-", "--print", "--router-mode=round-robin", text=MOCK)
        self.assertIn("mode: round_robin", printed)
        code, _, said = stator("check", "-", text=printed)
        self.assertEqual((code, said), (0, ""))

    def test_a_fleet_that_does_not_run_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            code, _, said = stator("ps", "--run-dir", folder)
        self.assertEqual(code, 1)
        self.assertIn(f"no fleet runs in {folder}; start one with `stator up`", said)


    def test_a_host_of_a_fleet_is_found_by_the_file_and_the_name(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            environment = {"XDG_RUNTIME_DIR": str(folder / "run"), "XDG_STATE_HOME": str(folder / "state")}
            (folder / "run").mkdir()
            (folder / "fleet.yaml").write_text(TWO_HOSTS % (free_port(), free_port()))

            def ps(*words):
                done = subprocess.run([STATOR, "ps", *words], capture_output=True, text=True, env={**os.environ, **environment},
                                      timeout=PATIENCE, check=False)
                return done.returncode, done.stdout, done.stderr
            named = ("--config", folder / "fleet.yaml", "--host")
            with Program([STATOR, "up", folder / "fleet.yaml", "--host", "head"], folder, environment=environment):
                until(lambda: re.search(r"host/head +ready", ps(*named, "head")[1]), "the head to be ready")
                self.assertIn("host/head", ps("--host", "head")[1])
                self.assertEqual(ps(*named, "haed"), (2, "", "stator ps: 'haed' is not among the hosts; did you mean 'head'?\n"))
                self.assertEqual(ps(), (1, "", f"stator ps: no fleet runs in {folder}/run/stator/default, but host 'head' of it "
                                               "does: say --host head\n"))

    def test_a_trace_that_cannot_be_replayed_is_refused_with_its_line(self):
        header, request = '{"session":0,"block_size":64}\n', '{"a":0,"t":0,"in":100,"out":2,"keep":0,"new":[[1,1]]}\n'
        for text, words, complaint in (
                ("", [], "-: a trace without requests"),
                ('{"a":1}\n', [], '-: line 1: it is neither a "session" nor a request with a "timestamp"'),
                (header + request + request[:30], [], "-: line 3: not JSON"),
                (header + request, [], "say --sessions 2 or more"),
                (header + request, ["--capacity", "63"], "--capacity has no room for one block of 64 tokens"),
                (header + request, ["--workers", "0"], "'0' is not a whole number from 1 to 1024"),
                (header + request, ["--load", "0"], "'0' is not a number from 0.01 to 1000.0"),
                ("\x1f\x0b", [], "not JSON")):
            code, out, said = stator("replay", "-", *words, text=text)
            self.assertEqual((code, out), (2, ""), said)
            self.assertIn(complaint, said)
        with tempfile.NamedTemporaryFile() as packed:
            packed.write(b"\x28\xb5\x2f\xfd")
            packed.flush()
            code, _, said = stator("replay", packed.name)
            self.assertEqual(code, 2)
            self.assertEqual(said, f"stator replay: {packed.name} is compressed: say zstd -dc FILE | stator replay -\n")

    def test_requests_that_fail_in_a_replay_are_said_beside_the_figures(self):
        session = '{"session":0,"block_size":64}\n{"a":0,"t":0,"in":100,"out":2,"keep":0,"new":[[1,1]]}\n'
        code, out, said = stator("replay", "-", "--sessions", "20", "--capacity", "64", "--json", text=session)
        figures = json.loads(out)
        self.assertEqual((code, figures["completed"]), (3, 0))
        self.assertIn(f"{figures['failed']} of {figures['requests']} requests failed, the first one so: the request needs KV", said)

    def test_folders_of_others_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            elsewhere = pathlib.Path(folder) / "elsewhere"
            elsewhere.mkdir()
            link = pathlib.Path(folder) / "link"
            link.symlink_to(elsewhere)
            code, _, said = stator("run", "--once", "--port", "0", "--run-dir", link, "--state-dir", elsewhere)
            self.assertEqual((code, said), (1, f"stator run: {link} is no folder\n"))

    def test_a_full_disk_is_said_in_a_sentence(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([STATOR, "run", "--once", "--port", "0", "--run-dir", f"{folder}/run", "--state-dir", folder],
                                  capture_output=True, text=True, timeout=PATIENCE, check=False,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
            self.assertEqual(done.returncode, 1)
            self.assertIn("stator run: cannot write", done.stderr)

    def test_run_asks_at_the_port_that_the_system_chose(self):
        with tempfile.TemporaryDirectory() as folder:
            code, said, _ = stator("run", "--once", "--port", "0", "--run-dir", f"{folder}/run", "--state-dir", folder)
            self.assertEqual(code, 0)
            self.assertIn("mock> ", said)

    def test_a_run_folder_that_is_too_deep_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            deep = pathlib.Path(folder) / ("d" * 100)
            code, _, said = stator("run", "--once", "--port", "0", "--run-dir", deep, "--state-dir", folder)
            self.assertEqual(code, 1)
            self.assertIn("name a shorter folder with --run-dir", said)


class FleetTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        config = pathlib.Path(cls.folder.name) / "fleet.yaml"
        config.write_text(MOCK)
        cls.fleet = Fleet(cls.folder.name, config=config)
        cls.addClassCleanup(cls.fleet.stop)
        cls.site = ["--run-dir", f"{cls.folder.name}/fleet-run"]
        until(lambda: stator("ps", *cls.site)[0] == 0, "everything to be ready")

    def ask(self, words, max_tokens=8):
        status, answer = http(f"{self.fleet.url}/v1/chat/completions",
                              {"model": "mock", "max_tokens": max_tokens, "messages": [{"role": "user", "content": words}]})
        self.assertEqual(status, 200, answer)
        return json.loads(answer)

    def ps(self):
        code, said, _ = stator("ps", "--json", *self.site)
        return code, {actor["address"]: actor for actor in json.loads(said)["actors"]}

    def call(self, *words):
        return stator("call", *words, "--timeout", f"{PATIENCE}s", *self.site)

    def tail(self, *words):
        tail = subprocess.Popen([STATOR, "tail", *self.site, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(tail.stdout.close)
        self.addCleanup(tail.stderr.close)
        self.addCleanup(tail.wait)
        self.addCleanup(tail.kill)
        return tail

    def asking(self):
        """Asks again and again until the returned function is called: a tail sees only what happens after it has joined."""
        ended = threading.Event()

        def work():
            while not ended.wait(0.05):
                http(f"{self.fleet.url}/v1/chat/completions", {"model": "mock", "max_tokens": 1, "messages": [
                    {"role": "user", "content": f"Ask {time.monotonic()}"}]})
        thread = threading.Thread(target=work)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(ended.set)

    def test_head_says_of_each_page_what_get_does_and_the_connection_stays(self):
        connection = HTTPConnection(self.fleet.url.removeprefix("http://"), timeout=PATIENCE)
        self.addCleanup(connection.close)
        for path in "/live", "/health", "/v1/models", "/v1/models/mock", "/v1/models/huge":
            heads = []
            for method in "GET", "HEAD":
                connection.request(method, path)
                answer = connection.getresponse()
                body = answer.read()
                heads.append((answer.status, [field for field in answer.getheaders() if field[0] != "Date"]))
            self.assertEqual(body, b"", path)
            self.assertEqual(heads[0], heads[1], path)
        connection.request("OPTIONS", "/v1/chat/completions")
        answer = connection.getresponse()
        self.assertEqual((answer.status, answer.read(), answer.getheader("Allow")), (204, b"", "POST, OPTIONS"))

    def test_output_that_does_not_get_out_is_no_success(self):
        for words in (["--version"], ["help"], ["check", "--print-default"], ["ps", "--json", *self.site],
                      ["tail", "-n", "1", *self.site], ["call", "router/0", "get_status", *self.site]):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([STATOR, *words], stdout=full, stderr=subprocess.PIPE, timeout=PATIENCE, check=False)
            self.assertEqual((done.returncode, done.stderr), (1, b"stator: standard output is not whole: it took no more; is the "
                                                                 b"disk full?\n"), words)

    def test_a_closed_standard_stream_becomes_nothing_else(self):
        done = subprocess.run(["sh", "-c", 'exec "$0" --version >&-', STATOR], stderr=subprocess.PIPE, timeout=PATIENCE,
                              check=False)
        self.assertEqual((done.returncode, done.stderr[:23]), (1, b"stator: standard output"))
        with tempfile.TemporaryDirectory() as folder:
            fleet = subprocess.Popen(["sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-', STATOR, "up", "--run-dir", f"{folder}/run",
                                      "--state-dir", f"{folder}/state", "--port", str(free_port()), "examples/mock.yaml"], cwd=ROOT)
            self.addCleanup(fleet.wait)
            self.addCleanup(fleet.terminate)
            until(lambda: stator("ps", "--run-dir", f"{folder}/run")[0] == 0, "the fleet to be ready")
            self.assertEqual({os.readlink(f"/proc/{fleet.pid}/fd/{stream}") for stream in range(3)}, {"/dev/null"})
            fleet.terminate()
            self.assertEqual(fleet.wait(PATIENCE), 0)

    def test_output_that_nobody_wants_to_read_is_not_missed(self):
        ours, theirs = os.pipe()
        os.close(ours)
        with open(theirs, "wb") as pipe:
            done = subprocess.run(["env", "--ignore-signal=PIPE", STATOR, "help"], stdout=pipe, stderr=subprocess.PIPE,
                                  timeout=PATIENCE, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_ps_lists_every_actor_and_process(self):
        code, actors = until(lambda: (said := self.ps())[0] == 0 and said, "everybody to be well")
        self.assertEqual(code, 0)
        for address in "broker/0", "frontend/0", "router/0", "indexer/0", "worker/mock-0", "worker/mock-1":
            self.assertEqual(actors[address]["state"], "ready")
        self.assertEqual(list(self.fleet.processes()), ["broker", "core", "worker/mock-0", "worker/mock-1"])

    def test_ps_lets_nobody_steer_the_terminal(self):
        entry = {"address": "worker/evil", "endpoint": "tcp://\x1b[2J:1", "incarnation": 5, "version": 1, "schema": 1,
                 "lease_ms": 60000, "state": "alive", "host": "x", "process": 1, "capabilities": [], "draining": False}
        registration = json.dumps({"entry": entry, "tails": [], "renewed": False})
        self.assertEqual(stator("call", "broker/0", "register_actor", registration, *self.site)[0], 0)
        self.addCleanup(stator, "call", "broker/0", "unregister_actor", '{"address":"worker/evil","incarnation":5}', *self.site)
        code, said, _ = stator("ps", *self.site)
        self.assertEqual(code, 3)
        self.assertRegex(said, r"\nworker/evil +refused +tcp://\?\[2J:1 leaves this machine")
        code, said, error = stator("call", "worker/evil", "get_status", *self.site)
        self.assertNotIn("\x1b", said + error)

    def test_ps_shows_how_long_each_actor_was_busy_at_most(self):
        code, said, _ = until(lambda: (said := stator("ps", *self.site))[0] == 0 and said, "everybody to be well")
        self.assertRegex(said, r"ACTOR +STATE +UPTIME +LONGEST ROUND\n")
        self.assertRegex(said, r"\nrouter/0 +ready +[\dhms. ]+? {2,}\d[\d.]*m?s\s")

    def test_ps_says_when_somebody_is_missing(self):
        pid = self.fleet.processes()["worker/mock-1"]["pid"]
        os.kill(pid, signal.SIGSTOP)
        try:
            until(lambda: self.ps()[1]["worker/mock-1"]["state"] == "unreachable", "the frozen worker to be missed")
            self.assertEqual(self.ps()[0], 3)
        finally:
            os.kill(pid, signal.SIGCONT)
        until(lambda: self.ps()[0] == 0, "the worker to be back")

    def test_call_reaches_any_method(self):
        code, said, _ = self.call("router/0", "ping")
        self.assertEqual(code, 0)
        self.assertEqual(json.loads(said)["address"], "router/0")

    def test_call_prints_a_stream(self):
        request = json.dumps({"request": "cli", "model": "mock", "tokens": list(range(32, 64)), "delivered": 0, "rank": 0,
                              "sampling": {"max_tokens": 5, "ignore_eos": True, "stop": [], "stop_tokens": []}})
        code, said, error = self.call("worker/mock-0", "generate", request)
        self.assertEqual(code, 0, error)
        lines = [json.loads(line) for line in said.splitlines()]
        self.assertEqual(sum(len(line["tokens"]) for line in lines[:-1]), 5)
        self.assertEqual(lines[-1]["completion_tokens"], 5)

    def test_call_tells_why_a_worker_has_what_it_has(self):
        tail = self.tail("--stream", "kv", "--kind", "kv_stored", "--json", "-n", "1")
        self.asking()
        stored = json.loads(tail.communicate(timeout=PATIENCE)[0])
        event = stored["event"]
        asked = {"namespace_id": event["namespace_id"], "owner": stored["source"], "hashes": event["hashes"] + ["f" * 32]}

        def tiers():
            code, said, error = self.call("indexer/0", "explain_prefix", json.dumps(asked))
            self.assertEqual(code, 0, error)
            return json.loads(said)["tiers"]
        expected = {"tier": event["tier"], "blocks": len(event["hashes"]), "end": "nobody", "hidden": 0}
        until(lambda: tiers() == [expected], "the indexer to have heard of it")

    def test_call_refuses_what_makes_no_sense(self):
        self.assertEqual(stator("call", "router/0", "pnig", *self.site)[2],
                         "stator call: no schema has the method 'pnig'; did you mean 'ping'?\n")
        self.assertEqual(stator("call", "router/0", "ping", "{]", *self.site)[0], 2)
        self.assertEqual(stator("call", "router/0", "ping", '{"x": 1}', *self.site)[0], 2)
        code, _, said = stator("call", "router/7", "ping", *self.site)
        self.assertEqual((code, said), (2, "stator call: the directory has no actor 'router/7'; did you mean 'router/0'?\n"))

    def test_tail_tells_of_a_request(self):
        tail = self.tail("--stream", "req", "--kind", "route_decided,request_ended", "--json", "-n", "2")
        self.asking()
        lines, _ = tail.communicate(timeout=PATIENCE)
        events = [json.loads(line) for line in lines.splitlines()]
        self.assertEqual({event["kind"] for event in events} - {"route_decided", "request_ended"}, set())
        self.assertEqual(events[0]["stream"], "req")
        self.assertEqual(events[0]["event"]["model"], "mock")

    def test_tail_keeps_to_its_source(self):
        tail = self.tail("--source", "worker/mock-0", "-n", "3")
        self.asking()
        lines, _ = tail.communicate(timeout=PATIENCE)
        self.assertEqual(len(lines.splitlines()), 3)
        for line in lines.splitlines():
            self.assertIn(" worker/mock-0 ", line)

    def test_tail_shows_raw_frames(self):
        tail = self.tail("--raw", "--stream", "req", "-n", "1")
        self.asking()
        lines, _ = tail.communicate(timeout=PATIENCE)
        topic, header, payload = lines.split()
        self.assertRegex(topic, r"^req\.(router|frontend)/0\.$")
        self.assertEqual(len(header), 80)
        self.assertGreater(len(payload), 0)

    def test_tail_refuses_unknown_filters(self):
        code, _, said = stator("tail", "--stream", "rqe", *self.site)
        self.assertEqual((code, said), (2, "stator tail: there is no stream 'rqe', only kv|load|life|req; did you mean 'req'?\n"))
        code, _, said = stator("tail", "--kind", "kv_stord", *self.site)
        self.assertEqual((code, said), (2, "stator tail: there is no event 'kv_stord'; did you mean 'kv_stored'?\n"))

    def test_tail_survives_the_broker(self):
        tail = self.tail("--stream", "req", "--json")
        self.asking()
        self.assertTrue(tail.stdout.readline())
        broker = self.fleet.processes()["broker"]
        os.kill(broker["pid"], signal.SIGKILL)
        until(lambda: self.fleet.processes()["broker"]["restarts"] > broker["restarts"], "the broker to be back")
        back = time.time_ns()
        while json.loads(tail.stdout.readline()).get("wall_ns", 0) < back:
            pass

    def test_a_tail_that_does_not_read_holds_nobody_up(self):
        tail = self.tail("--json")
        self.asking()
        self.assertTrue(tail.stdout.readline())
        tail.send_signal(signal.SIGSTOP)
        for number in range(20):
            self.ask(f"Question {number}", max_tokens=2)
        tail.send_signal(signal.SIGCONT)

    def test_a_worker_passes_the_conformance_checks(self):
        code, said, _ = stator("worker", "test", "worker/mock-0", "--json", "--timeout", "1min", *self.site)
        results = {line["check"]: line["result"] for line in map(json.loads, said.splitlines())}
        self.assertEqual({name for name, result in results.items() if result == "failed"}, set())
        self.assertEqual(code, 0)
        self.assertGreaterEqual(list(results.values()).count("passed"), 16)

    def test_what_the_fleet_counts_is_in_the_manual_as_it_is(self):
        self.ask("What do you count?")
        page, kind = {}, None
        for line in (ROOT / "docs" / "metrics.md").read_text().splitlines():
            kind = line[3:] if line.startswith("## ") else kind
            row = line.split(" | ")
            if line.startswith("| `stator_"):
                page[kind, row[0].strip("|` ")] = row[1], set(row[2].replace("`", "").split(", ")) - {""}
        seen = 0
        for line in until(self.fleet.page, "figures of everybody"):
            if line.startswith("# TYPE "):
                _, _, name, said = line.split(" ")
            elif not line.startswith("#"):
                labels = dict(re.findall(r'(\w+)="([^"]*)"', line))
                actor = labels.pop("actor").split("/")[0]
                labels.pop("le", None)
                with self.subTest(line=line):
                    self.assertEqual(page.get((actor, name)) or page.get(("Every actor", name)), (said, set(labels)))
                seen += 1
        self.assertGreater(seen, 50)

    def test_every_verb_says_of_a_name_that_nothing_has_that_it_is_wrong_usage(self):
        none = f"{self.folder.name}/none.yaml"
        for words in (["call", "worker/mock-7", "ping"], ["worker", "test", "worker/mock-7"], ["ps", "--config", none],
                      ["tail", "--config", none], ["call", "router/0", "ping", "--config", none]):
            with self.subTest(words=words):
                self.assertEqual(stator(*words, *self.site)[0], 2)

    def test_a_call_is_wrong_usage_where_its_actor_finds_nothing_and_has_failed_where_nobody_answers(self):
        code, _, said = self.call("worker/mock-0", "fetch_model", '{"model": "other", "files": 1}')
        self.assertEqual((code, said.startswith("stator call: not_found: ")), (2, True), said)
        code, _, said = stator("call", f"ipc://{self.folder.name}/nobody", "ping", "--timeout", "200ms", *self.site)
        self.assertEqual((code, "nothing came within 200 ms" in said), (1, True), said)

    def test_what_is_no_worker_does_not(self):
        code, said, _ = stator("worker", "test", "router/0", "--timeout", "1s", *self.site)
        self.assertEqual(code, 1)
        for name in "status", "generate", "credit":
            self.assertRegex(said, rf"(?m)^FAIL +{name} ")

    def test_a_worker_that_is_not_there_is_asked_once(self):
        with socket.socket() as nobody:
            nobody.bind(("127.0.0.1", 0))
            endpoint = f"tcp://127.0.0.1:{nobody.getsockname()[1]}"
            code, said, complaint = stator("worker", "test", endpoint, "--timeout", "200ms", *self.site)
        self.assertEqual(code, 1)
        self.assertEqual(said.count("FAIL"), 1)
        self.assertIn(f"nobody answers at {endpoint}", complaint)


if __name__ == "__main__":
    unittest.main()
