"""OpenAI's own client for Node talks to a fleet; the tests themselves are in openai_node.mjs."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

from support import CLIENTS, PATIENCE, Fleet, until

SCRIPT = pathlib.Path(__file__).with_name("openai_node.mjs")


@unittest.skipUnless(shutil.which("npm"), "npm is not installed")
class OpenAINodeTest(unittest.TestCase):
    def test_the_client_finds_everything_where_it_expects_it(self):
        with tempfile.TemporaryDirectory() as folder, Fleet(folder) as fleet:
            command = ["node", SCRIPT, f"{fleet.url}/v1", CLIENTS / "node"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(done.stdout.count("ok "), 6)
            until(lambda: fleet.metric("stator_requests_running", "frontend/0") == 0, "what the client left to end")


if __name__ == "__main__":
    unittest.main()
