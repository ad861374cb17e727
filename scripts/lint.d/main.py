"""Runs the checks of this folder over the checkout.  A check is a module with NAME, check (tree) and CASES that prove it."""

import argparse
import pathlib
import sys
import tempfile

import banned
import headers
import layering
import marks
import mutants
import patience
import ports
import sizes
import text
import tools
import words
from tree import Tree

CHECKS = [tools.FORMAT, layering.CHECK, ports.CHECK, words.CHECK, banned.CHECK, headers.FRAMES, headers.SENTENCES, sizes.LINES,
          sizes.FILES, sizes.FUNCTIONS, text.CHECK, text.LINKS, tools.SHELL, tools.SPELLING, tools.PYTHON,
          mutants.CHECK, patience.CHECK, marks.CHECK]


def prove(check, case):
    """Returns what is wrong with a check, given a case it must refuse (or accept); None when nothing is."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree.written(pathlib.Path(folder), case.files)
        case.prepare(tree.root)
        findings = "\n".join(map(str, check.run(tree)))
    if case.expected is None:
        return f"{check.name}: refuses what is fine: {findings}" if findings else None
    return None if case.expected in findings else f"{check.name}: does not say \"{case.expected}\" but: {findings or 'nothing'}"


def self_test(checks):
    """Feeds every check its cases; returns the number of wrong answers."""
    cases = [(check, case) for check in checks for case in check.cases]
    wrong = [problem for problem in (prove(*pair) for pair in cases) if problem]
    wrong += [f"{check.name}: has no case that it must refuse" for check in checks
              if not any(case.expected for case in check.cases)]
    for problem in wrong:
        print(problem)
    print(f"self-test: {len(cases) - len(wrong)} passed, {len(wrong)} failed")
    return len(wrong)


def lint(checks, show_advice):
    """Runs the checks over the checkout; returns the number of findings that count."""
    tree = Tree.checkout(pathlib.Path(__file__).resolve().parents[2])
    findings, advice = [], []
    for check in checks:
        (advice if check.advice else findings).extend(check.run(tree))
    for finding in findings + (advice if show_advice else []):
        print(finding)
    print(f"lint: {len(findings)} findings in {len(tree.files)} files; {len(advice)} pieces of advice (--advice shows them)")
    return len(findings)


def main():
    parser = argparse.ArgumentParser(prog="scripts/lint")
    parser.add_argument("--self-test", action="store_true", help="only prove that every check can fail")
    parser.add_argument("--advice", action="store_true", help="show what is worth a look but does not count")
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=[check.name for check in CHECKS],
                        help="run these checks only")
    options = parser.parse_args()
    checks = [check for check in CHECKS if not options.only or check.name in options.only]
    wrong = self_test(checks)
    if not options.self_test:
        wrong += lint(checks, options.advice)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
