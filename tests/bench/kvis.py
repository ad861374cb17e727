"""Writes streams of events and lookups in the form of kv/index/stream.h (KVIS 1)."""

import struct

STORED, REMOVED, CLEARED, LOOKUP = 1, 2, 3, 4
BLOCK_TOKENS = 64


def record(kind, worker, hashes, *before, flags=0):
    """One record; `before` stands in front of the hashes."""
    words = [*before, *hashes]
    return struct.pack(f"<4I{len(words)}Q", kind, worker, len(hashes), flags, *words)


def stored(worker, hashes, parent=None):
    """Blocks behind a parent, or the beginning of a prompt.  What a block's hash is without those before it is not said."""
    return record(STORED, worker, hashes, parent or 0, *[0] * len(hashes), flags=0 if parent is None else 1)


def removed(worker, hashes):
    return record(REMOVED, worker, hashes)


def cleared(worker):
    return record(CLEARED, worker, [])


def lookup(hashes):
    return record(LOOKUP, 0, hashes, *[0] * len(hashes))


def stream(workers, records):
    """The bytes of a stream."""
    return struct.pack("<8s15Q", b"KVIS0001", len(records), workers, BLOCK_TOKENS, *[0] * 12) + b"".join(records)
