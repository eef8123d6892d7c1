"""Names of what is made in an account: bounded, and no two of them alike."""

from __future__ import annotations

import re
from itertools import combinations, product

import pytest

from compiler.core.storage.spec import Storage
from compiler.plan.naming import LONGEST_BUCKET, OWN_BUCKETS, bounded, joined

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
