"""Text in any file: clean ends of lines, no paths of somebody's machine, nothing left to do, no link that leads nowhere; and no
file that an editor or a patch left behind."""

import os
import re

from tree import Case, Check, Finding

#  Put together here, so that this file does not find itself.
OF_A_MACHINE = re.compile("|".join(["/" + "work/", "/" + "root/", "/" + "home/[a-z]", "bash" + "_jobs", r"\.\./" + "shared"]))
LEFT_TO_DO = re.compile(r"\b(?:TO" + "DO|FIX" + r"ME|XX" + r"X)\b")
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]+)")
DATA = ("tests/data/", "tests/fuzz/seeds/")
LEFT_BEHIND = re.compile(r"(?:\.orig|\.rej|\.bak|\.swp|~)$")
#  What has to have tabs.
TABBED = ("Makefile", ".go", "go.mod")


def complaints(line):
    if line != line.rstrip():
        yield "ends in white space"
    if "\t" in line:
        yield "has a tab"
    if OF_A_MACHINE.search(line):
        yield f"names a path of one machine: {OF_A_MACHINE.search(line).group()}"
    if LEFT_TO_DO.search(line):
        yield "leaves something to do: do it, or say in plain words what does not work yet"


def run(tree):
    for path in tree.files:
        if LEFT_BEHIND.search(path):
            yield Finding(path, 0, "was left behind by an editor or a patch")
        text = tree.text(path)
        if not text or path.startswith(DATA):
            continue
        if not text.endswith("\n") or text.endswith("\n\n"):
            yield Finding(path, 0, "does not end in one line end")
        for number, line in tree.lines(path):
            for reason in complaints(line):
                if not (reason == "has a tab" and path.endswith(TABBED)):
                    yield Finding(path, number, reason)


def links(tree):
    for path in tree.files:
        if not path.endswith(".md"):
            continue
        for number, line in tree.lines(path):
            for target in LINK.findall(line):
                if not (tree.root / os.path.dirname(path) / target).exists():
                    yield Finding(path, number, f"links to {target}, which is not there")


CHECK = Check("text", run, [
    Case({"a.md": "line \n"}, "a.md:1: ends in white space"),
    Case({"a.c": "\tint a;\n"}, "has a tab"),
    Case({"a.go": "\tvar a int\n", "go.mod": "\ta v1\n"}, None),
    Case({"a.md": "see /" + "work/tree\n"}, "names a path of one machine"),
    Case({"a.c": "//  TO" + "DO later\n"}, "leaves something to do"),
    Case({"a.md": "line"}, "does not end in one line end"),
    Case({"base/a.c.orig": "line\n"}, "base/a.c.orig"),
    Case({"a.md": "line\n\n"}, "does not end in one line end"),
    Case({"a.md": "line\n", "tests/data/a": "line \t", "b.gguf": b"\0\xff \n"}, None),
])
LINKS = Check("links", links, [
    Case({"docs/a.md": "see [it](b.md)\n"}, "docs/a.md:1: links to b.md, which is not there"),
    Case({"docs/a.md": "see [it](../b.md#part) and [that](https://example.org)\n", "b.md": "here\n"}, None),
])
