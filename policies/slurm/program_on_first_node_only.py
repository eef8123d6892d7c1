from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.extensions.parallelcluster.batch.plan import BatchJob
from trainyard.judge.model.statements import started
from trainyard.judge.policy.rule import Finding, rule

_FUNCTION = r"\w\s*\(\)|\bfunction\s"


@rule("SLM005")
def program_on_first_node_only(job: BatchJob) -> Iterator[Finding]:
    """A batch script of several nodes starts torchrun without `srun`.

    The script itself runs on the first node of its allocation (Slurm documentation, sbatch): without `srun` the
    program runs there alone. It waits for the others until its rendezvous times out, or trains by itself while all
    nodes are paid for.

    ## Fails

        #!/bin/bash
        #SBATCH --nodes=4
        torchrun --nnodes=4 --rdzv_backend=c10d --rdzv_endpoint=$(hostname):29500 train.py

        #!/bin/bash
        #SBATCH --nodes=4
        address=$(srun --nodes=1 --ntasks=1 hostname --ip-address)
        torchrun --nnodes=4 --rdzv_backend=c10d --rdzv_endpoint=$address:29500 train.py

    ## Passes

        #!/bin/bash
        #SBATCH --nodes=4
        srun torchrun --nnodes=4 --rdzv_backend=c10d --rdzv_endpoint=$(hostname):29500 train.py

        #!/bin/bash
        #SBATCH --nodes=1
        torchrun --standalone train.py

        #!/bin/bash
        #SBATCH --nodes=4
        pdsh -w "$SLURM_JOB_NODELIST" torchrun --nnodes=4 train.py
    """
    if job.command or (job.nodes or 1) < 2:
        return
    texts = [(words[-1], at) for words, at in job.before]
    if any(re.search(_FUNCTION, text) for text, _ in texts):
        return  # a function may be started elsewhere
    for text, at in texts:
        if "torchrun" in [each.program for each in started(("bash", "-c", text))]:
            yield Finding(
                f"job `{job.name}` has {job.nodes} nodes, and its script starts torchrun on the first of them",
                at,
                label="the others do nothing",
                help="write `srun torchrun …`, which starts it on every node",
            )
