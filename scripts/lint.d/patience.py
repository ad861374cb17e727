"""Tests of whole fleets do not depend on how fast a machine is: what must happen has PATIENCE, and nothing is timed."""

import re

from tree import Case, Check, Finding

WHERE = "tests/integration/"
IMPATIENT = re.compile(r"\b(?:timeout=[1-9]|wait\([1-9]|Timer\([1-9]|monotonic\(\) - |until\(.*, [0-9]+, f?\")")
ALLOWED = WHERE + "support.py"    # It has the patience


def run(tree):
    for path in tree.files:
        if not path.startswith(WHERE) or not path.endswith(".py") or path == ALLOWED:
            continue
        for number, line in tree.lines(path):
            found = IMPATIENT.search(line)
            if found:
                yield Finding(path, number, f"\"{found.group()}\" asks a machine to be quick: what must happen has PATIENCE, "
                                            "and how long something takes is not for a test")


CHECK = Check("patience", run, [
    Case({WHERE + "a_test.py": "http(url, timeout=20)\n"}, "a_test.py:1: \"timeout=2\" asks a machine to be quick"),
    Case({WHERE + "a_test.py": "process.wait(5)\n"}, "asks a machine to be quick"),
    Case({WHERE + "a_test.py": "until(is_ready, 5, \"it to be ready\")\n"}, "asks a machine to be quick"),
    Case({WHERE + "a_test.py": "self.assertLess(time.monotonic() - started, 30)\n"}, "asks a machine to be quick"),
    Case({WHERE + "a_test.py": "process.wait(PATIENCE)\nended.wait(0.05)\nrun(timeout=PATIENCE)\n", "a.py": "wait(5)\n"}, None),
])
