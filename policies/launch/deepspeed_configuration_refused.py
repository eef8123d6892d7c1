from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from trainyard.core.jobs.plan import TrainingState
from trainyard.judge.model.command import named_options
from trainyard.judge.model.files import File, file_of
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World

_OPTIONS = ("deepspeed", "deepspeed-config", "ds-config")
# Ranks that share a model see fewer batches than there are ranks (Megatron-LM, training/arguments.py).
_SHARED = ("tensor-model-parallel-size", "pipeline-model-parallel-size", "model-parallel-size")
_BATCH = "train_batch_size"
_MICRO = "train_micro_batch_size_per_gpu"
_STEPS = "gradient_accumulation_steps"


@rule("RUN066", pods=True, roles=True)
def deepspeed_configuration_refused(work: Work, world: World) -> Iterator[Finding]:
    """The configuration of DeepSpeed is one that it refuses when the program starts.

    `train_batch_size` is `train_micro_batch_size_per_gpu` × `gradient_accumulation_steps` × all ranks, and fp16 and
    bf16 are not both on (DeepSpeed 0.17, runtime/config.py). Read is a file of the job, or of a ConfigMap of the set
    that is mounted at the path of `--deepspeed` or `--deepspeed_config`. What is `auto` is left to the program.

    ## Fails

        jobs: [{name: llama, command: [torchrun, train.py, --deepspeed=/etc/zero.json], files: {/etc/zero.json:
          '{"train_batch_size": 100, "train_micro_batch_size_per_gpu": 1, "gradient_accumulation_steps": 4}'}}]

        jobs: [{name: llama, command: [torchrun, train.py, --deepspeed=/etc/zero.json], files: {/etc/zero.json:
          '{"fp16": {"enabled": true}, "bf16": {"enabled": true}}'}}]

        jobs: [{name: llama, command: [torchrun, train.py, --deepspeed=/etc/zero.json], files: {/etc/zero.json:
          '{"train_batch_size": 8,}'}}]

        apiVersion: v1
        kind: ConfigMap
        metadata: {name: zero, namespace: team-a}
        data: {zero.json: '{"train_batch_size": 12, "gradient_accumulation_steps": 4}'}
        ---
        apiVersion: batch/v1
        kind: Job
        metadata: {name: llama, namespace: team-a}
        spec:
          template:
            spec:
              restartPolicy: Never
              containers:
                - name: train
                  image: registry.example/train:1.0
                  command: [torchrun, train.py, --deepspeed=/etc/deepspeed/zero.json]
                  volumeMounts: [{name: zero, mountPath: /etc/deepspeed/}, {name: shm, mountPath: /dev/shm}]
                  resources: {limits: {nvidia.com/gpu: 8, cpu: 90, memory: 900Gi}}
              volumes:
                - {name: zero, configMap: {name: zero}}
                - {name: shm, emptyDir: {medium: Memory, sizeLimit: 64Gi}}

    ## Passes

        jobs: [{name: llama, nodes: 2, command: [torchrun, train.py, --deepspeed_config, /etc/deepspeed/config.json],
          model: {parameters: 8.03e9, sharding: full, parallel: {tensor: 8}},
          deepspeed: {trainBatchSize: 64, microBatchSize: 4}}]

        jobs: [{name: llama, nodes: 2, command: [torchrun, train.py, --deepspeed_config, /z.json], files: {/z.json:
          '{"train_batch_size": 64, "train_micro_batch_size_per_gpu": 1, "gradient_accumulation_steps": 4}'}}]

        jobs: [{name: llama, command: [torchrun, train.py, --deepspeed=/etc/zero.json], files: {/etc/zero.json:
          '{"train_batch_size": "auto", "bf16": {"enabled": true}, "zero_optimization": {"stage": 3}}'}}]

        jobs: [{name: llama, nodes: 2, command: [torchrun, train.py, --deepspeed=/etc/z.json], files: {/etc/z.json:
          '{"train_batch_size": 64, "gradient_accumulation_steps": 4}'},
          model: {parameters: 8.03e9, sharding: full, parallel: {tensor: 8, pipeline: 2}}}]
        patches: [{target: {kind: TrainJob}, patch: {spec: {trainer: {numNodes: 1}}}}]
    """
    said = named_options(work.words)
    if said.keys().isdisjoint(_OPTIONS):
        return
    paths = (said[name] for name in _OPTIONS if said.get(name))
    path = next(paths, None)
    if not path or not path.endswith(".json"):
        return
    file = file_of(work, world, path)
    if file is None:
        return
    try:
        configuration = json.loads(file.text)
    except json.JSONDecodeError as problem:
        yield Finding(
            f"the configuration of DeepSpeed of {work.title} is not JSON: {problem.msg.lower()} in line "
            f"{problem.lineno}",
            file.at,
            help="correct the file",
        )
        return
    if isinstance(configuration, dict):
        yield from _of_formats(work, file, configuration)
        shared = any(name in said for name in _SHARED)
        if not shared:
            sharing = _sharing(work, world)
            yield from _of_batches(work, file, configuration, sharing)


def _of_formats(work: Work, file: File, configuration: dict[str, Any]) -> Iterator[Finding]:
    if all(_is_on(configuration.get(name)) for name in ("fp16", "bf16")):
        yield Finding(
            f"the configuration of DeepSpeed of {work.title} has fp16 and bf16 enabled",
            file.at,
            help="enable one of the two: bf16 on A100 and newer",
        )


def _is_on(section: Any) -> bool:
    return isinstance(section, dict) and section.get("enabled") is True


def _sharing(work: Work, world: World) -> int:
    """The ranks that share a copy of the model, and so a batch, where a spec says that."""
    for state in world.plan.of(TrainingState):
        if (state.name, state.namespace) == (work.name, work.namespace):
            return state.sharing
    return 1


def _of_batches(
    work: Work, file: File, configuration: dict[str, Any], sharing: int
) -> Iterator[Finding]:
    ranks = _ranks(work)
    if ranks is not None:
        ranks //= sharing  # 0: a patch left fewer ranks than a model is divided over
    whole, micro, steps = (_count(configuration, name) for name in (_BATCH, _MICRO, _STEPS))
    if not ranks or whole is None:
        return
    if micro is None and steps is None:
        return
    unit = (micro or 1) * (steps or 1) * ranks
    if micro and steps:
        fits = whole == unit
        wanted = f"`{unit}`"
    else:
        fits = whole % unit == 0
        wanted = f"a multiple of {unit}"
    if not fits:
        factors = [f"{ranks} ranks"]
        if micro:
            factors.append(f"{_MICRO} {micro}")
        if steps:
            factors.append(f"{_STEPS} {steps}")
        shown = ", ".join(factors)
        yield Finding(
            f"the configuration of DeepSpeed of {work.title} has a {_BATCH} of {whole}, with {shown}",
            file.at,
            help=f'write {wanted}, or remove "{_BATCH}": DeepSpeed derives it',
        )


def _ranks(work: Work) -> int | None:
    """All ranks of the job, as far as they are known: one for each accelerator."""
    if work.nodes is None or work.accelerator is None:
        return None
    _, accelerators = work.accelerator
    processes = work.processes
    if isinstance(processes, int):
        each_node = processes
    else:
        each_node = accelerators
    return work.nodes * each_node


def _count(configuration: dict[str, Any], name: str) -> int | None:
    value = configuration.get(name)
    if type(value) is int and value > 0:
        return value
    return None
