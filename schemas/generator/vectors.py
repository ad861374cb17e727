"""Test vectors: each message as bytes and as JSON, for readers in any language.

The MessagePack here is written by the few lines of `pack`, apart from both msgpack-c and Python's msgpack, which replay it.
"""

import hashlib
import json
import struct

CASES = ("minimal", "full", "edges", "extreme")

UNSIGNED = {"u8": 8, "u16": 16, "u32": 32, "u64": 64}
SIGNED = {"i32": 32, "i64": 64}
#  Where MessagePack changes the format of a number or a length
UNSIGNED_EDGES = (127, 128, 255, 256, 65535, 65536, 2**32 - 1, 2**32)
SIGNED_EDGES = (-32, -33, -128, -129, -32768, -32769, -2**31, -2**31 - 1)
LENGTH_EDGES = (31, 32, 255, 256)

#  XXH3-64 of addresses, by xxhsum of the xxHash project
ADDRESSES = (
    {"address": "worker/a", "source": 0xb77b0747c1a17c41, "stream": "kv", "topic": "kv.worker/a."},
)


def pack_number(value):
    if value >= 0:
        for limit, code, form in ((0x80, None, "B"), (1 << 8, 0xcc, "B"), (1 << 16, 0xcd, "H"), (1 << 32, 0xce, "I"),
                                  (1 << 64, 0xcf, "Q")):
            if value < limit:
                return (b"" if code is None else bytes([code])) + struct.pack(">" + form, value)
    for limit, code, form in ((32, None, "b"), (1 << 7, 0xd0, "b"), (1 << 15, 0xd1, "h"), (1 << 31, 0xd2, "i"),
                              (1 << 63, 0xd3, "q")):
        if -value <= limit:
            return (b"" if code is None else bytes([code])) + struct.pack(">" + form, value)
    raise ValueError(value)


def pack_length(length, forms):
    for limit, head, form in forms:
        if length < limit:
            if form is None:
                return bytes([head | length])
            return bytes([head]) + struct.pack(">" + form, length)
    raise ValueError(length)


STRING_FORMS = ((32, 0xa0, None), (1 << 8, 0xd9, "B"), (1 << 16, 0xda, "H"), (1 << 32, 0xdb, "I"))
BIN_FORMS = ((1 << 8, 0xc4, "B"), (1 << 16, 0xc5, "H"), (1 << 32, 0xc6, "I"))
ARRAY_FORMS = ((16, 0x90, None), (1 << 16, 0xdc, "H"), (1 << 32, 0xdd, "I"))
MAP_FORMS = ((16, 0x80, None), (1 << 16, 0xde, "H"), (1 << 32, 0xdf, "I"))


def pack(value):
    """MessagePack of None, bool, int, float, str, bytes, list and dict, in the smallest form of each."""
    if value is None:
        return b"\xc0"
    if isinstance(value, bool):
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        return pack_number(value)
    if isinstance(value, float):
        return b"\xcb" + struct.pack(">d", value)
    if isinstance(value, str):
        data = value.encode()
        return pack_length(len(data), STRING_FORMS) + data
    if isinstance(value, bytes):
        return pack_length(len(value), BIN_FORMS) + value
    if isinstance(value, list):
        return pack_length(len(value), ARRAY_FORMS) + b"".join(pack(element) for element in value)
    return pack_length(len(value), MAP_FORMS) + b"".join(pack(key) + pack(element) for key, element in value.items())


def bytes_for(text, size):
    return hashlib.shake_128(text.encode()).digest(size)


def sample_number(base, case, position):
    if case == "minimal":
        return 0
    if base in SIGNED:
        low = -(1 << (SIGNED[base] - 1))
        return {"full": -5 - position, "edges": max(low, SIGNED_EDGES[position % 8]), "extreme": low}[case]
    high = (1 << UNSIGNED[base]) - 1
    return {"full": min(high, 5 + position), "edges": min(high, UNSIGNED_EDGES[position % 8]), "extreme": high}[case]


def sample_length(case, position, longest):
    return min(longest, {"minimal": 0, "edges": LENGTH_EDGES[position % 4], "extreme": 300}[case])


