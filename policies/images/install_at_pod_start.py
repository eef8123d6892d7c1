from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity

_FETCHES = (
    r"\b(?P<what>git\s+clone|(?:uv\s+)?pip3?\s+install|(?:conda|mamba|apt|apt-get|yum|dnf)\s+(?:-\w+\s+)*install)\b"
    r"(?P<rest>[^&|;\n]*)"
)


@rule(
    "RUN039", aliases=("fetched-at-every-start",), severity=Severity.WARNING, pods=True, roles=True
)
def install_at_pod_start(work: Work) -> Iterator[Finding]:
    """A job installs or clones at the start of every pod.

    So does every restart, on every node at once: hundreds of GPUs wait for a mirror, nodes that are replaced in the
    middle of a run may get another version than the others, and a mirror that does not answer ends the run (Kubernetes,
    container images; PyPI allows uploads of newer versions at any time). What is in the image is the same for all.

    ## Fails

        jobs: [{name: llama, command: [bash, -c, "pip install -r requirements.txt && exec torchrun train.py"]}]

        jobs: [{name: llama, command: [bash, -c, "git clone https://github.com/org/train && exec torchrun train.py"]}]

    ## Passes

        jobs: [{name: llama, command: [bash, -c, "pip install -e . && exec torchrun train.py"]}]

        jobs: [{name: llama, command: [torchrun, train.py]}]
    """
    what = next(filter(None, map(_fetches, work.words)), "")
    if what:
        yield Finding(
            f"{work.title} runs `{what}` each time that it starts",
            work.where_said(what),
            label="at every restart, on all nodes at once",
            help="put it into the image",
        )


def _fetches(word: str) -> str:
    """The first command in a word that gets something from elsewhere; empty without one."""
    if "install" not in word and "clone" not in word:
        return ""
    for command in re.finditer(_FETCHES, word):
        if "pip" not in command["what"] or not _stays_here(command["rest"]):
            return " ".join(command["what"].split())
    return ""


def _stays_here(rest: str) -> bool:
    """Whether pip is given folders and wheels alone, or no index."""
    words = [word.strip("\"'") for word in rest.split()]
    if "--no-index" in words:
        return True
    named = [word for word in words if not word.startswith("-")]
    if not named or "-r" in words:
        return False
    return all(name.startswith((".", "/")) for name in named)
