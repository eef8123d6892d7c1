from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.catalog.deepspeed import keys
from trainyard.judge.model.command import options
from trainyard.judge.model.files import file_of
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.diagnostics.near import near

_OPTIONS = ("deepspeed", "deepspeed-config", "ds-config")
_ZERO = "zero_optimization"


@rule("RUN138", severity=Severity.WARNING, pods=True, roles=True)
def deepspeed_key_misspelt(work: Work, world: World) -> Iterator[Finding]:
    """A key of DeepSpeed's configuration is spelt almost like one that DeepSpeed reads.

    DeepSpeed passes over keys at the top that it does not know (DeepSpeed 0.17, runtime/config.py): with
    `zero_optimisation` a model of 70B is sharded by nobody, and ends out of memory. Read is a file of the job, or of a
    ConfigMap of the set that is mounted at the path of `--deepspeed` or `--deepspeed_config`.

    ## Fails

        jobs: [{name: llama, command: [torchrun, train.py, --deepspeed=/etc/zero.json],
          files: {/etc/zero.json: '{"zero_optimisation": {"stage": 3}}'}}]

        jobs: [{name: llama, command: [torchrun, train.py, --deepspeed=/etc/zero.json],
          files: {/etc/zero.json: '{"zero_optimization": {"stage": 3, "overlap_com": true}}'}}]

    ## Passes

        jobs: [{name: llama, command: [torchrun, train.py, --deepspeed=/etc/zero.json],
          files: {/etc/zero.json: '{"zero_optimization": {"stage": 3}, "bf16": {"enabled": true}}'}}]
    """
    for name, path in options(work.words):
        if name not in _OPTIONS or not path:
            continue
        file = file_of(work, world, path)
        if file is None:
            continue
        for key, meant in _misspelt(file.text):
            yield Finding(
                f"`{key}` in `{path}` of {work.title} is no key of DeepSpeed",
                file.at,
                label="passed over",
                help=f"did you mean `{meant}`?",
            )


def _misspelt(text: str) -> Iterator[tuple[str, str]]:
    try:
        config = json.loads(text)
    except ValueError:
        return
    yield from _among(config, keys("top"))
    if isinstance(config, dict):
        yield from _among(config.get(_ZERO), keys(_ZERO))


def _among(config: Any, known: frozenset[str]) -> Iterator[tuple[str, str]]:
    if not isinstance(config, Mapping):
        return
    for key in config:
        if key in known:
            continue
        nearest = near(str(key), known, limit=1)
        if nearest:
            yield str(key), nearest[0]
