#!/usr/bin/env node
//  A routing policy of one's own: fills the last worker first, so that those in front can sleep.
//
//      npm install --no-save zeromq @msgpack/msgpack
//      examples/routing/policy.js tcp://127.0.0.1:7450
//      stator up examples/mock.yaml --router-policy-endpoint tcp://127.0.0.1:7450
//
//  What the keys mean is in docs/messages.md, under score_candidates, candidate and frame_header.

const { decode, encode } = require("@msgpack/msgpack");
const { Reply } = require("zeromq");

const REPLY = 2;  //  A kind of frame
const FULL = 8;   //  Requests that a worker gets before the next one gets any

//  Higher is better.
function score(candidate, position) {
    return candidate.a < FULL ? position : -candidate.a;
}

function answer(question) {
    return { s: question.c.map((candidate, position) => ({ s: score(candidate, position) })) };
}

async function main(endpoint) {
    const socket = new Reply();
    await socket.bind(endpoint);
    for await (const frames of socket) {
        const [header, question] = frames.map((frame) => decode(frame));
        await socket.send([encode({ v: 1, t: REPLY, id: header.id }), encode(answer(question))]);
    }
}

main(process.argv[2]);
