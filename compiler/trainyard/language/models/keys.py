"""Checks of keys: of labels, taints and tags. Each refuses what Kubernetes, Karpenter or AWS keep for themselves."""

from __future__ import annotations

import re
from typing import Any

from trainyard.language.models.checks import as_text, fault, matched
from trainyard.language.models.editor import any_case, literal, shaped

_PART = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_LABEL = (
    rf"((?=[^/]{{1,253}}/){_PART}(\.{_PART})*/)?[A-Za-z0-9]([-._A-Za-z0-9]{{0,61}}[A-Za-z0-9])?"
)
_LONGEST_LABEL = 317
label_key = matched(
    _LABEL,
    "a label key (at most 63 characters, before them at most a domain and `/`)",
    "team",
    longest=_LONGEST_LABEL,
    source="Kubernetes, labels: syntax and character set",
)

# Labels by which Kueue, Trainer, Flux and this compiler distinguish objects: a second value for one would be lost.
_OWN_LABELS = r"app\.kubernetes\.io/managed-by\Z|([a-z0-9.-]+\.)?(trainyard\.dev|x-k8s\.io|kubeflow\.org|fluxcd\.io)/"


@shaped(rf"(?!{_OWN_LABELS}){_LABEL}", maxLength=_LONGEST_LABEL)
def job_label(value: Any) -> str:
    """A label that a job may carry."""
    text = label_key(value)
    if re.match(_OWN_LABELS, text):
        raise fault(
            f"label `{text}` is set by the compiler or a controller",
            "remove it; `queue`, `priority` and the like have keys of their own",
            source="labels of Kueue 0.19.2, Trainer 2.3.0 and Flux 2.9",
        )
    return text


# Annotations by which Kubernetes, Karpenter, Kueue, Trainer, Flux and this compiler decide what becomes of an object.
_OWN_ANNOTATIONS = (
    r"([a-z0-9.-]+\.)?"
    r"(trainyard\.dev|kubernetes\.io|k8s\.io|x-k8s\.io|kubeflow\.org|fluxcd\.io|karpenter\.sh)/"
)


def job_annotation(value: Any) -> str:
    """An annotation that a job and its pods may carry."""
    text = label_key(value)
    if re.match(_OWN_ANNOTATIONS, text):
        raise fault(
            f"annotation `{text}` belongs to a controller or to the compiler",
            "remove it; `topology`, `timeout` and the like have keys of their own",
            source="annotations of Kubernetes 1.35, Karpenter 1.14.1, Kueue 0.19.2, Trainer 2.3.0 and Flux 2.9",
        )
    return text


# What a node has of itself, and what in the spec says it. A pool that asks for another value gets no node at all
# (karpenter.sh/v1 NodePool v1.14.1: labels of the template are requirements), one that asks for the same says nothing.
_OF_THE_MACHINE = {
    "kubernetes.io/os": "nodes are Linux",
    "beta.kubernetes.io/os": "nodes are Linux",
    "kubernetes.io/arch": "`instanceType` decides",
    "beta.kubernetes.io/arch": "`instanceType` decides",
    "node.kubernetes.io/instance-type": "`instanceType` decides",
    "beta.kubernetes.io/instance-type": "`instanceType` decides",
    "topology.kubernetes.io/zone": "`zone` decides",
    "failure-domain.beta.kubernetes.io/zone": "`zone` decides",
    "topology.kubernetes.io/region": "`region` decides",
    "failure-domain.beta.kubernetes.io/region": "`region` decides",
    "kubernetes.io/hostname": "each node has a name of its own",
    "nvidia.com/gpu.present": "every pool with GPUs has it",
}
# karpenter.sh/v1 NodePool v1.14.1, rules on template.metadata.labels: what Karpenter sets itself; and what this
# compiler sets on nodes.
_NODE_LABELS = r"([a-z0-9.-]*\.)?karpenter\.(sh|k8s\.aws)/|trainyard\.dev/"


_FIXED = "|".join(literal(label) for label in _OF_THE_MACHINE)