def sample_string(field, case, position, longest):
    if case == "full":
        return f"{field.name} \u00e4\U0001f600\"\n"[:max(1, longest // 4)]
    return "x" * sample_length(case, position, longest)


def sample_bin(field, case, position, longest):
    if case == "full":
        return f"hex:{field.name}".encode()[:longest] if position % 2 else f"{field.name} \u00e4".encode()[:longest]
    return bytes_for(field.name, sample_length(case, position, longest))


def sample_value(schemas, field, case, position, longest):
    """A value as it is packed; enums and structs as (what is packed, what JSON has)."""
    if field.base == "bool":
        value = case != "minimal"
    elif field.base == "f64":
        value = {"minimal": 0.0, "full": 0.7, "edges": -0.1, "extreme": -1.5e300}[case]
    elif field.base == "hash128":
        value = bytes(16) if case == "minimal" else bytes_for(f"{field.name} {position}", 16)
        return value, value.hex()
    elif field.base == "string":
        value = sample_string(field, case, position, longest)
    elif field.base == "bin":
        value = sample_bin(field, case, position, longest)
        return value, json_of_bin(value)
    elif field.base == "enum":
        values = schemas.enums[field.reference].values
        chosen = values[-1] if case == "extreme" else values[position % len(values)] if case == "edges" else values[0]
        return chosen.value, chosen.name
    elif field.base == "struct":
        return sample(schemas, schemas.messages[field.reference], "full" if case == "extreme" else case)
    else:
        value = sample_number(field.base, case, position)
    return value, value


def json_of_bin(value):
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return "hex:" + value.hex()
    printable = all(char in "\t\n\r" or (char >= " " and char != "\x7f") for char in text)
    return text if printable and not text.startswith("hex:") else "hex:" + value.hex()


def sample_list(schemas, field, case, position):
    count = min(field.max, {"minimal": 0, "full": 2, "edges": 1 if field.base == "struct" else 16, "extreme": 17}[case])
    if field.base == "struct":
        count = min(count, 3)
    longest = min(field.item_max, 40)
    pairs = [sample_value(schemas, field, case, position + i, longest) for i in range(count)]
    shown = [pair[1] for pair in pairs]
    if not field.is_column:
        return [pair[0] for pair in pairs], shown
    form = {"u32": "<I", "u64": "<Q"}.get(field.base)
    return b"".join(struct.pack(form, pair[0]) if form else pair[0] for pair in pairs), shown


def sample(schemas, message, case):
    """A message as (what is packed, what JSON has)."""
    names, packed, shown = [], [], {}
    for position, field in enumerate(message.fields):
        if case == "minimal" and field.optional:
            value, json_value = None, None
        elif field.list:
            value, json_value = sample_list(schemas, field, case, position)
        else:
            value, json_value = sample_value(schemas, field, case, position, field.max)
        if json_value is not None:
            shown[field.name] = json_value
        if value is not None or message.hot:
            names.append(field.key)
            packed.append(value)
    return packed if message.hot else dict(zip(names, packed)), shown


def message_vectors(schemas):
    for topic in schemas.topics:
        for message in topic.messages:
            seen = []
            for case in CASES:
                packed, shown = sample(schemas, message, case)
                data = pack(packed).hex()
                if data not in seen:
                    seen.append(data)
                    yield {"message": message.name, "case": case, "hex": data, "json": shown}


def batch_vectors(schemas):
    """For each stream a batch of all its events, with an event of an unknown kind in the middle."""
    for stream in schemas.streams.values:
        events = [message for topic in schemas.topics for message in topic.messages
                  if message.kind == "event" and message.stream == stream.name]
        elements, shown = [], []
        for message in events:
            packed, json_value = sample(schemas, message, "full")
            elements += [message.id, packed, 60000, ["from the future", {"k": [1]}]]
            shown += [{"message": message.name, "json": json_value}, None]
        #  Written by hand as an array of 32-bit length, as our writer does.
        data = b"\xdd" + struct.pack(">I", len(elements)) + b"".join(pack(element) for element in elements)
        yield {"stream": stream.name, "hex": data.hex(), "events": shown}


HEADERS = (
    {"version": 1, "flags": 0, "stream": 1, "source": 0x57bcad9a0a1b7eb0, "incarnation": 1764432000000000000, "sequence": 1,
     "wall_ns": 1764432000123456789},
    {"version": 1, "flags": 255, "stream": 65535, "source": 2**64 - 1, "incarnation": 2**64 - 1, "sequence": 2**53 - 1,
     "wall_ns": 2**64 - 1},
)


def header_vectors():
    for header in HEADERS:
        fields = (header["version"], header["flags"], header["stream"], 0, header["source"], header["incarnation"],
                  header["sequence"], header["wall_ns"])
        yield {"hex": struct.pack(">BBHIQQQQ", *fields).hex(), "json": header}


def seeds(schemas):
    """File name -> input of tests/fuzz/messages.c: the reader's name, a NUL, and what it reads."""
    result = {}
    for vector in message_vectors(schemas):
        if vector["case"] == "full":
            data = f"{vector['message']}\0".encode() + bytes.fromhex(vector["hex"])
            result[vector["message"]] = data
    for vector in batch_vectors(schemas):
        result[f"batch-{vector['stream']}"] = f"{vector['stream']}\0".encode() + bytes.fromhex(vector["hex"])
    return result


def lines(entries):
    return ",\n".join("  " + json.dumps(entry, ensure_ascii=False, separators=(",", ":")) for entry in entries)


def text(schemas):
    return (f'{{"messages": [\n{lines(message_vectors(schemas))}\n],\n'
            f'"batches": [\n{lines(batch_vectors(schemas))}\n],\n'
            f'"headers": [\n{lines(header_vectors())}\n],\n'
            f'"addresses": [\n{lines(ADDRESSES)}\n]}}\n')
