"""Packs and unpacks Stator's messages with python3-msgpack, by the tables of stator_messages.py.

A message in Python is a dict from field names to values: numbers, strings, bytes, lists, dicts for structs, the name of an
enum's value, 32 hexadecimal digits for a hash.  What is absent has no key.  Mistakes raise ValueError with a sentence.
"""

import array
import struct
import typing

import msgpack

from stator_messages import ENUMS, MESSAGES, Stream

INTEGERS = {"u8": (0, 2**8 - 1), "u16": (0, 2**16 - 1), "u32": (0, 2**32 - 1), "u64": (0, 2**64 - 1),
            "i32": (-2**31, 2**31 - 1), "i64": (-2**63, 2**63 - 1)}
COLUMNS = {"u32": "I", "u64": "Q"}
EVENTS = {(message.stream, message.id): name for name, message in MESSAGES.items() if message.kind == "event"}


def encode(name, message):
    """Bytes of the message `name`."""
    return msgpack.packb(_pack_message(name, message))


def decode(name, data):
    """The message `name` from its bytes."""
    return _unpack_message(name, _unpack(data))


def decode_batch(stream, payload):
    """Events of a batch of a stream ("kv", ...), as (name, message); (None, raw value) for kinds from the future."""
    elements = _unpack(payload)
    if not isinstance(elements, list) or len(elements) % 2:
        raise ValueError("a batch is an array of kind numbers and events")
    for number, value in zip(elements[::2], elements[1::2]):
        name = EVENTS.get((stream, number))
        yield name, _unpack_message(name, value) if name else value


class EventHeader(typing.NamedTuple):
    """The second frame of an event message."""

    version: int
    flags: int
    stream: int
    source: int
    incarnation: int
    sequence: int
    wall_ns: int

    FORMAT = struct.Struct(">BBH4xQQQQ")

    def encode(self):
        return self.FORMAT.pack(*self)

    @classmethod
    def decode(cls, data):
        if len(data) != cls.FORMAT.size:
            raise ValueError(f"an event header has {cls.FORMAT.size} bytes, not {len(data)}")
        header = cls(*cls.FORMAT.unpack(data))
        if header.version != 1:
            raise ValueError(f"event version {header.version} is not 1")
        return header


def topic(stream, address):
    """What to subscribe to for one stream of one actor."""
    return f"{Stream[stream.upper()].name.lower()}.{address}.".encode()


def _unpack(data):
    try:
        return msgpack.unpackb(data, object_pairs_hook=_pairs_once)
    except (msgpack.UnpackException, msgpack.ExtraData, UnicodeDecodeError) as error:
        raise ValueError(f"no MessagePack: {error}") from error


def _pairs_once(pairs):
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key comes twice")
    return result


def _pack_message(name, message):
    fields = MESSAGES[name].fields
    values = {field.key: _pack_field(field, message[field.name]) for field in fields if field.name in message}
    if MESSAGES[name].hot:
        return [values.get(field.key) for field in fields]
    return values


def _pack_field(field, value):
    if not field.list:
        return _pack_value(field, value)
    if field.base in COLUMNS:
        return array.array(COLUMNS[field.base], value).tobytes()
    packed = [_pack_value(field, element) for element in value]
    return b"".join(packed) if field.base == "hash128" else packed


def _pack_value(field, value):
    if field.base == "enum":
        return int(ENUMS[field.reference][value.upper()])
    if field.base == "struct":
        return _pack_message(field.reference, value)
    if field.base == "hash128":
        return bytes.fromhex(value)
    return value


def _unpack_message(name, value):
    message = MESSAGES[name]
    if not isinstance(value, list if message.hot else dict):
        raise ValueError(f"{name}: must be {'an array' if message.hot else 'a map'}")
    result = {}
    for position, field in enumerate(message.fields):
        if message.hot:
            packed = value[position] if position < len(value) else None
        else:
            packed = value.get(field.key)
        if packed is not None:
            result[field.name] = _unpack_field(f"{name}: {field.name}", field, packed)
        elif not field.optional:
            raise ValueError(f"{name}: {field.name} is missing")
    return result


def _unpack_field(where, field, packed):
    if not field.list:
        return _unpack_value(where, field, packed, field.max)
    if field.base in COLUMNS:
        values = array.array(COLUMNS[field.base], packed).tolist()
    elif field.base == "hash128":
        values = [packed[i:i + 16].hex() for i in range(0, len(packed), 16)]
    else:
        values = [_unpack_value(where, field, element, field.item_max) for element in packed]
    if len(values) > field.max:
        raise ValueError(f"{where}: has {len(values)} elements, at most {field.max} are allowed")
    return values


def _unpack_value(where, field, packed, longest):
    if field.base == "struct":
        return _unpack_message(field.reference, packed)
    if field.base == "enum":
        return ENUMS[field.reference](packed).name.lower()
    if field.base in INTEGERS and not INTEGERS[field.base][0] <= packed <= INTEGERS[field.base][1]:
        raise ValueError(f"{where}: {packed} is out of range")
    if field.base in ("string", "bin") and len(packed.encode() if field.base == "string" else packed) > longest:
        raise ValueError(f"{where}: is longer than {longest} bytes")
    return packed.hex() if field.base == "hash128" else packed
