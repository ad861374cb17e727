#!/usr/bin/env python3
"""Turns a recording of engines (JSON lines with "decoded" batches of events) into lines that C can read.

    zstd -dc vllm-0.32.0.jsonl.zst | extract_events.py > vllm-0.32.0.events

    store ENGINE GROUP SIZE PARENT COUNT HASH... TOKEN...    hashes in hex, PARENT - at the root; COUNT hashes, COUNT * SIZE
    remove ENGINE GROUP COUNT HASH...                        tokens; SIZE 0: none, for they are not those of the blocks
    clear ENGINE

ENGINE and GROUP are small numbers: a recording may be of several engines, an engine may have several groups of caches.
"""
import json
import sys

LAYOUT = ["type", "block_hashes", "parent_block_hash", "token_ids", "block_size", "lora_id", "medium", "lora_name",
          "extra_keys", "group_idx", "kv_cache_spec_kind", "kv_cache_spec_sliding_window"]
REMOVED = ["type", "block_hashes", "medium", "group_idx"]


def fields(event):
    """An event of 0.23 is a row."""
    if isinstance(event, dict):
        return event
    return dict(zip(LAYOUT if event[0] == "BlockStored" else REMOVED, event))


def name(value):
    """64 bits of a hash: a number, signed or not, or the end of 32 bytes."""
    if isinstance(value, dict):
        value = int(value["$bin"][-16:], 16)
    return "%x" % (value % 2**64)


def batches(step):
    """(engine, batch) in order: one engine, several by name, or one by what it was set up with."""
    events = step.get("events", [])
    if isinstance(events, dict):
        return [(engine, batch) for engine, some in events.items() for batch in some or []]
    return [(json.dumps(step.get("setup")), batch) for batch in events]


def write(engine, event):
    kind, group = event["type"], event.get("group_idx") or 0
    hashes = [name(each) for each in event.get("block_hashes", [])]
    if kind == "BlockStored":
        tokens, parent = event["token_ids"], event["parent_block_hash"]
        size = event["block_size"]
        if len(tokens) != len(hashes) * size or not all(isinstance(token, int) for token in tokens):
            size, tokens = 0, []
        print("store", engine, group, size, "-" if parent is None else name(parent), len(hashes), *hashes, *tokens)
    elif kind == "BlockRemoved":
        print("remove", engine, group, len(hashes), *hashes)
    elif kind == "AllBlocksCleared":
        print("clear", engine)


def main():
    engines = {}
    for line in sys.stdin:
        step = json.loads(line)
        if step["step"].startswith("replay"):
            continue  # the same batches once more
        for engine, batch in batches(step):
            for event in batch["decoded"][1]:
                write(engines.setdefault(engine, len(engines)), fields(event))


main()
