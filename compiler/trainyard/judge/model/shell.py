"""The commands that containers run, one by one, from words and from lines of shell in them.

Only commands of programs that rules ask about are read (``_PROGRAMS``), and what has none of their names is passed over
at once: sets have thousands of jobs, most of which have the same few commands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from trainyard.core.jobs.plan import Gang
from trainyard.core.pods.plan import Container, Pod
from trainyard.eks.jobs.plan import Runtime, TrainJob, patches_of
from trainyard.eks.third_party_workloads.plan import Workload, titled
from trainyard.judge.model import statements
from trainyard.language import shellcommands
from trainyard.language.places import Route
from trainyard.language.shellcommands import program
from trainyard.plan import Plan

_PROGRAMS = ("git", "pip", "pip3", "uv", "aws", "s5cmd")
_HINTS = ("git", "pip", "aws", "s5cmd")
_SUBSTITUTION = re.compile(r"\$\((.*)\)|`([^`]*)`", re.DOTALL)
_PYTHON = re.compile(r"python[0-9.]*$")

Command = tuple[str, ...]


class Said(NamedTuple):
    """A command of a container: its words, the place of the text that has it, whose it is, and the image it runs in."""

    words: Command
    at: Route
    title: str
    image: str


def commands_of(plan: Plan) -> tuple[Said, ...]:
    """Every command of the read programs in every container of a plan, those of init containers too.

    Several rules ask for them: ``plan.once(commands_of)``.
    """
    return tuple(_commands(plan))


def _commands(plan: Plan) -> Iterator[Said]:
    for job in plan.of(Gang):
        patches = patches_of(job)
        if not patches and not read_commands((*job.command, *job.args)):
            continue
        title = f"job `{job.identity.name}`"
        yield from _said(job, title, job.image or "")
        for patch in patches:
            yield from _of_pod(patch.pod, title)
    jobs: dict[str, list[TrainJob]] = {}
    for each in plan.of(TrainJob):
        jobs.setdefault(each.runtime, []).append(each)
    for runtime in plan.of(Runtime):
        title = _title(runtime, jobs.get(runtime.name, ()), plan)
        for replicated in runtime.jobs:
            yield from _of_pod(replicated.pod, title)
    for workload in plan.of(Workload):
        title = title_of(workload)
        for pods in workload.pods:
            yield from _of_pod(pods.pod, title)


def _title(runtime: Runtime, jobs: Sequence[TrainJob], plan: Plan) -> str:
    """What pods are said to be of: a job that has them to itself, or the runtime that jobs share."""
    is_its_own = runtime.kind or plan.closed
    if is_its_own and len(jobs) == 1:
        return f"job `{jobs[0].identity.name}`"
    return f"runtime `{runtime.identity.name}`"


def title_of(workload: Workload) -> str:
    """The name of a workload in a sentence."""
    return titled(workload.kind, workload.name)


def _of_pod(pod: Pod, title: str) -> Iterator[Said]:
    for container in pod.all_containers:
        yield from _said(container, title, container.image or "")


def _said(node: Gang | Container, title: str, image: str) -> Iterator[Said]:
    if not node.command and not node.args:
        return
    before = len(node.command)
    said = (*node.command, *node.args)
    for index, words, _ in read_commands(said):
        in_args = index >= before
        field = "args" if in_args else "command"
        if in_args:
            number = index - before
        else:
            number = index
        at = node.where(field) / number
        yield Said(words, at, title, image)


@lru_cache(maxsize=8192)
def read_commands(words: Command) -> tuple[tuple[int, Command, str], ...]:
    """The commands of the read programs in the words of a container: the index of the word, the words of the command,
    and its line with the quotes, empty where no shell reads it."""
    line = " ".join(words)
    if not any(hint in line for hint in _HINTS):
        return ()
    return tuple(_read(words))


def _read(words: Command) -> Iterator[tuple[int, Command, str]]:
    own = _of_program(words)
    if own:
        yield 0, own, ""
    for index, word in enumerate(words):
        if " " not in word:
            continue
        for each in _within(word):
            command = _of_program(each.words)
            if command:
                yield index, command, each.text


def _within(text: str) -> Iterator[shellcommands.Command]:
    """The commands of a text, and of the texts in them: what another shell gets, and what is substituted."""
    for each in statements.read_commands(text) or ():
        yield each
        inner = [statements.text_of(each.words) or ""]
        for word in each.words:
            inner += (one or other for one, other in _SUBSTITUTION.findall(word))
        for part in filter(None, inner):
            yield from _within(part)


def _of_program(words: Command) -> Command:
    """A command from the name of its program on, without what stands before it; empty for one that is not read."""
    command = list(statements.Statement(words, "").command)
    if not command:
        return ()
    command[0] = program(command)
    if _PYTHON.match(command[0]) and command[1:3] == ["-m", "pip"]:
        command = command[2:]
    if command[0] not in _PROGRAMS:
        return ()
    return tuple(command)


def is_pip_install(words: Command) -> bool:
    """Whether a command installs by pip, or by uv in its place."""
    if words[:2] == ("uv", "pip"):
        words = words[1:]
    if words[0] not in ("pip", "pip3"):
        return False
    given = words[1:]
    named = [word for word in given if not word.startswith("-")]
    return named[:1] == ["install"]


def option_values(words: Command, *names: str) -> Iterator[str]:
    """The values of options, written as ``--name value`` or ``--name=value``."""
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name not in names:
            continue
        if equals:
            yield value.strip("\"'")
        elif index + 1 < len(words):
            yield words[index + 1]
