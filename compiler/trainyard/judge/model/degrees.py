"""The degrees of parallelism that a command's options set, by the names of `model.parallel`.

Sources: Megatron-LM, megatron/training/arguments.py (core_v0.14), where an option that is not given is 1; TorchTitan,
torchtitan/config/job_config.py (000204a4), `Parallelism`, whose options lie over a file of TOML, so that one that is
not given is unknown. Before it had that section, they were options of `training` and `experimental`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.command import options
from trainyard.judge.model.megatron import DEGREES, megatron_of
from trainyard.judge.model.work import Work
from trainyard.language.dataclass import dataclass
from trainyard.language.units import count

NAMES = ("tensor", "pipeline", "context")


@dataclass(frozen=True, slots=True)
class Degree:
    """The number of ranks that a command divides something among; ``given`` is whether an option says it, or its
    default does."""

    name: str
    option: str
    ranks: int
    given: bool


def degrees_of(work: Work) -> Iterator[Degree]:
    """What a job's command says to Megatron or TorchTitan."""
    yield from _of_megatron(work)
    yield from _of_torchtitan(work)


def _of_megatron(work: Work) -> Iterator[Degree]:
    said = megatron_of(work)
    if said is None:
        return
    # These bring degrees of their own, from a file.
    from_file = ("yaml-cfg", "use-checkpoint-args")
    elsewhere = any(option in said.given for option in from_file)
    named = zip(NAMES, DEGREES, said.degrees, strict=True)
    for name, option, ranks in named:
        given = option in said.given
        if given or not elsewhere:
            yield Degree(name, option, ranks, given)


def _of_torchtitan(work: Work) -> Iterator[Degree]:
    parallel = [word for word in work.words if "parallel" in word]
    if not any("degree" in word for word in parallel):
        return
    for option, text in options(work.words):
        last = option.rpartition(".")[2]
        for name in NAMES:
            if last != f"{name}-parallel-degree":
                continue
            ranks = count(text)
            if ranks:
                yield Degree(name, option, ranks, given=True)
