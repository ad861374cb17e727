"""The runtime knows no word of the domain: it would serve another one as well."""

import re

from tree import Case, Check, Finding, table

WORDS = {
    "agent", "block", "cache", "card", "chat", "completion", "decode", "embedding", "engine", "eviction", "gpu", "harness", "hint",
    "holder", "inference", "kv", "llama", "llm", "lora", "model", "namespace", "overlap", "prefill", "prefix", "prompt", "session",
    "template", "tenant", "tier", "token", "tokenizer", "turn", "vllm", "worker",
}
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def pieces(identifier):
    """The words of an identifier, in lower case and singular where an s is all that makes the plural."""
    for piece in PIECE.findall(identifier):
        word = piece.lower()
        yield word
        if word.endswith("s"):
            yield word[:-1]


def run(tree):
    exceptions = {row[0] for row in table("words.exceptions")}
    for path in tree.c_files():
        if not path.startswith("runtime/"):
            continue
        for number, line in tree.code_lines(path):
            if line.lstrip().startswith("#include"):
                continue
            for identifier in IDENTIFIER.findall(line):
                found = WORDS.intersection(pieces(identifier)) - exceptions
                if found and identifier not in exceptions:
                    word = min(found)
                    yield Finding(path, number, f"{identifier}: runtime/ does not know the domain's word \"{word}\"")


CHECK = Check("words", run, [
    Case({"runtime/actor.c": "int\ncount_tokens (void);\n"}, "runtime/actor.c:2: count_tokens: runtime/ does"),
    Case({"runtime/actor.h": "typedef struct kvIndex kvIndex;\n"}, "domain's word \"kv\""),
    Case({"runtime/actor.c": "enum { WORKERS = 4 };\n"}, "\"worker\""),
    Case({"runtime/actor.c": "//  A worker's tokens.\nconst char *name = \"worker\";\n"}, None),
    Case({"runtime/actor.c": "int blocking (int tokenless);\n"}, None),
    Case({"kv/block.c": "int block;\n"}, None),
])
