#!/usr/bin/env python3
"""Turns schemas/*.toml into everything that must agree with them, and refuses edits that break a released version.

    schemas/generate.py --write                       docs/messages.md, the Python tables, the test vectors
    schemas/generate.py --check                       are those up to date?
    schemas/generate.py --against schemas/released    does every released version still understand us?
    schemas/generate.py --c FOLDER                    C structs and tables; the build does this
    schemas/generate.py --seeds FOLDER                inputs for tests/fuzz/messages.c: what a fuzzer begins with

Exits with 1 and a sentence for each thing that is wrong.
"""

import argparse
import pathlib
import sys

from generator import c, compare, docs, model, python, vectors

HERE = pathlib.Path(__file__).resolve().parent
COMMITTED = {
    "docs/messages.md": docs.text,
    "examples/python/stator_messages.py": python.text,
    "schemas/vectors.json": vectors.text,
}


def write_if_changed(path, text):
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def stale(schemas, root):
    for name, text in COMMITTED.items():
        path = root / name
        if not path.exists() or path.read_text(encoding="utf-8") != text(schemas):
            yield f"{name} is not what the schemas say: run schemas/generate.py --write"


def broken(schemas, released):
    """Each folder in `released` holds the schemas of one version."""
    for folder in sorted(path for path in released.iterdir() if path.is_dir()):
        for sentence in compare.breaks(model.load(folder), schemas):
            yield f"breaks version {folder.name}: {sentence}"


def write_seeds(schemas, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in vectors.seeds(schemas).items():
        (folder / name).write_bytes(data)


def arguments_of(command_line):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schemas", type=pathlib.Path, default=HERE, metavar="FOLDER", help="where the TOML files are")
    parser.add_argument("--root", type=pathlib.Path, default=HERE.parent, metavar="FOLDER", help="what --write and --check mean")
    parser.add_argument("--c", type=pathlib.Path, metavar="FOLDER", help="write the C files there")
    parser.add_argument("--seeds", type=pathlib.Path, metavar="FOLDER", help="write the seeds of the fuzz target there")
    parser.add_argument("--write", action="store_true", help="write the committed files")
    parser.add_argument("--check", action="store_true", help="compare the committed files")
    parser.add_argument("--against", type=pathlib.Path, metavar="FOLDER", help="compare with released versions")
    return parser.parse_args(command_line)


def main(command_line):
    arguments = arguments_of(command_line)
    try:
        schemas = model.load(arguments.schemas)
        problems = list(broken(schemas, arguments.against)) if arguments.against else []
    except model.SchemaError as problem:
        problems = [str(problem)]
    if not problems and arguments.c:
        for name, text in c.files(schemas).items():
            write_if_changed(arguments.c / name, text)
    if not problems and arguments.seeds:
        write_seeds(schemas, arguments.seeds)
    if not problems and arguments.write:
        for name, text in COMMITTED.items():
            write_if_changed(arguments.root / name, text(schemas))
    if not problems and arguments.check:
        problems = list(stale(schemas, arguments.root))
    for problem in problems:
        print(f"generate.py: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
