"""An empty text in a field of Kubernetes' own kinds: one that is not set, or a wrong value.

What Go has as text gets its default; what it has as a pointer is set, to nothing that is valid
(pkg/apis/*/v1/defaults.go, k8s.io/kubernetes v1.36; kube-apiserver 1.36.3 says the same of each, in a dry run).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from trainyard.extensions.lint.linter import lint
from trainyard.run.outcome import Options

CONTAINER = '{name: a, image: "registry.test/a:1", resources: {requests: {cpu: 1, memory: 1Gi}}%s}'
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec: {containers: [%s]%s}
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: a}
spec: {template: {spec: {%s, containers: [%s]}}%s}
"""
SERVICE = """\
apiVersion: v1
kind: Service
metadata: {name: a}
spec: {selector: {app: a}, ports: [{port: 80%s}]%s}
"""
CLASS = "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: a}\nprovisioner: b.test/c\n%s\n"


def of_container(field: str) -> str:
    return DEPLOYMENT % (CONTAINER % f", {field}", "")


def of_pod(field: str) -> str:
    return DEPLOYMENT % (CONTAINER % "", f", {field}")


def errors(text: str, folder: Path) -> list[str]:
    (folder / "a.yaml").write_text(text)
    found = lint([folder / "a.yaml"], Options()).all()
    return [each.code for each in found if each.severity.name == "ERROR"]


@pytest.mark.parametrize(
    "text",
    [
        of_container('imagePullPolicy: ""'),
        of_container('terminationMessagePolicy: ""'),
        of_container('ports: [{containerPort: 80, protocol: "", name: ""}]'),
        of_pod('restartPolicy: ""'),
        of_pod('dnsPolicy: ""'),
        of_pod('serviceAccountName: "", hostname: "", subdomain: ""'),
        SERVICE % (', protocol: ""', ""),
        SERVICE % ("", ', type: "", sessionAffinity: "", externalTrafficPolicy: ""'),
        CLASS % 'reclaimPolicy: ""',
    ],
)
def test_it_is_not_set(text: str, tmp_path: Path) -> None:
    assert errors(text, tmp_path) == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (of_container('name: ""').replace("name: a, image", "image"), "NAM001"),
        (of_pod('preemptionPolicy: ""'), "SCH004"),
        (JOB % ('restartPolicy: ""', CONTAINER % "", ""), "SCH011"),
        (JOB % ("restartPolicy: Never", CONTAINER % "", ', completionMode: ""'), "SCH004"),
        (SERVICE % ("", ', internalTrafficPolicy: ""'), "SCH004"),
        (CLASS % 'volumeBindingMode: ""', "SCH004"),
    ],
)
def test_it_is_wrong(text: str, code: str, tmp_path: Path) -> None:
    assert errors(text, tmp_path) == [code]
