"""`explain --spec KEY`: what a key of the spec language is, what bounds it, and an example."""

from __future__ import annotations

import pytest
from running import Command
from trainyard.run.language.reference import Key, all_keys
from trainyard.run.platforms import PLATFORMS

KEYS = all_keys()


@pytest.mark.parametrize(
    "words",
    [
        "spec.nodePools.capacity.reserved.reservations",
        "nodePools.capacity.reserved.reservations",
        "nodePools[].capacity[].reserved.reservations",
        "spec.nodePools[0].capacity[0].reserved.reservations",
        "spec.nodePools[].capacity[].reserved.reservations.",
    ],
)
def test_a_key_may_be_written_in_several_ways(words: str, trainyard: Command) -> None:
    done = trainyard("explain", "--spec", words)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("spec.nodePools[].capacity[].reserved.reservations\n")
    assert "\n    nodes  The number of instances in the reservation" in done.out


def test_a_value_with_its_bound(trainyard: Command) -> None:
    assert (
        trainyard("explain", "--spec", "jobs.checkpoint.every").out
        == """\
spec.jobs[].checkpoint.every

  The time between two saves, which the program reads from `CHECKPOINT_EVERY_SECONDS`; unset: the variable is not set.

  type     duration above 0
  default  none
  bound    above 0, below the timeout, longer than a checkpoint takes to write, not far from the best
  source   FSx for Lustre user guide, ssd-storage; Young 1974, Daly 2006
  codes    RES029, RES046, RUN053
  example  every: 30m
"""
    )


@pytest.mark.parametrize(
    ("key", "row"),
    [
        ("flux.branch", "default  main"),
        ("jobs.sharedMemory", "default  derived"),
        ("account", "default  required"),
        ("nodePools", "type     list of mappings"),
        ("nodePools.nodes", "type     whole number or mapping"),
        ("nodePools.nodes", "example  nodes: {max: 8}"),
        ("nodePools.capacity", "type     mapping or list of mappings"),
        ("nodePools.capacity", "default  [{onDemand: {}}]"),
        ("nodePools.placement", "type     `cluster`, `partition`, `spread`, `none` or mapping"),
        ("platform.eks.apiServer", "type     `private` or mapping"),
        ("platform.eks.addons", "type     mapping of add-on to mapping"),
        ("nodePools.capacity", "keys inside, exactly one of them:"),
        ("network", "keys inside, at most one of `create` and `existing`:"),
        ("storage", "keys inside, exactly one of `fsxLustre` and `s3` and `ebs`:"),
        ("queues.preemption", "keys inside:"),
        ("jobs.labels", "type     mapping of job label key to label value"),
        (
            "platform.eks.systemNodes.nodes",
            "bound    2 to 20: Karpenter's two pods are on two nodes",
        ),
        ("queues.quota", "type     list of mappings"),
    ],
)
def test_a_row(key: str, row: str, trainyard: Command) -> None:
    assert f"\n  {row}\n" in trainyard("explain", "--spec", key).out


@pytest.mark.slow
@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.path)
def test_every_key_is_explained(key: Key, trainyard: Command) -> None:
    """By the path that the list shows; a value has its bound, a mapping the keys inside it."""
    done = trainyard("explain", "--spec", key.path)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"{key.path}\n\n  {key.description}\n")
    assert f"\n  example  {key.name}: {key.example}\n" in done.out
    assert "\n  bound    " in done.out or key.model is not None
    inside = key.model is not None and bool(key.model.model_fields)
    assert ("\n  keys inside" in done.out) == inside


def test_a_key_of_a_mapping_with_names_of_ones_own(trainyard: Command) -> None:
    """By any name, or by the one of the list."""
    done = trainyard("explain", "--spec", "platform.eks.addons.vpc-cni.version")
    assert done.out.startswith("spec.platform.eks.addons.NAME.version\n")
    named = trainyard("explain", "--spec", "spec.platform.eks.addons.NAME.version")
    assert named.out == done.out


def test_all_keys_are_listed(trainyard: Command) -> None:
    lines = trainyard("explain", "--spec").out.splitlines()
    assert [line.split()[0] for line in lines] == ["key", *(key.path for key in KEYS)]


def test_a_name_of_a_free_mapping_is_the_mapping(trainyard: Command) -> None:
    assert (
        trainyard("explain", "--spec", "jobs.env.NCCL_DEBUG").out
        == trainyard("explain", "--spec", "jobs.env").out
    )


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("spec.nodePool.capacity", "did you mean `spec.nodePools[].capacity`?"),
        ("jobs.chekpoint", "did you mean `spec.jobs[].checkpoint`?"),
        ("checkpoint", "did you mean `spec.jobs[].checkpoint`?"),
        ("every", "did you mean `spec.jobs[].checkpoint.every`?"),
        (
            "size",
            "write one of `spec.nodePools[].rootVolume.size`, `spec.storage[].fsxLustre.existing.size`, "
            "`spec.storage[].fsxLustre.create.size`",
        ),
        ("terminationGracePerid", "did you mean `spec.jobs[].terminationGracePeriod`?"),
        ("zzz", "`trainyard explain --spec` lists all"),
    ],
)
def test_an_unknown_key(words: str, answer: str, trainyard: Command) -> None:
    done = trainyard("explain", "--spec", words)
    assert (done.code, done.out) == (2, "")
    assert done.err == f"trainyard: there is no key `{words}` in a spec: {answer}\n"


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (
            ["EFA001", "--spec", "jobs"],
            "`--spec jobs` and `EFA001` are two subjects: ask for one at a time",
        ),
        (
            ["spec.jobs"],
            "there is no code or object `spec.jobs`: `trainyard explain --spec spec.jobs` explains a key of "
            "the spec",
        ),
    ],
)
def test_what_is_asked_for_wrongly(words: list[str], fault: str, trainyard: Command) -> None:
    done = trainyard("explain", *words)
    assert (done.code, done.out, done.err) == (2, "", f"trainyard: {fault}\n")


def test_keys_by_platform_are_one_subject(trainyard: Command) -> None:
    done = trainyard("explain", "--platforms")
    assert done.code == 0
    head, account, *_ = done.out.splitlines()
    assert head.split() == ["key", *PLATFORMS, "instead"]
    assert account.split() == ["account", *("yes" for _ in PLATFORMS)]
    refused = trainyard("explain", "--platforms", "job/a")
    assert (refused.code, refused.out) == (2, "")
    assert "`--platforms` and `job/a` are two subjects" in refused.err
