"""What a fleet is put through.  Each plague gets the house, does its worst, checks what was answered and counted while it
lasts, and returns a line about it.  What must hold afterwards is not its business: see tests/soak/run."""

import concurrent.futures
import os
import pathlib
import resource
import selectors
import signal
import socket
import subprocess
import time
import typing

import msgpack
import zmq

import house as soak
from house import STATOR, House, ask, chat, read_head, status_of
import stator_codec
from stator_messages import SCHEMA_HASH, Stream
from support import PATIENCE, until

HERE = pathlib.Path(__file__).resolve().parent
CONNECTIONS = 10000
STREAMS = 5000
MIB = 1 << 20
SPARE = 1200    # Descriptors for all else


def expect(condition, sentence):
    if not condition:
        raise AssertionError(sentence)


def rises(house, by, name, labels="", address=""):
    """Gives a function that waits until a count is higher, by so much, than it was when this was called."""
    before = house.figure(name, labels, address)
    return lambda: until(lambda: house.figure(name, labels, address) >= before + by, f"{name} {labels} to count {by}")


def at_once(count, function):
    """Calls function (position) in as many threads; returns what they give."""
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return list(pool.map(function, range(count)))


def need_descriptors(count):
    """Of a process that has so many clients, or is them."""
    most, needed = soak.take_all_descriptors(), count + SPARE
    expect(most >= needed, f"the system allows {most} descriptors, and {needed} are needed: raise the hard limit (ulimit -Hn)")


#  ---- Too many ----------------------------------------------------------------------------------------------------------

def connections(house):
    """10,000 connections at once, each of which has been answered."""
    count = CONNECTIONS
    need_descriptors(count)
    clients = [house.connect() for _ in range(count)]
    for client in clients:
        client.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
    answers = [status_of(read_head(client)) for client in clients]
    expect(answers == [200] * count, f"of {count} clients {answers.count(200)} were answered")
    expect(house.serves(), "no request was served beside them")
    for client in clients:
        client.close()
    return f"{count} answered"


def streams(house):
    """5,000 answers that stream at once; then everybody hangs up."""
    count = STREAMS
    need_descriptors(2 * count)
    clients = [house.connect() for _ in range(count)]
    selector, begun, total = selectors.DefaultSelector(), set(), 0
    for client in clients:
        client.sendall(chat("crowd", f"client {client.fileno()}", stream=True, max_tokens=100000))
        client.setblocking(False)
        selector.register(client, selectors.EVENT_READ)
    while len(begun) < count:
        ready = selector.select(PATIENCE)
        expect(ready, f"of {count} streams {len(begun)} began, and then nothing came")
        for key, _ in ready:
            data = key.fileobj.recv(65536)
            expect(data and not data.startswith(b"HTTP/1.1 5"), f"a stream ended: {data[:200]}")
            total += len(data)
            if b"content" in data:
                begun.add(key.fileobj)
    expect(house.figure("stator_requests_running") >= count, "the streams are not counted")
    expect(house.serves(), "no request was served beside them")
    selector.close()
    for client in clients:
        client.close()
    return f"{count} streams, {total / MIB:.0f} MiB read"


#  ---- Too slow ----------------------------------------------------------------------------------------------------------

def slow_readers(house):
    """Answers that nobody reads: cut, and counted."""
    counted = rises(house, 100, "stator_http_clients_cut_total")
    clients = [house.connect(receive_buffer=4096) for _ in range(100)]
    for client in clients:
        client.sendall(chat("mock", stream=True, max_tokens=100000))
    counted()
    for client in clients:
        client.close()
    return "100 cut"


def trickle(request, pause, client):
    """Sends a request a byte at a time until it is answered; returns the status it gets."""
    with selectors.DefaultSelector() as answered:
        answered.register(client, selectors.EVENT_READ)
        for position in range(len(request)):
            try:
                client.sendall(request[position:position + 1])
            except OSError:
                break
            if answered.select(pause):
                break
    return status_of(read_head(client))


