"""Text that stands in any file: clean ends of lines, no paths of somebody's machine, nothing left to do."""

import re

from tree import Case, Check, Finding

#  Put together here, so that this file does not find itself.
OF_A_MACHINE = re.compile("|".join(["/" + "work/", "/" + "root/", "/" + "home/[a-z]", "bash" + "_jobs", r"\.\./" + "shared"]))
LEFT_TO_DO = re.compile(r"\b(?:TO" + "DO|FIX" + r"ME|XX" + r"X)\b")
DATA = ("tests/data/", "tests/fuzz/seeds/")


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
        text = tree.text(path)
        if not text or path.startswith(DATA):
            continue
        if not text.endswith("\n") or text.endswith("\n\n"):
            yield Finding(path, 0, "does not end in one line end")
        for number, line in tree.lines(path):
            for reason in complaints(line):
                if not (reason == "has a tab" and path.endswith("Makefile")):
                    yield Finding(path, number, reason)


CHECK = Check("text", run, [
    Case({"a.md": "line \n"}, "a.md:1: ends in white space"),
    Case({"a.c": "\tint a;\n"}, "has a tab"),
    Case({"a.md": "see /" + "work/tree\n"}, "names a path of one machine"),
    Case({"a.c": "//  TO" + "DO later\n"}, "leaves something to do"),
    Case({"a.md": "line"}, "does not end in one line end"),
    Case({"a.md": "line\n\n"}, "does not end in one line end"),
    Case({"a.md": "line\n", "tests/data/a": "line \t", "b.gguf": b"\0\xff \n"}, None),
])
