"""The schemas as objects: read from TOML, checked, resolved.

A mistake in a schema is a SchemaError whose sentence names file, message and field.
"""

import dataclasses
import pathlib
import re
import tomllib

KINDS = ("struct", "call", "reply", "stream", "item", "end", "event")
SCALARS = ("bool", "u8", "u16", "u32", "u64", "i32", "i64", "f64", "hash128", "string", "bin")
COLUMNS = ("u32", "u64", "hash128")
LISTS = COLUMNS + ("string",)

NAME = re.compile(r"[a-z][a-z0-9_]*")
TYPE = re.compile(r"(?:(enum|struct) )?([a-z][a-z0-9_]*)(\[\])?(\?)?")
FIELDS_MAX = 63
ITEM_MAX = 1024
RESERVED = set("""auto bool break case char const continue default do double else enum extern float for goto if inline int
long register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while""".split())


class SchemaError(Exception):
    """A sentence about what is wrong with a schema."""


@dataclasses.dataclass
class EnumValue:
    name: str
    value: int
    doc: str


@dataclasses.dataclass
class Enum:
    name: str
    topic: str
    doc: str
    values: list


@dataclasses.dataclass
class Field:
    name: str
    key: str
    type: str                   # as written in the schema
    base: str                   # a scalar, "enum" or "struct"
    reference: str | None       # name of the enum or struct
    list: bool
    optional: bool
    max: int                    # elements of a list; else bytes of a string or bin; else 0
    item_max: int               # bytes of each string of a list; else 0
    doc: str

    @property
    def is_column(self):
        return self.list and self.base in COLUMNS


@dataclasses.dataclass
class Message:
    name: str
    topic: str
    doc: str
    kind: str
    hot: bool
    stream: str | None
    id: int
    reply: str | None
    item: str | None
    end: str | None
    fields: list


@dataclasses.dataclass
class Topic:
    name: str
    doc: str
    enums: list
    messages: list
    needs: list = dataclasses.field(default_factory=list)     # topics whose types its structs embed


@dataclasses.dataclass
class Schemas:
    topics: list
    streams: Enum
    enums: dict
    messages: dict

    def event(self, stream, number):
        for message in self.messages.values():
            if message.kind == "event" and (message.stream, message.id) == (stream, number):
                return message
        return None


def refuse(where, sentence):
    raise SchemaError(f"{where}: {sentence}")


def check_table(where, table, required, allowed):
    for key in required:
        if key not in table:
            refuse(where, f"{key} is missing")
    for key in table:
        if key not in required and key not in allowed:
            refuse(where, f"unknown key {key}")


def check_name(where, name):
    if not NAME.fullmatch(name) or name in RESERVED:
        refuse(where, f"{name!r} is no name: lower case, digits and underscores, and no word of C")


def one_line(text):
    return " ".join(text.split())


def read_values(where, values):
    result = []
    for table in values:
        check_table(where, table, ("name", "value", "doc"), ())
        check_name(where, table["name"])
        if not 0 <= table["value"] < 1 << 31:
            refuse(where, f"{table['name']}: the value must be 0 to 2147483647")
        result.append(EnumValue(table["name"], table["value"], one_line(table["doc"])))
    for attribute in ("name", "value"):
        seen = [getattr(value, attribute) for value in result]
        if len(set(seen)) != len(seen):
            refuse(where, f"a {attribute} comes twice")
    if not result:
        refuse(where, "has no values")
    return result


def read_enum(topic, name, table):
    where = f"{topic}.toml: enum {name}"
    check_name(where, name)
    check_table(where, table, ("doc", "values"), ())
    return Enum(name, topic, one_line(table["doc"]), read_values(where, table["values"]))


def read_max(where, table, base, is_list):
    bounded = is_list or base in ("string", "bin")
    if bounded and not 0 < table.get("max", 0) < 1 << 32:
        refuse(where, "max is missing: whatever has a length has a bound")
    if not bounded and "max" in table:
        refuse(where, "max is only for strings, bins and lists")
    strings = is_list and base == "string"
    if not strings and "item_max" in table:
        refuse(where, "item_max is only for lists of strings")
    return table.get("max", 0), table.get("item_max", ITEM_MAX) if strings else 0


