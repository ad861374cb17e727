#!/usr/bin/env python3
"""Turns a recording of a llama-server into the prompts of token ids it was sent, each with what it said that it found.

    zstd -dc llama-server-b10434-smollm2.jsonl.zst | extract_asks.py > llama-server-smollm2.asks

    FOUND COUNT TOKEN...    FOUND leading tokens were in its cache (timings.cache_n)
"""
import json
import sys

for line in sys.stdin:
    step = json.loads(line)
    request, body = step.get("request", {}), step.get("response", {}).get("body")
    prompt = (request.get("body") or {}).get("prompt") if request.get("path") == "/completion" else None
    is_tokens = isinstance(prompt, list) and all(isinstance(token, int) for token in prompt)
    if is_tokens and isinstance(body, dict) and "timings" in body:
        print(body["timings"]["cache_n"], len(prompt), *prompt)