def byte_at_a_time(house):
    """Heads and bodies a byte at a time: the slow ones get a 408, the quick ones their answer, once they are quick enough."""
    request = chat("mock", max_tokens=4)
    body = request.index(b"\r\n\r\n") + 4
    long = chat("mock", "x" * 1000)

    def quick():
        with house.connect() as connection:
            return trickle(request, 0, connection) == 200

    def client(position):
        if position % 3 == 0:
            return until(quick, "a quick client to be answered") and 200
        with house.connect() as connection:
            if position % 3 == 1:
                return trickle(request, 0.1, connection)
            connection.sendall(long[:body])
            return trickle(long[body:], 0.1, connection)

    counted = rises(house, 40, "stator_http_refused_total", 'code="408"')
    answers = at_once(60, client)
    expect(answers == [200, 408, 408] * 20, f"a byte at a time is answered with {answers}")
    counted()
    return "20 answered, 40 got a 408"


#  ---- Too large ---------------------------------------------------------------------------------------------------------

def large_bodies(house):
    """Bodies of 64 MB, more of them than fit: read or refused, each with a sentence.  Who is slow gets a 408."""
    large = chat("mock", "x" * (64 * MIB - 200))
    refused = rises(house, 1, "stator_http_refused_total", 'code="503"')
    too_large = rises(house, 1, "stator_http_refused_total", 'code="413"')

    def post(position):
        with house.connect() as client:
            try:
                client.sendall(large if position < 6 else chat("mock", "x" * (64 * MIB)))
            except OSError:
                pass    # Refused before it was all sent
            try:
                return status_of(read_head(client))
            except OSError:
                return 0    # The refusal was overtaken by the reset

    def one_is_read():
        answers = at_once(8, post)
        expect(set(answers) <= {0, 400, 408, 413, 503, 529}, f"bodies of 64 MB are answered with {answers}")
        return 400 in answers and answers

    answers = until(one_is_read, "a body of 64 MB to be read")
    refused()
    too_large()
    return f"answered with {sorted(answers)}"


#  ---- Gone --------------------------------------------------------------------------------------------------------------

def vanish(house):
    """Clients that leave in the head, in the body, before the answer, in the middle of it."""
    request = chat("mock", stream=True, max_tokens=20000)
    cuts = [20, len(request) - 20, len(request), len(request)]
    counted = rises(house, 250, "stator_disconnected_clients_total")
    for position in range(1000):
        client = house.connect()
        client.sendall(request[:cuts[position % 4]])
        if position % 4 == 3:
            client.recv(100)
        client.close()
    counted()
    until(house.is_idle, "the work for them to end")
    return "1,000 left"


#  ---- A follower that stands still --------------------------------------------------------------------------------------

class Source:
    """An actor that publishes without end: one message again and again, of 100 events that cancel each other."""

    ADDRESS = "soak/0"
    ID = 0x5cafc33150ea0381    # XXH3-64 of the address
    NAMESPACE = 77

    def __init__(self, house):
        self.socket = zmq.Context.instance().socket(zmq.DEALER)
        self.socket.linger = 0
        self.socket.sndhwm = 1000
        self.socket.connect(f"ipc://{house.run_dir}/broker")
        self.incarnation, self.sequence = time.time_ns(), 0
        block = {"namespace_id": self.NAMESPACE, "rank": 0, "tier": "device"}
        events = []
        for number in range(50):
            for kind, name in enumerate(("kv_stored", "kv_removed"), 1):
                event = stator_codec.encode(name, {**block, "hashes": [f"{number + 1:032x}"]})
                events += [kind, msgpack.unpackb(event)]
        self.payload = msgpack.packb(events)

    def call(self, method, message):
        header = {"v": 1, "t": 1, "m": method, "id": 1, "dl": 1000 * PATIENCE}
        self.socket.send_multipart([b"", msgpack.packb(header), stator_codec.encode(method, message)])
        while True:
            expect(self.socket.poll(1000 * PATIENCE), f"the broker does not answer {method}")
            frames = self.socket.recv_multipart()
            if msgpack.unpackb(frames[1])["t"] == 2:
                return stator_codec.decode(f"{method.split('_')[0]}_reply", frames[2])

    def register(self):
        entry = {"address": self.ADDRESS, "endpoint": "", "incarnation": self.incarnation, "version": 1, "schema": SCHEMA_HASH,
                 "lease_ms": 600000, "state": "alive", "capabilities": [], "host": "soak", "process": os.getpid(),
                 "draining": False}
        reply = self.call("register_actor", {"entry": entry, "tails": [], "renewed": False})
        self.incarnation = reply["incarnation"]

    def unregister(self):
        self.call("unregister_actor", {"address": self.ADDRESS, "incarnation": self.incarnation})
        self.socket.close()

    def publish(self, seconds):
        """As fast as the broker takes it; returns how many messages."""
        handover = msgpack.packb({"v": 1, "t": 8, "id": 0})
        topic = stator_codec.topic("kv", self.ADDRESS)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for _ in range(100):
                header = stator_codec.EventHeader(1, 0, Stream.KV, self.ID, self.incarnation, self.sequence + 1, 0)
                self.socket.send_multipart([b"", handover, topic, header.encode(), self.payload])
                self.sequence += 1
            while self.socket.poll(0):
                self.socket.recv_multipart()
        return self.sequence


