from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.catalog.efa import reads_remote_memory
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.output.manifest import placeholder


@rule("EFA010", aliases=("env-breaks-efa",), pods=True, roles=True)
def env_disables_efa(work: Work) -> Iterator[Finding]:
    """An environment variable keeps NCCL from using EFA.

    An empty `NCCL_TOPO_FILE` stops aws-ofi-nccl from loading the topology that p4d and g5.48xlarge need; another
    provider or network than EFA's, or `none` as plugin, sends everything over TCP; `FI_EFA_USE_DEVICE_RDMA=1` aborts on
    types without RDMA read, which are those before Nitro v4 other than p4d and p4de (aws-ofi-nccl 1.21.1
    platform-aws; libfabric 2.6 fi_efa; AWS distributed-training EFA cheat sheet; EC2 user guide, efa).

    ## Fails

        jobs: [{name: llama, env: {NCCL_TOPO_FILE: ""}}]

        jobs: [{name: llama, env: {FI_PROVIDER: tcp}}]

        jobs: [{name: llama, env: {NCCL_NET_PLUGIN: none}}]

        apiVersion: v1
        kind: ConfigMap
        metadata: {name: nccl, namespace: team-a}
        data: {NCCL_NET: Socket}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        metadata: {name: torch-gpu-1}
        spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {
          containers: [{name: node, envFrom: [{configMapRef: {name: nccl}}]}]}}}}}]}}}

    ## Passes

        jobs: [{name: llama, env: {NCCL_DEBUG: WARN, FI_PROVIDER: efa}}]
    """
    if not (work.efa and work.gang):
        return
    env = _known(work)
    if env.get("NCCL_TOPO_FILE") == "":
        yield _finding(
            work,
            "NCCL_TOPO_FILE",
            "`NCCL_TOPO_FILE` is empty",
            "the plugin's own topology is not loaded",
        )
    if not _offers_efa(env.get("FI_PROVIDER", "efa")):
        yield _finding(
            work,
            "FI_PROVIDER",
            f"`FI_PROVIDER` is `{env['FI_PROVIDER']}`, not `efa`",
            "traffic goes around EFA",
        )
    if env.get("NCCL_NET", "").lower() in _OTHER_NETWORKS:
        yield _finding(
            work, "NCCL_NET", f"`NCCL_NET` is `{env['NCCL_NET']}`", "traffic goes around EFA"
        )
    if env.get("NCCL_NET_PLUGIN", "").lower() == "none":
        yield _finding(
            work,
            "NCCL_NET_PLUGIN",
            "`NCCL_NET_PLUGIN` is `none`",
            "NCCL loads no plugin, and knows no EFA without",
        )
    if env.get("RDMAV_FORK_SAFE", "0") != "0":
        yield _finding(
            work,
            "RDMAV_FORK_SAFE",
            "`RDMAV_FORK_SAFE` is set",
            "it copies every page that is registered",
        )
    if env.get("FI_EFA_USE_DEVICE_RDMA") != "1" or not work.types:
        return
    if not any(map(reads_remote_memory, work.types)):
        what = f"`FI_EFA_USE_DEVICE_RDMA` is `1`, and `{work.types[0].name}` has no RDMA read"
        yield _finding(work, "FI_EFA_USE_DEVICE_RDMA", what, "libfabric aborts")


_OTHER_NETWORKS = ("socket", "ib")
"""What NCCL itself brings; names are read in any case (NCCL 2.28, NCCL_NET)."""


def _offers_efa(providers: str) -> bool:
    """Whether a filter of libfabric's providers keeps EFA's: a list of names, or behind `^` of those that are left out
    (libfabric 2.6, fi_getinfo: FI_PROVIDER)."""
    names = re.split(r"[,;]", providers.removeprefix("^"))
    return ("efa" in names) is not providers.startswith("^")


_NAMES = (
    *("NCCL_TOPO_FILE", "FI_PROVIDER", "NCCL_NET", "NCCL_NET_PLUGIN"),
    *("RDMAV_FORK_SAFE", "FI_EFA_USE_DEVICE_RDMA"),
)


def _known(work: Work) -> dict[str, str]:
    """The variables with a value that nothing fills in later."""
    known: dict[str, str] = {}
    for name in _NAMES:
        value = work.env.get(name)
        if value is not None and not placeholder(value):
            known[name] = value
    return known


def _finding(work: Work, name: str, what: str, label: str) -> Finding:
    return Finding(
        f"{what} in {work.title}", work.where_env(name), label=label, help="leave it unset"
    )
