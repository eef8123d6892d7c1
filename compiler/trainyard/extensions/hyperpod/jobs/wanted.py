"""The kinds of the spec's jobs, which decide whether HyperPod's training operator is there.

Apart from the kinds themselves, which third-party jobs are read by: to read those takes no models of the spec.
"""

from __future__ import annotations

from trainyard.core.jobs.spec import JobsSection
from trainyard.extensions.hyperpod.jobs.kinds.hyperpod_pytorch_job import KIND
from trainyard.language.models.cluster import ClusterSpec


def operated(spec: ClusterSpec) -> bool:
    """Whether a spec has jobs of HyperPod's training operator; those that are done count, as for any operator."""
    return any(job.kind == KIND.name for job in JobsSection.of(spec).jobs)
