"""Functions that nobody calls, and what to call instead."""

import re

from tree import Case, Check, Finding

BOUNDED = "has no bound: use a span, a buffer or snprintf"
ALLOCATES = "allocates behind the budget: use base/memory.h"
CHANCE = "is not reproducible: use base/random.h"
SLEEP = "waits: use a timer, or wait for what you wait for"
NUMBER = "cannot fail: use a parser that can"
STATIC = "keeps its result in a static buffer"

EVERYWHERE = {
    "strcpy": BOUNDED, "strcat": BOUNDED, "stpcpy": BOUNDED, "strncpy": "may leave text open", "strncat": BOUNDED,
    "sprintf": BOUNDED, "vsprintf": BOUNDED, "gets": BOUNDED, "scanf": BOUNDED,
    "strtok": "writes into its argument",
    "alloca": "has no bound", "strdup": ALLOCATES, "strndup": ALLOCATES, "asprintf": ALLOCATES, "vasprintf": ALLOCATES,
    "system": "runs a shell: use the process port", "popen": "runs a shell: use the process port",
    "rand": CHANCE, "srand": CHANCE, "rand_r": CHANCE, "drand48": CHANCE,
    "sleep": SLEEP, "usleep": SLEEP, "nanosleep": SLEEP, "zclock_sleep": SLEEP,
    "asctime": STATIC, "ctime": STATIC, "gmtime": STATIC, "localtime": STATIC, "inet_ntoa": STATIC, "gethostbyname": STATIC,
    "tmpnam": "can be raced: use mkstemp or mkdtemp", "mktemp": "can be raced: use mkstemp or mkdtemp",
    "setlocale": "changes the whole process", "longjmp": "skips cleanup",
}
#  Only tests may stop at what they find, and read numbers that they wrote themselves.
OUTSIDE_TESTS = {
    "assert": "is gone in release builds: use BUG_ON for our own mistakes, a status for everything else",
    "atoi": NUMBER, "atol": NUMBER, "atoll": NUMBER, "atof": NUMBER,
}
#  A port, too, may take apart what the kernel prints.
OUTSIDE_PORTS = {"sscanf": NUMBER}
CALL = re.compile(r"(?<![\w.>])(\w+)\s*\(")


def is_test(path):
    return path.endswith("_test.c") or path.startswith("tests/")


def run(tree):
    for path in tree.c_files():
        table = EVERYWHERE | ({} if is_test(path) else OUTSIDE_TESTS | ({} if "/port/" in path else OUTSIDE_PORTS))
        for number, line in tree.code_lines(path):
            for name in CALL.findall(line):
                if name in table:
                    yield Finding(path, number, f"{name} {table[name]}")


CHECK = Check("banned", run, [
    Case({"base/a.c": "int f (char *a)\n{\n    return sprintf (a, \"x\");\n}\n"}, "base/a.c:3: sprintf has no bound"),
    Case({"base/a_test.c": "    usleep (100);\n"}, "usleep waits"),
    Case({"base/a.c": "    sscanf (text, format);\n"}, "sscanf cannot fail"),
    Case({"runtime/port/a.c": "    sscanf (text, format);\n"}, None),
    Case({"base/a.c": "    assert (x);\n"}, "assert is gone in release builds"),
    Case({"base/a.c": "    n = atoi(text);\n"}, "atoi cannot fail"),
    Case({"base/a_test.c": "    assert (x);\n    sscanf (text, format);\n    atoi (text);\n"}, None),
    Case({"base/a.c": "    //  sprintf (a);\n    port->sleep (1);\n    text_atoi (\"rand ()\");\n"}, None),
])
