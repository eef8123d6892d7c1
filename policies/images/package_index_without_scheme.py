from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trainyard.judge.model.shell import commands_of, is_pip_install, option_values
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity
from trainyard.plan import Plan

_MAIN = ("-i", "--index-url", "--default-index")
_EXTRA = ("--extra-index-url", "--index")
_HOST = r"[\w-]+(?:\.[\w-]+)+(?::[0-9]+)?(?:/|$)"


@rule("RUN088")
def package_index_without_scheme(plan: Plan) -> Iterator[Finding]:
    """pip is given a package index without a scheme, and ignores it.

    "Location … is ignored: it is either a non-existing path or lacks a specific scheme" (pip 25, index/sources.py).
    Where it is the only index, nothing is found. Where it is one more (a warning), the packages come from PyPI, which
    may have others of the same name.

    ## Fails

        jobs: [{name: llama, initContainers: [{name: code, image: "public.ecr.aws/team/python:3.12",
          command: [bash, -c, "pip install -i pypi.example.com/simple -t /code peft"]}]}]

        apiVersion: batch/v1
        kind: Job
        metadata: {name: evaluate, namespace: team-a}
        spec: {template: {spec: {restartPolicy: Never, containers: [{name: evaluate,
          image: "public.ecr.aws/team/python:3.12",
          command: [bash, -c, "python3 -m pip install ipex --extra-index-url=pytorch-extension.intel.com"]}]}}}

    ## Passes

        jobs: [{name: llama, command: [bash, -c, "pip install -i https://pypi.example.com/simple a && torchrun a.py"]}]

        jobs: [{name: llama, command: [bash, -c, "pip install -i /mnt/simple peft && exec torchrun a.py"]}]

        jobs: [{name: llama, command: [bash, -c, "pip install -i ./wheels.local/ peft && exec torchrun a.py"]}]
    """
    for said in plan.once(commands_of):
        if not is_pip_install(said.words):
            continue
        for options, severity in ((_MAIN, None), (_EXTRA, Severity.WARNING)):
            index = _ignored(list(option_values(said.words, *options)))
            if index:
                yield Finding(
                    f"{said.title} installs from `{index}`, which pip ignores",
                    said.at,
                    label="no URL, and no folder",
                    help=f"write `https://{index}`",
                    severity=severity,
                )


def _ignored(indexes: Sequence[str]) -> str:
    """The first index that is the name of a host."""
    return next((index for index in indexes if re.match(_HOST, index)), "")
