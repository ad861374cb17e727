"""The checks that other programs make: clang-format, shellcheck, codespell, and Python's own compiler."""

import pathlib
import re
import shutil
import subprocess

from tree import Case, Check, Finding

HERE = pathlib.Path(__file__).resolve().parent
DATA = ("tests/data/", "tests/fuzz/seeds/")
AT_LINE = re.compile(r"^(?P<path>[^:\n]+):(?P<line>\d+):(?:\d+:)? *(?P<text>.*)$", re.MULTILINE)


def lines_of(tree, command, files):
    """Runs a program over files and yields what it prints as path:line: text."""
    if not files:
        return
    ran = subprocess.run([*command, *files], cwd=tree.root, capture_output=True, text=True)
    found = [Finding(match["path"], int(match["line"]), match["text"]) for match in AT_LINE.finditer(ran.stdout + ran.stderr)]
    yield from found
    if ran.returncode and not found:
        yield Finding(command[0], 0, f"exits with {ran.returncode}: {(ran.stdout + ran.stderr).strip()}")


def clang_format(tree):
    style = tree.root / ".clang-format"
    if not style.exists():
        shutil.copy(HERE.parents[1] / ".clang-format", style)
    yield from lines_of(tree, ["clang-format", "--dry-run", "-Werror", "--ferror-limit=3"], tree.c_files())


def shellcheck(tree):
    yield from lines_of(tree, ["shellcheck", "--format=gcc"], tree.scripts())


def codespell(tree):
    files = [path for path in tree.files if tree.text(path) and not path.startswith(DATA) and path != "LICENSE"]
    yield from lines_of(tree, ["codespell", "-I", str(HERE / "spelling.words")], files)


def python(tree):
    for path in tree.files:
        if path.endswith(".py"):
            try:
                compile(tree.text(path) or "", path, "exec")
            except SyntaxError as error:
                yield Finding(path, error.lineno or 0, error.msg)


FORMAT = Check("format", clang_format, [
    Case({"base/a.c": "int a(void)\n{\n  return 1;\n}\n"}, "base/a.c:1: error: code should be clang-formatted"),
    Case({"base/a.c": "int\na (void)\n{\n    return 1;\n}\n"}, None),
])
SHELL = Check("shell", shellcheck, [
    Case({"run": "#!/usr/bin/env bash\nrm $1\n"}, "run:2: note: Double quote"),
    Case({"run": "#!/usr/bin/env bash\nrm \"$1\"\n"}, None),
])
SPELLING = Check("spelling", codespell, [
    Case({"a.md": "We rec" + "ieve it.\n"}, "a.md:1: rec" + "ieve ==> receive"),
    Case({"a.md": "We receive it.\n"}, None),
])
PYTHON = Check("python", python, [
    Case({"a.py": "def a():\nreturn 1\n"}, "a.py:2: expected an indented block"),
    Case({"a.py": "def a():\n    return 1\n"}, None),
])
