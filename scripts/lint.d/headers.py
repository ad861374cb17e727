"""A header is the manual: it is guarded by its own name, and every function in it has its sentence."""

import re

from tree import Case, Check, Finding

DECLARATION = re.compile(r"^(?!typedef|static|extern const)[A-Za-z_][\w\s*]*?[\s*](?P<name>\w+) \([^;{]*\)"
                         r"(?:\s*__attribute__ .*)?;", re.MULTILINE | re.DOTALL)


def guards_of(path):
    """The guards a header may have: its path, or less where that says a folder's name twice (kv/index/index.h)."""
    shorter = re.sub(r"\b(\w+)/\1(?=[._])", r"\1", path)
    return [re.sub(r"[^A-Z0-9]", "_", name.upper()) for name in (path, shorter)]


def uncommented(text, code):
    """Yields (line, name) of the functions without a comment above them; functions in a row share the one of the first."""
    lines = text.split("\n")
    inside = set()
    for match in DECLARATION.finditer(code):
        first = code.count("\n", 0, match.start())
        last = code.count("\n", 0, match.end())
        above = lines[first - 1].strip() if first else ""
        if not above.startswith("//") and first - 1 not in inside:
            yield first + 1, match["name"]
        else:
            inside.update(range(first, last + 1))


def headers(tree):
    return (path for path in tree.c_files() if path.endswith(".h"))


def frames(tree):
    for path in headers(tree):
        guards = guards_of(path)
        if not any(f"#ifndef {guard}\n#define {guard}\n" in tree.text(path) for guard in guards):
            yield Finding(path, 0, f"is not guarded by {guards[0]}")
        if not tree.text(path).startswith("//"):
            yield Finding(path, 1, "does not open with what lives here")


def sentences(tree):
    for path in headers(tree):
        for line, name in uncommented(tree.text(path), tree.code(path)):
            yield Finding(path, line, f"{name} has no comment that says what it does")


def header(body):
    return {"base/a.h": f"//  a - an example\n\n#ifndef BASE_A_H\n#define BASE_A_H\n\n{body}\n#endif\n"}


FRAMES = Check("headers", frames, [
    Case({"base/a.h": "//  a - an example\n\n#ifndef A_H\n#define A_H\n#endif\n"}, "base/a.h: is not guarded by BASE_A_H"),
    Case({"base/a.h": "#ifndef BASE_A_H\n#define BASE_A_H\n#endif\n"}, "does not open with what lives here"),
    Case(header("int a;\n"), None),
    Case({"kv/index/index_walk.h": "//  a walk\n\n#ifndef KV_INDEX_WALK_H\n#define KV_INDEX_WALK_H\n#endif\n"}, None),
])
SENTENCES = Check("sentences", sentences, [
    Case(header("int a_size (void);\n"), "base/a.h:6: a_size has no comment"),
    Case(header("struct a *a_new (int b,\n    int c);\n"), "a_new has no comment"),
    Case(header("//  Says how large it is.\nint a_size (void);\nint a_count (const char *of,\n    int what);\n"), None),
    Case(header("typedef void (a_fn) (int b);\ntypedef struct {\n    int (*size) (void);    //  Says how large\n} a_t;\n"), None),
], advice=True)
