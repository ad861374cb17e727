"""Another language reads and writes the same bytes: schemas/vectors.json through python3-msgpack and the Python tables."""

import json
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples" / "python"))

import stator_codec                           # noqa: E402
from stator_messages import MESSAGES, Stream  # noqa: E402


def bin_from_json(text):
    return bytes.fromhex(text[4:]) if text.startswith("hex:") else text.encode()


def bin_to_json(value):
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return "hex:" + value.hex()
    plain = all(char in "\t\n\r" or (char >= " " and char != "\x7f") for char in text) and not text.startswith("hex:")
    return text if plain else "hex:" + value.hex()


def convert_bins(name, message, convert):
    """The message with every bin converted, at any depth."""
    result = dict(message)
    for field in MESSAGES[name].fields:
        if field.name not in result:
            continue
        value = result[field.name]
        if field.base == "bin":
            result[field.name] = convert(value)
        elif field.base == "struct" and field.list:
            result[field.name] = [convert_bins(field.reference, element, convert) for element in value]
        elif field.base == "struct":
            result[field.name] = convert_bins(field.reference, value, convert)
    return result


class VectorsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.vectors = json.loads((ROOT / "schemas" / "vectors.json").read_text(encoding="utf-8"))

    def test_each_message_has_a_vector(self):
        self.assertEqual({vector["message"] for vector in self.vectors["messages"]}, set(MESSAGES))

    def test_bytes_decode_to_the_json(self):
        for vector in self.vectors["messages"]:
            with self.subTest(message=vector["message"], case=vector["case"]):
                message = stator_codec.decode(vector["message"], bytes.fromhex(vector["hex"]))
                self.assertEqual(convert_bins(vector["message"], message, bin_to_json), vector["json"])

    def test_the_json_encodes_to_the_bytes(self):
        for vector in self.vectors["messages"]:
            with self.subTest(message=vector["message"], case=vector["case"]):
                message = convert_bins(vector["message"], vector["json"], bin_from_json)
                self.assertEqual(stator_codec.encode(vector["message"], message).hex(), vector["hex"])

    def test_batches_are_read_and_unknown_kinds_stepped_over(self):
        for vector in self.vectors["batches"]:
            for (name, event), expected in zip(stator_codec.decode_batch(vector["stream"], bytes.fromhex(vector["hex"])),
                                               vector["events"], strict=True):
                self.assertEqual(name, expected and expected["message"])
                if name:
                    self.assertEqual(convert_bins(name, event, bin_to_json), expected["json"])

    def test_headers_and_topics(self):
        for vector in self.vectors["headers"]:
            header = stator_codec.EventHeader(**vector["json"])
            self.assertEqual(header.encode().hex(), vector["hex"])
            self.assertEqual(stator_codec.EventHeader.decode(bytes.fromhex(vector["hex"])), header)
        for vector in self.vectors["addresses"]:
            self.assertEqual(stator_codec.topic(vector["stream"], vector["address"]).decode(), vector["topic"])

    def test_what_is_malformed_raises_a_sentence(self):
        for data in (b"", b"\x81", b"\xc1", b"\x90", b"\x80", b"\x82\xa1k\xc3\xa1k\xc3", b"\x80\x80"):
            with self.assertRaises(ValueError, msg=data):
                stator_codec.decode("heartbeat_reply", data)

    def test_streams_have_the_numbers_of_the_schema(self):
        self.assertEqual([stream.name for stream in Stream], ["KV", "LOAD", "LIFE", "REQ"])


if __name__ == "__main__":
    unittest.main()
