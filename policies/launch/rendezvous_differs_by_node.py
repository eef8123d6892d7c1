from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from trainyard.judge.model.command import runs_shell
from trainyard.judge.model.meeting import VARIABLES, Said, meeting
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule

_CHANCE = (
    r"\$\{?S?RANDOM\b|\$\$|\$\{?BASHPID\b|\$\{?EPOCH(?:SECONDS|REALTIME)\b|"
    r"(?:\$\(|[`|;&])\s*(?:/\S*/)?(?:uuidgen|mktemp|shuf|openssl\s+rand|date(?!\s+[\"']?\+(?:[\w.-]|%[YymdFjH])+"
    r"[\"']?\s*[)`]))\b|/dev/u?random\b|"
    r"/proc/sys/kernel/random/|/proc/self/|/etc/(?:hostname|machine-id)\b|"
    r"\b(?:uuid[14]|getpid|gethostname|token_hex|token_urlsafe|time_ns)\(|\b(?:random|secrets|time)\.\w+\("
)
_OWN = (
    r"\$\{?(?:HOSTNAME|HOST|POD_NAME|POD_IP|NODE_NAME|JOB_COMPLETION_INDEX|NODE_RANK|PET_NODE_RANK|RANK|SLURM_(?:NODE|PROC|LOCAL)ID|"
    r"SLURMD_NODENAME)\b|"
    r"\$\((?:HOSTNAME|JOB_COMPLETION_INDEX|PET_NODE_RANK)\)|(?:\$\(|`)\s*(?:/\S*/)?(?:hostname|uname\s+-n|ip\s)"
)
_DIFFERS = re.compile(f"{_CHANCE}|{_OWN}")
_FIELDS = ("metadata.name", "metadata.uid", "status.podIP", "status.hostIP", "spec.nodeName")
_CHOOSES = re.compile(r"\bif\b|\bcase\b|\[\[?\s|&&|\|\|")
_ASSIGNED = re.compile(
    r"(?:^|[\s;&(])(?:export\s+)?(\w+)="
    r"(\"[^\"]*\"|'[^']*'|`[^`]*`|\S*\$\((?:[^()]|\([^()]*(?:\(\))?[^()]*\))*\)\S*|\S*)"
)


@rule("RUN190", pods=True, roles=True)
def rendezvous_differs_by_node(work: Work) -> Iterator[Finding]:
    """What all nodes of a job must agree on is another value on each of them.

    Every pod runs the line by itself: `$RANDOM`, `$(uuidgen)` or `$(date)` as `--rdzv-id` give each node a rendezvous
    of its own, and `$(hostname)` or the pod's own address as endpoint makes each wait for itself (PyTorch, torchrun:
    the nodes of a job share id and endpoint). Nothing is said of a script that chooses by the node's number. A batch
    script of Slurm is expanded once, on the first node, except for what a shell of each node gets in single quotes.

    ## Fails

        jobs: [{name: llama, command: [bash, -c, "torchrun --rdzv-backend=c10d --rdzv-id=$RANDOM train.py"]}]

        jobs: [{name: llama, command: [bash, -c, "ID=$(uuidgen); torchrun --rdzv-backend=c10d --rdzv-id=$ID train.py"]}]

        jobs: [{name: llama, command: [bash, -c, "torchrun --rdzv-id=$(openssl rand -hex 8) train.py"]}]

        jobs: [{name: llama, command: [bash, -c, "torchrun --rdzv-id=$(cat /proc/sys/kernel/random/uuid) train.py"]}]

        jobs: [{name: llama, command: [bash, -c, "torchrun --master-addr=$(hostname -i) train.py"]}]

        jobs: [{name: llama, command: [bash, -c, "export MASTER_ADDR=$(hostname); torchrun train.py"]}]

    ## Passes

        jobs: [{name: llama, command: [bash, -c, "torchrun --rdzv-backend=c10d --rdzv-id=llama train.py"]}]

        jobs: [{name: llama, command: [bash, -c, "torchrun --rdzv-id=$RUN_ID train.py"], env: {RUN_ID: "7"}}]

        jobs: [{name: llama, command: [bash, -c, "torchrun --rdzv-id=llama-$(date +%Y%m%d) train.py"]}]

        #!/bin/bash
        #SBATCH --nodes=4
        srun bash -c "torchrun --nnodes=4 --rdzv-backend=c10d --rdzv-endpoint=$(hostname):29500 train.py"
    """
    if not work.gang or work.framework == "mpi" or work.kind == "RayJob":  # whose program runs once
        return
    if (work.has_pods and work.pod is None) or not work.expands_on_nodes:
        return
    text = "\n".join(work.words)
    in_shell = runs_shell(work.words)
    chooses = in_shell and _CHOOSES.search(text) is not None
    own = _own_variables(work)
    assigned = dict(_assigned(text)) if in_shell else {}
    for said in _all(work, assigned):
        if chooses:
            break
        if not work.has_pods and said.name in VARIABLES and said.name not in assigned:
            continue  # which the script sets for all nodes
        shown = _whole(said.value, text)
        if _reason(shown, own, assigned, in_shell=in_shell):
            yield Finding(
                f"`{said.name}` of {work.title} is `{shown}`, which is another value on each node",
                said.at,
                label="the nodes never meet",
                help=_help(work),
            )
            return
    yield from _of_pod(work, own)


def _help(work: Work) -> str:
    if work.has_pods:
        return "write one value for all nodes: the name of the job as id, the host of its first pod as endpoint"
    return "write one value for all nodes: `$SLURM_JOB_ID` as id, and as endpoint a host that the script works out"


def _of_pod(work: Work, own: set[str]) -> Iterator[Finding]:
    """A variable of the rendezvous that is a field of each pod itself."""
    for name in VARIABLES:
        if name in own:
            yield Finding(
                f"`{name}` of {work.title} is a field of each pod itself, which is another value on each node",
                work.where_env(name),
                label="the nodes never meet",
                help="write one value for all nodes: the host of the first pod",
            )
            return


def _all(work: Work, assigned: Mapping[str, str]) -> Iterator[Said]:
    yield from meeting(work)
    for name in ("MASTER_ADDR", "PET_MASTER_ADDR", "PET_RDZV_ID", "PET_RDZV_ENDPOINT"):
        if name in assigned:
            yield Said(name, assigned[name], work.where_said(f"{name}="))


def _own_variables(work: Work) -> set[str]:
    """The variables of the pod that are a field of itself."""
    given = work.main.env if work.main is not None else ()
    return {entry.name for entry in given if entry.pod_field in _FIELDS}


def _whole(value: str, text: str) -> str:
    """A value with all of the command that a shell puts in its place, which ends at the bracket or backtick."""
    begins = text.find(value)
    if begins < 0:
        return value
    if value.count("$(") > value.count(")"):
        rest = re.match(r"[^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)?", text[begins + len(value) :])
    elif value.count("`") % 2:
        rest = re.match(r"[^`\n]*`?", text[begins + len(value) :])
    else:
        return value
    return value + rest[0] if rest else value


def _assigned(text: str) -> Iterator[tuple[str, str]]:
    yield from _ASSIGNED.findall(text)


def _reason(value: str, own: set[str], assigned: Mapping[str, str], *, in_shell: bool) -> bool:
    names = re.findall(r"\$[{(]?(\w+)", value)
    if any(name in own for name in names):
        return True
    if not in_shell:
        return "$(HOSTNAME)" in value
    if _DIFFERS.search(value):
        return True
    return any(_DIFFERS.search(assigned.get(name, "")) for name in names)
