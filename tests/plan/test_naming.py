"""Names of what is made in an account: bounded, and no two of them alike."""

from __future__ import annotations

import re
from itertools import combinations, product

import pytest
from builders import ROOT, resolved, spec
from trainyard.core.storage.spec import Storage
from trainyard.language.diagnostics import Severity
from trainyard.plan.naming import (
    LONGEST_BUCKET,
    OWN_BUCKETS,
    OWN_STACKS,
    STACKS_OF,
    bounded,
    joined,
    other_cluster,
)

LONG = "research-language-models-pretraining"
CLUSTERS = ("a", "a-b", "a-b-c", "b", "c", "a-loki", "i2", LONG, f"{LONG}-train", f"{LONG}-eval")
NAMES = ("b", "c", "b-c", "c-b", "loki", "scripts", "a", f"{LONG}-one", f"{LONG}-two", "loki-a")
PAIRS = tuple(product(CLUSTERS, NAMES))


@pytest.mark.parametrize("longest", [24, 35, 63, 255])
def test_no_two_pairs_have_one_name(longest: int) -> None:
    """A moved dash, an equal beginning, the longest length: 4,950 pairs of pairs."""
    made = {pair: joined(*pair, longest) for pair in PAIRS}
    assert all(len(name) <= longest for name in made.values())
    for one, other in combinations(PAIRS, 2):
        assert made[one] != made[other], (one, other)


def test_what_is_cut_ends_in_a_digest() -> None:
    whole = "research-language-train"
    assert bounded(whole, 30) == whole
    cut = bounded(whole, 16)
    assert cut != bounded("research-language-eval", 16)
    assert re.fullmatch(r"researc-[0-9a-f]{8}", cut)


@pytest.mark.parametrize("cluster", CLUSTERS)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("region", ["us-west-2", "ap-southeast-3", "us-gov-west-1"])
def test_a_bucket_of_a_storage_is_none_of_the_clusters_own(
    cluster: str, name: str, region: str
) -> None:
    """Logs and scripts have buckets too, and S3 takes 63 characters."""
    account = "111122223333"
    made = Storage.model_validate({"name": name, "s3": {"create": {}}})
    bucket = made.bucket(cluster, account, region)
    assert bucket is not None
    assert len(bucket) <= LONGEST_BUCKET
    end = f"-{account}-{region}"
    own = {joined(cluster, word, LONGEST_BUCKET - len(end)) + end for word in OWN_BUCKETS}
    assert bucket not in own


_PARTS = ("", *OWN_STACKS, *(f"{kind}-{name}" for kind in STACKS_OF for name in NAMES))


def _stacks(cluster: str) -> set[str]:
    """The names of all stacks that a cluster may have: the first, the others, and those of eksctl."""
    own = {"-".join(filter(None, ("trainyard", cluster, part))) for part in _PARTS}
    groups = {f"eksctl-{cluster}-nodegroup-{name}" for name in (*NAMES, "b-cluster")}
    return {*own, f"eksctl-{cluster}-cluster", *groups}


def test_no_two_clusters_have_one_stack_unless_a_name_is_told_of() -> None:
    """Each cluster is tried with each that is called after it: `a-network`, `a-storage-b`, `a-nodegroup-b`."""
    named = {*CLUSTERS, *(f"{name}-{part}" for name in CLUSTERS[:4] for part in _PARTS if part)}
    clusters = sorted(named | {f"a-{name}-{part}" for name in NAMES for part in OWN_STACKS})
    made = {cluster: _stacks(cluster) for cluster in clusters}
    alike = 0
    for one, other in combinations(clusters, 2):
        if made[one].isdisjoint(made[other]):
            continue
        alike += 1
        assert other_cluster(one) or other_cluster(other), (one, other)
    assert alike > 100


def test_every_stack_that_is_written_is_one_of_these() -> None:
    """Over the examples; the names of the others stand in the code that writes them."""
    folders = (ROOT / "generated").glob("*/bootstrap/stacks")
    written = {path.stem for folder in folders for path in folder.glob("*.yaml")}
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "compiler").rglob("lower.py")]
    written |= {name for text in texts for name in re.findall(r"\{STACKS\}/([a-z-]+)\.yaml", text)}
    assert len(written) > 20
    for name in written:
        assert name in OWN_STACKS or name.partition("-")[0] in STACKS_OF, name


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("research-network", "research"),
        ("a-storage-data", "a"),
        ("a-b-nodes", "a-b"),
        ("network", ""),
        ("networks-a", ""),
        ("a-networked", ""),
        ("a-storage", ""),
    ],
)
def test_which_cluster_would_have_the_same_stack(name: str, other: str) -> None:
    assert other_cluster(name) == other


def test_a_name_that_another_cluster_would_take_is_doubted() -> None:
    data = spec()
    assert "RES499" not in {fault.code for fault in resolved(data)[1]}
    data["metadata"]["name"] = "research-network"
    (doubt,) = [fault for fault in resolved(data)[1] if fault.code == "RES499"]
    assert doubt.severity is Severity.WARNING
    assert str(doubt.at) == "metadata.name"
    assert "a cluster `research` has" in doubt.message
