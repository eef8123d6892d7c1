"""The configuration of Alloy: which files it reads, what each line is labelled with, and where lines go.

Alloy v1.18.1: reference/components of discovery.kubernetes, discovery.relabel, local.file_match, loki.source.file,
loki.process, loki.write. The chart reads the text as a template of Helm, so it has no two braces in a row.

Labels of a stream are few: namespace, job, app, container and node; a node runs few pods, so there are as many streams
as there are containers at one time. Pod, rank, role, attempt and restart are structured metadata, which makes no stream
(Loki 3.7.6, get-started/labels/structured-metadata: "high-cardinality").
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.jobs.pod_labels import JOB_OF_RUN, PodLabels, plain

STREAM_LABELS = ("namespace", "job", "app", "container", "node")
METADATA = ("pod", "rank", "role", "attempt", "restart", "stream")
POSITIONS = "/var/lib/alloy"
"""How far each file was read; a folder of the node, so that a new pod of Alloy goes on where the old one was."""
_POD = "__meta_kubernetes_pod"
# Without it files of pods that end soon after they start would be found too late (local.file_match: 10s).
_LOOK = "2s"


def configuration(push: str, labels: PodLabels) -> str:
    """The whole file. ``push``: where Loki takes lines; ``labels``: those of the pods of jobs."""
    return "\n".join(
        [*_discovery(), *_rules(labels), *_reading(), *_processing(), *_writing(push), ""]
    )


def _discovery() -> Iterator[str]:
    """The pods of the node. Each Alloy asks the API server for those alone."""
    yield from (
        'discovery.kubernetes "pods" {',
        '  role = "pod"',
        "  selectors {",
        '    role = "pod"',
        '    field = "spec.nodeName=" + sys.env("K8S_NODE_NAME")',
        "  }",
        "}",
        "",
        'discovery.relabel "pods" {',
        "  targets = discovery.kubernetes.pods.targets",
    )


def _rules(labels: PodLabels) -> Iterator[str]:
    """Which label of a stream, or later its metadata, is which label of a pod; a later rule goes over an earlier
    one."""
    yield from _rule("namespace", "__meta_kubernetes_namespace")
    yield from _rule("pod", f"{_POD}_name")
    yield from _rule("container", f"{_POD}_container_name")
    yield from _rule("node", f"{_POD}_node_name")
    yield from _rule("app", _label("app.kubernetes.io/name"))
    for label in (*labels.shared, *labels.runs):
        yield from _rule("job", _label(label), JOB_OF_RUN)
    for label in labels.ranks:
        yield from _rule("rank", _label(label), "(.+)")
    for label in labels.roles:
        yield from _rule("role", _label(label), "(.+)")
    for label in labels.attempts:
        yield from _rule("attempt", _label(label))
    # /var/log/pods/NAMESPACE_NAME_UID/CONTAINER/RESTARTS.log (Kubernetes v1.36, pkg/kubelet/kuberuntime/helpers.go)
    parts = ", ".join(f'"{part}"' for part in (f"{_POD}_uid", f"{_POD}_container_name"))
    yield from (
        "  rule {",
        f"    source_labels = [{parts}]",
        '    separator = "/"',
        '    replacement = "/var/log/pods/*$1/*.log"',
        '    target_label = "__path__"',
        "  }",
        "}",
        "",
    )


def _label(name: str) -> str:
    """The name under which Prometheus' service discovery has a label of a pod."""
    return f"{_POD}_label_{plain(name)}"


def _rule(target: str, source: str, regex: str = "") -> Iterator[str]:
    yield "  rule {"
    yield f'    source_labels = ["{source}"]'
    if regex:
        yield f'    regex = "{regex}"'
    yield f'    target_label = "{target}"'
    yield "  }"


def _reading() -> Iterator[str]:
    yield from (
        'local.file_match "pods" {',
        "  path_targets = discovery.relabel.pods.output",
        f'  sync_period = "{_LOOK}"',
        "}",
        "",
        'loki.source.file "pods" {',
        "  targets = local.file_match.pods.targets",
        "  forward_to = [loki.process.pods.receiver]",
        "}",
        "",
    )


def _processing() -> Iterator[str]:
    """Lines as the container runtime writes them, and how often the container had been started before."""
    named = "(?P<restart>[0-9]+)"
    yield from (
        'loki.process "pods" {',
        "  stage.cri {}",
        "  stage.regex {",
        f'    expression = "/{named}[.]log$"',
        '    source = "filename"',
        "    labels_from_groups = false",
        "  }",
        "  stage.structured_metadata {",
        "    values = {",
    )
    for name in METADATA:
        yield f'      {name} = "",'
    yield from (
        "    }",
        "  }",
        "  stage.label_drop {",
        '    values = ["filename"]',
        "  }",
        "  forward_to = [loki.write.loki.receiver]",
        "}",
        "",
    )


def _writing(push: str) -> Iterator[str]:
    """While Loki is away lines are tried again without end, and more of them wait in their files: after ten tries they
    would be dropped."""
    yield from (
        'loki.write "loki" {',
        "  endpoint {",
        f'    url = "{push}"',
        "    max_backoff_retries = 0",
        "  }",
        "}",
    )
