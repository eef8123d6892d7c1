from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Severity
from compiler.model.statements import started
from compiler.model.work import Work
from compiler.policy.rule import Finding, rule

_ELSEWHERE = {
    "srun": "there is no Slurm; write what it starts, and Trainer starts it on every node",
    "sbatch": "there is no Slurm; write what the script starts",
    "docker": "there is no Docker; the image of the job is what it would run",
    "podman": "there is no Podman; the image of the job is what it would run",
    "sudo": "images have none, and no right is gained by it; remove it",
    "systemctl": "no systemd runs in a container; write the program itself",
    "modprobe": "modules are loaded by the node; write them into its image",
    "ssh": "pods have no SSH; Trainer starts the command on every node",
    "kubectl": "pods of jobs have no token for the API; run it from where you apply manifests",
}


@rule(
    "RUN140",
    gangs=True,
    kubernetes="its programs are those of Slurm and of hosts, which a batch script has",
    severity=Severity.WARNING,
)
def program_not_for_pods(work: Work) -> Iterator[Finding]:
    """A job starts a program that does not work in pods: one of Slurm, of Docker, or of a host.

    The command of a job runs in a container of its image, on every node, without a token and without a system around
    it. What is copied from a batch script or a shell of a host ends there with `command not found`.

    ## Fails

        jobs: [{name: llama, command: [srun, torchrun, train.py]}]

        jobs: [{name: llama, command: [bash, -c, "sudo torchrun train.py"]}]

    ## Passes

        jobs: [{name: llama, command: [torchrun, train.py]}]
    """
    for name, *_ in started(work.words):
        if name in _ELSEWHERE:
            yield Finding(
                f"job `{work.name}` starts `{name}` in its containers",
                work.where_said(name),
                help=_ELSEWHERE[name],
            )
