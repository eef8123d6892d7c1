from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.judge.model.programs import programs
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.plan import Plan

_SHARDED = r"\b(?:FullyShardedDataParallel|FSDP|fully_shard)\b"
_SAVE = r"\btorch\.save\("
_FIRST_RANK = r"\brank\s*==\s*0|\bis_main_process\b|\bget_rank\(\)\s*==\s*0|not\s+\w*rank\b"
_WHOLE = ("FULL_STATE_DICT", "full_state_dict")


@rule("RUN086", severity=Severity.WARNING)
def state_saved_by_one_rank(plan: Plan, world: World) -> Iterator[Finding]:
    """A program in a manifest shards its model by FSDP, and one rank saves it.

    `state_dict()` of an FSDP model that is gathered on rank 0 needs the memory of the whole model there, and all other
    ranks wait while one writes; without the gathering it is the shard of that rank alone. With
    `torch.distributed.checkpoint` each rank writes its shard (PyTorch 2.12, distributed checkpoint). Read from
    commands, and from files of ConfigMaps whose name ends in `.py` or `.sh`.

    ## Fails

        apiVersion: v1
        kind: ConfigMap
        metadata: {name: code, namespace: team-a}
        data:
          train.py: |
            model = FSDP(model)
            if rank == 0:
                torch.save({"model": model.state_dict()}, "/data/llama/model.pt")

    ## Passes

        apiVersion: v1
        kind: ConfigMap
        metadata: {name: code, namespace: team-a}
        data:
          train.py: |
            model = FSDP(model)
            dcp.save(get_state_dict(model, optimizer), checkpoint_id="/data/llama/5")
            if rank == 0:
                print("saved")
    """
    for program in programs(plan, world.manifests, "torch.save(", "state_dict"):
        text = program.text
        save = re.search(_SAVE, text)
        if save is None or not re.search(_SHARDED, text):
            continue
        if re.search(_FIRST_RANK, text[: save.start()]):
            whole = any(name in text for name in _WHOLE)
            yield Finding(
                f"{program.title} shards a model, and saves it by `torch.save` on one rank",
                program.at,
                label="the others wait" if whole else "the shard of one rank, or the memory of all",
                help="save by `torch.distributed.checkpoint`: each rank writes its shard",
            )
