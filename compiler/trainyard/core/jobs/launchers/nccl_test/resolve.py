"""An acceptance job: NCCL's all-reduce between all nodes, by Open MPI."""

from __future__ import annotations

from trainyard.catalog.nccl import Bandwidth, expected, largest
from trainyard.core.jobs.job import Job
from trainyard.core.jobs.launchers.mpi.resolve import OpenMpi
from trainyard.core.jobs.launchers.nccl_test.acceptance import FILLS, IMAGE
from trainyard.core.jobs.launchers.nccl_test.spec import NcclTest
from trainyard.core.jobs.variables import variable
from trainyard.core.pods.plan import EnvVar
from trainyard.plan.context import Context

# NVIDIA/aicr bc05c6b, validators/performance/testdata/h100/eks/runtime.yaml: where the image has its libraries.
_LIBRARIES = (
    "/opt/amazon/ofi-nccl/lib/x86_64-linux-gnu:/opt/amazon/efa/lib:/opt/amazon/openmpi/lib:"
    "/opt/nccl/build/lib:/usr/local/nvidia/lib"
)
_ALGORITHM = "NVIDIA/nccl-tests, doc/PERFORMANCE.md"


class AllReduce(OpenMpi):
    """all_reduce_perf on all accelerators of all nodes, once."""

    def check(self, context: Context, job: Job) -> None:
        super().check(context, job)
        _check_network(context, job)
        _check_own(context, job)

    def restarts(self, job: Job) -> int:
        """Not retried: a slow network stays slow."""
        return job.spec.retries or 0

    def environment(self, context: Context, job: Job) -> list[EnvVar]:
        variables = super().environment(context, job)
        variables += variable(
            context,
            job,
            "NCCL_DEBUG",
            "INFO",
            "its log says by which network the ranks talk",
            "NCCL user guide 2.27, environment variables",
        )
        if job.spec.image == IMAGE:
            why, source = "the libraries of the image", "NVIDIA/aicr bc05c6b"
            variables += variable(context, job, "LD_LIBRARY_PATH", _LIBRARIES, why, source)
        bandwidth = _expected(job)
        if bandwidth is None:
            return variables
        least = bandwidth.gb_s * _test(job).share
        follows = None
        if _test(job).bus_bandwidth is not None:
            follows = job.at / "launcher" / "ncclTest" / "busBandwidth"
        for name, value, why in (
            ("MESSAGE", str(bandwidth.message), "the largest message, in bytes"),
            ("EXPECTED", f"{bandwidth.gb_s:g}", "bus bandwidth to expect, in GB/s"),
            ("AT_LEAST", f"{least:g}", "the job fails below it"),
        ):
            variables += variable(
                context, job, f"NCCL_TEST_{name}", value, why, bandwidth.source, follows=follows
            )
        return variables


def _test(job: Job) -> NcclTest:
    launcher = job.spec.launcher
    assert launcher is not None
    assert launcher.nccl_test is not None, "the launcher of this job is another one"
    return launcher.nccl_test


def _expected(job: Job) -> Bandwidth | None:
    """What the spec expects, or what is known of the type."""
    given = _test(job).bus_bandwidth
    instance = job.pool.instance
    if given is not None:
        return Bandwidth(given, largest(instance), "")
    return expected(instance, job.spec.nodes)


def _check_network(context: Context, job: Job) -> None:
    """The test is of EFA between nodes, against a bandwidth that is known."""
    spec = job.spec
    instance = job.pool.instance
    what = f"job `{spec.name}` tests the network between nodes"
    if not instance.gpus or not job.pool.efa:
        lacks = "no EFA" if instance.gpus else "no GPUs"
        context.fault(
            "RES133",
            f"{what}, and pool `{job.pool.name}` has {lacks}",
            job.at / "launcher" / "ncclTest",
            "take a pool of GPUs with EFA",
        )
    elif spec.nodes == 1:
        context.fault(
            "RES133",
            f"{what}, and has one",
            job.at / "nodes",
            "write `nodes: 2`, or as many as your jobs have",
        )
    elif _expected(job) is None:
        context.fault(
            "RES133",
            f"{what}, and no bus bandwidth of `{instance.name}` is known",
            job.at / "launcher" / "ncclTest",
            "write what to expect in GB/s, like `ncclTest: {busBandwidth: 40}`",
            source=_ALGORITHM,
        )


def _check_own(context: Context, job: Job) -> None:
    spec = job.spec
    if spec.command != FILLS["command"] or spec.args:
        key = "args" if job.spec.args else "command"
        context.fault(
            "RES131",
            f"job `{job.spec.name}` has the launcher `ncclTest`, which has a command of its own",
            job.at / key,
            "remove it; a program of your own has the launcher `mpi`",
        )


LAUNCHER = AllReduce()
