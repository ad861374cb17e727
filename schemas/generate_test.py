"""What the generator refuses: schemas that are wrong, files that are stale, edits that break a released version."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import generate  # noqa: E402

SCHEMA = '''
topic = "pets"
doc = "Pets."

[stream]
home = { value = 1, doc = "Who came home" }

[enum.kind]
doc = "Kinds."
values = [
    { name = "cat", value = 1, doc = "Meows" },
    { name = "dog", value = 2, doc = "Barks" },
]

[enum.mood]
doc = "Moods."
values = [{ name = "calm", value = 1, doc = "Sleeps" }]

[message.collar]
kind = "struct"
doc = "A collar."
fields = [{ name = "kind", key = "k", type = "enum kind", doc = "Of whom" }]

[message.find_pet]
kind = "call"
reply = "find_pet_reply"
doc = "Who is there."
fields = [
    { name = "name", key = "n", type = "string", max = 64, doc = "Name" },
    { name = "tags", key = "t", type = "string[]", max = 8, item_max = 16, doc = "Tags" },
    { name = "age", key = "a", type = "u32?", doc = "Years" },
]

[message.find_pet_reply]
kind = "reply"
doc = "This one."
fields = [{ name = "mood", key = "m", type = "enum mood", doc = "Now" }]

[message.came_home]
kind = "event"
stream = "home"
id = 1
hot = true
doc = "One came home."
fields = [
    { name = "weight", type = "u32", doc = "Grams" },
    { name = "collar", type = "struct collar", doc = "Collar" },
    { name = "steps", type = "u32[]", max = 1000, doc = "Steps" },
]
'''


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run_generator(self, *arguments):
        """Exit code, and what it said without the program's name."""
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            code = generate.main([str(argument) for argument in arguments])
        return code, errors.getvalue().replace("generate.py: ", "").splitlines()

    def edit(self, old, new):
        self.assertEqual(SCHEMA.count(old), 1, f"the example has {old!r} not once")
        return SCHEMA.replace(old, new)


class WrongSchemas(Folder):
    def assert_refused(self, old, new, sentence):
        self.write("schemas/pets.toml", self.edit(old, new))
        self.assertEqual(self.run_generator("--schemas", self.root / "schemas"), (1, [sentence]))

    def test_the_example_is_right(self):
        self.write("schemas/pets.toml", SCHEMA)
        self.assertEqual(self.run_generator("--schemas", self.root / "schemas", "--c", self.root / "c"), (0, []))
        self.assertTrue((self.root / "c" / "pets.h").exists())

    def test_whatever_has_a_length_has_a_bound(self):
        sentence = "pets.toml: find_pet: name: max is missing: whatever has a length has a bound"
        self.assert_refused('"string", max = 64', '"string"', sentence)

    def test_types_are_known(self):
        self.assert_refused('"u32?"', '"u24"', "pets.toml: find_pet: age: 'u24' is no type; an enum or struct is written "
                            "'enum u24' or 'struct u24'")
        self.assert_refused('"u32?"', '"bool[]"', "pets.toml: find_pet: age: a list of bool is not supported")
        self.assert_refused('"struct collar"', '"struct leash"', "pets.toml: came_home: collar: there is no struct leash")
        self.assert_refused('"enum mood"', '"enum weather"', "pets.toml: find_pet_reply: mood: there is no enum weather")

    def test_names_and_keys_are_unique(self):
        self.assert_refused('name = "tags"', 'name = "name"', "pets.toml: find_pet: name name comes twice")
        self.assert_refused('key = "t"', 'key = "n"', "pets.toml: find_pet: key n comes twice")
        self.assert_refused('name = "age"', 'name = "tags_count"',
                            "pets.toml: find_pet: a name collides with the has_ or _count member of another field")
        self.assert_refused('name = "dog", value = 2', 'name = "dog", value = 1', "pets.toml: enum kind: a value comes twice")

    def test_names_are_names_in_c(self):
        self.assert_refused('name = "age"', 'name = "int"', "pets.toml: find_pet: int: 'int' is no name: lower case, digits "
                            "and underscores, and no word of C")

    def test_unknown_keys_are_refused(self):
        self.assert_refused("id = 1\n", "id = 1\nurgent = true\n", "pets.toml: came_home: unknown key urgent")
        self.assert_refused('key = "a"', 'keys = "a"', "pets.toml: find_pet: age: unknown key keys")

    def test_links_lead_to_the_right_kind(self):
        self.assert_refused('reply = "find_pet_reply"', 'reply = "collar"',
                            "pets.toml: find_pet: reply 'collar' is no message of kind reply")
        self.assert_refused('stream = "home"', 'stream = "away"', "pets.toml: came_home: 'away' is no stream")

    def test_no_struct_contains_itself(self):
        self.assert_refused('type = "enum kind"', 'type = "struct collar?"', "pets.toml: collar: contains itself")

    def test_event_numbers_are_unique(self):
        self.write("schemas/pets.toml", SCHEMA + SCHEMA[SCHEMA.index("[message.came_home]"):].replace("came_home", "left_home"))
        self.assertEqual(self.run_generator("--schemas", self.root / "schemas"),
                         (1, ["pets.toml: left_home: id 1 is taken or not in 1 to 65535"]))


