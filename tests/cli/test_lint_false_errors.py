"""What is right, and was once reported as wrong: found in repositories of upstream projects."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from trainyard.extensions.lint.linter import Linted, lint
from trainyard.run.outcome import Options

pytestmark = pytest.mark.needs("lint")

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: x}
spec:
  containers:
  - name: a
    image: a:1
    resources: {limits: {nvidia.com/gpu: 1}, requests: {cpu: 1, memory: 1Gi}}
"""
ACCOUNT = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {{name: {}{}}}\n"
SECRET = """\
apiVersion: v1
kind: Secret
metadata: {name: a, namespace: x}
"""
ENC = "ENC[AES256_GCM,data:p673w==,iv:YY=,tag:A=,type:str]"
ENCRYPTED = f"{SECRET}data:\n  a: {ENC}\n"
SOPS = "sops: {mac: 'ENC[AES256_GCM,data:x,type:str]', version: 3.8.1}\n"
ALERT = """\
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Alert
metadata: {name: a, namespace: flux-system}
spec: {providerRef: {name: a}, eventSources: [{kind: %s, name: flux}]}
"""
FOR_ACCOUNT = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: a}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: ServiceAccount, name: runner%s}]
"""
USES_VALUES = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: loki, namespace: x}
spec:
  interval: 1h
  chart: {spec: {chart: loki, version: 6.30.1, sourceRef: {kind: HelmRepository, name: grafana}}}
  valuesFrom: [{kind: ConfigMap, name: loki-values}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: loki-rules, namespace: x}
data: {a: b}
"""
KYVERNO = """\
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata: {name: a}
spec: {rules: []}
"""
GENERATED = "resources: [a.yaml]\nconfigMapGenerator: [{name: %s, literals: [a=b]}]\n"
USES_SECRET = """\
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: x}
spec:
  containers: [{name: a, image: "a:1"}]
  volumes: [{name: t, secret: {secretName: webhook-server-cert}}]
---
apiVersion: v1
kind: Secret
metadata: {name: webhook-server-secret, namespace: x}
"""
CERTIFICATE = """\
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: a, namespace: x}
spec: {secretName: webhook-server-cert}
"""
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: same}\ndata: {a: b}\n"
FLEET = {
    "stage.yaml": """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: fleet, namespace: flux-system}
spec: {interval: 1h, path: ./fleet, prune: true, sourceRef: {kind: GitRepository, name: fleet}}
""",
    "fleet/a.yaml": MAP,
    "fleet/chart/templates/more/a.yaml": MAP,
}
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  selector: {matchLabels: {app: d}}
  template:
    metadata: {labels: {app: d}}
    spec:
      containers:
      - name: d
        image: d:1
        env: [{name: A, valueFrom: {configMapKeyRef: {name: same, key: other}}}]
"""
BINDING = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: public, namespace: x}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: public}
subjects: [{kind: Group, name: "system:authenticated", apiGroup: rbac.authorization.k8s.io}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: public, namespace: x}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]
"""
# A kind that is like one of Kueue's, and the definition by which it is one of its own.
COHORT = "apiVersion: kueues.x-k8s.io/v1\nkind: Cohort\nmetadata: {name: a}\nspec: {every: 5m}\n"
DEFINITION = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: cohorts.kueues.x-k8s.io}
spec:
  group: kueues.x-k8s.io
  scope: Cluster
  names: {kind: Cohort, plural: cohorts}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
"""
MUTATING = """\
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: a}
"""
KUEUE = """\
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
waitForPodsReady: {enable: true, timeout: 30m}
integrations: {frameworks: [trainer.kubeflow.org/trainjob]}
"""
RESEARCH = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: research, namespace: team-a}
spec: {clusterQueue: research}
"""
PYTORCH_JOB = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: bert, namespace: team-a, labels: {kueue.x-k8s.io/queue-name: research}}
spec:
  pytorchReplicaSpecs:
    Master:
      replicas: 1
      template:
        spec: {tolerations: [{operator: Exists}], containers: [{name: pytorch, image: "a:1"}]}
"""
CERT = "apiVersion: v1\nkind: Secret\nmetadata: {name: server-cert, namespace: x}\n"
USES_CERT = """\
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: x}
spec:
  containers: [{name: a, image: "a:1"}]
  volumes: [{name: t, secret: {secretName: my-server-cert}}]
"""
QUEUED = """\
apiVersion: batch/v1
kind: Job
metadata: {name: a, namespace: default, labels: {kueue.x-k8s.io/queue-name: user-queue}}
spec:
  template:
    metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: kubernetes.io/hostname}}
    spec:
      restartPolicy: Never
      containers: [{name: a, image: "a:1", resources: {requests: {cpu: 1}, limits: {cpu: 1}}}]
