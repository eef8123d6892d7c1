from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.eks.flux.plan import HelmRelease
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Key

_KEYS = ("repository", "registry", "imageRegistry", "image")


@rule("ACC048", severity=Severity.WARNING)
def controller_image_replaced(release: HelmRelease, world: World) -> Iterator[Finding]:
    """A controller is started from another registry than its chart's.

    A controller has rights over the cluster: who may push that image has them too, and the pinned version of the chart
    says nothing of it any more. A registry of ECR in an account of one's own, as a mirror, is accepted. In third-party
    manifests the values of charts are their author's, and are not judged.

    ## Fails

        components: {kueue: {values: {controllerManager: {manager: {image: {repository: docker.io/somebody/kueue}}}}}}

    ## Passes

        components: {kueue: {values: {controllerManager: {manager: {image: {
          repository: 111122223333.dkr.ecr.us-west-2.amazonaws.com/mirror/kueue}}}}}}

        components: {kueue: {values: {controllerManager: {manager: {resources: {requests: {cpu: "1"}}}}}}}
    """
    if not world.plan.closed:
        return
    for path, image in _images(release.values, ()):
        yield Finding(
            f"`{release.name}` runs `{image}`, not the image of its chart",
            release.where("values") / path,
            label="who may push there has the rights of the controller",
            help="remove it, or mirror the image into a registry of ECR that is yours",
        )


def _images(values: Any, path: tuple[Key, ...]) -> Iterator[tuple[tuple[Key, ...], str]]:
    """The values that name a registry or a repository with one, but for those of ECR."""
    if not isinstance(values, dict):
        return
    for key, item in values.items():
        here = (*path, key)
        if key in _KEYS and isinstance(item, str) and _is_elsewhere(item):
            yield here, item
        else:
            yield from _images(item, here)


def _is_elsewhere(text: str) -> bool:
    host = text.partition("/")[0]
    return "." in host and not host.endswith((".amazonaws.com", ".amazonaws.com.cn"))
