from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.plan.scheduling import INSTANCE_TYPE


@rule("PLC080", gangs=True, severity=Severity.WARNING)
def amx_on_some_instance_types(work: Work) -> Iterator[Finding]:
    """A job of several nodes trains on CPUs, and some of the types that it may get have AMX while others have none.

    AMX multiplies matrices of bfloat16 and int8 in tiles (Intel 64 and IA-32 manual, volume 1, chapter 18): c7i, m7i,
    r7i and later have it (AWS instance type pages). Without it the same step takes several times as long, and every
    rank waits for the slowest at each all-reduce.

    ## Fails

        nodePools:
          - {name: cpu, instanceTypes: [m7i.8xlarge, m6i.8xlarge], zones: [us-west-2a], nodes: {max: 4}}
        queues: [{name: research, quota: [{pool: cpu, nodes: 4}]}]
        jobs:
          - name: bert
            queue: research
            pool: cpu
            nodes: 4
            timeout: 12h
            image: public.ecr.aws/deep-learning-containers/pytorch-training:2.8.0-cpu-py312-ubuntu22.04-ec2-v1.0
            command: [torchrun, train.py, --backend=gloo]

    ## Passes

        # as the first that fails, but
        nodePools: [{name: cpu, instanceTypes: [m7i.8xlarge, m7i.12xlarge]}]
    """
    if work.accelerator or not work.gang:
        return
    if len(work.types) < 2:
        return
    if INSTANCE_TYPE in work.selector:
        return
    without = [instance.name for instance in work.types if not instance.amx]
    if not without or len(without) == len(work.types):
        return
    pool = work.pools[0]
    yield Finding(
        f"job `{work.name}` may get {listed(without)} without AMX, although other types have it",
        pool.where("instance_types"),
        label="every rank waits for the slowest",
        help="let the pool have types with AMX alone: `trainyard catalog amx` lists them",
    )