@shaped(rf"(?!(?:{_FIXED})\Z)(?!{_NODE_LABELS}){_LABEL}", maxLength=_LONGEST_LABEL)
def node_label(value: Any) -> str:
    """A label that the nodes of a pool may carry."""
    text = label_key(value)
    if text in _OF_THE_MACHINE:
        raise fault(
            f"label `{text}` is set on nodes, regardless of the spec: {_OF_THE_MACHINE[text]}",
            "remove it",
            source="Kubernetes, well-known labels; karpenter.sh/v1 NodePool v1.14.1",
        )
    if re.match(_NODE_LABELS, text):
        raise fault(
            f"label `{text}` is set on nodes by Karpenter or by Trainyard",
            "write a key of your own, or remove it",
            source="karpenter.sh/v1 NodePool v1.14.1",
        )
    return text


# Set and removed by the node lifecycle controller, the cloud provider and Karpenter, by the state of each node
# (Kubernetes, well-known labels, annotations and taints; karpenter v1.14.1, pkg/apis/v1/taints.go).
_TAINTS = r"node\.(cloudprovider\.)?kubernetes\.io/|([a-z0-9.-]*\.)?karpenter\.(sh|k8s\.aws)/"


@shaped(rf"(?!{_TAINTS}){_LABEL}", maxLength=_LONGEST_LABEL)
def taint_key(value: Any) -> str:
    """The key of a taint that the nodes of a pool may have."""
    text = label_key(value)
    if re.match(_TAINTS, text):
        raise fault(
            f"taint `{text}` is set and removed by a controller, by the state of each node",
            "write a key of your own, like `team`",
            source="Kubernetes, well-known taints; karpenter v1.14.1",
        )
    return text


# IAM's tagKeyType and tagValueType (botocore 1.44.5, iam service-2): eksctl tags the roles that it creates, and
# Karpenter its instance profiles, with what every other resource gets. \p{L}, \p{N} and \p{Z} are letters, digits and
# spaces.
_TAG = r"[^\W_]|[ _.:/=+\-@]"
_OF_OTHERS = any_case(r"(?:aws:|kubernetes\.io/cluster/|karpenter\.(?:sh|k8s\.aws)/|eks:)")
# The signs of ASCII that stand in no tag, as they are written in a set of characters.
_NO_TAG = "".join(f"\\x{code:02x}" for code in range(128) if not re.match(_TAG, chr(code)))
_LONGEST_KEY, _LONGEST_VALUE = 128, 256


@shaped(rf"(?!{_OF_OTHERS})[^{_NO_TAG}]+", maxLength=_LONGEST_KEY)
def tag_key(value: Any) -> str:
    """The key of an AWS tag."""
    text = as_text(value, "a tag's key", "cost-center")
    # EC2 refuses `aws:`; Karpenter's EC2NodeClass refuses the others (CRD v1.14.1, spec.tags) or sets them itself.
    is_of_others = re.match(_OF_OTHERS, text)
    if is_of_others or len(text) > _LONGEST_KEY:
        raise fault(
            f"`{text[:64]}` is no tag that you may set",
            f"write a key of your own of at most {_LONGEST_KEY} characters",
            source="EC2 user guide, tag restrictions; karpenter.k8s.aws/v1 EC2NodeClass v1.14.1, spec.tags",
        )
    return _of_tags(text, "key")


@shaped(rf"[^{_NO_TAG}]*", maxLength=_LONGEST_VALUE)
def tag_value(value: Any) -> str:
    """The value of an AWS tag."""
    return _of_tags(_value(value), "value")


_value = matched(r"[^\0]*", "a tag's value", "research", longest=_LONGEST_VALUE, empty=True)


def _of_tags(text: str, what: str) -> str:
    for char in text:
        if not re.match(_TAG, char):
            raise fault(
                f"`{char}` in `{text[:64]}` is not allowed in a {what} of an IAM tag",
                "take letters, digits, spaces and `_ . : / = + - @`: roles get these tags too",
                source="IAM API, Tag (2010-05-08)",
            )
    return text
