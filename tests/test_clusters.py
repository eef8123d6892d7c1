"""Which objects of a tree are one set."""

from __future__ import annotations

from itertools import product

from trainyard.extensions.lint.clusters import by_cluster
from trainyard.output.manifest import Manifest


def objects(*paths: str) -> list[Manifest]:
    """A manifest for each ``folder/file:Kind/name``."""
    found = []
    for each in paths:
        path, _, ref = each.partition(":")
        kind, _, name = ref.partition("/")
        api = "eksctl.io/v1alpha5" if kind == "ClusterConfig" else "v1"
        found.append(
            Manifest({"apiVersion": api, "kind": kind, "metadata": {"name": name}}, path=path)
        )
    return found


def sets(*paths: str) -> list[set[str]]:
    return [{each.path for each in part} for part in by_cluster(objects(*paths), lambda each: each)]


def test_folders_that_hold_the_same_are_clusters_and_share_what_is_outside() -> None:
    assert sets(
        "clusters/dev/a.yaml:NodePool/gpu",
        "clusters/prod/a.yaml:NodePool/gpu",
        "base/b.yaml:Topology/eks",
        "tenants/dev/c.yaml:TrainJob/small",
    ) == [
        {"clusters/dev/a.yaml", "base/b.yaml", "tenants/dev/c.yaml"},
        {"clusters/prod/a.yaml", "base/b.yaml"},
    ]


def test_clusters_lie_within_clusters() -> None:
    assert sets(
        "eu/one/a.yaml:NodePool/gpu", "eu/two/a.yaml:NodePool/gpu", "us/one/a.yaml:NodePool/gpu"
    ) == [{"eu/one/a.yaml"}, {"eu/two/a.yaml"}, {"us/one/a.yaml"}]


def test_a_folder_may_have_the_name_of_the_one_above() -> None:
    """All of them have the first name, which says nothing."""
    paths = ("one/one/a.yaml:NodePool/gpu", "one/two/a.yaml:NodePool/gpu", "b.yaml:Topology/eks")
    assert sets(*paths) == [{"one/one/a.yaml", "one/two/a.yaml", "b.yaml"}]


def test_one_object_twice_among_others_is_no_cluster() -> None:
    assert (
        len(
            sets(
                "karpenter/a.yaml:NodePool/gpu",
                "karpenter/b.yaml:NodePool/cpu",
                "karpenter/c.yaml:Topology/eks",
                "kueue/a.yaml:NodePool/gpu",
                "kueue/b.yaml:ClusterQueue/a",
                "kueue/c.yaml:LocalQueue/a",
            )
        )
        == 1
    )


def test_one_folder_is_one_set() -> None:
    assert len(sets("a.yaml:NodePool/gpu", "b.yaml:NodePool/gpu")) == 1


def test_several_eksctl_clusters_are_judged_each_by_itself() -> None:
    assert sets(
        "all.yaml:NodePool/gpu", "eu.yaml:ClusterConfig/eu", "us.yaml:ClusterConfig/us"
    ) == [{"all.yaml"}, {"eu.yaml"}, {"us.yaml"}]
    assert len(sets("all.yaml:NodePool/gpu", "eu.yaml:ClusterConfig/eu")) == 1
    assert len(sets("all.yaml:NodePool/gpu", "eu.yaml:Cluster/eu", "us.yaml:Cluster/us")) == 1


def test_folders_in_folders_do_not_multiply_what_is_beside_them() -> None:
    """What lies beside the folders of clusters belongs to all of them, and so at every depth: of the tree as a whole no
    more than four times its objects are judged."""
    paths = [f"shared/{number}.yaml:ConfigMap/shared-{number}" for number in range(100)]
    for stages in product(("dev", "prod", "test"), repeat=4):
        levels = (f"{depth}-{stage}" for depth, stage in enumerate(stages))
        paths.append(f"{'/'.join(levels)}/app.yaml:ConfigMap/app")
    judged = sum(map(len, sets(*paths)))
    assert judged <= 4 * len(paths)
