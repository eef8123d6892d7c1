from __future__ import annotations

import math
from collections.abc import Iterator

from trainyard.core.jobs.plan import CheckpointSchedule
from trainyard.judge.model.kinds import has_peers
from trainyard.judge.model.restarts import restarts_of
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.diagnostics.words import numbered
from trainyard.language.units import Duration


@rule("RUN175", severity=Severity.WARNING, params={"percent": 100})
def retries_below_expected_failures(work: Work, world: World) -> Iterator[Finding]:
    """A job is expected to fail more often than it is started again.

    Any failed GPU ends all nodes of a gang, and one fails in 50,677 hours (419 in 54 days on 16,384 of them,
    arXiv:2407.21783, section 3.3.4), or as often as `meanTimeBetweenFailures` of the pool says for a job with a
    `checkpoint`. After its last retry the job is over, and its nodes wait until somebody looks. Reported is a job of
    which the expected number of failures is above `percent` of its retries, and one at least. The length is `expected`,
    or else the least that is computed from its `model`; a timeout is no length. What is advised is three standard
    deviations more than the expected number. `trainyard failures` shows what each failure costs.

    ## Fails

        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.0.1.9, mountName: abcdefgh,
          size: 12000Gi, version: "2.15", throughputPerTiB: 500}}}]
        nodePools: [{name: gpu, meanTimeBetweenFailures: 200h}]
        jobs: [{name: llama, nodes: 4, expected: 700h, retries: 10, torchVersion: "2.12",
          mounts: [{storage: data, path: /data}], checkpoint: {path: /data/llama, every: 1h}}]

        # params: {percent: 50}
        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.0.1.9, mountName: abcdefgh,
          size: 12000Gi, version: "2.15", throughputPerTiB: 500}}}]
        nodePools: [{name: gpu, meanTimeBetweenFailures: 200h}]
        jobs: [{name: llama, nodes: 4, expected: 700h, retries: 25, torchVersion: "2.12",
          mounts: [{storage: data, path: /data}], checkpoint: {path: /data/llama, every: 1h}}]

    ## Passes

        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.0.1.9, mountName: abcdefgh,
          size: 12000Gi, version: "2.15", throughputPerTiB: 500}}}]
        nodePools: [{name: gpu, meanTimeBetweenFailures: 200h}]
        jobs: [{name: llama, nodes: 4, expected: 700h, retries: 15, torchVersion: "2.12",
          mounts: [{storage: data, path: /data}], checkpoint: {path: /data/llama, every: 1h}}]

        # params: {percent: 150}
        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.0.1.9, mountName: abcdefgh,
          size: 12000Gi, version: "2.15", throughputPerTiB: 500}}}]
        nodePools: [{name: gpu, meanTimeBetweenFailures: 200h}]
        jobs: [{name: llama, nodes: 4, expected: 700h, retries: 10, torchVersion: "2.12",
          mounts: [{storage: data, path: /data}], checkpoint: {path: /data/llama, every: 1h}}]

        jobs: [{name: llama, nodes: 4, timeout: 2000h, retries: 0}]
    """
    if not has_peers(work.kind):
        return
    retries = restarts_of(work)
    if retries is None:
        return
    from trainyard.judge.model.lengths import lengths

    known = world.once(lengths).get((work.namespace, work.name))
    if known is None or known.least is None:
        return
    between = _between_failures(work, world, known.schedule)
    if between is None:
        return
    failures = known.least / between
    percent = world.param("percent")
    if failures < 1 or failures * 100 <= retries * percent:
        return
    enough = math.ceil(failures + 3 * math.sqrt(failures))
    if percent:
        enough = max(enough, math.ceil(failures * 100 / percent))
    yield Finding(
        f"job `{work.name}` is expected to fail {failures:,.1f} times in {Duration(known.least)}, and is started again "
        f"{numbered(retries, 'time')}",
        work.runtime.where("max_restarts") if work.runtime is not None else work.where("retries"),
        label="then it is over",
        help=f"let it start again {enough} times",
        spec_help=f"write `retries: {enough}`",
    )


def _between_failures(
    work: Work, world: World, schedule: CheckpointSchedule | None
) -> float | None:
    """The seconds between two failures of any node of a job; ``None`` where they are not known."""
    if schedule is not None and schedule.mtbf is not None:
        return schedule.mtbf
    gpus = (work.whole_nodes or 1) * work.gpus_a_node
    return world.catalog.failure_rates.usual.hours * 3600 / gpus if gpus else None
