from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.affinity import Expression, affinities
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.plan import Plan

# Labels that kubelet and the cloud provider give every node (Kubernetes 1.36, well-known labels).
_ON_EVERY_NODE = frozenset(
    {
        "kubernetes.io/hostname",
        "kubernetes.io/os",
        "kubernetes.io/arch",
        "node.kubernetes.io/instance-type",
        "topology.kubernetes.io/region",
        "topology.kubernetes.io/zone",
    }
)


@rule("PLC058")
def affinity_excludes_every_node(plan: Plan, world: World) -> Iterator[Finding]:
    """The node affinity of a pod is one that no node meets, or that the API refuses.

    `DoesNotExist` asks for nodes without the label, whatever its value: of a label that every node has there is none.
    It takes no values, nor does `Exists`; the API server refuses them ("may not be specified when `operator` is
    'Exists' or 'DoesNotExist'", Kubernetes 1.36, ValidateNodeSelectorRequirement), in the pods of operators only when
    these are created. To keep away from one node, `NotIn` takes its name.

    ## Fails

        apiVersion: batch/v1
        kind: Job
        metadata: {name: evaluate, namespace: team-a}
        spec:
          template:
            spec:
              restartPolicy: Never
              containers: [{name: evaluate, image: "public.ecr.aws/team/python:3.12", command: [python, evaluate.py]}]
              affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
                {matchExpressions: [{key: kubernetes.io/hostname, operator: DoesNotExist}]}]}}}

        apiVersion: batch/v1
        kind: Job
        metadata: {name: evaluate, namespace: team-a}
        spec:
          template:
            spec:
              restartPolicy: Never
              containers: [{name: evaluate, image: "public.ecr.aws/team/python:3.12", command: [python, evaluate.py]}]
              affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
                {matchExpressions: [{key: example.com/gpu-id, operator: DoesNotExist, values: [GPU-4f1c]}]}]}}}

        apiVersion: batch/v1
        kind: Job
        metadata: {name: evaluate, namespace: team-a}
        spec:
          template:
            spec:
              restartPolicy: Never
              containers: [{name: evaluate, image: "public.ecr.aws/team/python:3.12", command: [python, evaluate.py]}]
              affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference:
                {matchExpressions: [{key: kubernetes.io/hostname, operator: DoesNotExist, values: [node-a]}]}}]}}

    ## Passes

        apiVersion: batch/v1
        kind: Job
        metadata: {name: evaluate, namespace: team-a}
        spec:
          template:
            spec:
              restartPolicy: Never
              containers: [{name: evaluate, image: "public.ecr.aws/team/python:3.12", command: [python, evaluate.py]}]
              affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
                {matchExpressions: [{key: kubernetes.io/hostname, operator: NotIn, values: [ip-10-0-1-2.ec2.internal]},
                  {key: example.com/bad, operator: DoesNotExist}]}]}}}
    """
    for affinity in affinities(world):
        for term in affinity.nodes:
            for expression in term:
                yield from _judged(affinity.title, expression)
        for term in affinity.preferred:
            for expression in term:
                if expression.values:
                    yield from _judged(affinity.title, expression)


def _judged(title: str, expression: Expression) -> Iterator[Finding]:
    key, operator = expression.key, expression.operator
    if operator in ("Exists", "DoesNotExist") and expression.values:
        right = "In" if operator == "Exists" else "NotIn"
        yield Finding(
            f"`{operator}` of `{key}` has values in the node affinity of {title}",
            expression.at / "values",
            label="the API refuses the pods",
            help=f"write `operator: {right}`, or remove the values",
        )
    elif operator == "DoesNotExist" and key in _ON_EVERY_NODE:
        yield Finding(
            f"{title} asks for nodes without `{key}`, which every node has",
            expression.at,
            label="its pods stay Pending",
            help="write `operator: NotIn` with the values to keep away from",
        )
