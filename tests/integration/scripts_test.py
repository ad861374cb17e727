"""The scripts say the truth: a failure is counted as one, and what is installed is not installed again."""

import pathlib
import subprocess
import tempfile
import unittest

from support import ROOT

CTEST = """<testsuite>
<testcase name="a" status="run"><system-out>[==========] Running 3 test(s).
[  PASSED  ] 3 test(s).</system-out></testcase>
<testcase name="b" status="fail"><system-out>[  PASSED  ] 4 test(s).
[  FAILED  ] group: 2 test(s), listed below:
[  FAILED  ] 2 test(s), listed below:</system-out></testcase>
<testcase name="crashed" status="fail"><system-out>[ RUN      ] test_one</system-out></testcase>
<testcase name="plain" status="run"><system-out>12 seeds</system-out></testcase>
</testsuite>"""


def run(*command):
    return subprocess.run([str(word) for word in command], cwd=ROOT, capture_output=True, text=True)


class TallyTest(unittest.TestCase):
    def tally(self, ctest="<testsuite/>", **files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {"ctest_xml": ctest, **files}.items():
                (pathlib.Path(folder) / name.replace("_", ".")).write_text(text)
            ran = run("/usr/bin/python3", "scripts/test.d/tally.py", folder)
        return ran.stdout.splitlines()[-1], ran.returncode

    def test_counts_cases_where_programs_tell_them(self):
        self.assertEqual(self.tally(CTEST), ("8 passed, 3 failed", 1))

    def test_counts_python_tests(self):
        self.assertEqual(self.tally(a_log="Ran 4 tests in 1 s\n\nOK (skipped=1)\nexit code 0\n"), ("3 passed, 0 failed", 0))
        self.assertEqual(self.tally(a_log="Ran 4 tests in 1 s\n\nFAILED (failures=1, errors=1)\nexit code 1\n"),
                         ("2 passed, 2 failed", 1))

    def test_counts_a_program_that_dies_or_hangs_as_failed(self):
        self.assertEqual(self.tally(a_log="Traceback\nexit code 1\n"), ("0 passed, 1 failed", 1))
        self.assertEqual(self.tally(a_log="Ran 4 tests in 1 s\n\nOK\nexit code 124\n"), ("4 passed, 1 failed", 1))

    def test_nothing_ran_is_no_success(self):
        self.assertEqual(self.tally(), ("0 passed, 0 failed", 1))

    def test_no_results_of_ctest_are_a_failure(self):
        log = "Ran 4 tests in 1 s\n\nOK\nexit code 0\n"
        self.assertEqual(self.tally(ctest="<testsuite>", a_log=log), ("4 passed, 1 failed", 1))


class SetupTest(unittest.TestCase):
    def test_says_nothing_when_all_is_there(self):
        ran = run("scripts/setup", "--test")
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "", ""))

    def test_refuses_what_it_does_not_know(self):
        ran = run("scripts/setup", "--everything")
        self.assertEqual(ran.returncode, 2)
        self.assertIn("scripts/setup --all", ran.stderr)


if __name__ == "__main__":
    unittest.main()
