"""What the checks look at: a folder of files, findings about them, and C with its comments and strings taken out."""

import dataclasses
import pathlib
import re
import subprocess
import typing

COMMENTS_AND_STRINGS = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


@dataclasses.dataclass(frozen=True)
class Finding:
    """Something wrong at a line of a file; line 0 is the file as a whole."""
    path: str
    line: int
    text: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.text}" if self.line else f"{self.path}: {self.text}"


@dataclasses.dataclass(frozen=True)
class Case:
    """Files that a check must refuse with the words expected, or accept when those are None; prepare makes what is not a source."""
    files: dict
    expected: typing.Optional[str]
    prepare: typing.Callable = lambda root: None


@dataclasses.dataclass(frozen=True)
class Check:
    """One check: its name, what it does (Tree -> Findings), what proves it, and whether it only gives advice."""
    name: str
    run: typing.Callable
    cases: list
    advice: bool = False


class Tree:
    """A folder and the files in it that are ours, by their paths from its root."""

    def __init__(self, root, files):
        self.root = root
        self.files = sorted(files)
        self.texts = {}

    @classmethod
    def checkout(cls, root):
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root, check=True,
                                capture_output=True, text=True).stdout
        return cls(root, {name for name in listed.split("\0") if name and (root / name).is_file()})

    @classmethod
    def written(cls, root, files):
        for name, content in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return cls(root, files)

    def text(self, name):
        """The text of a file, None when it is not text."""
        if name not in self.texts:
            try:
                self.texts[name] = (self.root / name).read_text(encoding="utf-8")
            except UnicodeDecodeError:
                self.texts[name] = None
            if self.texts[name] and "\0" in self.texts[name]:
                self.texts[name] = None
        return self.texts[name]

    def lines(self, name):
        """Yields (number, line) of a text file."""
        return enumerate((self.text(name) or "").split("\n"), 1)

    def code(self, name):
        """The text of a C file with comments and strings blanked."""
        return code_only(self.text(name) or "")

    def code_lines(self, name):
        """Yields (number, line) of a C file with comments and strings blanked."""
        return enumerate(self.code(name).split("\n"), 1)

    def c_files(self):
        return [name for name in self.files if name.endswith((".c", ".h"))]

    def scripts(self):
        """The shell scripts: told by their first line."""
        return [name for name in self.files if re.match(r"#!.*\b(?:bash|sh)\b", (self.text(name) or "").split("\n", 1)[0])]


def code_only(text):
    """The C text with comments, strings and characters blanked; line numbers stay."""
    return COMMENTS_AND_STRINGS.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def table(name):
    """Yields the fields of each line of a table beside the checks; # begins a comment."""
    for line in (pathlib.Path(__file__).parent / name).read_text().split("\n"):
        fields = line.split("#", 1)[0].split(None, 1)
        if fields:
            yield [field.strip() for field in fields]
