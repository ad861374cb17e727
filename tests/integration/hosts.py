"""A fleet on several machines, for tests: a folder, a key and a `stator up --host` each."""

import pathlib
import shutil
import signal
import subprocess

from support import PATIENCE, STATOR, Program, View, http, until

FLEET = """version: 1
hosts:
{hosts}models:
  - name: {model}
workers:
{workers}frontend: {{ host: 0.0.0.0, allow_public: true{frontend} }}
{more}"""


class Host(Program):
    """`stator up --host NAME` on a machine, with folders of its own."""

    def __init__(self, folder, machine, name, roles):
        self.machine, self.name = machine, name
        self.folder = pathlib.Path(folder) / name
        self.keys = self.folder / "state" / "keys"
        self.folder.mkdir()
        self.stator("key", "new", name, "--roles", roles, "--state-dir", self.folder / "state")

    def stator(self, *words):
        """Runs a verb on the machine; returns (exit code, output)."""
        done = subprocess.run(self.machine.command(STATOR, *words), capture_output=True, text=True, timeout=PATIENCE)
        return done.returncode, done.stdout + done.stderr

    def start(self, config):
        super().__init__(self.machine.command(STATOR, "up", config, "--host", self.name, "--state-dir", self.folder / "state",
                                              "--run-dir", self.folder / "run"), self.folder)

    def ask(self, *words):
        """A verb that looks at the fleet from this host."""
        return self.stator(*words, "--run-dir", self.folder / "run")

    def reload(self):
        self.process.send_signal(signal.SIGHUP)


class Fleet(View):
    """A head with broker and core, and a host with a worker for each further machine: worker/gpu-1-0, ...

    worker, frontend, more: fields of each worker, of the frontend, and of the whole file, as YAML.
    """

    def __init__(self, folder, network, worker, model="mock", frontend="", more=""):
        self.folder = pathlib.Path(folder)
        self.head = Host(folder, network.machines[0], "head", "host,core")
        self.others = [Host(folder, machine, f"gpu-{number}", "host,worker")
                       for number, machine in enumerate(network.machines[1:], 1)]
        self.hosts = [self.head, *self.others]
        self.url = f"http://{self.head.machine.address}:8000"
        self.config = self.folder / "fleet.yaml"
        self.config.write_text(FLEET.format(
            hosts="".join(f"  - {{ name: {host.name}, address: {host.machine.address}"
                          f"{', runs: [broker, core]' if host is self.head else ''} }}\n" for host in self.hosts),
            workers="".join(f"  - {{ name: {host.name}, host: {host.name}, {worker} }}\n" for host in self.others),
            model=model, frontend=frontend, more=more))
        for host in self.hosts:
            for other in self.hosts:
                if host is not other:
                    shutil.copy(other.keys / f"{other.name}.cert", host.keys)

    def start(self):
        self.head.start(self.config)
        until((self.head.folder / "state/secret").exists, "the cluster's secret")
        for host in self.others:
            shutil.copy(self.head.folder / "state/secret", host.folder / "state/secret")
            host.start(self.config)
        for host in self.others:
            self.await_state(f"worker/{host.name}-0", "ready")
        with self.inside():
            until(lambda: http(f"{self.url}/health")[0] == 200, "the frontend to be ready")

    def stop(self):
        for host in reversed(self.hosts):
            if hasattr(host, "process"):
                host.stop()

    def inside(self):
        return self.head.machine.inside()

    def stator(self, *words):
        return self.head.ask(*words)

    def states(self):
        """Address -> state."""
        return {actor["address"]: actor["state"] for actor in self.actors()}

    def await_state(self, address, state):
        try:
            until(lambda: self.states().get(address) == state, f"{address} to be {state}")
        except AssertionError as reason:
            raise AssertionError(f"{reason}\n{self.logs()}") from None

    def logs(self):
        return "\n".join(f"{host.name}:\n{host.output()[-3000:]}" for host in self.hosts if hasattr(host, "log"))

    def count(self, kind):
        """Of what happened on the bus, as the broker sees it."""
        return self.metric("stator_bus_events_total", f'actor="broker/0",kind="{kind}"')

    def admit(self, host):
        """Puts the key of a host on the head's ring again."""
        shutil.copy(host.keys / f"{host.name}.cert", self.head.keys)
        self.head.reload()

    def revoke(self, *names):
        """Takes the keys of these hosts off the head's ring."""
        for name in names:
            code, text = self.head.stator("key", "revoke", name, "--state-dir", self.head.folder / "state")
            assert code == 0, text
        self.head.reload()
