"""What rules find beside the examples of their pages: their further branches, each by the words of its finding."""

from __future__ import annotations

import pytest

from compiler.core.pods.plan import Container, Pod
from compiler.model.amounts import total
from compiler.places import Route
from compiler.plan.units import Quantity
from tests.policy.harness import findings_for

GROUP = """apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {{name: a, region: us-west-2, version: "1.35"}}
autoModeConfig: {{enabled: false}}
managedNodeGroups: [{{name: x, nodeRepairConfig: {{enabled: true}}, {}}}]"""
INTERFACES = """apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
spec:
  networkInterfaces:
"""
LIMITS = """apiVersion: v1
kind: LimitRange
metadata: {{name: a, namespace: team-a}}
spec: {{limits: [{}]}}"""
RUNTIME = """apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
spec: {{template: {{spec: {{replicatedJobs: [{{name: node, template: {{spec: {{template: {{spec: {}}}}}}}}}]}}}}}}"""


def interfaces(*rows: tuple[int, int, str]) -> str:
    """A node class with these: network card, device and type."""
    lines = [
        f"    - {{networkCardIndex: {card}, deviceIndex: {device}, interfaceType: {kind}}}"
        for card, device, kind in rows
    ]
    return INTERFACES + "\n".join(lines)


def of_job(**env: str) -> str:
    listed = ", ".join(f'{name}: "{value}"' for name, value in env.items())
    return f"jobs: [{{name: llama, env: {{{listed}}}}}]"


REST = ((1, 0, "efa-only"), (2, 0, "efa-only"), (3, 0, "efa-only"))
"""EFA on the other cards of a p4d.24xlarge."""
FAULTS = {
    "memory that is registered is copied at each fork": (
        of_job(RDMAV_FORK_SAFE="1"),
        "EFA010",
        "`RDMAV_FORK_SAFE` is set in job `llama`",
    ),
    "RDMA on a type that has none": (
        "nodePools: [{name: gpu, instanceTypes: [g4dn.metal]}]\n"
        + of_job(FI_EFA_USE_DEVICE_RDMA="1"),
        "EFA010",
        "`FI_EFA_USE_DEVICE_RDMA` is `1`, and `g4dn.metal` has no RDMA in job `llama`",
    ),
    "threads of sockets beside EFA": (
        of_job(NCCL_SOCKET_NTHREADS="4"),
        "EFA011",
        "`NCCL_SOCKET_NTHREADS` is for TCP sockets only",
    ),
    "a primary interface that is for EFA alone": (
        interfaces((0, 0, "efa-only"), *REST),
        "EFA006",
        "card 0 device 0, the primary interface, is not of type `interface`",
    ),
    "a card with two EFA": (
        interfaces((0, 0, "interface"), (0, 1, "efa-only"), (0, 2, "efa-only"), *REST),
        "EFA006",
        "a network card has two EFA interfaces",
    ),
    "a slot that is used twice": (
        interfaces((0, 0, "interface"), (0, 1, "interface"), (0, 1, "efa-only"), *REST),
        "EFA006",
        "a slot (network card and device) is used twice",
    ),
    "a repository that is out of reach": (
        "network: {create: {nat: none}}\nflux: {url: 'ssh://git@github.com/team/repo.git'}",
        "RUN071",
        "the repository of GitRepository `flux-system` is at `github.com`, and the cluster has no way to the internet",
    ),
    "a group with a least above its most": (
        GROUP.format("instanceType: m7i.large, minSize: 5, maxSize: 4"),
        "LIM012",
        "node group `x` has at least 5 nodes and at most 4",
    ),
    "an init container above the most of a container": (
        LIMITS.format("{type: Container, max: {cpu: 95}}")
        + "\n---\n"
        + RUNTIME.format(
            "{initContainers: [{name: fetch, image: 'a:1', resources: {limits: {cpu: 96}}}]}"
        ),
        "LIM014",
        "container `fetch` of job `llama` has 96 of `cpu`, and LimitRange `a` allows 95",
    ),
    "an init container that is no sidecar": (
        RUNTIME.format(
            "{initContainers: [{name: wait, image: 'a:1', restartPolicy: OnFailure, command: [sleep, infinity]}]}"
        ),
        "RUN131",
        "init container `wait` of job `llama` never ends: `sleep infinity`",
    ),
}
SILENT = {
    "a sidecar that Flux may say": RUNTIME.format(
        "{initContainers: [{name: log, image: 'a:1', restartPolicy: '${POLICY}', command: [sleep, infinity]}]}"
    ),
    "a LimitRange of what the job does not ask for": LIMITS.format(
        "{type: Pod, max: {ephemeral-storage: 1Gi}}"
    ),
    "a LimitRange with a least only": LIMITS.format("{type: Pod, min: {cpu: 1}}"),
}


@pytest.mark.parametrize("title", FAULTS)
def test_it_is_found(title: str) -> None:
    text, code, message = FAULTS[title]
    assert message in [each.message for each in findings_for(text) if each.code == code]


@pytest.mark.parametrize("title", SILENT)
def test_it_is_no_fault(title: str) -> None:
    assert findings_for(SILENT[title]) == []


def container(cpu: int, *, sidecar: bool = False) -> Container:
    """A container that takes so much CPU."""
    return Container(
        at=Route(()),
        name=f"c{cpu}",
        requests={"cpu": Quantity.of(1)},
        limits={"cpu": Quantity.of(cpu)},
        restart_policy="Always" if sidecar else None,
    )


@pytest.mark.parametrize(
    ("init", "cpu"),
    [
        ([], 5),
        ([container(4)], 5),
        ([container(7), container(6)], 7),
        ([container(4, sidecar=True)], 9),
        ([container(4, sidecar=True), container(6)], 10),
        ([container(6), container(4, sidecar=True)], 9),
        ([container(1, sidecar=True), container(4, sidecar=True)], 10),
    ],
)
def test_what_a_pod_asks_for(init: list[Container], cpu: int) -> None:
    """As KEP-753 counts it: what runs together, or the init container that needs most."""
    pod = Pod(at=Route(()), containers=(container(2), container(3)), init_containers=tuple(init))
    assert total(pod) == {"cpu": Quantity.of(cpu)}
    more = total(pod, {"c3": {"cpu": Quantity.of(20), "memory": Quantity.gib(1)}})
    assert more["memory"] == Quantity.gib(1)
    assert more["cpu"] >= Quantity.of(22)