"""
QUEUES = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: default-flavor}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: cluster-queue}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: default-flavor, resources: [{name: cpu, nominalQuota: 9}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: user-queue, namespace: default}
spec: {clusterQueue: cluster-queue}
"""
PREFIXED = "namePrefix: {}-\nresources: [map.yaml]\n"
DELETED = f"$patch: delete\n{MAP}"


def linted(folder: Path, files: dict[str, str]) -> Linted:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return lint([folder], Options(today=date(2026, 11, 23)))


def errors(folder: Path, files: dict[str, str]) -> list[str]:
    found = linted(folder, files).all()
    return [finding.code for finding in found if finding.severity.name == "ERROR"]


@pytest.mark.parametrize(
    "files",
    [
        {"a.yaml": f'{POD}    command: [bash, -c, "--"]\n    args: ["sleep 1; ls"]\n'},
        {"a.yaml": f"{SECRET}stringData: {{AWS_SECRET_ACCESS_KEY: dummy}}\n"},
        {"a.yaml": f'{SECRET}stringData: {{password: "[aws_access_key_id]"}}\n'},
        {"a.yaml": f"{SECRET}stringData: {{POSTGRES_USER: katib}}\n"},
        {"a.yaml": f"{SECRET}data:\n  ca.crt: |\n    aGVsbG8g\n    d29ybGQK\n"},
        {"a.yaml": f"$patch: delete\n{MAP}"},
        {"a.yaml": USES_SECRET + CERTIFICATE},
        {"a.yaml": BINDING},
        {
            "a.yaml": BINDING.replace(
                "apiGroup: rbac.authorization.k8s.io, kind", 'apiGroup: "", kind'
            )
        },
        {
            "a.yaml": POD,
            "vocabulary.json": json.dumps(
                {"\u2581" + "x" * 2000: 1, "about": "kind and apiVersion"}
            ),
        },
        {"a.yaml": f"{POD}    env: [{{name: HF_TOKEN, value: $HF_TOKEN}}]\n"},
        {"Dockerfile.job": POD},
        {
            "a.yaml": POD,
            "config.yaml": "apiVersion: v1\nkind: Config\nclusters: []\ncontexts: []\nusers: []\n",
        },
        # A kustomization may give the account the namespace of the pod.
        {
            "rbac/account.yaml": ACCOUNT.format("controller-manager", ""),
            "rbac/other/account.yaml": ACCOUNT.format("other-controller-manager", ", namespace: x"),
            "manager/pod.yaml": POD.replace(
                "spec:\n", "spec:\n  serviceAccountName: controller-manager\n"
            ),
        },
        {"a.yaml": f"{SECRET}data: {{token: $HF_TOKEN, other: '{{{{ .Values.token }}}}'}}\n"},
        {"a.yaml": f"{SECRET}data:\n  token: {{{{ .Values.token }}}}\n"},
        {
            "Dockerfile": "FROM scratch\n"
            "RUN sed -ri 's/^passwd:.*/passwd:     files sss/' /etc/nsswitch.conf && getent passwd root\n"
        },
        {
            "a.yaml": "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nstatus: {succeeded: 1}\n"
        },
        {
            "one/map.yaml": MAP,
            "one/kustomization.yaml": PREFIXED.format("one"),
            "two/map.yaml": MAP,
            "two/kustomization.yaml": PREFIXED.format("two"),
            "all/kustomization.yaml": "resources: [../one, ../two]\n",
        },
        {
            "one/map.yaml": MAP,
            "two/map.yaml": MAP,
            "two/delete.yaml": DELETED,
            "two/kustomization.yaml": "resources: [map.yaml]\npatches: [{path: delete.yaml}]\n",
            "one/kustomization.yaml": "resources: [map.yaml]\n",
            "all/kustomization.yaml": "resources: [../one, ../two]\n",
        },
        {"one/map.yaml": MAP, "two/deployment.yaml": DEPLOYMENT},
        {"a.yaml": COHORT, "crds/b.yaml": DEFINITION},
        {"a.yaml": MUTATING},
        {"kueue/config.yaml": KUEUE, "jobs/bert.yaml": PYTORCH_JOB},
        # The queue stands with the job, so Kueue's configuration may be that of another cluster.
        {"kueue/config.yaml": KUEUE, "jobs/queue.yaml": RESEARCH, "jobs/bert.yaml": PYTORCH_JOB},
        # The queue of a job below one of several setups may be that of another.
        {"setup.yaml": QUEUES, "tas/setup.yaml": QUEUES, "dev/job.yaml": QUEUED},
        {
            "secret.yaml": CERT,
            "pod.yaml": USES_CERT,
            "kustomization.yaml": "namePrefix: my-\nresources: [secret.yaml, pod.yaml]\n",
        },
        {"a.yaml": f"{ENCRYPTED}{SOPS}"},
        {"a.yaml": f"{ENCRYPTED}{SOPS}".replace("name: a", f"name: '{ENC}'")},
        # What a chart makes may be written out beside it.
        {**FLEET, "fleet/chart/Chart.yaml": "name: a\n"},
        {"policies/kyverno.yaml": KYVERNO, "a.yaml": MAP},
        {"a.yaml": ALERT % "FluxInstance"},
        {"a.yaml": FOR_ACCOUNT % ", namespace: x"},
        {
            "a.yaml": f"{FOR_ACCOUNT % ''}---\n{ACCOUNT.format('runner', '')}",
            "kustomization.yaml": "namespace: x\nresources: [a.yaml]\n",
        },
        # The generator makes the one that seems to be missing.
        {"a.yaml": USES_VALUES, "kustomization.yaml": GENERATED % "loki-values"},
    ],
)
def test_it_is_no_error(files: dict[str, str], tmp_path: Path) -> None:
    assert errors(tmp_path, files) == []


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"a.yaml": f'{POD}    command: [bash, -c, ls]\n    args: ["-l"]\n'}, "RUN035"),
        ({"a.yaml": f"{SECRET}stringData: {{password: hunter2}}\n"}, "ACC014"),
        ({"a.yaml": f"{SECRET}data: {{a: hello world}}\n"}, "SCH011"),
        ({"a.yaml": f"{ENCRYPTED}  b: hello world\n{SOPS}"}, "SCH011"),
        ({"a.yaml": ALERT % "FluxInstances"}, "SCH004"),
        ({"a.yaml": FOR_ACCOUNT % ""}, "SCH011"),
        (
            {
                "a.yaml": FOR_ACCOUNT % "",
                "kustomization.yaml": "namespace: x\nresources: [a.yaml]\n",
            },
            "SCH011",
        ),
        (FLEET, "NAM005"),
        (
            {
                **FLEET,
                "fleet/chart/Chart.yaml": "name: a\n",
                "fleet/a.yaml": MAP.replace("same", "other"),
                "fleet/chart/templates/b.yaml": MAP,
            },
            "NAM005",
        ),
        ({"a.yaml": USES_VALUES, "kustomization.yaml": GENERATED % "others"}, "REF001"),
        ({"a.yaml": USES_SECRET}, "REF001"),
        ({"a.yaml": BINDING.replace("[get]", "[create]")}, "ACC005"),
        (
            {
                "a.yaml": BINDING.replace(
                    "{apiGroup: rbac.authorization.k8s.io,", "{apiGroup: apps,"
                )
            },
            "SCH004",
        ),
        ({"a.json": json.dumps({"kind": "Pod", "apiVersion": "v1", "x" * 2000: 1})}, "YML002"),
        ({"a.json": '{"kind": "Pod", "apiVersion": "v1"'}, "YML002"),
        ({"a.yaml": f"{POD}    env: [{{name: PATH, value: '/opt:$PATH'}}]\n"}, "RUN042"),
        ({"Dockerfile.job": "FORM scratch\n"}, "SCH004"),
        (
            {
                "one/map.yaml": MAP,
                "two/map.yaml": MAP,
                "kustomization.yaml": "resources: [one/map.yaml, two/map.yaml]\n",
            },
            "NAM005",
        ),
        ({"map.yaml": MAP, "deployment.yaml": DEPLOYMENT}, "REF001"),
        ({"a.yaml": COHORT}, "SCH010"),
        ({"a.yaml": MUTATING.replace("Mutating", "Validatin")}, "SCH010"),
        ({"config.yaml": KUEUE, "jobs/bert.yaml": PYTORCH_JOB}, "RUN089"),
        (
            {
                "kueue/config.yaml": KUEUE,
                "kueue/queues.yaml": RESEARCH,
                "jobs/bert.yaml": PYTORCH_JOB,
            },
            "RUN089",
        ),
        ({"secret.yaml": CERT, "pod.yaml": USES_CERT}, "REF001"),
        ({"setup.yaml": QUEUES, "dev/job.yaml": QUEUED}, "QUE020"),
        ({"a/setup.yaml": QUEUES, "a/job.yaml": QUEUED, "b/setup.yaml": QUEUES}, "QUE020"),
    ],
)
def test_what_is_like_it_and_wrong_is_one(files: dict[str, str], code: str, tmp_path: Path) -> None:
    assert code in errors(tmp_path, files)
