from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.command import launches, named_options
from trainyard.judge.model.gangs import copies
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route

_ITSELF = ("localhost", "127.0.0.1", "0.0.0.0", "::1")  # noqa: S104  # what is read, not bound


@rule("RUN036", gangs=True, roles=True, aliases=("each-node-told-the-same",))
def same_rank_on_every_node(work: Work) -> Iterator[Finding]:
    """Every node of a job is configured as the first, or as the only one.

    All pods of a TrainJob have the same command and variables. `--standalone` has torchrun start a store of its own on
    each node, and train there alone; one `--node_rank` for all, or a master on `localhost`, and the nodes wait for each
    other for ever; a rendezvous by c10d reads neither, and ranks the nodes itself, which is a warning (PyTorch 2.10,
    torch/distributed/run.py). Trainer gives each pod its own `PET_NODE_RANK`, and the address of the first.

    ## Fails

        jobs: [{name: llama, command: [torchrun, --standalone, train.py]}]

        jobs: [{name: llama, command: [torchrun, --node_rank=0, train.py]}]

        jobs: [{name: llama, command: [torchrun, --master_addr, localhost, train.py]}]

        jobs: [{name: llama, command: [python, train.py], env: {MASTER_ADDR: localhost}}]

        jobs: [{name: llama, command: [python, train.py], env: {RANK: "0"}}]

        jobs: [{name: llama, launcher: {jax: {}}, command: [python, train.py], env: {JAX_PROCESS_ID: "0"}}]

        jobs: [{name: llama, command: [torchrun, train.py], env: {PET_STANDALONE: "1"}}]

    ## Passes

        jobs: [{name: llama, nodes: 1, command: [torchrun, --standalone, train.py]}]

        jobs: [{name: llama, command: [torchrun, train.py], env: {RANK: "0"}}]

        jobs: [{name: llama, launcher: {mpi: {}}, command: [mpirun, python, train.py], env: {RANK: "0"}}]
    """
    if not work.gang or work.framework == "mpi" or copies(work) == 1:
        return
    if work.framework == "jax":
        yield from _jax(work)
        return
    torchrun = launches(work.words)
    given = named_options(work.words)
    said = work.variables  # torchrun reads each option from PET_*
    if torchrun and "standalone" in given:
        yield _finding(
            work,
            "`--standalone` in its command",
            work.where_said("--standalone"),
            "each node trains alone",
            _without_standalone(work),
        )
    elif torchrun and _is_on(said.get("PET_STANDALONE")):
        yield _finding(
            work,
            "`PET_STANDALONE` among its variables",
            work.where_env("PET_STANDALONE"),
            "each node trains alone",
            _without_standalone(work),
        )
    backend = given.get("rdzv-backend") or work.env.get("PET_RDZV_BACKEND") or "static"
    # c10d reads neither, and so the job works all the same.
    severity = None if backend == "static" else Severity.WARNING
    rank = given.get("node-rank") or ""
    master = given.get("master-addr") or ""
    if torchrun and rank.isdecimal():
        yield _finding(
            work,
            f"`--node_rank` {rank} for all of them",
            work.where_said("node-rank"),
            _NOT_READ if severity else "they wait",
            _own_rank(work),
            severity,
        )
    if torchrun and master in _ITSELF and not given.get("rdzv-endpoint"):
        yield _finding(
            work,
            f"`--master_addr` `{master}`",
            work.where_said("master-addr"),
            _NOT_READ if severity else "each waits for itself",
            _own_master(work),
            severity,
        )
    for name in () if torchrun else ("RANK", "NODE_RANK", "GROUP_RANK", "MASTER_ADDR"):
        value = work.env.get(name) or ""
        if value.isdecimal() or value in _ITSELF:
            yield _finding(
                work,
                f"`{name}: {value}` for all of them",
                work.where_env(name),
                "each is the first",
                "remove it, and start the program by `torchrun`, which sets it for each process",
            )


def _is_on(value: str | None) -> bool:
    """Whether a variable switches an option of torchrun on (PyTorch 2.10, argparse_util.py check_env)."""
    return bool(value) and str(value).isdecimal() and int(str(value)) > 0


_NOT_READ = "not read: a rendezvous by c10d ranks the nodes itself"


def _without_standalone(work: Work) -> str:
    if work.own_sets:
        return "remove it, and say where the nodes meet: `--rdzv-endpoint=HOST:29500` with the host of the first pod"
    if work.has_pods:
        return "remove it: the nodes find each other by the variables that Trainer sets"
    words = work.node_words
    count = words.count or work.nodes
    return (
        f"write `--nnodes={count} --rdzv_backend=c10d --rdzv_endpoint=HOST:29500` instead; "
        f"HOST is {words.first}"
    )


def _own_rank(work: Work) -> str:
    if work.own_sets:
        return "take it from a variable of the pod, like the index that its controller gives it"
    if work.has_pods:
        return "remove it: `PET_NODE_RANK` is set in each pod"
    rank = work.node_words.own_rank("--node_rank")
    return f"write {rank}, or `--rdzv_backend=c10d`, which ranks the nodes itself"


def _own_master(work: Work) -> str:
    if work.own_sets:
        return "name the host of the first pod"
    if work.has_pods:
        return "remove it: `PET_MASTER_ADDR` is set"
    return f"name {work.node_words.first}"


def _jax(work: Work) -> Iterator[Finding]:
    """Trainer sets both in each pod, and the job's own variables win (trainer v2.3.0, jax plugin)."""
    for name in ("JAX_PROCESS_ID", "JAX_COORDINATOR_ADDRESS"):
        value = work.env.get(name) or ""
        host = value.rpartition(":")[0]
        if value.isdecimal() or host in _ITSELF:
            yield _finding(
                work,
                f"`{name}: {value}` for all of them",
                work.where_env(name),
                "each is the first",
                "remove it: Trainer sets it in each pod",
            )


def _finding(
    work: Work, what: str, at: Route, label: str, help: str, severity: Severity | None = None
) -> Finding:
    spec_help = help
    if work.exported:
        spec_help = "remove it: the script of the job exports what torchrun reads on each node"
    return Finding(
        f"{work.title} has {work.nodes} nodes, and {what}",
        at,
        label=label,
        help=help,
        spec_help=spec_help,
        severity=severity,
    )
