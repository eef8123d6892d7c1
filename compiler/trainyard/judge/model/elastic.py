"""The bounds of elastic jobs: ``elasticPolicy`` of the training operator (kubeflow.org/v1, training-operator v1.9), and
of that of HyperPod (sagemaker.amazonaws.com/v1, sagemaker-hyperpod 3.12.0)."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.nodes import Nodes
from trainyard.judge.model.values import value_at
from trainyard.judge.model.work import Work
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest


@dataclass(frozen=True, slots=True)
class Elastic:
    """How many workers an elastic job may have; ``at`` is the place of its policy."""

    least: int
    most: int
    at: Route


def bounds_of(manifest: Manifest) -> Elastic | None:
    """The bounds of an elastic job; ``None`` of any other object, and where they cannot be read."""
    policy = value_at(manifest.body, "spec", "elasticPolicy")
    least = value_at(policy, "minReplicas")
    most = value_at(policy, "maxReplicas")
    if most is None:
        most = value_at(manifest.body, "spec", "pytorchReplicaSpecs", "Worker", "replicas")
    if not isinstance(least, int) or not isinstance(most, int):
        return None
    at = Route((manifest.id, "spec", "elasticPolicy"))
    return Elastic(least, most, at)


def elastic_works(manifest: Manifest, works: tuple[Work, ...]) -> Iterator[tuple[Elastic, Work]]:
    """The workers of an elastic job, as far as they are known."""
    bounds = bounds_of(manifest)
    if bounds is None:
        return
    for work in works:
        is_own = str(work.at[0]) == manifest.id
        if is_own and work.accelerator is not None:
            yield bounds, work
            return


def workers_that_fit(work: Work, nodes: Nodes) -> int | None:
    """The most pods of a job that its pools have accelerators for; ``None`` where no pool is known, or one of them has
    no known limit."""
    if work.accelerator is None or not work.pools:
        return None
    asked = work.accelerator[1]
    total = 0
    for pool in work.pools:
        per_pool = []
        for other, instance in work.offers:
            if other is not pool:
                continue
            most = nodes.most_nodes(pool, instance)
            if most is not None:
                pods = instance.accelerators // asked
                per_pool.append(most * pods)
        if not per_pool:
            return None
        total += max(per_pool)
    return total
