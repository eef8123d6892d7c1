"""Node health: what detects a sick GPU, and what acts on it."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.catalog.images import facts_of
from trainyard.core.health.spec import HealthSection
from trainyard.core.jobs.launchers.nccl_test.acceptance import IMAGE
from trainyard.core.pools.pools import BURN_IN_TAINT, GPU_PRESENT, Pool, resolve_pools
from trainyard.eks.flux.accounts import deliverer, may_make, may_read
from trainyard.eks.flux.stages import stage
from trainyard.eks.health.plan import (
    BURN_IN_RIGHTS,
    DETECTOR_RIGHTS,
    TAINTER_RIGHTS,
    BurnIn,
    ConditionTainter,
    MonitorRule,
    ProblemDetector,
    ProblemMonitor,
)
from trainyard.eks.settings.launcher import launcher_of
from trainyard.eks.settings.spec import ClusterSection
from trainyard.language.places import Route
from trainyard.plan import PlanItem
from trainyard.plan.context import SPEC, Context
from trainyard.plan.scheduling import Toleration

CONDITION = "GpuXidFatal"
# NVIDIA/gpu-operator a22dbf6, deployments/gpu-operator/values.yaml (after v26.7.0).
DCGM = "nvcr.io/nvidia/cloud-native/dcgm:4.6.0-1-ubuntu24.04"
TAINT = "trainyard.dev/gpu-xid-fatal"
NAMESPACE = "kube-system"


def resolve(context: Context) -> Iterator[PlanItem]:
    """The detectors, what acts on what they find, and the stage that carries both."""
    running = detectors(context, context.once(resolve_pools))
    yield from running
    yield from tainters(context, running)
    tested = tuple(burn_ins(context, context.once(resolve_pools)))
    yield from tested
    if running or tested:
        # A DaemonSet is healthy when all its pods are: one node that is not ready would hold up what comes after it.
        yield stage(context, _STAGE, "platform", account=_STAGE)
    yield from deliverer(_STAGE, *_RIGHTS)


_STAGE = "health"
_RIGHTS = (
    may_make("", "configmaps", "serviceaccounts"),
    may_make(
        "admissionregistration.k8s.io",
        "validatingadmissionpolicies",
        "validatingadmissionpolicybindings",
    ),
    may_make("apps", "daemonsets", "deployments"),
    may_make("rbac.authorization.k8s.io", "clusterroles", "clusterrolebindings"),
    # A Deployment is ready when its ReplicaSets and their pods are (cli-utils kstatus, deployment and replicaset).
    may_read("apps", "replicasets"),
    may_read("", "pods"),
    *DETECTOR_RIGHTS,
    *TAINTER_RIGHTS,
    *BURN_IN_RIGHTS,
)


def burn_ins(context: Context, pools: dict[str, Pool]) -> Iterator[BurnIn]:
    """The tests of new nodes, of the pools that ask for them."""
    for pool in pools.values():
        wanted = pool.spec.burn_in
        if wanted is None:
            continue

        at = pool.at / "burnIn"
        context.derive(
            f"pool/{pool.name}",
            "burnIn",
            f"taint {BURN_IN_TAINT}",
            "new nodes have it until NCCL's all-reduce over all GPUs of the node was right, all EFA interfaces there",
            "karpenter.sh/v1 NodePool startupTaints, v1.14.1",
            follows=at,
        )
        image = context.settle(
            f"pool/{pool.name}",
            "burnIn.image",
            wanted.image,
            IMAGE,
            "the image of the acceptance test of EFA",
            at=at / "image",
        )
        if wanted.image is not None:
            _check_image(context, pool, wanted.image, at / "image", _TESTS)
        level, dcgm = _diagnostics(context, pool)
        yield BurnIn(
            at=at,
            name=f"burn-in-{pool.name}",
            namespace=NAMESPACE,
            image=image,
            python=context.release.image("python"),
            taint_key=BURN_IN_TAINT,
            gpus=pool.instance.gpus,
            efa=pool.share.efa,
            node_selector=tuple(pool.selector.items()),
            level=level,
            dcgm=dcgm,
            origins={"name": pool.at / "name"},
        )


def _check_image(
    context: Context, pool: Pool, image: str, at: Route, help: str, *, fabric: bool = True
) -> None:
    """An image that is known to lack what the test calls: programs, libraries of GPUs, and libfabric where nodes have
    EFA and the test uses it."""
    facts = facts_of(image)
    if facts is None:
        return
    if facts.alone:
        why = "it has an operating system or a language alone"
    elif facts.devices in ("cpu", "neuron"):
        why = "it is for nodes without NVIDIA GPUs"
    elif fabric and facts.efa is False and pool.share.efa:
        why = "it has no libfabric for EFA"
    else:
        return
    context.fault(
        "RES248", f"image `{image}` cannot test nodes of pool `{pool.name}`: {why}", at, help
    )


_TESTS = "remove it for AWS' image of nccl-tests, or write one with nccl-tests and libfabric"
_DIAGNOSTICS = "remove it for NVIDIA's image of DCGM, or write one that has `dcgmi`"


def _diagnostics(context: Context, pool: Pool) -> tuple[int, str]:
    """The level of DCGM's diagnostics in the test of a pool's nodes, and their image; 0 and none without them."""
    wanted = pool.spec.burn_in
    if wanted is None or wanted.diagnostics is None:
        return 0, ""
    given = wanted.diagnostics
    if given.image is not None:
        at = pool.at / "burnIn" / "diagnostics" / "image"
        _check_image(context, pool, given.image, at, _DIAGNOSTICS, fabric=False)
    image = context.settle(
        f"pool/{pool.name}",
        "burnIn.diagnostics.image",
        given.image,
        DCGM,
        "NVIDIA's image of DCGM, as the GPU operator runs it",
        "NVIDIA/gpu-operator a22dbf6, deployments/gpu-operator/values.yaml",
        at=pool.at / "burnIn" / "diagnostics" / "image",
    )
    return given.level, image


def detectors(context: Context, pools: dict[str, Pool]) -> tuple[ProblemDetector, ...]:
    """The node-problem-detector over the kernel log of GPU nodes, for fatal Xids only."""
    wanted = HealthSection.of(context.spec).health.node_problem_detector
    has_gpus = any(pool.instance.gpus for pool in pools.values())
    if not wanted or not has_gpus:
        return ()
    if ClusterSection.of(context.spec).auto_mode is not None:
        context.derive(
            "health",
            "nodeProblemDetector",
            "none",
            "EKS Auto Mode has the node monitoring agent on every node, and repairs what it reports; that a pod reads "
            "the kernel log of its locked image no source says",
            "EKS user guide, node-health",
        )
        return ()
    at = SPEC / "health" / "nodeProblemDetector"
    fatal = context.catalog.xids.fatal()
    codes = [str(code) for code in fatal]
    pattern = rf"NVRM: Xid \(PCI:[0-9a-fA-F:.]+\): ({'|'.join(codes)}),.*"
    monitor = ProblemMonitor(
        at=at,
        name="gpu-xid",
        plugin="kmsg",
        source="gpu-xid-monitor",
        conditions=((CONDITION, "NoFatalXid", "no fatal Xid in the kernel log"),),
        rules=(MonitorRule(True, CONDITION, "FatalXid", pattern),),
    )
    listed = context.catalog.xids.lists["node-monitoring-agent"]
    context.derive(
        "health",
        "xids",
        ", ".join(codes),
        "fatal in hardware; Xids that a program causes never count",
        f"{listed.source} {listed.version}",
    )
    return (
        ProblemDetector(
            at=at,
            name="node-problem-detector",
            namespace=NAMESPACE,
            image=context.release.image("node-problem-detector"),
            monitors=(monitor,),
            tolerations=(Toleration(operator="Exists"),),
            node_selector=(_gpu_nodes(pools),),
        ),
    )


def _gpu_nodes(pools: dict[str, Pool]) -> tuple[str, str]:
    """The label of nodes with GPUs: Karpenter's, which nodes of managed node groups lack, or one of all pools."""
    unlabelled = [pool for pool in pools.values() if not launcher_of(pool).instance_labels]
    if any(pool.instance.gpus for pool in unlabelled):
        return GPU_PRESENT, "true"
    return "karpenter.k8s.aws/instance-gpu-manufacturer", "nvidia"


def tainters(
    context: Context, running: tuple[ProblemDetector, ...]
) -> tuple[ConditionTainter, ...]:
    """What consumes the detector's conditions: a taint at once, while Karpenter's repair waits ten minutes."""
    conditions = tuple(
        name for detector in running for monitor in detector.monitors for name in monitor.sets()
    )
    if not conditions:
        return ()
    context.derive(
        "health",
        "taint",
        TAINT,
        f"{CONDITION} repairs nothing by itself: the tainter keeps a restarted gang off the node until it "
        "has rebooted, or somebody takes the taint away",
    )
    return (
        ConditionTainter(
            at=SPEC / "health" / "nodeProblemDetector",
            name="node-condition-tainter",
            namespace=NAMESPACE,
            image=context.release.image("python"),
            conditions=conditions,
            taint_key=TAINT,
        ),
    )
