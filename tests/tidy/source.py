"""The sources that the rules examine, and the findings of a rule."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

CXX_SUFFIXES = (".hpp", ".cpp")
SKIPPED_DIRECTORIES = {".git", "build", ".cache", "__pycache__"}


@dataclass(frozen=True)
class Finding:
    """One breach of one rule; prints like a compiler error, so that editors can jump to it."""

    path: str
    line: int
    message: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.message}"


class Source:
    """A file's text, and for C++ the same text split into code and comments.

    `code` has every comment, string and character literal blanked out; `comments` has everything
    else blanked out. Both keep all offsets and line breaks of `text`.
    """

    def __init__(self, path, text):
        self.path = path
        self.text = text
        self.lines = text.split("\n")
        self.is_cxx = path.endswith(CXX_SUFFIXES)
        if self.is_cxx:
            self.code, self.comments = split_comments(text)
            self.comment_lines = self.comments.split("\n")
            self.code_lines = self.code.split("\n")

    def line_at(self, offset):
        return self.text.count("\n", 0, offset) + 1

    def includes(self):
        """Yields (line number, form, path) for every #include; the form is '<' or '"'."""
        for match in INCLUDE.finditer(self.text):
            # The directive itself must be code; the quoted path is blanked there like any literal.
            if "#" in self.code[match.start() : match.end()]:
                yield self.line_at(match.start(2)), match.group(1), match.group(2)


INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.M)
TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/'
    r'|R"(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)"'
    r'|"(?:\\.|[^"\\\n])*"'
    # A quote between digits separates them: 1'000.
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'",
    re.S,
)


def split_comments(text):
    code, comments, position = [], [], 0
    for match in TOKEN.finditer(text):
        before, token = text[position : match.start()], match.group()
        code += [before, blank(token)]
        comments += [blank(before), token if token.startswith(("//", "/*")) else blank(token)]
        position = match.end()
    code.append(text[position:])
    comments.append(blank(text[position:]))
    return "".join(code), "".join(comments)


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def project_files(root):
    """Returns the paths below `root`, relative and sorted: what git tracks or would track. In a
    source archive, which has no repository, everything outside the build directories."""
    if (root / ".git").exists():
        command = ["git", "-C", str(root), "ls-files", "-z"]
        command += ["--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, capture_output=True, text=True, check=False)
        if listed.returncode == 0:
            names = {name for name in listed.stdout.split("\0") if name}
            return sorted(name for name in names if (root / name).is_file())
    found = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
    return sorted(str(path) for path in found if not SKIPPED_DIRECTORIES & set(path.parts))


def read(root, path):
    return Source(path, (root / path).read_text(encoding="utf-8"))


def project_root():
    return Path(__file__).resolve().parents[2]
