from __future__ import annotations

import re
from collections.abc import Iterator

from compiler.diagnostics import Severity
from compiler.manifest import Manifest
from compiler.model.values import mapping
from compiler.plan import Plan
from compiler.policy.rule import Finding, rule
from compiler.policy.world import World
from compiler.source import Route
from compiler.subjects.jobs.plan import Runtime, TrainJob
from compiler.subjects.workloads.plan import Workload

_HINT = "resume_from_checkpoint"
_ALWAYS = r"\bresume_from_checkpoint\s*=\s*True\b(?!\s+if\b)"
_GUARDS = (
    "get_last_checkpoint",
    "isdir",
    "exists(",
    "listdir",
    "glob(",
    "is_dir(",
    "except",
)
_NEAR = 160
# Characters before the call in which an `if` may stand that is about it.
_HELP = "resume only if there is one: `resume_from_checkpoint=get_last_checkpoint(output_dir)`"


@rule("RUN075", severity=Severity.WARNING)
def resume_without_checkpoint(plan: Plan, world: World) -> Iterator[Finding]:
    """A program in a manifest resumes from a checkpoint that its first run does not have.

    `trainer.train(resume_from_checkpoint=True)` of Transformers ends with "No valid checkpoint found in output
    directory" where there is none (transformers 5, trainer.py); `get_last_checkpoint` gives `None` then, and training
    begins. Read from commands and from files of ConfigMaps whose name ends in `.py` or `.sh`, where nothing there asks
    whether there is a checkpoint.

    ## Fails

        apiVersion: v1
        kind: ConfigMap
        metadata: {name: code, namespace: team-a}
        data:
          train.py: |
            trainer = Trainer(model=model, args=TrainingArguments(output_dir="/data/llama"))
            trainer.train(resume_from_checkpoint=True)

        jobs: [{name: llama, command: [bash, -c, "python -c 'Trainer(model=m).train(resume_from_checkpoint=True)'"]}]

    ## Passes

        apiVersion: v1
        kind: ConfigMap
        metadata: {name: code, namespace: team-a}
        data:
          train.py: |
            last = get_last_checkpoint("/data/llama")
            trainer.train(resume_from_checkpoint=True if last else None)
    """
    for title, at, text in _programs(plan, world):
        if _HINT not in text or any(guard in text for guard in _GUARDS):
            continue
        call = re.search(_ALWAYS, text)
        if call and "if " not in text[max(0, call.start() - _NEAR) : call.start()]:
            yield Finding(
                f"{title} resumes from a checkpoint, which its first run does not have",
                at,
                label="`resume_from_checkpoint=True`",
                help=_HELP,
            )


def _programs(plan: Plan, world: World) -> Iterator[tuple[str, Route, str]]:
    """The texts of programs: whose each is, its place, and what it says."""
    for manifest in world.manifests:
        if manifest.ref.kind == "ConfigMap":
            yield from _files(manifest)
    for job in plan.of(TrainJob):
        title = f"job `{job.identity.name}`"
        for field, words in (("command", job.command), ("args", job.args)):
            for index, word in enumerate(words):
                yield title, job.where(field) / index, word
    pods = [
        (f"runtime `{runtime.name}`", replicated.pod)
        for runtime in plan.of(Runtime)
        for replicated in runtime.jobs
    ]
    pods += [
        (f"job `{workload.name}`", part.pod)
        for workload in plan.of(Workload)
        for part in workload.pods
    ]
    for title, pod in pods:
        for container in pod.containers:
            for field, words in (
                ("command", container.command),
                ("args", container.args),
            ):
                for index, word in enumerate(words):
                    yield title, container.where(field) / index, word


def _files(manifest: Manifest) -> Iterator[tuple[str, Route, str]]:
    for name, text in mapping(manifest.body, "data").items():
        if str(name).endswith((".py", ".sh")) and isinstance(text, str):
            at = Route((manifest.id, "data", name))
            yield f"`{name}` of ConfigMap `{manifest.ref.name}`", at, text
