from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from trainyard.eks.flux.plan import HelmRelease
from trainyard.eks.third_party_workloads.plan import Workload
from trainyard.judge.model.values import mappings_at, value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.places import Route
from trainyard.plan import Plan


@rule("HLT010", aliases=("two-owners",))
def component_installed_twice(plan: Plan, world: World) -> Iterator[Finding]:
    """The same component is installed twice.

    Two device plugins give the same device out twice, two JobSet controllers or DCGM hosts fight over one object or
    port; which one wins changes from start to start. One owner for each, a release or a DaemonSet. Two that select
    nodes by different labels may be for different ones.

    ## Fails

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: jobset, namespace: flux-system}
        spec: {chart: {spec: {chart: jobset, version: 0.12.0}}}
        ---
        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: trainer, namespace: flux-system}
        spec: {chart: {spec: {chart: kubeflow-trainer, version: 2.3.0}}}

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: nvidia-device-plugin, namespace: flux-system}
        spec: {chart: {spec: {chart: nvidia-device-plugin, version: 0.20.0}}, values: {gfd: {enabled: false},
          tolerations: [{key: nvidia.com/gpu, operator: Exists}], nodeSelector: {nvidia.com/gpu.present: "true"}}}
        ---
        apiVersion: apps/v1
        kind: DaemonSet
        metadata: {name: nvidia-device-plugin-daemonset, namespace: kube-system}
        spec: {template: {spec: {tolerations: [{key: nvidia.com/gpu, operator: Exists}], containers: [
          {name: plugin, image: "nvcr.io/nvidia/k8s-device-plugin:v0.17.1"}]}}}

    ## Passes

        jobs: [{name: llama}]

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: old, namespace: flux-system}
        spec: {chart: {spec: {chart: aws-efa-k8s-device-plugin, version: v0.5.30}},
          values: {tolerations: [{operator: Exists}], nodeSelector: {pool: a}}}
        ---
        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: new, namespace: flux-system}
        spec: {chart: {spec: {chart: aws-efa-k8s-device-plugin, version: v0.5.30}},
          values: {tolerations: [{operator: Exists}], nodeSelector: {pool: b}}}
    """
    for what, owners in _OWNERS.items():
        installers = list(_installers(owners, world))
        for index, last in enumerate(installers):
            first = next((one for one in installers[:index] if one.shares_nodes(last)), None)
            if first is not None:
                yield Finding(
                    f"{first.name} and {last.name} both install {what}",
                    last.at,
                    help="switch one of them off",
                )
                break


class _Installer(NamedTuple):
    """What installs a component, and on which nodes: () on all, else terms of which one must hold. A term has the
    values that a node's label may have, by its key."""

    name: str
    at: Route
    terms: tuple[Mapping[str, tuple[str, ...]], ...]

    def shares_nodes(self, other: _Installer) -> bool:
        """Whether both are certainly on one node: one of them is on all, or both ask for one value of a label."""
        if not self.terms or not other.terms:
            return True
        return any(_meet(one, term) for one in self.terms for term in other.terms)


def _meet(one: Mapping[str, tuple[str, ...]], other: Mapping[str, tuple[str, ...]]) -> bool:
    common = one.keys() & other.keys()
    return bool(common) and all(not set(one[key]).isdisjoint(other[key]) for key in common)


def _installers(owners: _Owners, world: World) -> Iterator[_Installer]:
    """The releases that install a component, each once, then the DaemonSets."""
    seen = set()
    for chart, switch in owners.charts.items():
        for release in world.releases(chart):
            name = (release.namespace, release.name)
            if name not in seen and _is_on(release, switch):
                seen.add(name)
                yield _Installer(release.name, release.where("chart"), tuple(_terms(release)))
    for workload in world.plan.of(Workload):
        for part in workload.pods:
            images = {_program(container.image) for container in part.pod.containers}
            if workload.everywhere and not images.isdisjoint(owners.images):
                selector = {key: (value,) for key, value in part.pod.node_selector.items()}
                terms = (selector,) if selector or "node_affinity" in part.pod.unread else ()
                yield _Installer(f"DaemonSet `{workload.name}`", workload.at, terms)


def _program(image: str | None) -> str:
    """The last word of an image's name: `k8s-device-plugin` of `nvcr.io/nvidia/k8s-device-plugin:v0.17.1`."""
    name = (image or "").partition("@")[0].rpartition("/")[2]
    return name.partition(":")[0]


def _terms(release: HelmRelease) -> Iterator[Mapping[str, tuple[str, ...]]]:
    """The terms of the node selector and the required node affinity that a release gives its pods."""
    selector = value_at(release.values, "nodeSelector")
    chosen = selector if isinstance(selector, dict) else {}
    own = {key: (str(word),) for key, word in chosen.items()}
    required = value_at(release.values, *_REQUIRED)
    if not isinstance(required, list):
        required = [{}] if own or value_at(release.values, "affinity") else []
    for term in required:
        labels = dict(own)
        for expression in mappings_at(term, "matchExpressions"):
            if expression.get("operator") == "In":
                labels[str(expression.get("key"))] = tuple(map(str, expression.get("values") or ()))
        yield labels


_REQUIRED = (
    "affinity",
    "nodeAffinity",
    "requiredDuringSchedulingIgnoredDuringExecution",
    "nodeSelectorTerms",
)


def _is_on(release: HelmRelease, switch: tuple[str, ...]) -> bool:
    """Whether a release certainly installs the component: every chart does so by default."""
    if not switch:
        return True
    given = value_at(release.values, *switch)
    return given is not False and not (given is None and "values" in release.unread)


class _Owners(NamedTuple):
    """Who installs a component: charts, each with the value that switches it, on by default; and the images of its
    DaemonSets."""

    charts: Mapping[str, tuple[str, ...]]
    images: tuple[str, ...] = ()


# gpu-operator v26.7.0, kubeflow-trainer 2.3.0 chart values.
_OWNERS = {
    "the NVIDIA device plugin": _Owners(
        {"nvidia-device-plugin": (), "gpu-operator": ("devicePlugin", "enabled")},
        ("k8s-device-plugin",),
    ),
    "the EFA device plugin": _Owners(
        {"aws-efa-k8s-device-plugin": ()}, ("aws-efa-k8s-device-plugin",)
    ),
    "a DCGM exporter": _Owners(
        {"dcgm-exporter": (), "gpu-operator": ("dcgmExporter", "enabled")}, ("dcgm-exporter",)
    ),
    "JobSet": _Owners({"jobset": (), "kubeflow-trainer": ("jobset", "install")}),
    "Kueue": _Owners({"kueue": ()}),
    "the node monitoring agent": _Owners(
        {"eks-node-monitoring-agent": ()}, ("eks-node-monitoring-agent",)
    ),
}
