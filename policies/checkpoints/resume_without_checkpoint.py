from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.judge.model.programs import programs
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.plan import Plan

_HINT = "resume_from_checkpoint"
_ALWAYS = r"\bresume_from_checkpoint\s*=\s*True\b(?!\s+if\b)"
_GUARDS = ("get_last_checkpoint", "isdir", "exists(", "listdir", "glob(", "is_dir(", "except")
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
    for program in programs(plan, world.manifests, _HINT):
        text = program.text
        if any(guard in text for guard in _GUARDS):
            continue
        call = re.search(_ALWAYS, text)
        if not call:
            continue
        start = call.start()
        before = text[max(0, start - _NEAR) : start]
        if "if " not in before:
            yield Finding(
                f"{program.title} resumes from a checkpoint, which its first run does not have",
                program.at,
                label="`resume_from_checkpoint=True`",
                help=_HELP,
            )
