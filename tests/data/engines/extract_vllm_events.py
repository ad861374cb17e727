#!/usr/bin/env python3
"""Turns a recording of a vLLM server (JSON lines, "events" with "decoded" batches) into lines that C can read.

    zstd -dc vllm-0.32.0.jsonl.zst | extract_vllm_events.py > vllm-0.32.0.events

    store PARENT COUNT HASH... TOKEN...     hashes in hex, PARENT - at the root; COUNT hashes, COUNT * 32 tokens
    remove COUNT HASH...
    clear
"""
import json
import sys

BLOCK_SIZE = 32

for line in sys.stdin:
    step = json.loads(line)
    if step["step"].startswith("replay"):
        continue  # the same batches once more
    for batch in step.get("events", []):
        for event in batch["decoded"][1]:
            hashes = ["%x" % each for each in event.get("block_hashes", [])]
            if event["type"] == "BlockStored":
                assert event["block_size"] == BLOCK_SIZE
                parent = event["parent_block_hash"]
                parent = "-" if parent is None else "%x" % parent
                print("store", parent, len(hashes), *hashes, *event["token_ids"])
            elif event["type"] == "BlockRemoved":
                print("remove", len(hashes), *hashes)
            elif event["type"] == "AllBlocksCleared":
                print("clear")
