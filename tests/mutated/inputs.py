"""The inputs of a run, each made again by its number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random

from tests.mutated.mutations import mutated
from tests.mutated.seeds import Seed


def inputs(
    seeds: Mapping[str, list[Seed]], seed: int, first: int, count: int, specs: float
) -> Iterator[tuple[int, Seed, bytes]]:
    """``count`` inputs from the number ``first`` on; a share ``specs`` of them are specs."""
    for number in range(first, first + count):
        random = Random(f"{seed}/{number}")
        command = "check" if random.random() < specs else "lint"
        start, donor = random.choice(seeds[command]), random.choice(seeds[command])
        yield number, start, mutated(random, start, donor)
