from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.jobs.plan import TrainingState
from trainyard.judge.model.degrees import Degree, degrees_of
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World


@rule("RUN096")
def parallel_degrees_differ_from_model(state: TrainingState, world: World) -> Iterator[Finding]:
    """The command of a job divides its model differently from `model.parallel`.

    The program does what its options say. What is judged by the spec is another model then: whether it fits the memory
    of the accelerators, whether the ranks that divide a layer are in one node, the batch of DeepSpeed. Read are the
    options of Megatron-LM (megatron/training/arguments.py, core_v0.14), of which those that are not given are 1, and of
    TorchTitan (torchtitan/config/job_config.py, 000204a4), of which those that are not given may stand in its file. A
    model without `parallel` says that each degree is 1.

    ## Fails

        jobs: [{name: llama, command: [torchrun, pretrain.py, --tensor-model-parallel-size=4,
          --pipeline-model-parallel-size=4], model: {parameters: 8e9, parallel: {tensor: 8, pipeline: 4}}}]

        jobs: [{name: llama, command: [torchrun, pretrain.py, --pipeline-model-parallel-size=4],
          model: {parameters: 8e9, sharding: full, parallel: {tensor: 8, pipeline: 4}}}]

        jobs: [{name: llama, command: [torchrun, -m, torchtitan.train, --parallelism.tensor_parallel_degree=4],
          model: {parameters: 8e9, sharding: full, parallel: {tensor: 8}}}]

        jobs: [{name: llama, command: [torchrun, pretrain.py, --tensor-model-parallel-size=8],
          model: {parameters: 8e9, sharding: full}}]

    ## Passes

        jobs: [{name: llama, command: [torchrun, pretrain.py, --tensor-model-parallel-size=8,
          --pipeline-model-parallel-size=4], model: {parameters: 8e9, parallel: {tensor: 8, pipeline: 4}}}]

        jobs: [{name: llama, command: [torchrun, -m, torchtitan.train, --parallelism.tensor_parallel_degree=8],
          model: {parameters: 8e9, sharding: full, parallel: {tensor: 8, context: 2}}}]

        jobs: [{name: llama, command: [torchrun, pretrain.py, --tensor-model-parallel-size=8]}]
    """
    for work in world.works_named(state.name, state.namespace):
        yield from _of_job(state, work)


def _of_job(state: TrainingState, work: Work) -> Iterator[Finding]:
    of_model = {"tensor": state.tensor, "pipeline": state.pipeline, "context": state.context}
    degrees = list(degrees_of(work))
    for degree in degrees:
        wanted = of_model[degree.name]
        if degree.ranks == wanted:
            continue
        option = _option(degree, degrees)
        place = state.where(degree.name)
        asked = f"{degree.name} {wanted}"
        parallel = f"{degree.name}: {degree.ranks}"
        yield Finding(
            f"the command of {work.title} has {_said(degree)}, and its model {asked}",
            work.where_said(option),
            label="the program does what its options say",
            help=f"write `--{degree.option}={wanted}`, or `{parallel}` in the model's `parallel`",
            also=((place, asked),),
        )


def _said(degree: Degree) -> str:
    if degree.given:
        return f"`--{degree.option}` {degree.ranks}"
    return f"no `--{degree.option}`, which is 1 then"


def _option(degree: Degree, degrees: list[Degree]) -> str:
    """The option that shows the place: its own, or the first one where it is not given."""
    shown = degree
    if not degree.given:
        shown = next(other for other in degrees if other.given)
    return f"--{shown.option}"
