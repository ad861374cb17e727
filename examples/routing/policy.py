#!/usr/bin/env python3
"""A routing policy of one's own: fills the last worker first, so that those in front can sleep.

    examples/routing/policy.py tcp://127.0.0.1:7450
    stator up examples/mock.yaml --router-policy-endpoint tcp://127.0.0.1:7450

Needs pyzmq and msgpack.  What the keys mean is in docs/messages.md, under score_candidates, candidate and frame_header.
"""

import sys

import msgpack
import zmq

REPLY = 2    # a kind of frame
FULL = 8     # requests that a worker gets before the next one gets any


def score(position, candidate):
    """Higher is better."""
    active = candidate["a"]
    return position if active < FULL else -active


def answer(question):
    return {"s": [{"s": score(position, candidate)} for position, candidate in enumerate(question["c"])]}


def main(endpoint):
    socket = zmq.Context.instance().socket(zmq.REP)
    socket.bind(endpoint)
    while True:
        header, question = map(msgpack.unpackb, socket.recv_multipart())
        reply = {"v": 1, "t": REPLY, "id": header["id"]}
        socket.send_multipart([msgpack.packb(reply), msgpack.packb(answer(question))])


if __name__ == "__main__":
    main(sys.argv[1]) if len(sys.argv) == 2 else sys.exit(__doc__)
