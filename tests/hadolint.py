"""What hadolint would say of a Dockerfile: its rules by their descriptions (hadolint 2.14, README, rules), as far as
they can find something in files like ours. hadolint itself is a program in Haskell, which is not installed here."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence

from trainyard.extensions.images.formats.dockerfile.grammar import Instruction, instructions

Words = list[str]
Earlier = Sequence[Instruction]


def _tag(step: Instruction) -> str:
    image = step.text.split()[0].partition("@")[0]
    return image.rpartition("/")[2].partition(":")[2]


def _has(earlier: Earlier, name: str, text: str = "") -> bool:
    return any(step.name == name and text in step.text for step in earlier)


_STEPS: dict[str, tuple[str, Callable[[Instruction, Earlier], bool]]] = {
    "DL3000": ("WORKDIR", lambda step, _: not step.text.startswith("/")),
    "DL3006": ("FROM", lambda step, _: not _tag(step) and "@" not in step.text),
    "DL3007": ("FROM", lambda step, _: _tag(step) == "latest" and "@" not in step.text),
    "DL3020": ("ADD", lambda step, _: True),
    "DL3029": ("FROM", lambda step, _: "--platform" in " ".join(step.flags)),
    "DL3045": (
        "COPY",
        lambda step, earlier: (
            not step.text.split()[-1].startswith("/") and not _has(earlier, "WORKDIR")
        ),
    ),
    "DL3059": ("RUN", lambda _, earlier: bool(earlier) and earlier[-1].name == "RUN"),
    "DL4000": ("MAINTAINER", lambda step, _: True),
    "DL4006": (
        "RUN",
        lambda step, earlier: (
            "|" in step.text.replace("||", "") and not _has(earlier, "SHELL", "pipefail")
        ),
    ),
}


def _installs(words: Words) -> bool:
    return words[:2] == ["apt-get", "install"]


def _pip(words: Words) -> bool:
    return "pip" in words[:4] and "install" in words


def _lacks(words: Words, *options: str) -> bool:
    return not set(options) & set(words)


_COMMANDS: dict[str, Callable[[Words, str], bool]] = {
    "DL3003": lambda words, _: words[0] == "cd",
    "DL3004": lambda words, _: words[0] == "sudo",
    "DL3008": lambda words, _: (
        _installs(words) and not all("=" in word for word in words[2:] if not word.startswith("-"))
    ),
    "DL3009": lambda words, run: (
        words[:2] == ["apt-get", "update"] and "/var/lib/apt/lists" not in run
    ),
    "DL3013": lambda words, _: _pip(words) and _lacks(words, "-r", "--requirement"),
    "DL3014": lambda words, _: _installs(words) and _lacks(words, "-y", "--yes"),
    "DL3015": lambda words, _: _installs(words) and _lacks(words, "--no-install-recommends"),
    "DL3027": lambda words, _: words[0] == "apt",
    "DL3042": lambda words, _: _pip(words) and _lacks(words, "--no-cache-dir"),
    "DL3046": lambda words, _: words[0] == "useradd" and _lacks(words, "-l", "--no-log-init"),
    "DL4001": lambda words, run: words[0] == "wget" and "curl " in run,
}


def findings(text: str) -> Iterator[str]:
    """The codes of the rules that find something."""
    steps = list(instructions(text))
    for number, step in enumerate(steps):
        for code, (name, finds) in _STEPS.items():
            if step.name == name and finds(step, steps[:number]):
                yield code
        for command in step.commands if step.name == "RUN" else ():
            words = shlex.split(command)
            yield from (code for code, rule in _COMMANDS.items() if rule(words, step.text))
    users = [step.text.partition(":")[0] for step in steps if step.name == "USER"]
    if users and users[-1] in ("root", "0"):
        yield "DL3002"
