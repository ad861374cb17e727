"""Files fit in a head, functions on a screen, lines in a window."""

from tree import Case, Check, Finding

FILE_LINES = 800
FUNCTION_LINES = 60
COLUMNS = 132


def is_source(tree, path):
    return path.endswith((".c", ".h", ".py", ".cmake", "CMakeLists.txt")) or path in tree.scripts()


def long_files(tree):
    for path in tree.files:
        if is_source(tree, path):
            count = (tree.text(path) or "").count("\n")
            if count > FILE_LINES:
                yield Finding(path, 0, f"has {count} lines; {FILE_LINES} are enough")


def functions(tree, path):
    """Yields (line, head, size) of every function: the formatter puts its braces alone at the left."""
    head, start = "", 0
    for number, line in tree.code_lines(path):
        if line == "{":
            start = number
        elif line == "}" and start:
            yield start, head, number - start - 1
            start = 0
        elif not start and line.strip():
            head = line.split("(")[0].strip()


def long_functions(tree):
    for path in tree.c_files():
        for line, name, size in functions(tree, path):
            if size > FUNCTION_LINES:
                yield Finding(path, line, f"{name} has {size} lines; {FUNCTION_LINES} are much")


def long_lines(tree):
    for path in tree.files:
        if is_source(tree, path):
            for number, line in tree.lines(path):
                if len(line) > COLUMNS:
                    yield Finding(path, number, f"has {len(line)} columns; {COLUMNS} are enough")


LINES = Check("lines", long_lines, [
    Case({"base/a.c": "//  " + "a" * 129 + "\n"}, "base/a.c:1: has 133 columns"),
    Case({"run": "#!/usr/bin/env bash\n" + "a" * 133 + "\n"}, "run:2: has 133 columns"),
    Case({"base/a.c": "//  " + "a" * 128 + "\n", "a.md": "a" * 200 + "\n"}, None),
])
FILES = Check("files", long_files, [
    Case({"base/a.c": "int a;\n" * 801}, "base/a.c: has 801 lines"),
    Case({"base/a.c": "int a;\n" * 800, "tests/data/a.json": "1\n" * 900}, None),
])
FUNCTIONS = Check("functions", long_functions, [
    Case({"base/a.c": "int\ns_long (void)\n{\n" + "    a ();\n" * 61 + "}\n"}, "base/a.c:3: s_long has 61 lines"),
    Case({"base/a.c": "int\ns_long (void)\n{\n" + "    a ();\n" * 60 + "}\n"}, None),
], advice=True)
