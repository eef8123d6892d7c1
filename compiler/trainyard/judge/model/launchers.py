"""The options of programs that start another one, and which word behind them is that program.

Sources: PyTorch 2.8, torch/distributed/run.py (``get_args_parser``; `-` and `_` mean the same); DeepSpeed 0.17,
deepspeed/launcher/runner.py (``parse_args``); Python 3.13, python(1).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from trainyard.language.dataclass import dataclass

_PYTHON = re.compile(r"python[0-9.]*\Z")
_MODULES = ("torch.distributed.run", "torch.distributed.launch")


@dataclass(frozen=True, slots=True)
class Launcher:
    """How the words behind a program are read: options with a value, options without, and those behind which no file
    of Python comes."""

    valued: frozenset[str]
    flags: frozenset[str]
    no_file: frozenset[str]


_TORCHRUN = Launcher(
    valued=frozenset((
        "--nnodes", "--nproc-per-node", "--rdzv-backend", "--rdzv-endpoint", "--rdzv-id", "--rdzv-conf",
        "--max-restarts", "--monitor-interval", "--start-method", "--event-log-handler", "--role", "--log-dir",
        "-r", "--redirects", "-t", "--tee", "--local-ranks-filter", "--node-rank", "--master-addr", "--master-port",
        "--local-addr", "--logs-specs", "--numa-binding", "--signals-to-handle", "--shutdown-timeout",
        "--duplicate-stdout-filters", "--duplicate-stderr-filters",
    )),
    flags=frozenset(("--standalone", "--run-path", "--use-env", "--virtual-local-rank")),
    no_file=frozenset(("-m", "--module", "--no-python", "-h", "--help")),
)  # fmt: skip
_DEEPSPEED = Launcher(
    valued=frozenset((
        "-H", "--hostfile", "-i", "--include", "-e", "--exclude", "--num-nodes", "--num-gpus", "--min-elastic-nodes",
        "--max-elastic-nodes", "--master-port", "--master-addr", "--node-rank", "--launcher", "--launcher-args",
        "--enable-each-rank-log", "--autotuning", "--bind-core-list", "--ssh-port", "--venv-script",
    )),
    flags=frozenset((
        "--no-ssh", "--no-ssh-check", "--no-local-rank", "--force-multi", "--save-pid", "--elastic-training",
        "--bind-cores-to-rank",
    )),
    no_file=frozenset(("--module", "--no-python", "-h", "--help")),
)  # fmt: skip
_OF_PYTHON = Launcher(
    valued=frozenset(("-X", "-W", "--check-hash-based-pycs")),
    flags=frozenset(),
    no_file=frozenset(("-m", "-c", "-h", "--help", "-V", "--version", "-")),
)


@dataclass(frozen=True, slots=True)
class Launched:
    """The word that a launcher starts, empty where there is none; ``is_file``: it is read as a file of Python."""

    word: str
    is_file: bool


def launched(name: str, rest: Sequence[str]) -> Launched | None:
    """What a program starts; ``None`` of a program that is no launcher here."""
    launcher = _launcher(name)
    if launcher is None:
        return None
    is_python = launcher is _OF_PYTHON
    is_file = True
    index = 0
    while index < len(rest):
        word = rest[index]
        option = word if is_python else word.replace("_", "-")
        following = rest[index + 1] if index + 1 < len(rest) else ""
        if word == "--":
            return Launched(following, is_file)
        if not word.startswith("-") or word == "-":
            return Launched(word, is_file and word != "-")
        if is_python and option == "-m" and following in _MODULES:
            return launched("torchrun", rest[index + 2 :])
        if option in launcher.no_file or (is_python and re.fullmatch(r"-[A-Za-z]+[cm]", word)):
            is_file = False
            if is_python:
                return Launched(following or word, is_file)
        index += 1 + _values(launcher, option, following)
    return Launched("", is_file)


def _launcher(name: str) -> Launcher | None:
    if name in ("torchrun", "hyperpodrun"):
        return _TORCHRUN
    if name == "deepspeed":
        return _DEEPSPEED
    return _OF_PYTHON if _PYTHON.match(name) else None


def _values(launcher: Launcher, option: str, following: str) -> int:
    """The words that are the value of an option; one that is not known has none before a file of Python."""
    if "=" in option or option in launcher.flags or option in launcher.no_file:
        return 0
    if option in launcher.valued:
        return 1
    is_unknown = launcher is not _OF_PYTHON
    return int(is_unknown and not following.startswith("-") and not following.endswith(".py"))
