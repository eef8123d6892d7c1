from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.judge.model.programs import programs
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.plan import Plan

_BARE = (
    r"\b(?:dcp|dist_cp|checkpoint)\.(?:async_)?save\(\s*\{"
    r"[^{}]*[\"']optim(?:izer)?[\"']\s*:\s*optim(?:izer)?\s*[,}]"
)


@rule("RUN087", severity=Severity.WARNING)
def module_saved_without_state_dict(plan: Plan, world: World) -> Iterator[Finding]:
    """A program in a manifest gives its optimizer itself to `torch.distributed.checkpoint`.

    The state of an optimizer is by the numbers of its parameters then, which another number of ranks does not have:
    `get_state_dict` of `torch.distributed.checkpoint.state_dict` has it by their names, and `set_state_dict` reads it
    with any number of ranks (PyTorch 2.12, distributed checkpoint state dict). Read from commands, and from files of
    ConfigMaps whose name ends in `.py` or `.sh`.

    ## Fails

        apiVersion: v1
        kind: ConfigMap
        metadata: {name: code, namespace: team-a}
        data:
          train.py: |
            dcp.save({"model": model, "optimizer": optimizer}, checkpoint_id="/data/llama/5")

    ## Passes

        apiVersion: v1
        kind: ConfigMap
        metadata: {name: code, namespace: team-a}
        data:
          train.py: |
            model_state, optimizer_state = get_state_dict(model, optimizer)
            dcp.save({"model": model_state, "optimizer": optimizer_state}, checkpoint_id="/data/llama/5")
    """
    for program in programs(plan, world.manifests, "save(", "optim"):
        if re.search(_BARE, program.text):
            yield Finding(
                f"{program.title} saves its optimizer as it is, and not by `get_state_dict`",
                program.at,
                label="another number of ranks cannot load it",
                help="save what `get_state_dict(model, optimizer)` gives",
            )
