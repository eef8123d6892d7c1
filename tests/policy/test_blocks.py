"""Gangs in blocks: held against every placement there is."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, product

import pytest
from builders import data_of, dumped
from trainyard.catalog import load_catalog
from trainyard.judge.model.blocks import always_fit, countable, placement
from trainyard.judge.policy.engine import run
from trainyard.language.diagnostics import Severity
from trainyard.output.manifest import Manifest
from trainyard.verify.formats import reread

from tests.policy.harness import SPEC, TODAY, builtin_rules, from_spec, merged


def every_placement(blocks: Sequence[int], gangs: Sequence[int]) -> list[tuple[int, ...]]:
    return [
        chosen
        for chosen in product(range(len(blocks)), repeat=len(gangs))
        if all(
            sum(gang for gang, at in zip(gangs, chosen, strict=True) if at == block) <= room
            for block, room in enumerate(blocks)
        )
    ]


def always(blocks: Sequence[int], gangs: Sequence[int]) -> bool:
    """Whatever the order, and whichever block with room each gang takes."""

    def go(free: list[int], left: Sequence[int]) -> bool:
        if not left:
            return True
        roomy = [index for index, room in enumerate(free) if room >= left[0]]
        return bool(roomy) and all(
            go([room - left[0] * (index == taken) for index, room in enumerate(free)], left[1:])
            for taken in roomy
        )

    return all(go(list(blocks), order) for order in set(permutations(gangs)))


BLOCKS = [(4, 2), (5, 3), (3, 3), (6, 4, 2), (8, 1)]
GANGS = [(2, 2, 2), (4, 3), (3, 2, 2, 1), (5, 1, 1), (6,), (1, 1, 1, 1), (3, 3, 2)]


@pytest.mark.parametrize("blocks", BLOCKS)
@pytest.mark.parametrize("gangs", GANGS)
def test_a_witness_is_found_where_there_is_one(
    blocks: tuple[int, ...], gangs: tuple[int, ...]
) -> None:
    found, known = placement(blocks, gangs), every_placement(blocks, gangs)
    assert (found is None) == (known == [])
    assert found is None or found in known


@pytest.mark.parametrize("blocks", BLOCKS)
@pytest.mark.parametrize("gangs", GANGS)
def test_every_order_is_every_order(blocks: tuple[int, ...], gangs: tuple[int, ...]) -> None:
    assert always_fit(blocks, gangs) is always(blocks, gangs)


def test_seven_models_on_eighty_nodes() -> None:
    # 55 = 5 x 11 and 25 = 11 + 14: a placement, and one that the first job of 11 spoils in the smaller block.
    before = [14, *[11] * 6]
    assert placement((55, 25), before) is not None
    assert not always_fit((55, 25), before)
    assert placement((64, 16), before) is None
    # What specs/jakarta has.
    assert always_fit((64, 16), [14, *[10] * 6])


def test_many_gangs_take_no_time() -> None:
    assert placement((64, 64, 64, 64), [11] * 20) is not None
    assert countable((64, 64, 64), [11] * 15 + [20])
    assert not always_fit((64, 64, 64), [11] * 15 + [20])
    assert not countable((64, 64), list(range(1, 25)))  # of 24 sizes: too many ways to look at


def test_a_gang_that_requires_a_block_is_never_admitted_where_it_only_prefers_one_it_is_spread() -> (
    None
):
    blocks = {
        "block": {
            "reservations": [{"id": "cr-0a100000", "nodes": 3}, {"id": "cr-0b200000", "nodes": 3}]
        }
    }
    part = {
        "nodePools": [{"name": "gpu", "nodes": 6, "capacity": blocks}],
        "queues": [{"name": "research", "quota": [{"pool": "gpu", "nodes": 6}]}],
    }
    plan, manifests = from_spec(dumped(merged(SPEC, {"spec": part})))
    for word, severity in (("preferred", Severity.WARNING), ("required", Severity.ERROR)):
        text = dumped([each.body for each in manifests])
        bodies = data_of(text.replace("podset-preferred-topology", f"podset-{word}-topology"))
        changed = [Manifest(body) for body in bodies]
        lifted = reread(changed, plan)
        found = run(lifted, load_catalog(), builtin_rules(), TODAY, changed)
        assert [(each.severity, each.message) for each in found if each.code == "QUE022"] == [
            (severity, "job `llama` has 4 nodes, and the largest block 3")
        ]
