from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity

_VARIABLE = "LD_LIBRARY_PATH"
_OF_EFA = ("/opt/amazon", "ofi-nccl", "libfabric")


@rule("EFA035", severity=Severity.WARNING, pods=True, roles=True)
def library_path_without_efa(work: Work) -> Iterator[Finding]:
    """`LD_LIBRARY_PATH` of a job with EFA replaces that of the image, and has none of the folders of EFA's libraries.

    A variable of a container takes the place of the image's, whole (core/v1 EnvVar). Images with EFA find libfabric
    and the plugin of NCCL by it (EC2 user guide, efa-start-nccl: `/opt/amazon/efa/lib`, `/opt/amazon/ofi-nccl/lib`);
    without them NCCL takes TCP, which is many times slower, or a library of the wrong version.

    ## Fails

        jobs: [{name: llama, nodes: 2, env: {LD_LIBRARY_PATH: /app/lib}}]

    ## Passes

        jobs: [{name: llama, nodes: 2, env: {LD_LIBRARY_PATH: "/app/lib:/opt/amazon/efa/lib:/opt/amazon/ofi-nccl/lib"}}]

        jobs: [{name: llama, nodes: 1, env: {LD_LIBRARY_PATH: /app/lib}}]
    """
    value = work.env.get(_VARIABLE)
    if value is None or "$" in value or not work.efa:
        return
    if any(folder in value for folder in _OF_EFA):
        return
    if not work.has_pods and not work.gang:
        return  # each node of Slurm has its devices, and one alone uses none
    yield Finding(
        f"`{_VARIABLE}` of {work.title} is `{value}` alone, and it uses EFA",
        work.where_env(_VARIABLE),
        label="hides EFA's libraries",
        help=f"write `{value or '/app/lib'}:/opt/amazon/efa/lib:/opt/amazon/ofi-nccl/lib`, and the image's own folders",
    )