def stopped_follower(house):
    """100 events a message at full rate, while a follower stands still."""
    with open(house.folder / "tail.log", "wb") as log:
        tail = subprocess.Popen([STATOR, "tail", "--run-dir", house.run_dir, "--stream", "kv", "--source", Source.ADDRESS],
                                stdout=subprocess.DEVNULL, stderr=log)
    source = Source(house)
    try:
        source.register()
        source.publish(1)
        tail.send_signal(signal.SIGSTOP)
        count = source.publish(8)
        expect(house.serves(), "no request was served meanwhile")
        tail.send_signal(signal.SIGCONT)
        source.publish(1)
        until(lambda: house.figure("stator_broker_batches_total", 'result="fanned_out"') >= count, "all to be fanned out")
        expect(tail.poll() is None, "the follower ended")
    finally:
        source.unregister()
        tail.kill()
        tail.wait()
    return f"{count} messages of 100 events"


#  ---- No room -----------------------------------------------------------------------------------------------------------

def lost_lines(house):
    """Log lines lost, by actor."""
    return {address: value for (address, name, _), value in house.figures().items() if name == "stator_log_lines_lost_total"}


def full_log_disk(house):
    """A log on a full disk: lines are lost and counted, and come again when there is room."""
    filler = house.logs / "filler"
    limits = {}
    house.reconfigure("observability: { log_level: debug }\n")    # So that each process says what it has reloaded
    processes = len(house.processes())
    until(lambda: house.output().count("reloaded: observability.log_level") >= processes, "every process to reload")
    if house.has_log_disk:
        with open(filler, "wb", buffering=0) as disk:
            try:
                while True:
                    disk.write(b"x" * 4096)
            except OSError:
                pass
    else:    # A file that may not grow is as good as a full disk
        limits = {pid: house.limit(pid, resource.RLIMIT_FSIZE, 0) for pid in house.processes().values()}
    before = lost_lines(house)

    def each_has_lost_one():    # What is left of the last page is filled first
        for pid in house.processes().values():
            os.kill(pid, signal.SIGHUP)    # Which is worth a line
        return all(count > before[address] for address, count in lost_lines(house).items())

    until(each_has_lost_one, "every process to count a lost line")
    expect(house.serves(), "no request is served without a log")
    filler.unlink(missing_ok=True)
    for pid, limit in limits.items():
        house.limit(pid, resource.RLIMIT_FSIZE, limit)
    os.truncate(house.log, 0)
    house.reconfigure("")
    until(lambda: house.output().count("could not be written") == processes, "every process to tell the lost lines")
    return "lost, counted, told"


def no_descriptors(house):
    """Every process out of descriptors, one after the other, while clients and peers come."""
    def somebody_is_turned_away():
        for name, pid in house.processes().items():
            leave_no_descriptor(house, pid)
            expect(pathlib.Path(f"/proc/{pid}").exists(), f"{name} ended")
        return house.figure("stator_peers_turned_away_total") > 0

    until(somebody_is_turned_away, "somebody to be turned away")
    return f"{len(house.processes())} processes"


