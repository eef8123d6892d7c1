"""Lift: pods of HyperPodPyTorchJob, which HyperPod's training operator runs (PyPI sagemaker-hyperpod 3.12.0)."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.lift.reader import Reader
from compiler.platforms.eks.jobs.lifting import Part
from compiler.platforms.eks.third_party_workloads.lift import reads

OPEN_ONLY = True
"""No spec asks for one (docs/hyperpod.md)."""


def _replicas(body: Reader) -> Iterator[Part]:
    """By their names. ``replicas`` is 0 by default; spares have resources and run nothing."""
    for replica in body.follow("spec", "replicaSpecs").items():
        count = replica / "replicas"
        yield (replica / "name").word(), replica / "template", count.integer() if count else 0


KINDS = {"sagemaker.amazonaws.com/HyperPodPyTorchJob": reads(_replicas)}
