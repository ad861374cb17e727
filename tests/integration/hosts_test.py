"""A fleet on several machines: it answers, survives pulled cables with its caches, and lets in only whom it knows."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

from hosts import FLEET, Fleet
from namespaces import Network, why_not
from support import PATIENCE, STATOR, http, until

SYSTEM_PACKAGES = "/usr/lib/python3/dist-packages"


def long_text(topic):
    """Some blocks of text that no other conversation begins with."""
    return f"Let us speak of {topic}. " + " ".join(f"{topic} has a box with the number {number}." for number in range(60))


#  A test that is killed while something runs on its machine.
VICTIM = """
import os, signal, subprocess
from namespaces import Network
network = Network(1)
quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
sleeper = subprocess.Popen(network.machines[0].command("sleep", "1000"), **quiet)
with open(f"/proc/{sleeper.pid}/cmdline", "rb") as words:
    while not words.read().startswith(b"sleep"):
        words.seek(0)
print(network.switch, network.machines[0].name, sleeper.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


class NamespacesTest(unittest.TestCase):
    def test_what_a_killed_test_left_is_gone_when_the_next_one_starts(self):
        reason = why_not()
        if reason:
            self.skipTest(reason)
        ours = Network(1)
        self.addCleanup(ours.remove)
        died = subprocess.run([sys.executable, "-c", VICTIM], cwd=pathlib.Path(__file__).parent, capture_output=True, text=True)
        switch, machine, sleeper = died.stdout.split()
        self.assertIsNone(why_not())
        self.assertFalse(pathlib.Path("/run/netns", switch).exists())
        self.assertFalse(pathlib.Path("/run/netns", machine).exists())
        self.assertTrue(pathlib.Path("/run/netns", ours.switch).exists())
        until(lambda: not pathlib.Path("/proc", sleeper, "exe").exists(), "what ran there to end")


class Base(unittest.TestCase):
    machines = 2
    speed = 20
    more = ""

    @classmethod
    def setUpClass(cls):
        reason = why_not()
        if reason:
            raise unittest.SkipTest(reason)
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.network = Network(cls.machines)
        cls.addClassCleanup(cls.network.remove)
        cls.fleet = Fleet(folder.name, cls.network, f"engine: mock, mock: {{ speed: {cls.speed} }}", more=cls.more)
        cls.addClassCleanup(cls.fleet.stop)
        cls.fleet.start()

    def ask(self, messages, **fields):
        """Returns (status, answer)."""
        with self.fleet.inside():
            return http(f"{self.fleet.url}/v1/chat/completions", {"model": "mock", "messages": messages, **fields})

    def turn(self, messages):
        """Asks for the next turn and adds it; returns its cached tokens."""
        code, answer = self.ask(messages, max_tokens=8)
        self.assertEqual(code, 200, (answer, self.fleet.logs()))
        said = json.loads(answer)
        messages.append(said["choices"][0]["message"])
        return said["usage"]["prompt_tokens_details"]["cached_tokens"]

    def converse(self, topic):
        """A conversation with one turn behind it."""
        messages = [{"role": "user", "content": long_text(topic)}]
        self.assertEqual(self.turn(messages), 0)
        return messages

    def goes_on(self, messages):
        """The next turn finds what the last one left in the cache."""
        messages.append({"role": "user", "content": "And which is the last?"})
        self.assertGreater(self.turn(messages), 300)


class TwoHostsTest(Base):
    more = "broker: { lease: 20s }\n"

    def test_a_turn_crosses_the_network_and_the_next_finds_its_cache(self):
        self.goes_on(self.converse("apples"))

    def unplugged(self, topic, wait):
        """What the head says while the cable is out, for as long as wait () takes, and until all is well again."""
        messages, said = self.converse(topic), len(self.fleet.head.output())
        self.fleet.others[0].machine.pull()
        wait()
        self.fleet.others[0].machine.plug()
        self.fleet.await_state("worker/gpu-1-0", "ready")
        self.goes_on(messages)
        return self.fleet.head.output()[said:]

    def test_a_cable_out_for_three_seconds_is_not_noticed(self):
        self.assertNotIn("worker/gpu-1-0 is unreachable", self.unplugged("pears", lambda: time.sleep(3)))

    def test_a_cable_out_for_longer_than_the_lease_costs_no_cache(self):
        def missed():
            self.fleet.await_state("worker/gpu-1-0", "unreachable")
        self.assertIn("worker/gpu-1-0 is unreachable", self.unplugged("plums", missed))
        self.assertEqual(self.fleet.count("refused"), 0)

    def test_the_other_host_sees_the_fleet_too(self):
        code, text = self.fleet.others[0].ask("ps")
        self.assertIn(code, (0, 3), text)
        until(lambda: re.search(r"broker/0 +ready", self.fleet.others[0].ask("ps")[1]), "the broker to answer it")


class ThreeHostsTest(Base):
    machines = 3
    speed = 1

    def test_an_answer_goes_on_when_its_machine_is_cut_off(self):
        body = {"model": "mock", "max_tokens": 400, "stream": True, "seed": 7, "messages": [
            {"role": "user", "content": "Tell me a long story."}]}
        with self.fleet.inside():
            whole = self.text_of(self.stream(body))

        def cut():
            self.assertEqual(self.text_of(self.cut_off(body)), whole)
            return self.fleet.metric("stator_migrations_total")
        self.assertEqual(until(cut, "an answer to be cut off before its end"), 1)

    def cut_off(self, body):
        """The lines of an answer whose machine is cut off in the middle, or behind its end where it is over too soon."""
        with self.fleet.inside():
            answer = self.stream(body)
            worker = answer.headers["x-stator-worker"]
            machine = next(host.machine for host in self.fleet.others if worker == f"worker/{host.name}-0")
            lines = [answer.readline() for _ in range(20)]
            machine.pull()
            try:
                lines += answer.readlines()
            finally:
                machine.plug()
        self.fleet.await_state(worker, "ready")
        return lines

    def test_an_operator_looks_from_elsewhere(self):
        fleet = self.fleet
        home = fleet.folder / "ada"
        keys = home / "stator/default/keys"

        def stator(*words):
            done = subprocess.run(fleet.others[1].machine.command(STATOR, *words), capture_output=True, text=True, timeout=PATIENCE,
                                  env={**os.environ, "XDG_STATE_HOME": str(home)})
            return done.returncode, done.stdout + done.stderr

        self.assertEqual(stator("key", "new", "ada", "--roles", "operator")[0], 0)
        elsewhere = ("--config", fleet.config, "--key", "ada")
        self.assertIn("copy its certificate into your folder of keys", stator("ps", *elsewhere)[1])
        for host in fleet.hosts:
            shutil.copy(host.keys / f"{host.name}.cert", keys)
        self.assertIn("whoever does not know our key says nothing", stator("ps", *elsewhere)[1])
        self.assertEqual(stator("key", "new", "bob", "--roles", "policy")[0], 0)
        for host in fleet.hosts:
            shutil.copy(keys / "ada.cert", host.keys)
            shutil.copy(keys / "bob.cert", host.keys)
            host.reload()
        until(lambda: re.search(r"worker/gpu-1-0 +ready", stator("ps", *elsewhere)[1]), "ada to be answered")
        until(lambda: "PROCESS OF host/gpu-1 " in stator("ps", *elsewhere)[1], "the processes of a host")
        refused = r"worker/gpu-1-0 +refused +refused: key 'bob' may not call worker.get_status"
        until(lambda: re.search(refused, stator("ps", "--config", fleet.config, "--key", "bob")[1]), "bob to be refused")
        self.assertEqual(stator("ps", "--config", fleet.config, "--key", "bob")[0], 3)
        unregister = ("call", "broker/0", "unregister_actor", '{"address": "worker/gpu-1-0", "incarnation": 1}', "--timeout",
                      f"{PATIENCE}s")
        code, text = stator(*unregister, *elsewhere)
        self.assertEqual(code, 1)
        self.assertIn("may not speak for worker/gpu-1-0", text)

    def stream(self, body):
        request = urllib.request.Request(f"{self.fleet.url}/v1/chat/completions", json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        return urllib.request.urlopen(request, timeout=PATIENCE)

    def text_of(self, lines):
        pieces = [json.loads(line[6:]) for line in lines if line.startswith(b"data: {")]
        return "".join(piece["choices"][0]["delta"].get("content") or "" for piece in pieces if piece["choices"])


class StrangersTest(Base):
    machines = 3

    def knock(self, method="list_actors", seconds=1.5, **keys):
        """A call to the broker from the third machine; the bytes of its answer, None where none came within so many seconds."""
        sys.path.append(SYSTEM_PACKAGES)
        import msgpack
        import zmq
        with self.fleet.others[1].machine.inside():
            context = zmq.Context()
            socket = context.socket(zmq.DEALER)
            for name, value in keys.items():
                setattr(socket, name, value)
            socket.linger = 0
            socket.connect(f"tcp://{self.fleet.head.machine.address}:7400")
            socket.send_multipart([b"", msgpack.packb({"v": 1, "t": 1, "m": method, "id": 1, "dl": int(seconds * 1000)}),
                                   msgpack.packb({})])
            answer = b"".join(socket.recv_multipart()) if socket.poll(seconds * 1000) else None
            context.destroy(0)
        return answer

    def knock_as(self, host, method):
        own, server = self.own_keys(host), self.own_keys(self.fleet.head)
        return self.knock(method, PATIENCE, curve_publickey=own["public"], curve_secretkey=own["secret"],
                          curve_serverkey=server["public"])

    def listener(self):
        """A plain SUB on all that is published, on the third machine with its own key."""
        sys.path.append(SYSTEM_PACKAGES)
        import zmq
        own, server = self.own_keys(self.fleet.others[1]), self.own_keys(self.fleet.head)
        with self.fleet.others[1].machine.inside():
            socket = zmq.Context().socket(zmq.SUB)
            socket.curve_publickey, socket.curve_secretkey = own["public"], own["secret"]
            socket.curve_serverkey, socket.linger = server["public"], 0
            socket.subscribe(b"")
            socket.connect(f"tcp://{self.fleet.head.machine.address}:7401")
        self.addCleanup(socket.context.term)
        self.addCleanup(socket.close)
        return socket

    def hears(self, socket, seconds):
        """Drops what came so far; true where something comes now."""
        while socket.poll(0):
            socket.recv_multipart()
        return socket.poll(seconds * 1000) != 0

    def own_keys(self, host):
        texts = {"public": (host.keys / f"{host.name}.cert").read_text(),
                 "secret": (host.keys / f"{host.name}.cert_secret").read_text()}
        return {kind: re.search(rf'{kind}-key = "(.*)"', text).group(1).encode() for kind, text in texts.items()}

    def refused_since(self, kind, before):
        until(lambda: self.fleet.count(kind) > before, f"{kind} to be counted")

    def test_1_who_is_known_is_answered(self):
        self.assertIsNotNone(self.knock_as(self.fleet.others[1], "list_actors"))

    def test_2_without_a_key_nothing_gets_through(self):
        before = self.fleet.count("stranger")
        self.assertIsNone(self.knock())
        self.refused_since("stranger", before)

    def test_3_with_a_key_of_nobody_nothing_gets_through(self):
        sys.path.append(SYSTEM_PACKAGES)
        import zmq
        before = self.fleet.count("stranger")
        public, secret = zmq.curve_keypair()
        self.assertIsNone(self.knock(curve_publickey=public, curve_secretkey=secret,
                                     curve_serverkey=self.own_keys(self.fleet.head)["public"]))
        self.refused_since("stranger", before)

    def test_4_what_stays_on_a_host_needs_no_role(self):
        known = self.fleet.head.keys / "head.cert"
        text = known.read_text()
        self.addCleanup(self.fleet.head.reload)
        self.addCleanup(known.write_text, text)
        known.write_text(text.replace("host core", "policy"))
        self.fleet.head.reload()
        until(lambda: b"may not call broker.get_status" in self.knock_as(self.fleet.head, "get_status"),
              "the head's key to have another role")
        until(lambda: self.fleet.head.output().count("reloaded: keys: head has other roles") == 1, "the log to say it, once")
        self.converse("what a frontend asks a router")
        self.fleet.await_state("router/0", "ready")

    def test_5_a_role_for_something_else_is_refused(self):
        known = self.fleet.head.keys / "gpu-2.cert"
        text = known.read_text()
        before = self.fleet.count("refused")
        known.write_text(text.replace("host worker", "operator"))
        self.fleet.head.reload()
        self.refused_since("refused", before)
        self.fleet.await_state("worker/gpu-2-0", "unreachable")
        known.write_text(text)
        self.fleet.head.reload()
        self.fleet.await_state("worker/gpu-2-0", "ready")

    def test_6_a_revoked_key_says_nothing_more_also_beside_a_broken_file(self):
        before, ear = self.fleet.count("refused"), self.listener()
        self.assertTrue(self.hears(ear, PATIENCE))
        self.addCleanup(self.fleet.config.write_text, self.fleet.config.read_text())
        self.fleet.config.write_text("of no use: now\n")
        self.fleet.revoke("gpu-1", "gpu-2")
        self.refused_since("refused", before)
        said = ("not reloaded: .*fleet.yaml: .*; all of the file is as before; reloaded "
                "all the same: keys: gpu-1 revoked, gpu-2 revoked")
        until(lambda: re.search(said, self.fleet.head.output()), "the log to say it")
        for name in ("gpu-1", "gpu-2"):
            self.fleet.await_state(f"worker/{name}-0", "unreachable")
        until(lambda: not self.hears(ear, 3), "the listener to hear nothing more")
        code, answer = self.ask([{"role": "user", "content": "Is anybody there?"}], max_tokens=4)
        self.assertGreaterEqual(code, 500, answer)

    def test_7_the_fleet_can_do_without_a_revoked_host(self):
        self.fleet.head.stop()
        self.fleet.head.start(self.fleet.config)
        self.fleet.await_state("router/0", "ready")
        self.assertNotIn("worker/gpu-1-0", self.fleet.states())


class ConfigurationTest(unittest.TestCase):
    def test_a_host_that_others_reach_is_refused_without_a_key(self):
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder) / "fleet.yaml"
            config.write_text(FLEET.format(hosts="  - { name: head, address: 192.0.2.1, runs: [broker, core] }\n", model="mock",
                                           workers="  - { engine: mock, host: head }\n", frontend="", more=""))
            for words in (["check"], ["check", "--host", "head"], ["up", "--host", "head"]):
                done = subprocess.run([STATOR, words[0], config, *words[1:], "--state-dir", f"{folder}/state", "--run-dir",
                                       f"{folder}/run"], capture_output=True, text=True, timeout=PATIENCE)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(f"`stator key new head --roles host,core,worker --state-dir {folder}/state`", done.stderr)
            made = done.stderr.split("`")[1].split()
            subprocess.run([STATOR, *made[1:]], check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE)
            done = subprocess.run([STATOR, "check", config, "--host", "head", "--state-dir", f"{folder}/state", "--run-dir",
                                   f"{folder}/run"], capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
