from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from trainyard.catalog.images import ImageFacts
from trainyard.core.pods.plan import GPU, NEURON
from trainyard.judge.model.images import known, runs
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity

_NEURON = r"neuron|(^|[-_.:])(trn|inf)\d"
_OTHERS = r"(^|[-_.])(gpu|cpu|cu\d+|cuda[\d.]*)($|[-_.])"
_CPU = r"(^|[-_.:])cpu($|[-_.])"


@rule("RUN037", aliases=("image-of-other-software",), pods=True, containers=True, roles=True)
def image_accelerator_mismatch(work: Work, world: World) -> Iterator[Finding]:
    """The image of a job does not fit its accelerators or the architecture of its nodes.

    AWS Deep Learning Containers say what they are for: `-gpu-`, `-cpu-` or `-neuronx-` in the tag, `-arm64` in the name
    of the repository (AWS Deep Learning Containers, available images); what other public images are for is in
    `catalog/data/images.json`, each with its source. PyTorch for CPUs finds no GPU and trains on the CPU, or
    ends at once; an image of another architecture ends with `exec format error`. An image that is not known and whose
    tag says `cpu` is a warning, and so is one without a framework, like Ray's for CPUs.

    ## Fails

        jobs: [{name: llama, image: "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.8.0-cpu-py312"}]

        jobs: [{name: llama,
          image: "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training-neuronx:2.7.0-neuronx-py310-sdk2.24"}]

        jobs: [{name: llama,
          image: "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training-arm64:2.7.0-gpu-py312"}]

        jobs: [{name: llama, image: "ghcr.io/team/train:1.0-cpu"}]

        jobs: [{name: llama, nodes: 1, image: "docker.io/tensorflow/tensorflow:2.17.0"}]

        jobs: [{name: llama, nodes: 1, image: "docker.io/rayproject/ray:2.49.0-py312"}]

        apiVersion: batch/v1
        kind: Job
        metadata: {name: prepare, namespace: team-b, labels: {kueue.x-k8s.io/queue-name: elsewhere}}
        spec: {template: {spec: {restartPolicy: Never, nodeSelector: {node.kubernetes.io/instance-type: m7g.8xlarge},
          containers: [{name: prepare,
            image: "public.ecr.aws/deep-learning-containers/pytorch-training:2.8.0-cpu-py312-ubuntu22.04-ec2-v1.0",
            resources: {requests: {cpu: 20, memory: 80Gi}, limits: {cpu: 20, memory: 80Gi}}}]}}}
        ---
        apiVersion: karpenter.sh/v1
        kind: NodePool
        metadata: {name: cpu}
        spec:
          limits: {cpu: 1000}
          disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 15m}
          template: {spec: {expireAfter: Never, nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu},
            requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [m7g.8xlarge]},
              {key: topology.kubernetes.io/zone, operator: In, values: [us-west-2b]},
              {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]}}

    ## Passes

        jobs: [{name: llama, image: "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.8.0-gpu-py312"}]

        jobs: [{name: llama, nodes: 1, image: "docker.io/rayproject/ray:2.49.0-py312-gpu"}]
    """
    node, image = runs(work)
    if not image:
        return
    facts = known(world.plan, image)
    wrong, severity = "", None
    if work.accelerator is not None:
        wrong, severity = _software(image, work.accelerator[0], facts)
    if not wrong and facts is not None:
        wrong = _machine(facts, work)
    if wrong:
        yield Finding(
            f"image `{image}` of {work.title} {wrong}",
            node.where("image"),
            severity=severity,
            help="take the image for these nodes: its tag says `gpu` or `neuronx`, its name `arm64`",
        )


def _software(image: str, resource: str, facts: ImageFacts | None) -> tuple[str, Severity | None]:
    """What is wrong between an image and the accelerators that are asked for, and how sure that is."""
    if facts is None or facts.devices is None:
        return _by_name(image.partition("@")[0], resource), Severity.WARNING
    severity = Severity.WARNING if facts.bare else None
    wanted = _WANTED.get(resource)
    if wanted is None or facts.devices == wanted:
        return "", None
    return (f"is for {_FOR[facts.devices]}, and the job asks for {_FOR[wanted]}", severity)


_WANTED = {GPU: "gpu", NEURON: "neuron"}
_FOR = {"gpu": "GPUs", "cpu": "CPUs", "neuron": "Neuron devices"}


@lru_cache(maxsize=1024)
def _by_name(name: str, resource: str) -> str:
    """What is wrong by the name alone of an image that is not known. Most jobs of a set have the same."""
    path, _, tag = name.rpartition("/")[2].partition(":")
    if resource == GPU and re.search(_NEURON, f"{path}:{tag}"):
        return "is for Neuron devices, and the job asks for GPUs"
    if resource == GPU and "cpu" in tag and re.search(_CPU, tag):
        return "is for CPUs, and the job asks for GPUs"
    if resource == NEURON and re.search(_OTHERS, tag) and not re.search(_NEURON, name):
        return "is for CPUs or GPUs, and the job asks for Neuron devices"
    return ""


def _machine(facts: ImageFacts, work: Work) -> str:
    """What is wrong between an image and the architecture of the nodes."""
    arches = {instance.arch for instance in work.types}
    if not facts.arches or not arches or not arches.isdisjoint(facts.arches):
        return ""
    return f"is for `{facts.arches[0]}`, and its nodes are `{min(arches)}`"
