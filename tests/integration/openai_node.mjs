//  OpenAI's own client for Node talks to a fleet: node openai_node.mjs BASE_URL, from a folder with node_modules above it.
//  Each test is a line "ok NAME"; the first failure ends it with a stack trace and exit code 1.

import assert from "node:assert/strict";
import { createRequire } from "node:module";

const [baseURL, modules] = process.argv.slice(2);
const { default: OpenAI } = await import(createRequire(`${modules}/`).resolve("openai"));

const client = new OpenAI({ baseURL, apiKey: "any", maxRetries: 0 });
const ask = { model: "mock", messages: [{ role: "user", content: "hello" }], max_tokens: 30 };

const tests = {
  async lists_the_models() {
    const names = [];
    for await (const model of client.models.list()) names.push(model.id);
    assert.deepEqual(names, ["mock", "gpt-4o-mini"]);
    assert.equal((await client.models.retrieve("mock")).id, "mock");
  },

  async gets_a_whole_answer() {
    const answer = await client.chat.completions.create(ask);
    assert.equal(answer.choices[0].finish_reason, "length");
    assert.equal(answer.choices[0].message.content.length, 30);
    assert.equal(answer.usage.completion_tokens, 30);
  },

  async gets_the_same_answer_in_pieces() {
    const fixed = { ...ask, seed: 7, temperature: 0 };
    const whole = await client.chat.completions.create(fixed);
    let text = "", last;
    for await (const chunk of await client.chat.completions.create({ ...fixed, stream: true, stream_options: { include_usage: true } })) {
      text += chunk.choices[0]?.delta?.content ?? "";
      last = chunk;
    }
    assert.equal(text, whole.choices[0].message.content);
    assert.equal(last.usage.completion_tokens, 30);
  },

  //  The client's accumulator insists on roles, indices and finish reasons.
  async puts_the_pieces_together() {
    const stream = client.chat.completions.stream({ ...ask, max_tokens: 300, stop: [" "], stream_options: { include_usage: true } });
    const final = await stream.finalChatCompletion();
    assert.equal(final.choices[0].message.role, "assistant");
    assert.equal(final.choices[0].finish_reason, "stop");
    assert.match(final.choices[0].message.content, /^\S+$/);
  },

  async errors_are_the_classes_it_knows() {
    const refused = (body, type, code) => assert.rejects(client.chat.completions.create({ ...ask, ...body }),
      (error) => error instanceof type && error.code === code);
    await refused({ model: "huge" }, OpenAI.NotFoundError, "model_not_found");
    await refused({ temperature: 3 }, OpenAI.BadRequestError, "invalid_value");
    await refused({ n: 2 }, OpenAI.BadRequestError, "unsupported_parameter");
    await refused({ messages: [{ role: "user", content: "x".repeat(140000) }] }, OpenAI.BadRequestError, "context_length_exceeded");
  },

  //  What had come when it left is still read.
  async leaving_ends_the_stream() {
    const controller = new AbortController();
    let chunks = 0;
    const stream = await client.chat.completions.create({ ...ask, max_tokens: 50000, stream: true }, { signal: controller.signal });
    for await (const _ of stream) if (++chunks === 3) controller.abort();
    assert.ok(chunks >= 3 && chunks < 50000, `${chunks} chunks`);
  },
};

for (const [name, test] of Object.entries(tests)) {
  await test();
  console.log(`ok ${name}`);
}
