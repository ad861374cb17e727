"""`stator up` as the supervisor: what crashes comes back, what loops is reported, what drains finishes, nothing is left."""

import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import unittest
import urllib.request

from support import PATIENCE, STATOR, Fleet, Program, free_port, has_ipv6, until
from support import http as fetch

FLEET = """
version: 1
models: [ { name: mock } ]
workers: [ { engine: mock, count: 2 } ]
host: { restart_delay: 100ms, looping_after: 3, probe_interval: 50ms }
"""
ENDLESS = 20000    # Tokens of an answer that lasts for minutes

#  An engine that says it is well and can do nothing: enough for a host.
ENGINE = """
import http.server, os, pathlib, sys
pathlib.Path(__file__).with_suffix(".pid").write_text(str(os.getpid()))
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")
    def log_message(self, *words):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def is_alive(pid):
    """True while a process runs (a zombie does not)."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class HostTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def config(self, text=FLEET):
        path = self.folder / "fleet.yaml"
        path.write_text(text)
        return path

    def start(self, *words, text):
        self.up = Fleet(self.folder, *words, config=self.config(text))
        self.addCleanup(self.up.stop)
        return self.up

    def fleet(self, *words, text=FLEET):
        fleet = self.start(*words, text=text)
        until(lambda: all(process["state"] == "running" for process in self.processes().values()), "all to run")
        return fleet

    def fleet_with_engine(self):
        """A fleet with an engine that it has started; its worker waits for more than the engine can do."""
        engine = self.folder / "engine.py"
        engine.write_text(ENGINE)
        fake = f"{{ engine: llamacpp, name: fake, port: {free_port()}, command: [python3, {engine}, '{{port}}'] }}"
        fleet = self.start(text=FLEET.replace("workers: [ {", f"workers: [ {fake}, {{"))
        until(lambda: self.state("worker/fake-0") == "starting", "the worker to be started")
        return fleet

    def processes(self):
        return self.up.processes()

    def state(self, name):
        return self.processes().get(name, {"state": "unknown"})["state"]

    def stream(self, fleet, tokens):
        """Asks for a streamed answer in a thread; returns (thread, list of its lines)."""
        lines = []
        request = urllib.request.Request(f"{fleet.url}/v1/chat/completions", json.dumps({
            "model": "mock", "stream": True, "max_tokens": tokens, "ignore_eos": True,
            "messages": [{"role": "user", "content": "Tell me a story."}]}).encode(), {"Content-Type": "application/json"})

        def work():
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                for line in answer:
                    lines.append(line.decode().strip())
        thread = threading.Thread(target=work)
        thread.start()
        self.addCleanup(thread.join)
        until(lambda: len(lines) > 4, "the answer to begin")
        return thread, lines

    def test_a_killed_worker_comes_back(self):
        self.fleet()
        os.kill(self.processes()["worker/mock-0"]["pid"], signal.SIGKILL)
        until(lambda: self.processes()["worker/mock-0"]["restarts"] == 1, "the crash to be noticed")
        until(lambda: self.state("worker/mock-0") == "running", "the worker to be back")
        self.assertEqual(self.processes()["worker/mock-0"]["last_exit"], 137)
        self.assertEqual(self.processes()["core"]["restarts"], 0)

    def test_sockets_whose_files_somebody_removed_are_bound_again(self):
        fleet = self.fleet("--log-format", "json")
        thread, lines = self.stream(fleet, 300)
        sockets = [path for path in fleet.run_dir.iterdir() if path.is_socket()]
        for path in sockets:
            path.unlink()
        until(lambda: all(path.is_socket() for path in sockets), "all to be there again")
        thread.join()
        self.assertEqual([line for line in lines if line][-1], "data: [DONE]")
        until(lambda: fleet.stator("ps")[0] == 0, "everybody to be well")
        with Program([STATOR, "tail", "-n", "1", "--run-dir", fleet.run_dir], self.folder, "tail") as tail:
            question = {"model": "mock", "max_tokens": 1, "messages": [{"role": "user", "content": "Hello"}]}
            until(lambda: fetch(f"{fleet.url}/v1/chat/completions", question)[0] == 200 and tail.process.poll() is not None,
                  "somebody new to hear of a request")
        os.kill(self.processes()["worker/mock-0"]["pid"], signal.SIGKILL)
        until(lambda: self.processes()["worker/mock-0"]["restarts"] == 1, "the crash to be noticed")
        until(lambda: self.state("worker/mock-0") == "running", "a new worker to find the broker")
        self.assertGreaterEqual(fleet.metric("stator_bus_events_total", 'kind="rebound"'), len(sockets) - 2)
        until(lambda: "somebody removed the file of a socket, which is bound again" in fleet.output(), "the log to say it")

    def test_a_run_folder_that_somebody_removed_comes_back(self):
        fleet = self.fleet()
        shutil.rmtree(fleet.run_dir)
        os.kill(int(subprocess.run(["pgrep", "-P", str(fleet.process.pid), "-f", "mock-0"], capture_output=True, text=True,
                                   check=True).stdout), signal.SIGKILL)
        until(lambda: self.processes().get("worker/mock-0", {"state": "gone"})["state"] == "running", "all to be as before")
        until(lambda: "what processes need to start is there again" in fleet.output(), "the log to say it")
        second = subprocess.run([STATOR, "up", self.config(FLEET), "--run-dir", fleet.run_dir, "--state-dir",
                                 self.folder / "other"], capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual(second.returncode, 1)
        self.assertIn("a fleet runs in", second.stderr)
        until(lambda: fleet.stator("ps")[0] == 0, "every socket to be bound again")

    def test_every_line_of_a_json_log_is_json_whatever_keeps_a_process_from_starting(self):
        fleet = self.fleet()
        path = fleet.run_dir / "worker-mock-0"
        path.unlink()
        path.mkdir()
        os.kill(self.processes()["worker/mock-0"]["pid"], signal.SIGKILL)
        until(lambda: "stator actor: worker/mock-0: cannot bind: " in fleet.output(), "the worker to say why it cannot start")
        (fleet.run_dir / "fleet.yaml").write_text("of no use\n")
        until(lambda: "fleet.yaml:1" in fleet.output(), "the worker to say what is wrong with the file")
        (fleet.run_dir / "fleet.yaml").unlink()
        until(lambda: "cannot read" in fleet.output(), "the worker to say that there is no file")
        fleet.stop()
        lines = [json.loads(line) for line in fleet.output().splitlines()]
        said = [line["level"] for line in lines if line["text"].startswith("stator actor: ")]
        self.assertEqual(set(said), {"error"})

    def test_a_stream_does_not_notice_a_broker_that_is_killed(self):
        fleet = self.fleet()
        thread, lines = self.stream(fleet, 300)
        os.kill(self.processes()["broker"]["pid"], signal.SIGKILL)
        thread.join()
        self.assertEqual([line for line in lines if line][-1], "data: [DONE]")
        until(lambda: self.state("broker") == "running", "the broker to be back")

    def ask(self, port, stream):
        """Asks for an answer that does not end; returns the connection."""
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        self.addCleanup(connection.close)
        connection.request("POST", "/v1/chat/completions", json.dumps({
            "model": "mock", "stream": stream, "max_tokens": ENDLESS, "ignore_eos": True,
            "messages": [{"role": "user", "content": "Tell me a long story."}]}), {"Content-Type": "application/json"})
        return connection

    def test_no_client_takes_what_a_killed_frontend_sent_for_an_answer(self):
        fleet = self.fleet(text=FLEET + "frontend: { process: own }\n")
        self.addCleanup(fleet.process.kill)    # It would wait for what nobody reads any more
        whole = self.ask(fleet.port, False)
        answers = [self.ask(fleet.port, True).getresponse() for _ in range(3)]
        begun = [answer.readline() + answer.readline() for answer in answers]
        os.kill(self.processes()["frontend/0"]["pid"], signal.SIGKILL)
        for answer, beginning in zip(answers, begun):
            with self.assertRaises(http.client.IncompleteRead) as broken:
                answer.read()
            self.assertNotRegex(beginning + broken.exception.partial, rb'DONE|"finish_reason":"')
        with self.assertRaises(http.client.RemoteDisconnected):
            whole.getresponse()

    def test_engine_and_worker_are_restarted_together(self):
        self.fleet_with_engine()
        before = self.processes()
        os.kill(before["engine/fake-0"]["pid"], signal.SIGKILL)
        names = "engine/fake-0", "worker/fake-0", "worker/mock-0"
        until(lambda: [self.processes()[name]["restarts"] for name in names] == [1, 1, 0], "both to be started again, once")
        self.assertNotEqual(self.processes()["worker/fake-0"]["pid"], before["worker/fake-0"]["pid"])

    def test_one_actor_of_a_process_says_what_the_process_counts(self):
        self.fleet()
        def all_say():
            actors = self.up.actors()
            return all("status" in actor for actor in actors) and actors
        actors = until(all_say, "everybody to say how he is")
        counted = [actor["address"] for actor in actors for figure in actor["status"]["figures"]
                   if figure["name"] == "stator_log_lines_lost_total"]
        self.assertEqual(len(counted), len(self.processes()) + 1, counted)    # The host is no process of its own

    def test_a_crash_loop_is_reported(self):
        broken = f"{{ engine: llamacpp, name: broken, port: {free_port()}, command: 'false' }}"
        text = FLEET.replace("workers: [ {", f"workers: [ {broken}, {{")
        fleet = self.start(text=text)
        until(lambda: self.state("engine/broken-0") == "looping", "the loop to be reported")
        until(lambda: "engine/broken-0 is looping: crashed 3 times in a row" in fleet.output(), "the log to say it")
        done = subprocess.run([STATOR, "ps", "--run-dir", self.folder / "fleet-run"], capture_output=True, check=False)
        self.assertEqual(done.returncode, 3)

    def test_it_drains_what_is_in_progress(self):
        fleet = self.fleet()
        thread, lines = self.stream(fleet, 300)
        fleet.process.terminate()
        thread.join()
        self.assertEqual([line for line in lines if line][-1], "data: [DONE]")
        self.assertEqual(fleet.process.wait(PATIENCE), 0)
        order = re.findall(r": ([a-z0-9/-]+) is stopped", fleet.output())
        self.assertEqual((order[0], order[-1]), ("core", "broker"))

    def test_an_actor_that_is_drained_alone_takes_its_process_along(self):
        fleet = self.fleet()
        thread, lines = self.stream(fleet, 300)
        drain = [STATOR, "call", "router/0", "drain", "--timeout", f"{PATIENCE}s", "--run-dir", self.folder / "fleet-run"]
        subprocess.run(drain, check=True, capture_output=True, timeout=PATIENCE)
        thread.join()
        self.assertEqual([line for line in lines if line][-1], "data: [DONE]")
        until(lambda: self.processes()["core"]["restarts"] == 1, "the end of the core")
        until(lambda: self.state("core") == "running", "the core to be back")
        self.assertEqual(self.processes()["core"]["last_exit"], 0)
        thread, lines = self.stream(fleet, 20)
        thread.join()
        self.assertEqual([line for line in lines if line][-1], "data: [DONE]")

    def test_a_second_signal_ends_it_at_once(self):
        fleet = self.fleet()
        pids = [process["pid"] for process in self.processes().values()]
        self.stream(fleet, ENDLESS)
        fleet.process.terminate()
        until(lambda: "core is stopping" in fleet.output(), "draining to begin")
        fleet.process.send_signal(signal.SIGINT)
        self.assertEqual(fleet.process.wait(PATIENCE), 1)
        until(lambda: not any(map(is_alive, pids)), "its processes to be gone")

    def test_nothing_outlives_a_host_that_is_killed(self):
        fleet = self.fleet_with_engine()
        pids = [process["pid"] for process in self.processes().values()]
        pids.append(int((self.folder / "engine.pid").read_text()))
        self.assertTrue(all(map(is_alive, pids)))
        fleet.process.kill()
        until(lambda: not any(map(is_alive, pids)), "its processes to be gone")

    def policy(self):
        """What the router says that it does."""
        done = subprocess.run([STATOR, "call", "router/0", "get_status", "--timeout", f"{PATIENCE}s", "--run-dir",
                               self.folder / "fleet-run"], capture_output=True, text=True, check=False)
        return json.loads(done.stdout)["detail"].split(",")[0]

    def test_a_reload_changes_what_it_may(self):
        fleet = self.fleet()
        self.assertEqual(self.policy(), "policy kv")
        self.config(FLEET + "router: { mode: round_robin }\n")
        fleet.process.send_signal(signal.SIGHUP)
        until(lambda: self.policy() == "policy round_robin", "the policy to change")
        self.assertEqual(self.processes()["core"]["restarts"], 0)

    def test_one_line_says_what_was_reloaded_and_every_process_says_it_to_who_debugs(self):
        fleet = self.fleet()
        for level, lines in (("debug", 5), ("info", 10), ("warning", 11), ("debug", 16)):
            self.config(FLEET + f"observability: {{ log_level: {level} }}\n")
            fleet.process.send_signal(signal.SIGHUP)
            until(lambda wanted=lines: fleet.output().count("reloaded: observability.log_level") == wanted,
                  f"host, broker, core and both workers to reload to {level}")
        self.assertEqual({process["restarts"] for process in self.processes().values()}, {0})

    def test_a_reload_is_all_or_nothing(self):
        fleet = self.fleet()
        self.config(FLEET + "router: { mode: round_robin }\ncluster: { name: other }\n")
        fleet.process.send_signal(signal.SIGHUP)
        until(lambda: "not reloaded: a reload cannot change cluster.name, that takes a new start; all of the file, router.mode "
              "too, is as before" in fleet.output(), "the refusal")
        self.config(FLEET + "router: { mode: rr }\n")
        fleet.process.send_signal(signal.SIGHUP)
        until(lambda: "router.mode: 'rr' is not kv|" in fleet.output(), "the complaint")
        self.assertEqual(self.policy(), "policy kv")

    def test_a_reload_reaches_every_process_beside_a_broken_file(self):
        fleet = self.fleet(text=FLEET + "observability: { log_level: debug }\n")
        self.config(FLEET + "router: { mode: rr }\n")
        fleet.process.send_signal(signal.SIGHUP)
        until(lambda: fleet.output().count("reloaded: nothing has changed") == 4, "broker, core and both workers to reload")
        said = [json.loads(line)["text"] for line in fleet.output().splitlines()]
        said = [line for line in said if line.startswith("not reloaded: ")]
        self.assertRegex("\n".join(said), r"\Anot reloaded: .*fleet\.yaml:\d+:\d+: router\.mode: 'rr' is not kv.*; all of the file "
                                          r"is as before\Z")

    def test_a_reload_that_cannot_be_written_down_has_changed_nothing(self):
        fleet = self.fleet()
        self.config(FLEET + "router: { mode: round_robin }\n")
        written = self.folder / "fleet-run" / "fleet.yaml"
        in_the_way = written.with_name(f"{written.name}.{fleet.process.pid}")
        in_the_way.mkdir()
        fleet.process.send_signal(signal.SIGHUP)
        until(lambda: f"cannot write {written}" in fleet.output(), "the complaint")
        in_the_way.rmdir()
        fleet.process.send_signal(signal.SIGHUP)
        until(lambda: fleet.output().count("reloaded: router.mode") == 1, "the host to reload")
        until(lambda: self.policy() == "policy round_robin", "the policy to change")

    def test_a_second_fleet_in_the_same_place_is_refused(self):
        fleet = self.fleet()
        done = subprocess.run([STATOR, "up", self.config(), "--run-dir", self.folder / "fleet-run",
                               "--state-dir", self.folder / "state"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"already (process {fleet.process.pid})", done.stderr)

    def test_run_asks_one_question(self):
        done = subprocess.run([STATOR, "run", "--once", "--port", "0", "--run-dir", self.folder / "run",
                               "--state-dir", self.folder / "state", "--prompt", "Are you there?"],
                              capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        question, answer = done.stdout.split("\n\n", 1)[1].splitlines()[:2]
        self.assertEqual(question, "mock> Are you there?")
        self.assertGreater(len(answer), 10)

    @unittest.skipUnless(has_ipv6(), "no ::1 here")
    def test_run_asks_at_an_address_of_ipv6_too(self):
        done = subprocess.run([STATOR, "run", "--once", "--frontend-host", "::1", "--port", "0",
                               "--run-dir", self.folder / "run", "--state-dir", self.folder / "state"],
                              capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("mock> Say hello", done.stdout)

    def test_a_port_that_somebody_holds_ends_the_start(self):
        with socket.create_server(("127.0.0.1", 0)) as holder:
            port = holder.getsockname()[1]
            for verb in ("up", "run"):
                done = subprocess.run([STATOR, verb, self.config(), "--port", str(port), "--run-dir", self.folder / "run",
                                       "--state-dir", self.folder / "state"],
                                      capture_output=True, text=True, timeout=PATIENCE, check=False)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(f"cannot listen on 127.0.0.1:{port}: the port is held by", done.stderr)

    def test_every_port_that_somebody_holds_is_told_before_anything_starts(self):
        with contextlib.ExitStack() as held:
            ports = [held.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1] for _ in range(3)]
            text = FLEET.replace("workers: [ {", f"workers: [ {{ engine: llamacpp, name: a, port: {ports[0]}, command: sh }}, {{")
            text += "broker: {{ endpoint: 'tcp://127.0.0.1:{}', events: 'tcp://127.0.0.1:{}' }}\n".format(*ports[1:])
            done = subprocess.run([STATOR, "up", self.config(text), "--port", "0", "--run-dir", self.folder / "run",
                                   "--state-dir", self.folder / "state"], capture_output=True, text=True, timeout=PATIENCE,
                                  check=False)
        self.assertEqual(done.returncode, 2)
        for key, port in zip(("workers[0].port", "broker.endpoint", "broker.events"), ports):
            self.assertRegex(done.stderr, re.escape(f"stator up: {key}: cannot listen on 127.0.0.1:{port}: the port is held by ")
                             + fr".*\(pid {os.getpid()}\); end that, or give another port")
        self.assertFalse((self.folder / "run" / "fleet.yaml").exists())

    def test_run_says_what_its_engine_died_of_and_ends_when_it_cannot_start(self):
        script = "echo cannot open the model; sleep 1; exit 3"    # It is seen to start, and its worker to wait for it
        broken = {"engine": "llamacpp", "name": "broken", "port": free_port(), "command": ["sh", "-c", script]}
        text = FLEET.replace("{ engine: mock, count: 2 }", json.dumps(broken)).replace("delay: 100ms", "delay: 1ms")
        words = [STATOR, "run", self.config(text), "--port", "0", "--run-dir", self.folder / "run", "--state-dir",
                 self.folder / "state"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False)    # A model may have longer
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"engine/broken-0 ended with exit code 3; restart \d follows; its last words, of "
                         + re.escape(f"{self.folder}/run/engine-broken-0.log") + ":\n    cannot open the model\n")
        self.assertTrue(done.stderr.endswith(f"configuration:\n    sh -c '{script}'\n"), done.stderr)

    @staticmethod
    def never_ready():
        """A fleet whose engine does nothing."""
        idle = {"engine": "llamacpp", "name": "slow", "port": free_port(), "command": "sleep 10000"}
        return FLEET.replace("{ engine: mock, count: 2 }", json.dumps(idle))

    def test_run_says_whom_it_still_waits_for(self):
        with Program([STATOR, "run", self.config(self.never_ready()), "--port", "0",
                      "--run-dir", self.folder / "run", "--state-dir", self.folder / "state"], self.folder, "waiting") as run:
            until(lambda: re.search("still waiting for.*\n", run.output()), "news")
            self.assertRegex(run.output(), r"still waiting for engine/slow-0, started \d+ s ago; it writes to "
                             + re.escape(f"{self.folder}/run/engine-slow-0.log"))

    def test_run_says_where_to_see_what_a_worker_waits_for(self):
        away = {"engine": "llamacpp", "name": "away", "url": f"http://127.0.0.1:{free_port()}"}
        folders = ("--run-dir", self.folder / "run", "--state-dir", self.folder / "state")
        with Program([STATOR, "run", self.config(FLEET.replace("{ engine: mock, count: 2 }", json.dumps(away))), "--port", "0",
                      *folders], self.folder, "waiting") as run:
            until(lambda: re.search("still waiting for.*\n", run.output()), "news")
            self.assertRegex(run.output(), r"waiting for worker/away-0, started \d+ s ago; `stator ps` says what it waits for")
            ps = [STATOR, "ps", "--run-dir", self.folder / "run"]
            said = r"worker/away-0 +starting .*no engine yet .*Failed to connect"
            until(lambda: re.search(said, subprocess.run(ps, capture_output=True, text=True, timeout=PATIENCE).stdout),
                  "the worker to say it")

    def test_run_waits_while_somebody_may_still_come_up(self):
        engine = self.folder / "engine.py"
        engine.write_text(ENGINE)
        workers = [{"engine": "llamacpp", "name": "broken", "port": free_port(), "command": "false"},
                   {"engine": "llamacpp", "name": "slow", "port": free_port(), "command": ["python3", str(engine), "{port}"]}]
        text = FLEET.replace("[ { engine: mock, count: 2 } ]", json.dumps(workers))
        with Program([STATOR, "run", self.config(text), "--port", "0", "--run-dir", self.folder / "run",
                      "--state-dir", self.folder / "state"], self.folder, "asking") as run:
            until(lambda: "engine/broken-0 ended with exit code 1; restart 6 follows" in run.output(), "it to loop")
            self.assertIsNone(run.process.poll())
            self.assertEqual(run.stop(), 0)

    def run_until(self, last, *config):
        """What `stator run` prints up to a line that begins with `last`, and after a Ctrl-C at that line."""
        words = [STATOR, "run", *config, "--cluster", "another", "--port", "0", "--run-dir", self.folder / "run",
                 "--state-dir", self.folder / "state"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            watchdog = threading.Timer(PATIENCE, process.kill)
            watchdog.start()
            lines = []
            for line in process.stdout:
                lines.append(line.rstrip("\n"))
                if line.lstrip().startswith(last):
                    break
            process.send_signal(signal.SIGINT)
            rest = process.stdout.read()
            watchdog.cancel()
        return lines, rest

    def test_run_says_what_can_be_typed_next(self):
        lines, _ = self.run_until("Ctrl-C")
        self.assertIn("The fleet stays up. Try:", lines)
        tail, ps, stop = lines[-3:]
        self.assertIn("tail --cluster another ", tail)
        self.assertIn("ps --cluster another ", ps)
        self.assertEqual({tail.index("watch"), ps.index("what runs"), stop.index("stop")}, {tail.index("watch")})

    def test_run_that_is_stopped_before_the_answer_does_not_say_that_it_stays_up(self):
        _, rest = self.run_until("Starting", self.config(self.never_ready()))
        self.assertNotIn("The fleet stays up", rest)


if __name__ == "__main__":
    unittest.main()