class StaleFiles(Folder):
    def test_a_file_that_is_not_what_the_schemas_say_is_named(self):
        self.write("schemas/pets.toml", SCHEMA)
        common = ("--schemas", self.root / "schemas", "--root", self.root)
        self.assertEqual(self.run_generator(*common, "--check")[0], 1)
        self.assertEqual(self.run_generator(*common, "--write"), (0, []))
        self.assertEqual(self.run_generator(*common, "--check"), (0, []))
        self.write("docs/messages.md", "old")
        self.assertEqual(self.run_generator(*common, "--check"),
                         (1, ["docs/messages.md is not what the schemas say: run schemas/generate.py --write"]))


class BreakingEdits(Folder):
    def compare(self, schema):
        self.write("released/1.0/pets.toml", SCHEMA)
        self.write("schemas/pets.toml", schema)
        return self.run_generator("--schemas", self.root / "schemas", "--against", self.root / "released")

    def assert_breaks(self, old, new, *sentences):
        self.assertEqual(self.compare(self.edit(old, new)),
                         (1, [f"breaks version 1.0: {sentence}" for sentence in sentences]))

    def assert_keeps(self, old, new):
        self.assertEqual(self.compare(self.edit(old, new)), (0, []))

    def test_nothing_changed(self):
        self.assertEqual(self.compare(SCHEMA), (0, []))

    def test_nothing_was_released(self):
        self.write("schemas/pets.toml", SCHEMA)
        self.write("released/README.md", "Empty.")
        self.assertEqual(self.run_generator("--schemas", self.root / "schemas", "--against", self.root / "released"), (0, []))

    def test_what_stays_readable_is_allowed(self):
        self.assert_keeps('doc = "Years" },', 'doc = "Since birth" },\n'
                          '    { name = "color", key = "c", type = "string?", max = 10, doc = "Color" },')
        self.assert_keeps('doc = "Steps" },', 'doc = "Steps" },\n    { name = "wet", type = "bool?", doc = "Rain" },')
        self.assert_keeps("max = 64", "max = 65")
        self.assert_keeps('value = 1, doc = "Sleeps" }', 'value = 1, doc = "Sleeps" }, { name = "wild", value = 2, doc = "Runs" }')
        self.assert_keeps("[message.came_home]", '[message.bath]\nkind = "struct"\ndoc = "A bath."\nfields = []\n\n'
                          "[message.came_home]")

    def test_removed_or_renamed_message(self):
        self.assert_breaks("[message.came_home]", "[message.arrived]",
                           "message came_home was removed or renamed; those who know it still use it")

    def test_removed_or_renamed_field(self):
        self.assert_breaks('{ name = "age", key = "a", type = "u32?", doc = "Years" },', "",
                           "message find_pet: field age was removed or renamed; those who know it still use it")
        self.assert_breaks('name = "age"', 'name = "years"',
                           "message find_pet: field age was removed or renamed; those who know it still use it")

    def test_changed_key(self):
        self.assert_breaks('key = "a"', 'key = "y"', "message find_pet: field age: key changed from 'a' to 'y'")

    def test_changed_type(self):
        self.assert_breaks('"u32?"', '"u64?"', "message find_pet: field age: type changed from u32? to u64?")

    def test_required_where_it_was_optional_and_the_other_way_round(self):
        self.assert_breaks('"u32?"', '"u32"', "message find_pet: field age: became required; old writers leave it out")
        self.assert_breaks('type = "enum mood"', 'type = "enum mood?"', "message find_pet_reply: field mood: became optional; "
                           "old readers refuse a message without it")

    def test_new_required_field(self):
        self.assert_breaks('doc = "Steps" },', 'doc = "Steps" },\n    { name = "wet", type = "bool", doc = "Rain" },',
                           "message came_home: field wet is new and required; old writers leave it out, so make it optional")

    def test_smaller_bounds(self):
        self.assert_breaks("max = 64", "max = 63",
                           "message find_pet: field name: max shrank from 64 to 63; what was allowed is refused")
        self.assert_breaks("item_max = 16", "item_max = 15",
                           "message find_pet: field tags: item_max shrank from 16 to 15; what was allowed is refused")

    def test_changed_kind_and_links(self):
        unused = SCHEMA + '[message.bath]\nkind = "struct"\ndoc = "A bath."\nfields = []\n'
        self.write("released/1.0/pets.toml", unused)
        self.write("schemas/pets.toml", unused.replace('[message.bath]\nkind = "struct"', '[message.bath]\nkind = "item"'))
        self.assertEqual(self.run_generator("--schemas", self.root / "schemas", "--against", self.root / "released"),
                         (1, ["breaks version 1.0: message bath: kind changed from struct to item"]))
        renamed = self.edit("[message.find_pet_reply]", "[message.found]").replace('"find_pet_reply"', '"found"')
        self.assertEqual(self.compare(renamed), (1, [
            "breaks version 1.0: message find_pet_reply was removed or renamed; those who know it still use it",
            "breaks version 1.0: message find_pet: reply changed from find_pet_reply to found"]))

    def test_changed_number(self):
        self.assert_breaks("id = 1\n", "id = 2\n", "message came_home: id changed from 1 to 2")
        self.assert_breaks("home = { value = 1", "home = { value = 2", "streams: value home changed from 1 to 2")

    def test_hot_or_not(self):
        self.assert_breaks("hot = true\n", "", "message came_home: hot changed from True to False")

    def test_changed_places_in_a_hot_message(self):
        weight, collar = ('    { name = "weight", type = "u32", doc = "Grams" },\n',
                          '    { name = "collar", type = "struct collar", doc = "Collar" },\n')
        self.assert_breaks(weight + collar, collar + weight,
                           "message came_home: fields changed places; a hot message only grows at the end")
        self.assert_breaks(weight, '    { name = "wet", type = "bool?", doc = "Rain" },\n' + weight,
                           "message came_home: fields changed places; a hot message only grows at the end")

    def test_enums(self):
        self.assert_breaks('name = "dog", value = 2', 'name = "dog", value = 3', "enum kind: value dog changed from 2 to 3")
        self.assert_breaks('{ name = "dog", value = 2, doc = "Barks" },', "",
                           "enum kind: value dog was removed or renamed; those who know it still use it")
        renamed = self.edit("[enum.mood]", "[enum.temper]").replace("enum mood", "enum temper")
        self.assertEqual(self.compare(renamed), (1, [
            "breaks version 1.0: enum mood was removed or renamed; those who know it still use it",
            "breaks version 1.0: message find_pet_reply: field mood: type changed from enum mood to enum temper"]))

    def test_an_enum_that_an_event_requires_is_closed(self):
        self.assert_breaks('{ name = "dog",', '{ name = "owl", value = 3, doc = "Hoots" },\n    { name = "dog",',
                           "enum kind: new value owl; old readers would refuse event came_home, which requires the enum")


if __name__ == "__main__":
    unittest.main()
