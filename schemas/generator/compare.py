"""Whether a schema still keeps its word: what was released must stay readable, both ways, for version N with N - 1."""


def removed(old, new, kind, where=""):
    for name in old:
        if name not in new:
            yield f"{where}{kind} {name} was removed or renamed; those who know it still use it"


def compare_enum(schemas, old, new, what):
    numbers = {value.name: value.value for value in new.values}
    yield from removed([value.name for value in old.values], numbers, "value", f"{what}: ")
    for value in old.values:
        if numbers.get(value.name, value.value) != value.value:
            yield f"{what}: value {value.name} changed from {value.value} to {numbers[value.name]}"
    known = [value.name for value in old.values]
    needed_by = event_that_needs(schemas, old.name)
    for value in new.values:
        if what != "streams" and value.name not in known and needed_by:
            yield f"{what}: new value {value.name}; old readers would refuse event {needed_by}, which requires the enum"


def needs_enum(schemas, message, enum):
    return any(not field.optional and (
        (field.base == "enum" and field.reference == enum) or
        (field.base == "struct" and needs_enum(schemas, schemas.messages[field.reference], enum)))
        for field in message.fields)


def event_that_needs(schemas, enum):
    """An event reaches readers its sender cannot ask; so an enum it requires is closed."""
    for message in schemas.messages.values():
        if message.kind == "event" and needs_enum(schemas, message, enum):
            return message.name
    return None


def compare_field(where, old, new):
    if old.key != new.key:
        yield f"{where}: key changed from {old.key!r} to {new.key!r}"
    if old.type.rstrip("?") != new.type.rstrip("?"):
        yield f"{where}: type changed from {old.type} to {new.type}"
    elif old.optional and not new.optional:
        yield f"{where}: became required; old writers leave it out"
    elif new.optional and not old.optional:
        yield f"{where}: became optional; old readers refuse a message without it"
    if new.max < old.max:
        yield f"{where}: max shrank from {old.max} to {new.max}; what was allowed is refused"
    if new.item_max < old.item_max:
        yield f"{where}: item_max shrank from {old.item_max} to {new.item_max}; what was allowed is refused"


def compare_order(where, old, new):
    names = [field.name for field in new.fields]
    before = [field.name for field in old.fields if field.name in names]
    if names[:len(before)] != before:
        yield f"{where}: fields changed places; a hot message only grows at the end"


def compare_message(old, new):
    where = f"message {old.name}"
    for attribute in ("kind", "hot", "stream", "id", "reply", "item", "end"):
        before, after = getattr(old, attribute), getattr(new, attribute)
        if before != after:
            yield f"{where}: {attribute} changed from {before} to {after}"
    fields = {field.name: field for field in new.fields}
    known = {field.name: field for field in old.fields}
    yield from removed(known, fields, "field", f"{where}: ")
    for name, field in known.items():
        if name in fields:
            yield from compare_field(f"{where}: field {name}", field, fields[name])
    for name, field in fields.items():
        if name not in known and not field.optional:
            yield f"{where}: field {name} is new and required; old writers leave it out, so make it optional"
    if old.hot and new.hot:
        yield from compare_order(where, old, new)


def breaks(old, new):
    """Sentences about every edit from the schemas `old` to the schemas `new` that breaks somebody."""
    yield from compare_enum(new, old.streams, new.streams, "streams")
    enums = {name: enum for name, enum in old.enums.items() if name != "stream"}
    yield from removed(enums, new.enums, "enum")
    for name, enum in enums.items():
        if name in new.enums:
            yield from compare_enum(new, enum, new.enums[name], f"enum {name}")
    yield from removed(old.messages, new.messages, "message")
    for name, message in old.messages.items():
        if name in new.messages:
            yield from compare_message(message, new.messages[name])
