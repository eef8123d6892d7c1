from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pods.plan import Container
from trainyard.eks.third_party_workloads.plan import PodSet, Workload
from trainyard.judge.model.pods import is_judged, main_container
from trainyard.judge.model.shell import title_of
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity
from trainyard.output.manifest import placeholder


@rule("RUN077", severity=Severity.WARNING)
def image_of_pods_not_pinned(workload: Workload) -> Iterator[Finding]:
    """A pod that is no job's runs an image that is not pinned.

    Tests, monitoring and copies too: `latest`, or no tag, is whatever is newest when a node pulls, and what was tested
    is not what runs (Kubernetes 1.36, images: "avoid using the `:latest` tag when deploying containers in
    production"). The image that a job trains with is RUN013.

    ## Fails

        apiVersion: v1
        kind: Pod
        metadata: {name: iperf3, namespace: team-a}
        spec: {containers: [{name: iperf3, image: networkstatic/iperf3, args: [-s]}]}

    ## Passes

        apiVersion: v1
        kind: Pod
        metadata: {name: iperf3, namespace: team-a}
        spec: {containers: [{name: iperf3, image: "networkstatic/iperf3:3.19", args: [-s]}]}
    """
    for pods in workload.pods:
        for container in _others(workload, pods):
            said = _unpinned(container.image or "")
            if said:
                image = "…:latest" if placeholder(container.image or "") else container.image
                yield Finding(
                    f"image `{image}` of {title_of(workload)} {said}",
                    container.where("image"),
                    help="pin a version or, better, a digest",
                )


def _others(workload: Workload, pods: PodSet) -> list[Container]:
    """The containers of which RUN013 does not judge the image."""
    main = main_container(pods.pod) if is_judged(workload, pods.pod) else None
    return [container for container in pods.pod.all_containers if container is not main]


def _unpinned(image: str) -> str:
    """What is wrong with an image's tag; empty for one that is pinned, or filled in later."""
    if not image or "@" in image:
        return ""
    is_latest = image.endswith(":latest")
    if not is_latest and (placeholder(image) or image.isupper() or "<" in image):
        return ""  # it is a placeholder for a name, like `IMAGE_OF_TEAM` or `<REGISTRY>/train`
    tag = image.rpartition("/")[2].partition(":")[2]
    if not tag:
        return "has no tag"
    return "is `latest`" if tag == "latest" else ""
