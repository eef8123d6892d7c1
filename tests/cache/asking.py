"""Processes that keep what they say, and say whether they said it again."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from forks import WORKING, forks
from running import CACHE_VARIABLE, ROOT, environment

_PROGRAM = """
import os, sys
leave = os._exit
opened = []
def hook(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        mode = arguments[1]
        writes = arguments[2] & (os.O_WRONLY | os.O_RDWR)
        if not writes:
            opened.append(os.fsdecode(arguments[0]))
    elif event in ("os.listdir", "os.scandir") and isinstance(arguments[0], (str, bytes)):
        opened.append(os.fsdecode(arguments[0]))
sys.addaudithook(hook)
def told(code):
    seen = list(opened)
    with open(os.environ["TOLD"], "w", errors="surrogateescape") as file:
        file.write("\\n".join(sys.modules) + "\\0" + "\\n".join(seen))
    leave(code)
os._exit = told
from trainyard.cli.entry import entry
entry()
"""


@dataclass(frozen=True)
class Answer:
    """How a command ended, and whether it said what a run before had said."""

    code: int
    out: str
    err: str
    repeated: bool = field(compare=False)


@dataclass(frozen=True)
class WholeAnswer(Answer):
    """The same, and what the process did for it."""

    modules: frozenset[str] = field(compare=False)
    opened: tuple[str, ...] = field(compare=False)


class Asker:
    """A folder with specs, and a cache of its own beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "repository"
        self.cache = folder / "cache"
        self.folder.mkdir()
        self._told = folder / "told"

    def ask(self, *words: object, **env: str) -> Answer:
        """Run ``trainyard`` there."""
        settings = environment(**{CACHE_VARIABLE: str(self.cache), **env})
        done, works = forks().run(words, self.folder, settings)
        return Answer(done.code, done.out, done.err, not works)

    def ask_from_the_start(self, *words: object, **env: str) -> WholeAnswer:
        """The same as a process of its own, of which everything is known that it loads and opens."""
        settings = {CACHE_VARIABLE: str(self.cache), "TOLD": str(self._told), **env}
        self._told.unlink(missing_ok=True)
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM, *map(str, words)],
            cwd=self.folder,
            capture_output=True,
            env=environment(**settings),
            timeout=300,
        )
        told, _, opened = self._told.read_text(errors="surrogateescape").partition("\0")
        modules = frozenset(told.split("\n"))
        return WholeAnswer(
            done.returncode,
            done.stdout.decode(),
            done.stderr.decode(),
            WORKING.isdisjoint(modules),
            modules,
            tuple(opened.split("\n")),
        )

    def anew(self, *words: object, **env: str) -> Answer:
        """What a run says that knows of no other."""
        return self.ask(*words, "--no-cache", **env)

    def write(self, path: str, text: str) -> None:
        """Write a file of the repository."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def entries(self) -> list[Path]:
        """The files of the cache that hold what was said."""
        return sorted(path for path in (self.cache / "runs.1").iterdir() if path.name[0] != ".")


STARTER = (ROOT / "tests" / "example" / "specs" / "starter.yaml").read_text(encoding="utf-8")


def is_root() -> bool:
    """Whether no mode keeps this user from anything."""
    return hasattr(os, "geteuid") and os.geteuid() == 0
