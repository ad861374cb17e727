#!/usr/bin/env node
//  Prints what happens on the bus: examples/follow/follow.js tcp://127.0.0.1:7401 [TOPIC ...]
//  npm install --no-save zeromq @msgpack/msgpack

const { decode } = require("@msgpack/msgpack");
const { Subscriber } = require("zeromq");

async function main(endpoint, ...topics) {
    const socket = new Subscriber();
    socket.connect(endpoint);
    socket.subscribe(...(topics.length ? topics : [""]));
    for await (const [topic, , payload] of socket) {
        const batch = decode(payload);
        for (let i = 0; i < batch.length; i += 2) console.log(`${topic} ${batch[i]} ${JSON.stringify(batch[i + 1])}`);
    }
}

main(...process.argv.slice(2));