def read_field(message_where, table, hot):
    where = f"{message_where}: {table.get('name', 'a field')}"
    check_table(where, table, ("name", "type", "doc"), ("key", "max", "item_max"))
    check_name(where, table["name"])
    match = TYPE.fullmatch(table["type"])
    if not match:
        refuse(where, f"{table['type']!r} is no type")
    kind, name, is_list, optional = match.groups()
    if not kind and name not in SCALARS:
        refuse(where, f"{name!r} is no type; an enum or struct is written 'enum {name}' or 'struct {name}'")
    base = kind or name
    if is_list and base != "struct" and base not in LISTS:
        refuse(where, f"a list of {base} is not supported")
    if hot and "key" in table:
        refuse(where, "a field of a hot message has no key, only a place")
    longest, item_max = read_max(where, table, base, bool(is_list))
    return Field(table["name"], table.get("key", table["name"]), table["type"], base, name if kind else None,
                 bool(is_list), bool(optional), longest, item_max, one_line(table["doc"]))


def check_fields(where, fields):
    if len(fields) > FIELDS_MAX:
        refuse(where, f"has {len(fields)} fields, at most {FIELDS_MAX} are allowed")
    for attribute in ("name", "key"):
        seen = set()
        for field in fields:
            value = getattr(field, attribute)
            if value in seen:
                refuse(where, f"{attribute} {value} comes twice")
            seen.add(value)
    members = [name for field in fields for name in members_of(field)]
    if len(set(members)) != len(members):
        refuse(where, "a name collides with the has_ or _count member of another field")


def members_of(field):
    """Names of the struct members that hold a field."""
    yield field.name
    if field.list and not field.is_column:
        yield f"{field.name}_count"
    if field.optional and not field.list:
        yield f"has_{field.name}"


KIND_KEYS = {
    "call": ("reply",),
    "stream": ("item", "end"),
    "event": ("stream", "id"),
}


def read_message(topic, name, table):
    where = f"{topic}.toml: {name}"
    check_name(where, name)
    kind = table.get("kind")
    if kind not in KINDS:
        refuse(where, f"kind must be one of {', '.join(KINDS)}")
    fields = "field" if "field" in table else "fields"
    check_table(where, table, ("kind", "doc", fields) + KIND_KEYS.get(kind, ()), ("hot",))
    hot = table.get("hot", False)
    result = [read_field(where, field, hot) for field in table[fields]]
    check_fields(where, result)
    return Message(name, topic, one_line(table["doc"]), kind, hot, table.get("stream"), table.get("id", 0),
                   table.get("reply"), table.get("item"), table.get("end"), result)


def read_topic(path):
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise SchemaError(f"{path.name}: {error}") from error
    check_table(path.name, table, ("topic", "doc"), ("enum", "message", "stream"))
    topic = table["topic"]
    if topic != path.stem:
        refuse(path.name, f"topic is {topic!r}, the file says {path.stem!r}")
    enums = [read_enum(topic, name, value) for name, value in table.get("enum", {}).items()]
    if "stream" in table:
        values = [{"name": name, **value} for name, value in table["stream"].items()]
        doc = "Streams of events; each source numbers each of its streams apart."
        enums.append(read_enum(topic, "stream", {"doc": doc, "values": values}))
    messages = [read_message(topic, name, value) for name, value in table.get("message", {}).items()]
    return Topic(topic, table["doc"].strip(), enums, messages)


def index_by_name(kind, topics, attribute):
    result = {}
    for topic in topics:
        for thing in getattr(topic, attribute):
            if thing.name in result:
                refuse(f"{topic.name}.toml", f"{kind} {thing.name} is in {result[thing.name].topic}.toml already")
            result[thing.name] = thing
    return result


