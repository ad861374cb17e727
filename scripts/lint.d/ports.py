"""Nothing outside a port meets the system: whatever an object leaves undefined is ours or stands in ports.allow."""

import fnmatch
import json
import os
import shlex
import subprocess

from tree import Case, Check, Finding, table

BUILD = "build/release"


def is_free(source):
    """Whether a source may call what it likes: ports, the program itself, and what is not part of it."""
    return "/port/" in source or source.endswith("_test.c") or source.split("/", 1)[0] in ("cli", "tests", "examples")


def objects(tree):
    """Yields (source, object) of the release build; the source as a path from the root, nothing from outside it."""
    commands = tree.root / BUILD / "compile_commands.json"
    for command in json.loads(commands.read_text()):
        source = os.path.relpath(os.path.join(command["directory"], command["file"]), tree.root)
        words = shlex.split(command["command"])
        output = tree.root / BUILD / words[words.index("-o") + 1]
        if not source.startswith("..") and output.exists():
            yield source, output


def symbols(files):
    """Returns {file: ({undefined}, {defined})} of objects, as nm tells."""
    found = {str(file): (set(), set()) for file in files}
    listing = subprocess.run(["nm", "-A", "-P", *found], check=True, capture_output=True, text=True).stdout if found else ""
    for line in listing.splitlines():
        file, rest = line.split(": ", 1)
        name, kind = rest.split()[:2]
        if kind.isupper():
            found[file][kind != "U"].add(name)
    return found


class Allowed:
    """The table of ports.allow: patterns of symbols, each for all sources or for those that match a pattern too."""

    def __init__(self):
        rows = [row + ["*"] * (2 - len(row)) for row in table("ports.allow")]
        self.names = [(name, sources.split()) for name, sources in rows if not name.startswith("!")]
        self.refused = [name[1:] for name, _ in rows if name.startswith("!")]

    def permits(self, symbol, source):
        if any(fnmatch.fnmatchcase(symbol, pattern) for pattern in self.refused):
            return False
        return any(fnmatch.fnmatchcase(symbol, pattern) and any(fnmatch.fnmatchcase(source, other) for other in sources)
                   for pattern, sources in self.names)


def run(tree):
    if not (tree.root / BUILD / "compile_commands.json").exists():
        if tree.c_files():
            yield Finding(BUILD, 0, "is not built, so the ports cannot be checked: scripts/build release")
        return
    built = dict(objects(tree))
    found = symbols(built.values())
    ours = set().union(*(defined for _, defined in found.values()))
    allowed = Allowed()
    for source, output in sorted(built.items()):
        if is_free(source):
            continue
        for symbol in sorted(found[str(output)][0] - ours):
            if not allowed.permits(symbol, source):
                yield Finding(source, 0, f"calls {symbol}, which is behind a port or not in scripts/lint.d/ports.allow")


def case(path, code, expected):
    """A case whose build folder holds the object of its one source."""
    def compile_it(root):
        (root / BUILD).mkdir(parents=True)
        subprocess.run(["cc", "-O2", "-w", "-c", path, "-o", f"{BUILD}/case.o"], cwd=root, check=True)
        commands = [{"directory": str(root / BUILD), "file": str(root / path), "command": "cc -o case.o"}]
        (root / BUILD / "compile_commands.json").write_text(json.dumps(commands))
    return Case({path: code}, expected, compile_it)


CLOCK = "#include <time.h>\nlong now (void);\nlong now (void)\n{\n    return time (0);\n}\n"
MEMORY = "#include <stdlib.h>\nvoid *get (void);\nvoid *get (void)\n{\n    return malloc (7);\n}\n"
PURE = "#include <string.h>\nlong size (const char *);\nlong size (const char *s)\n{\n    return strlen (s);\n}\n"

CHECK = Check("ports", run, [
    case("runtime/actor.c", CLOCK, "runtime/actor.c: calls time"),
    case("kv/block.c", MEMORY, "kv/block.c: calls malloc"),
    case("base/memory.c", MEMORY, None),
    case("runtime/port/clock.c", CLOCK, None),
    case("base/span.c", PURE, None),
    Case({"base/span.c": PURE}, "is not built"),
])
