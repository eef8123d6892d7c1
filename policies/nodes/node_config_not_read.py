from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from trainyard.core.launch.plan import BootScript, Launch
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics.diagnostic import listed

_GROUP, _VERSION = "node.eks.aws", "node.eks.aws/v1alpha1"
_BEGINS = re.compile(rf"^([ \t]*)apiVersion:[ \t]*[\"']?({re.escape(_GROUP)}/\w+)", re.MULTILINE)
_KEY = re.compile(r"( *)(?:- )?([A-Za-z]\w*):(?:[ \t]|$)")
_FIELDS: Mapping[tuple[str, ...], tuple[str, ...]] = {
    ("spec",): ("cluster", "containerd", "instance", "kubelet", "featureGates"),
    ("spec", "cluster"): (
        *("name", "apiServerEndpoint", "certificateAuthority", "cidr", "enableOutpost", "id"),
    ),
    ("spec", "containerd"): ("config", "baseRuntimeSpec"),
    ("spec", "kubelet"): ("config", "flags", "maxPodsExpression"),
    ("spec", "instance"): ("localStorage", "environment", "network"),
    ("spec", "instance", "localStorage"): ("strategy", "mountPath", "disabledMounts"),
    ("spec", "instance", "network"): ("nameservers", "domains"),
}


@rule("HLT105")
def node_config_not_read(launch: Launch) -> Iterator[Finding]:
    """A NodeConfig in user data has a version or a field that nodeadm does not know.

    nodeadm decodes `node.eks.aws/v1alpha1` alone: with another version it fails, and the node never joins. A field that
    it does not know is dropped without a word, so `spec.kubelet.maxPods` in place of `spec.kubelet.config.maxPods` does
    nothing (awslabs/amazon-eks-ami, nodeadm/api/v1alpha1 and internal/api/bridge/decode.go, v20260818).

    ## Fails

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec:
          userData: |
            apiVersion: node.eks.aws/v1
            kind: NodeConfig
            spec: {kubelet: {config: {maxPods: 110}}}

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec:
          userData: |
            apiVersion: node.eks.aws/v1alpha1
            kind: NodeConfig
            spec:
              kubelet:
                maxPods: 110

    ## Passes

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec:
          userData: |
            apiVersion: node.eks.aws/v1alpha1
            kind: NodeConfig
            spec:
              kubelet:
                config:
                  maxPods: 110
                flags: [--node-labels=team=a]
    """
    for script in launch.scripts:
        for begins in _BEGINS.finditer(script.text):
            yield from _judged(script, launch, begins)


def _judged(script: BootScript, launch: Launch, begins: re.Match[str]) -> Iterator[Finding]:
    if begins[2] != _VERSION:
        yield Finding(
            f"the NodeConfig of {launch.words} is of `{begins[2]}`, and nodeadm reads `{_VERSION}` alone",
            script.line_at(begins.start(2)),
            label="the node never joins",
            help=f"write `apiVersion: {_VERSION}`",
        )
        return
    for offset, path, name in _keys(script.text, begins):
        known = _FIELDS.get(path, (name,))
        if name not in known:
            yield Finding(
                f"the NodeConfig of {launch.words} has `{'.'.join((*path, name))}`, which nodeadm does not know",
                script.line_at(offset),
                label="it has no effect",
                help=_help(path, name, known),
            )
            return


def _help(path: tuple[str, ...], name: str, known: tuple[str, ...]) -> str:
    if path == ("spec", "kubelet"):
        return f"write `config: {{{name}: …}}`, which is the kubelet's own configuration"
    return f"write {listed(known, ' or ')}"


def _keys(text: str, begins: re.Match[str]) -> Iterator[tuple[int, tuple[str, ...], str]]:
    """The keys of a document in block style, each with its place in the text and the keys above it. The document ends
    at a line of another part: one that begins with `-`, or is indented less."""
    indent = len(begins[1])
    above: list[tuple[int, str]] = []
    rest = text[begins.end() :].partition("\n")
    offset = begins.end() + len(rest[0]) + 1
    for line in rest[2].splitlines(keepends=True):
        here = offset
        offset += len(line)
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        depth = len(line) - len(line.lstrip(" "))
        if depth < indent or bare.startswith(("--", "...")):
            return
        found = _KEY.match(line)
        while above and above[-1][0] >= depth:
            above.pop()
        if found is None or bare.startswith("- "):
            continue
        path = tuple(name for _, name in above)
        yield here, path, found[2]
        above.append((depth, found[2]))
