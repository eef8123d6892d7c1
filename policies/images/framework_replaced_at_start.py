from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.judge.model.images import known
from trainyard.judge.model.shell import Command, commands_of, is_pip_install
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity
from trainyard.plan import Plan

_REQUIREMENT = r"torch(?=$|[<>=!~\[@ ])"
_LEFT_ALONE = ("-c", "--constraint", "--no-deps")


@rule("RUN072", severity=Severity.WARNING)
def framework_replaced_at_start(plan: Plan) -> Iterator[Finding]:
    """A job installs PyTorch over the one that its image was built with.

    The PyTorch of NVIDIA's containers is their own build, against the CUDA, NCCL and libraries of the image, and is of
    no version that PyPI has (NVIDIA, PyTorch containers, release notes); that of AWS' Deep Learning Containers goes
    with its EFA and NCCL. A wheel of PyPI in its place brings its own CUDA and NCCL, and the extensions of the image
    no longer fit.

    ## Fails

        apiVersion: batch/v1
        kind: Job
        metadata: {name: evaluate, namespace: team-a}
        spec: {template: {spec: {restartPolicy: Never, containers: [{name: evaluate,
          image: "nvcr.io/nvidia/pytorch:25.06-py3",
          command: [bash, -c, "pip install 'torch>=2.4.0' peft && python evaluate.py"]}]}}}

    ## Passes

        jobs: [{name: llama, image: "nvcr.io/nvidia/pytorch:25.06-py3",
          command: [bash, -c, "pip install -c /etc/pip/constraint.txt torch peft && exec torchrun train.py"]}]

        jobs: [{name: llama, image: "nvcr.io/nvidia/pytorch:25.06-py3",
          command: [bash, -c, "pip install torchmetrics && exec torchrun train.py"]}]

        jobs: [{name: llama, image: "docker.io/library/python:3.12",
          command: [bash, -c, "pip install torch==2.12.0 && exec torchrun train.py"]}]
    """
    for said in plan.once(commands_of):
        facts = known(plan, said.image)
        if facts is None or not facts.own_torch:
            continue
        named = _torch(said.words)
        if named:
            yield Finding(
                f"{said.title} installs `{named}` over the PyTorch of its image",
                said.at,
                label="another CUDA and NCCL than the image's",
                help="leave it out, or take an image with the version that is needed",
            )


def _torch(words: Command) -> str:
    """The requirement of PyTorch itself that pip is given; empty where a constraint may keep what is there."""
    if not is_pip_install(words):
        return ""
    if any(word in _LEFT_ALONE for word in words):
        return ""
    requirements = (word for word in words if re.match(_REQUIREMENT, word))
    return next(requirements, "")
