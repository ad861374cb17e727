#!/usr/bin/env python3
"""Prints sequence_vectors.h: namespace keys and sequence hashes computed by other means than the C code.

BLAKE2b is the standard library's; SipHash-2-4-128 is written out below and checks itself against the first and last of
the vectors that its authors publish.    python3 kv/sequence_vectors.py > kv/sequence_vectors.h
"""
import hashlib
import struct

MASK = (1 << 64) - 1


def rotate(value, bits):
    return (value << bits | value >> (64 - bits)) & MASK


def siphash128(key, message):
    k0, k1 = struct.unpack("<QQ", key)
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D ^ 0xEE, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def rounds(count):
        for _ in range(count):
            v[0] = (v[0] + v[1]) & MASK
            v[1] = rotate(v[1], 13) ^ v[0]
            v[0] = rotate(v[0], 32)
            v[2] = (v[2] + v[3]) & MASK
            v[3] = rotate(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & MASK
            v[3] = rotate(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & MASK
            v[1] = rotate(v[1], 17) ^ v[2]
            v[2] = rotate(v[2], 32)

    def absorb(word):
        v[3] ^= word
        rounds(2)
        v[0] ^= word

    whole = len(message) & ~7
    for at in range(0, whole, 8):
        absorb(struct.unpack_from("<Q", message, at)[0])
    absorb(int.from_bytes(message[whole:], "little") | (len(message) & 0xFF) << 56)
    v[2] ^= 0xEE
    rounds(4)
    first = v[0] ^ v[1] ^ v[2] ^ v[3]
    v[1] ^= 0xDD
    rounds(4)
    return struct.pack("<QQ", first, v[0] ^ v[1] ^ v[2] ^ v[3])


assert siphash128(bytes(range(16)), b"").hex() == "a3817f04ba25a8e66df67214c7550293"
assert siphash128(bytes(range(16)), bytes(range(63))).hex() == "5150d1772f50834a503e069a973fbd7c"


def namespace_key(secret, fingerprint, lora, salt, block_size):
    message = b"stator namespace 1"
    for part in (fingerprint, lora, salt):
        message += struct.pack("<Q", len(part)) + part
    return hashlib.blake2b(message + struct.pack("<I", block_size), key=secret, digest_size=16).digest()


def chain(key, block_size, tokens, items):
    """items: (hash, position, count)"""
    parent, hashes = bytes(16), []
    for start in range(0, len(tokens) - block_size + 1, block_size):
        message = parent + struct.pack("<%dI" % block_size, *tokens[start:start + block_size])
        for digest, position, count in sorted(items):
            if position < start + block_size and position + count > start:
                message += digest + struct.pack("<I", position)
        parent = siphash128(key, message)
        hashes.append(parent)
    return hashes


def tokens_of(count):
    return [(i * 2654435761 + 12345) & 0xFFFFFFFF for i in range(count)]


SECRET = bytes(range(32))
CASES = [  # name, fingerprint, lora, salt, block size, tokens, items
    ("plain", b"card", b"", b"", 64, 300, []),
    ("lora", b"card", b"sql", b"", 16, 64, []),
    ("salt", b"card", b"", b"sql", 16, 64, []),
    ("one_token_blocks", b"", b"", b"", 1, 5, []),
    ("items", b"card", b"", b"team", 8, 40,
     [(b"\x09" * 16, 3, 2), (b"\x02" * 16, 6, 10), (b"\x05" * 16, 16, 1), (b"\x01" * 16, 17, 7)]),
]

print("//  Made by kv/sequence_vectors.py, which computes them without the code under test.  Do not edit.\n")
print("#ifndef KV_SEQUENCE_VECTORS_H\n#define KV_SEQUENCE_VECTORS_H\n")
for name, fingerprint, lora, salt, block_size, count, items in CASES:
    key = namespace_key(SECRET, fingerprint, lora, salt, block_size)
    hashes = chain(key, block_size, tokens_of(count), items)
    print(f"static const char s_{name}_key [] = \"{key.hex()}\";")
    print(f"static const char s_{name}_id [] = \"{siphash128(key, b'namespace')[:8].hex()}\";")
    print(f"static const char *const s_{name}_hashes [] = {{")
    for each in hashes:
        print(f"    \"{each.hex()}\",")
    print("};\n")
print("#endif")
