"""Adds up what a run of scripts/test left in its folder of results.

A test program counts by the test cases it reports (cmocka, unittest); one that reports none, or that dies before it can, counts
as one.  Exits with 1 unless everything passed and something ran.
"""

import pathlib
import re
import sys
import xml.etree.ElementTree


def cmocka_counts(output):
    """Returns (passed, failed, skipped) as the cmocka groups in the output report them."""
    def total(word):
        return sum(int(count) for count in re.findall(rf"\[  {word}\s*\] (\d+) test\(s\)", output))
    return total("PASSED"), total("FAILED"), total("SKIPPED")


def unittest_counts(output):
    """Returns (passed, failed, skipped) as Python's unittest reports them."""
    ran = sum(int(count) for count in re.findall(r"^Ran (\d+) tests? in", output, re.MULTILINE))
    last = (re.findall(r"^(?:OK|FAILED).*$", output, re.MULTILINE) or [""])[-1]
    counts = {word: int(count) for word, count in re.findall(r"(\w+)=(\d+)", last)}
    failed = counts.get("failures", 0) + counts.get("errors", 0)
    skipped = counts.get("skipped", 0)
    return max(ran - failed - skipped, 0), failed, skipped


def program_counts(output, succeeded):
    """Counts the test cases of one program, given all it printed and whether it exited well."""
    sums = [a + b for a, b in zip(cmocka_counts(output), unittest_counts(output))]
    if succeeded and not any(sums):
        sums[0] = 1
    if not succeeded and not sums[1]:
        sums[1] = 1
    return sums


def programs(folder):
    """Yields (output, succeeded) of every program that ran."""
    try:
        for case in xml.etree.ElementTree.parse(folder / "ctest.xml").getroot().iter("testcase"):
            yield case.findtext("system-out") or "", case.get("status") == "run"
    except (OSError, xml.etree.ElementTree.ParseError) as error:
        print(f"ctest left no results: {error}")
        yield "", False
    for log in sorted(folder.glob("*.log")):
        output = log.read_text(errors="replace")
        yield output, output.endswith("exit code 0\n")


def main():
    counts = [program_counts(*program) for program in programs(pathlib.Path(sys.argv[1]))]
    passed, failed, skipped = (sum(column) for column in zip((0, 0, 0), *counts))
    if skipped:
        print(f"{skipped} skipped: their output says why")
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
