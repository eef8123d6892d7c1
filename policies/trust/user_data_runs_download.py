from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trainyard.core.launch.plan import Launch
from trainyard.judge.model.statements import read_commands
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity

_FETCHERS = ("curl", "wget")
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "python", "python3", "source", "."})
_COMPARES = (
    "sha256sum",
    "sha512sum",
    "shasum",
    "gpg",
    "gpgv",
    "cosign",
    "openssl",
    "minisign",
    "rpmkeys",
)
_INSIDE = re.compile(r"[<$]\(\s*(?:curl|wget)\b[^)]*\)")


@rule("ACC044", severity=Severity.WARNING)
def user_data_runs_download(launch: Launch) -> Iterator[Finding]:
    """The user data of nodes runs, as root, what a server answers at that moment.

    Every node runs what the address serves on the day that it boots: nobody has read it, no hash holds it, and
    while the server is away no node joins.

    ## Fails

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec:
          userData: |
            #!/bin/bash
            curl -fsSL https://example.com/setup.sh | sudo bash

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec:
          userData: |
            #!/bin/bash
            curl -fsSL -o /tmp/setup.sh "https://example.com/setup.sh?a=1&b=2" && bash /tmp/setup.sh

    ## Passes

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec:
          userData: |
            #!/bin/bash
            curl -fsSLo /tmp/setup.sh https://example.com/setup.sh
            echo "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03  /tmp/setup.sh" | sha256sum --check
            bash /tmp/setup.sh
    """
    for script in launch.scripts:
        if not any(program in script.text for program in _FETCHERS):
            continue
        for fetched in _run(script.text):
            yield Finding(
                f"nodes of {launch.words} run what `{fetched}` answers, as root",
                script.line_at(max(script.text.find(max(fetched.split(), key=len)), 0)),
                help="write the lines into the user data, or compare the download with its SHA-256 before it runs",
            )
            break


def _run(text: str) -> Iterator[str]:
    """The commands of a text that fetch what is then run, by a pipe, by a file, or inside the command that runs it."""
    read = read_commands(text) or []
    saved: dict[str, str] = {}
    for index, command in enumerate(read):
        words = _program(command.words)
        if not words:
            continue
        name, rest = words[0].rpartition("/")[2], words[1:]
        line = " ".join(command.words)
        if name in _COMPARES:
            saved.clear()
        elif name in _FETCHERS:
            following = read[index + 1 :][:1]
            if command.separator in ("|", "|&") and following and _reads_input(following[0].words):
                yield line
            saved |= dict.fromkeys(_files(name, rest), line)
        elif name in _SHELLS or name == "eval":
            yield from (found[0] for word in rest[:2] for found in _INSIDE.finditer(word))
            yield from (saved[word] for word in rest[:1] if word in saved)
        elif words[0] in saved:
            yield saved[words[0]]


def _program(words: tuple[str, ...]) -> tuple[str, ...]:
    """A command from its program on."""
    start = 0
    while start < len(words) and (words[start] in ("sudo", "exec", "env") or "=" in words[start]):
        start += 1
    return words[start:]


def _reads_input(words: tuple[str, ...]) -> bool:
    """Whether a shell runs what it is given by a pipe."""
    words = _program(words)
    return bool(words) and words[0].rpartition("/")[2] in _SHELLS


def _files(name: str, rest: Sequence[str]) -> Iterator[str]:
    """The files that a download is written to."""
    for index, word in enumerate(rest):
        letters = word.removeprefix("-") if not word.startswith("--") else ""
        is_output = letters.endswith("o" if name == "curl" else "O") and word.startswith("-")
        if (is_output or word in ("--output", "--output-document")) and index + 1 < len(rest):
            yield rest[index + 1]
        elif word.startswith(("--output=", "--output-document=")):
            yield word.partition("=")[2]
        elif word.startswith(("http://", "https://")) and (name == "wget" or "-O" in rest):
            yield f"./{word.partition('?')[0].rpartition('/')[2]}"
            yield word.partition("?")[0].rpartition("/")[2]
