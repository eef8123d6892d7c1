from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.judge.model.ray import KINDS, cluster_path, worker_groups
from trainyard.judge.model.values import mappings_at, value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.places import Key, Route
from trainyard.output.manifest import Manifest

_IMAGE = re.compile(r"(?:^|/)ray(?:-ml|-llm)?:(\d+\.\d+\.\d+)(?![\d.])")
_VERSION = re.compile(r"(\d+\.\d+\.\d+)$")


@rule("RUN203", kinds=KINDS)
def ray_version_differs(manifest: Manifest) -> Iterator[Finding]:
    """The pods of a Ray cluster have images of different versions of Ray, or another one than `rayVersion` says.

    A worker of another version than the head's does not join ("Version mismatch", Ray 2.48, `_private/utils.py`,
    check_version_info), and by `rayVersion` the operator decides what the cluster can do (ray.io/v1, RayClusterSpec).
    The version is read from images called `ray`, `ray-ml` and `ray-llm`.

    ## Fails

        apiVersion: ray.io/v1
        kind: RayCluster
        metadata: {name: shared, namespace: team-a}
        spec:
          rayVersion: 2.9.0
          headGroupSpec: {rayStartParams: {}, template: {spec: {containers: [
            {name: head, image: "rayproject/ray:2.48.0-py312"}]}}}

        apiVersion: ray.io/v1
        kind: RayCluster
        metadata: {name: shared, namespace: team-a}
        spec:
          headGroupSpec: {rayStartParams: {}, template: {spec: {containers: [
            {name: head, image: "rayproject/ray:2.48.0-py312"}]}}}
          workerGroupSpecs:
            - {groupName: gpu, replicas: 1, minReplicas: 1, maxReplicas: 1, rayStartParams: {}, template: {spec: {
              containers: [{name: worker, image: "rayproject/ray:2.40.0-py312-gpu"}]}}}

    ## Passes

        apiVersion: ray.io/v1
        kind: RayCluster
        metadata: {name: shared, namespace: team-a}
        spec:
          rayVersion: 2.48.0
          headGroupSpec: {rayStartParams: {}, template: {spec: {containers: [
            {name: head, image: "rayproject/ray:2.48.0-py312"}]}}}
    """
    path = cluster_path(manifest)
    head: tuple[Key, ...] = (*path, "headGroupSpec")
    first = _of_image(manifest, head)
    said = _VERSION.match(str(value_at(manifest.body, *path, "rayVersion")))
    if first and said and said[1] != first:
        yield Finding(
            f"`rayVersion` is {said[1]}, and the image of the head has Ray {first}",
            Route((manifest.id, *path, "rayVersion")),
            help=f"write `rayVersion: {first}`",
        )
    for place, _ in worker_groups(manifest):
        own = _of_image(manifest, place)
        if first and own and own != first:
            yield Finding(
                f"the head has Ray {first}, and a group of workers {own}",
                Route((manifest.id, *place, *_CONTAINER, "image")),
                label="these workers never join",
                help="take images of one version for all pods",
            )


_CONTAINER: tuple[Key, ...] = ("template", "spec", "containers", 0)


def _of_image(manifest: Manifest, group: tuple[Key, ...]) -> str:
    """The version in the name of the image of a group; empty where it says none."""
    containers = mappings_at(manifest.body, *group, *_CONTAINER[:-1])
    found = _IMAGE.search(str(containers[0].get("image"))) if containers else None
    return found[1] if found else ""
