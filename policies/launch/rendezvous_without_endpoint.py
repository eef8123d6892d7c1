from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.judge.model.command import launches, named_options
from trainyard.judge.model.gangs import is_elastic
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.places import Route


@rule("RUN009", gangs=True, roles=True)
def rendezvous_without_endpoint(work: Work) -> Iterator[Finding]:
    """torchrun on several nodes uses c10d without an endpoint.

    With `--rdzv-backend=c10d` and no `--rdzv-endpoint` each node opens a store on its own localhost and waits there
    for the others (PyTorch, torchrun); so it does with an endpoint on `localhost`. Trainer sets `PET_MASTER_ADDR`,
    which c10d does not read.

    ## Fails

        jobs: [{name: llama, command: [torchrun, --rdzv_backend=c10d, train.py], env: {PET_RDZV_ENDPOINT: ""}}]

        jobs: [{name: llama, command: [torchrun, --rdzv_backend=c10d, "--rdzv_endpoint=localhost:29500", train.py]}]

    ## Passes

        jobs: [{name: llama, command: [torchrun, --rdzv_backend=c10d, train.py]}]
    """
    if not work.gang or not launches(work.words):
        return
    if work.own_sets and is_elastic(work):
        return  # the operator sets `PET_RDZV_ENDPOINT` (training-operator v1.9.4, pkg/controller.v1/pytorch/elastic.go)
    given = named_options(work.words)
    said = work.variables  # torchrun reads each option from PET_*
    backend = given.get("rdzv-backend") or said.get("PET_RDZV_BACKEND")
    endpoint = given.get("rdzv-endpoint") or said.get("PET_RDZV_ENDPOINT", "")
    if backend != "c10d" or endpoint is None:
        return
    if endpoint.partition(":")[0] in ("", *_ITSELF):
        what = f"endpoint `{endpoint}`" if endpoint else "no endpoint"
        at, written = _place(work, given, said)
        yield Finding(
            f"{work.title} runs torchrun on {work.nodes} nodes with c10d and {what}",
            at,
            label="each node waits for itself",
            help=_help(work),
            spec_help=f"remove {written}: the endpoint is set for the job",
        )


def _place(
    work: Work, given: Mapping[str, str | None], said: Mapping[str, str | None]
) -> tuple[Route, str]:
    """Where the endpoint is said, or else the backend, and how it is called there."""
    for option, variable in (
        ("rdzv-endpoint", "PET_RDZV_ENDPOINT"),
        ("rdzv-backend", "PET_RDZV_BACKEND"),
    ):
        if given.get(option):
            return work.where_said(option), f"`--{option}`"
        if variable in said:
            return work.where_env(variable), f"`{variable}`"
    return work.where("command"), "what overwrites it"


def _help(work: Work) -> str:
    if work.own_sets:
        return "add `--rdzv-endpoint=HOST:29500` with the host of the first pod"
    if work.has_pods:
        return "add `--rdzv-endpoint=$(PET_MASTER_ADDR):$(PET_MASTER_PORT)`"
    words = work.node_words
    if not words.first_host:
        return f"add `--rdzv-endpoint=HOST:29500` with {words.first}"
    return f"add `--rdzv-endpoint=$head:29500` with the first node: `head={words.first_host}`"


_ITSELF = ("localhost", "127.0.0.1", "0.0.0.0")  # noqa: S104  # what is read, not bound
