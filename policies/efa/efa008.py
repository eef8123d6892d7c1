from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Severity
from compiler.plan.jobs import EFA, HUGEPAGES
from compiler.policy.rule import Finding, rule
from compiler.policy.work import Work


@rule("EFA008", severity=Severity.WARNING)
def huge_pages_missing(work: Work) -> Iterator[Finding]:
    """A job asks for EFA and for no huge pages.

    libfabric's EFA provider takes its buffers from huge pages, and a container gets none that it did not ask for:
    it falls back to normal pages, or fails to register memory (EKS user guide, node-efa: `hugepages-2Mi: 5120Mi`).

    ## Fails

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        spec:
          trainer: {resourcesPerNode: {limits: {hugepages-2Mi: null}, requests: {hugepages-2Mi: null}}}

    ## Passes

        jobs: [{name: llama}]

        jobs: [{name: llama, nodes: 1}]
    """
    if not work.efa or work.nodes == 1 or not work.complete:
        return  # EFA of one node is told as such
    if HUGEPAGES not in work.asks and work.env.get("FI_EFA_USE_HUGE_PAGE") != "0":
        yield Finding(f"job `{work.name}` asks for EFA and for no `{HUGEPAGES}`", work.place(EFA),
                      help=f"ask for `{HUGEPAGES}: 5120Mi`, or set `FI_EFA_USE_HUGE_PAGE` to `0`")
