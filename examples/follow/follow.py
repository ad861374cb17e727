#!/usr/bin/env python3
"""Prints what happens on the bus: examples/follow/follow.py tcp://127.0.0.1:7401 [TOPIC ...].  Needs pyzmq and msgpack."""

import json
import sys

import msgpack
import zmq

socket = zmq.Context.instance().socket(zmq.SUB)
socket.connect(sys.argv[1])
for topic in sys.argv[2:] or [""]:
    socket.subscribe(topic)
while True:
    topic, header, payload = socket.recv_multipart()
    batch = msgpack.unpackb(payload)
    for kind, event in zip(batch[::2], batch[1::2]):
        print(topic.decode(), kind, json.dumps(event, default=bytes.hex), flush=True)
