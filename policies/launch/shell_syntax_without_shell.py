from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.core.pods.plan import Container
from trainyard.judge.model.command import program, runs_shell
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route

_OPERATORS = frozenset({"&&", "||", "|", ";", ">", ">>", "<", "2>&1", "&"})
_BUILTINS = frozenset({"cd", "export", "source", ".", "set", "unset", "exec", "eval", "ulimit"})
_NAMES_OF_SHELLS = frozenset({"--", "-", "_", "sh", "bash"})


@rule("RUN035", aliases=("command-without-shell",), pods=True, containers=True, roles=True)
def shell_syntax_without_shell(work: Work, world: World) -> Iterator[Finding]:
    """A command uses shell syntax, and no shell runs it.

    Kubernetes starts the first word as a program and gives it the others unchanged (core/v1 Container, command):
    nothing splits `torchrun train.py`, joins by `&&`, or replaces `$HOME`; only `$(NAME)` of a variable of the
    container is. `bash -c` runs the one word after it; those behind are its `$0`, `$1` (POSIX, sh), and `bash` without
    `-c` takes the word for a file. The batch scripts of a spec start its words so, too; a shell reads those of others.

    ## Fails

        jobs: [{name: llama, command: [torchrun, train.py, "&&", echo, done]}]

        jobs: [{name: llama, command: [torchrun, train.py, --data=$DATA]}]

        jobs: [{name: llama, command: [bash, -c, torchrun, train.py]}]

        jobs: [{name: llama, command: [bash, "torchrun train.py"]}]

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        spec: {trainer: {command: ["torchrun train.py"], args: null}}

    ## Passes

        jobs: [{name: llama, command: [bash, -c, "cd /app && torchrun train.py --data=$DATA"]}]

        jobs: [{name: llama, command: [torchrun, train.py, --name=$(PET_NNODES), --prompt=a & b]}]
    """
    if not work.has_pods and not world.plan.closed:
        return
    node, command, words = _read(work)
    if node is None:
        return
    if runs_shell(command):
        yield from _shell(work, words, node)
        return
    first = command[0]
    if len(first.split()) > 1:
        yield _finding(
            work,
            f"starts `{_short(first)}` as one program",
            node.where("command"),
            "no such program",
            "write each word for itself",
        )
    elif program(command) in _BUILTINS:
        yield _finding(
            work,
            f"starts `{first}`, a word of the shell",
            node.where("command"),
            "no such program",
            _SHELL,
        )
    if "$" not in "".join(words) and _OPERATORS.isdisjoint(words):
        return
    for index, word in enumerate(words[1:], 1):
        variable = re.search(_VARIABLE, word)
        if word in _OPERATORS:
            yield _finding(
                work,
                f"has `{word}` among its words, and no shell",
                _word(work, node, index),
                "passed unchanged",
                _SHELL,
            )
            return
        if variable is not None and " " not in word and not _is_template(work):
            yield _finding(
                work,
                f"has `{variable[0]}` in word {index + 1}, and no shell replaces it",
                _word(work, node, index),
                "passed unchanged",
                f"write `$({variable[1]})`, or run it by `bash -c`",
                severity=Severity.WARNING,
            )
            return


def _is_template(work: Work) -> bool:
    """Whether something replaces variables in the whole file: Kubernetes does in no image and no number."""
    image = work.image or (work.main.image if work.main is not None else None)
    return "$" in (image or "") or bool(work.unread_amounts)


_VARIABLE = r"(?<![$\\\w])\$([A-Za-z_]\w*)"
_WITH_VALUE = ("-o", "+o", "-eo", "-euo", "-exo", "-euxo")
_SHELL = 'write `[bash, -c, "..."]` for a line of shell'


def _read(work: Work) -> tuple[Work | Container | None, tuple[str, ...], tuple[str, ...]]:
    """What has the command, if anything has one, the command, and the command with its arguments."""
    node = work if work.command else work.main
    if node is None or not node.command:
        return None, (), ()
    command = node.command
    args = work.args
    if not args and work.main is not None:
        args = work.main.args
    return node, command, (*command, *args)


def _shell(work: Work, words: tuple[str, ...], node: Work | Container) -> Iterator[Finding]:
    shell, line = program(words), _line_at(words)
    if line is None:
        if len(words) > 1 and re.search(r"\s", words[1].strip()):
            yield _finding(
                work,
                f"has `{shell}` run a file called `{_short(words[1])}`",
                _word(work, node, 1),
                "no such file",
                f'write `-c` before it: `[{shell}, -c, "..."]`',
            )
        return
    lost = [word for word in words[line + 1 :] if word not in _NAMES_OF_SHELLS]
    if lost and not re.search(r"\$\{?[\d@*#]", words[line]):
        yield _finding(
            work,
            f"has `{shell} -c` run `{_short(words[line])}` alone, without `{_short(lost[0])}`",
            _word(work, node, words.index(lost[0], line + 1)),
            "the words behind are not read",
            "write the whole line as one word",
        )


def _line_at(words: tuple[str, ...]) -> int | None:
    """Where the line is that ``-c`` runs; ``None`` where the shell is given a file, or nothing."""
    for index, word in enumerate(words[1:-1], 1):
        if re.fullmatch(r"-[a-z]*c[a-z]*", word):
            ends_options = words[index + 1] == "--" and index + 2 < len(words)
            return index + 2 if ends_options else index + 1
        if not word.startswith(("-", "+")) and words[index - 1] not in _WITH_VALUE:
            return None
    return None


def _finding(
    work: Work, what: str, at: Route, label: str, help: str, severity: Severity | None = None
) -> Finding:
    return Finding(
        f"the command of {work.title} {what}", at, label=label, help=help, severity=severity
    )


def _word(work: Work, node: Work | Container, index: int) -> Route:
    """The place of a word of the command with its arguments."""
    behind = index - len(node.command)
    if behind < 0:
        return node.where("command") / index
    if work.args or work.main is None:
        return work.where("args") / behind
    return work.main.where("args") / behind


def _short(text: str) -> str:
    if len(text) <= 40:
        return text
    return f"{text[:40]}…"