def check_references(schemas):
    for message in schemas.messages.values():
        where = f"{message.topic}.toml: {message.name}"
        for role in ("reply", "item", "end"):
            target = getattr(message, role)
            if target is not None and (target not in schemas.messages or schemas.messages[target].kind != role):
                refuse(where, f"{role} {target!r} is no message of kind {role}")
        if message.kind == "event":
            if message.stream not in [value.name for value in schemas.streams.values]:
                refuse(where, f"{message.stream!r} is no stream")
            if not 1 <= message.id <= 65535 or schemas.event(message.stream, message.id) is not message:
                refuse(where, f"id {message.id} is taken or not in 1 to 65535")
        for field in message.fields:
            check_reference(schemas, where, field)


def check_reference(schemas, where, field):
    if field.base == "enum" and field.reference not in schemas.enums:
        refuse(where, f"{field.name}: there is no enum {field.reference}")
    if field.base == "struct":
        target = schemas.messages.get(field.reference)
        if target is None or target.kind != "struct":
            refuse(where, f"{field.name}: there is no struct {field.reference}")


def check_no_cycle(schemas, message, above):
    if message.name in above:
        refuse(f"{message.topic}.toml: {message.name}", "contains itself")
    for field in message.fields:
        if field.base == "struct":
            check_no_cycle(schemas, schemas.messages[field.reference], above + [message.name])


def sort_messages(schemas, topic):
    """Structs before what embeds them, else as written."""
    done = []

    def put(message):
        if message.topic != topic.name or message in done:
            return
        for field in message.fields:
            if field.base == "struct":
                put(schemas.messages[field.reference])
        done.append(message)

    for message in topic.messages:
        put(message)
    topic.messages = done


def set_needs(schemas, topic):
    for message in topic.messages:
        for field in message.fields:
            owner = {"enum": schemas.enums, "struct": schemas.messages}.get(field.base, {}).get(field.reference)
            if owner and owner.topic != topic.name and owner.topic not in topic.needs:
                topic.needs.append(owner.topic)


def check_topic_order(schemas, name, above):
    if name in above:
        refuse(f"{name}.toml", f"topics need each other in a ring: {' -> '.join(above + [name])}")
    topic = next(topic for topic in schemas.topics if topic.name == name)
    for need in topic.needs:
        check_topic_order(schemas, need, above + [name])


def load(folder):
    """All schemas of a folder, checked; SchemaError where something is wrong."""
    paths = sorted(pathlib.Path(folder).glob("*.toml"))
    topics = [read_topic(path) for path in paths]
    enums = index_by_name("enum", topics, "enums")
    if "stream" not in enums:
        refuse(str(folder), "no topic has the table of streams")
    schemas = Schemas(topics, enums["stream"], enums, index_by_name("message", topics, "messages"))
    for name in enums:
        if name in schemas.messages:
            refuse(f"{enums[name].topic}.toml", f"{name} is both an enum and a message")
    check_references(schemas)
    for message in schemas.messages.values():
        check_no_cycle(schemas, message, [])
    for topic in topics:
        sort_messages(schemas, topic)
        set_needs(schemas, topic)
    for topic in topics:
        check_topic_order(schemas, topic.name, [])
    return schemas


def wire_description(schemas):
    """Everything that is seen on the wire, as one text: what schema_hash is taken over."""
    lines = [f"stream {value.name} {value.value}" for value in schemas.streams.values]
    for enum in sorted(schemas.enums.values(), key=lambda enum: enum.name):
        lines += [f"enum {enum.name} {value.name} {value.value}" for value in enum.values]
    for message in sorted(schemas.messages.values(), key=lambda message: message.name):
        links = " ".join(str(link) for link in (message.stream, message.id, message.reply, message.item, message.end))
        lines.append(f"message {message.name} {message.kind} {'hot' if message.hot else 'map'} {links}")
        lines += [f"field {field.key} {field.name} {field.type} {field.max} {field.item_max}" for field in message.fields]
    return "\n".join(lines)
