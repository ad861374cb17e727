"""Parts of a file are marked alike: a comment with the part's name, and dashes to the last column."""

import re

from tree import Case, Check, Finding

COLUMNS = 120
MARK = re.compile(r"\s*//  -{2,}(?: |$)")
RIGHT = re.compile(r"\s*//  ---- \S.* -+")


def run(tree):
    for path in tree.files:
        if not path.endswith((".c", ".h")):
            continue
        for number, line in tree.lines(path):
            if MARK.match(line) and not (RIGHT.fullmatch(line) and len(line) == COLUMNS):
                yield Finding(path, number, f"marks a part of the file otherwise than \"//  ---- Name ---\" in {COLUMNS} columns")


CHECK = Check("marks", run, [
    Case({"a.c": "//  ---- Reading ----\n"}, "a.c:1: marks a part of the file"),
    Case({"a.c": "//  -- Reading --\n"}, "a.c:1: marks a part of the file"),
    Case({"a.h": "//  " + "-" * 116 + "\n"}, "a.h:1: marks a part of the file"),
    Case({"a.c": "//  ---- Reading " + "-" * 103 + "\n    int no;    //  --no-NAME\n"}, None),
])