def leave_no_descriptor(house, pid):
    paths = [path for path in house.run_dir.iterdir() if path.is_socket()]
    used = max(int(entry.name) for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir())
    before = house.limit(pid, resource.RLIMIT_NOFILE, used + 1)
    try:
        knock(house, paths)
        house.serves()    # Perhaps
    finally:
        house.limit(pid, resource.RLIMIT_NOFILE, before)


def knock(house, paths):
    """40 clients at HTTP and at each socket in the run folder, until one is turned away or a while has passed."""
    clients = []
    for path in [None, *paths]:
        for _ in range(40):
            client = socket.socket(socket.AF_UNIX if path else socket.AF_INET)
            client.settimeout(2)
            try:
                client.connect(str(path) if path else ("127.0.0.1", house.port))
                clients.append(client)
            except OSError:
                client.close()
    await_end_of_any(clients, 2)
    for client in clients:
        client.close()


def await_end_of_any(clients, seconds):
    """Waits until somebody ends one of these connections, but not for ever."""
    with selectors.DefaultSelector() as selector:
        for client in clients:
            selector.register(client, selectors.EVENT_READ)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for key, _ in selector.select(deadline - time.monotonic()):
                try:
                    if not key.fileobj.recv(65536):
                        return
                except OSError:
                    return


def no_memory(house):
    """A process that gets no more memory says so, ends, and is started again. In a fleet of its own."""
    with house.sibling("memory") as small:
        core = small.processes()["core"]
        size = int(pathlib.Path(f"/proc/{core}/statm").read_text().split()[0]) * resource.getpagesize()
        small.limit(core, resource.RLIMIT_AS, size)
        try:
            answer = status_of(ask(small, chat("mock", "x" * (60 * MIB))))
        except OSError:
            answer = 0
        until(lambda: small.processes().get("core", core) != core, "the core to be started again")
        until(small.serves, "the fleet to serve again")
        expect("out of memory" in small.output(), "the core ended without a word")
    return f"answered with {answer}, started again"


#  ---- Time and change ---------------------------------------------------------------------------------------------------

def clock_steps(house):
    """The clock of the wall goes an hour ahead, then two back; a worker that is started then is still the newer one."""
    library, clock = house.folder / "clock.so", house.folder / "clock"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, HERE / "clock.c"], check=True)
    clock.write_bytes(bytes(8))
    with house.sibling("clock", {"LD_PRELOAD": str(library), "SOAK_CLOCK": str(clock)}) as small:
        before = small.incarnation("worker/mock-0")
        for hours in (1, -1):
            with open(clock, "r+b") as file:
                file.write((3600 * hours).to_bytes(8, "little", signed=True))
            deadline = time.monotonic() + 2
            while time.monotonic() < deadline:
                expect(small.serves(), f"no request is served where the clock is wrong by {hours} h")
        small.kill("worker/mock-0")
        until(lambda: small.incarnation("worker/mock-0") > before, "the worker to be back, and the newer one")
        until(small.serves, "it to serve")
    return "an hour ahead, an hour back"


def reload(house):
    """SIGHUP again and again: what is live changes in every process, what is not is refused by name."""
    processes = len(house.processes())
    for level in ("debug", "info") * 5:
        os.truncate(house.log, 0)
        house.reconfigure(f"observability: {{ log_level: {level} }}\n" if level != "info" else "")
        until(lambda: house.output().count("reloaded: observability.log_level") == processes, "every process to reload")
    house.reconfigure("indexer: { instances: 2 }\n")
    until(lambda: "a reload cannot change indexer.instances" in house.output(), "the refusal")
    house.reconfigure("")
    until(lambda: "reloaded: nothing has changed" in house.output(), "all to be as before")
    return "10 reloads, 1 refused"


class Plague(typing.NamedTuple):
    """One of them, by the name that --only looks at."""

    name: str
    run: typing.Callable[[House], str]


PLAGUES = [Plague(run.__name__, run) for run in (
    connections, streams, slow_readers, byte_at_a_time, large_bodies, vanish, stopped_follower, full_log_disk, no_descriptors,
    no_memory, clock_steps, reload)]
