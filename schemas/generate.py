#!/usr/bin/env python3
"""Turns schemas/*.toml into everything that must agree with them.

    generate.py --c FOLDER          C structs, tables and catalogue, for the build
"""

import argparse
import pathlib
import sys

from generator import c, model

HERE = pathlib.Path(__file__).resolve().parent


def write_if_changed(path, text):
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schemas", type=pathlib.Path, default=HERE, metavar="FOLDER", help="where the TOML files are")
    parser.add_argument("--c", type=pathlib.Path, metavar="FOLDER", help="write the C files there")
    arguments = parser.parse_args()
    schemas = model.load(arguments.schemas)
    if arguments.c:
        for name, text in c.files(schemas).items():
            write_if_changed(arguments.c / name, text)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except model.SchemaError as problem:
        sys.exit(f"generate.py: {problem}")
