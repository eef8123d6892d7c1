"""What a rule leaves to another one is found by it: each comment that says "CODE reports it" has an input on which the
rule comes to that line, and the other one finds something.

The inputs are the examples of both rules' pages, and those of the table here.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import pytest
from drawn import drawn
from trainyard.catalog import load_catalog
from trainyard.judge.policy.engine import run
from trainyard.judge.policy.rule import Rule
from trainyard.run.examples.rehearse import UnusableExampleError, config_for

from tests.policy.harness import TODAY, builtin_rules, lifted

pytestmark = pytest.mark.slow

RULES = {rule.code: rule for rule in builtin_rules()}
CODES = r"[A-Z]{3}[0-9]{3}(?:(?:, | and | or )[A-Z]{3}[0-9]{3})*"
CLAIM = re.compile(rf"#.*?\b({CODES}),? (?:already )?(?:reports?|finds?|says?|tells?)\b")


class Claim(NamedTuple):
    """A line of a rule that leaves a case to others."""

    rule: str
    line: int
    others: tuple[str, ...]


def claims() -> Iterator[Claim]:
    """Each claim of a comment, with the line of code that it is about: its own, or the first one below."""
    for rule in RULES.values():
        lines = Path(rule.file).read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, 1):
            found = CLAIM.search(line)
            if found is None:
                continue
            while lines[number - 1].lstrip().startswith("#"):
                number += 1
            others = re.findall(r"[A-Z]{3}[0-9]{3}", found[1])
            yield Claim(rule.code, number, tuple(code for code in others if code in RULES))


INPUTS: Mapping[tuple[str, str], str] = {
    ("EFA011", "EFA010"): """
nodePools: [{name: gpu, instanceTypes: [p3dn.24xlarge]}]
jobs: [{name: llama, env: {FI_EFA_USE_DEVICE_RDMA: "1"}}]
""",
    ("RUN024", "ACC014"): """
apiVersion: v1
kind: ConfigMap
metadata: {name: hub, namespace: team-a}
data: {HF_TOKEN: hf_abcdefghijklmnopqrstuvwxyz}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: torch-gpu-1}
spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {
  containers: [{name: node, envFrom: [{configMapRef: {name: hub}}]}]}}}}}]}}}
""",
    ("HLT013", "HLT079"): """
apiVersion: batch/v1
kind: Job
metadata: {name: tune, namespace: team-a}
spec:
  completionMode: Indexed
  completions: 2
  parallelism: 2
  template:
    metadata: {annotations: {cluster-autoscaler.kubernetes.io/safe-to-evict: "false"}}
    spec:
      restartPolicy: Never
      nodeSelector: {karpenter.sh/nodepool: gpu}
      containers: [{name: tune, image: "registry.example/tune:1.0", command: [torchrun, tune.py],
        resources: {limits: {nvidia.com/gpu: 8}}}]
""",
    ("PLC003", "PLC002"): """
apiVersion: karpenter.sh/v1
kind: NodePool
spec: {template: {spec: {requirements: [
  {key: topology.kubernetes.io/zone, operator: In, values: [us-west-2b, us-east-1a]}]}}}
""",
    ("QUE002", "PLC014"): """
apiVersion: karpenter.sh/v1
kind: NodePool
spec:
  template: {spec: {requirements: [
    {key: node.kubernetes.io/instance-type, operator: In, values: [p5e.48xlarge]},
    {key: topology.kubernetes.io/zone, operator: In, values: [us-west-2a]}]}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
spec: {nodeLabels: {karpenter.sh/nodepool: gpu, topology.kubernetes.io/zone: us-west-2b}}
""",
    (
        "RUN011",
        "LIM008",
    ): "jobs: [{name: llama, resources: {accelerators: 4}, processesPerNode: 8}]",
    ("RUN023", "QUE018"): """
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {namespace: team-b}
spec: {runtimeRef: {kind: TrainingRuntime, name: other}}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainingRuntime
metadata: {name: other, namespace: team-a}
spec: {mlPolicy: {numNodes: 4}}
""",
}
"""By rule and the other one, an input where no example of theirs comes to the line."""
ELSEWHERE: Mapping[tuple[str, str], str] = {
    ("RUN062", "RUN177"): "the comment is of a pattern, which no input comes to"
}
"""By rule and the other one, why no input can show it here."""


@cache
def reached(code: str, text: str) -> frozenset[int]:
    """The lines of a rule's file that are run when it judges an input."""
    rule = RULES[code]
    lines = set()

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename != rule.file:
            return None
        if event == "line":
            lines.add(frame.f_lineno)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        is_found(rule, text)
    finally:
        sys.settrace(before)
    return frozenset(lines)


judged = cache(lifted)


def is_found(rule: Rule, text: str) -> bool:
    try:
        plan, manifests = judged(text)
        own = text in (*rule.fails, *rule.passes)
        config = config_for(rule, text if own else "", TODAY)
    except UnusableExampleError:
        return False
    return bool(run(plan, load_catalog(), (rule,), config, manifests))


def inputs(claim: Claim, other: str) -> Iterator[str]:
    own, others = RULES[claim.rule], RULES[other]
    if (claim.rule, other) in INPUTS:
        yield INPUTS[claim.rule, other]
    yield from (*others.fails, *own.passes, *own.fails)


def is_shown(claim: Claim, other: str) -> bool:
    return any(
        claim.line in reached(claim.rule, text) and is_found(RULES[other], text)
        for text in inputs(claim, other)
    )


CASES = [(claim, other) for claim in claims() for other in claim.others]


def test_what_is_left_to_another_rule_is_found_by_it() -> None:
    assert len(CASES) > 25
    not_shown = {
        (claim.rule, other): claim.line
        for claim, other in drawn(CASES)
        if not is_shown(claim, other)
    }
    assert not_shown.keys() == ELSEWHERE.keys(), not_shown
