"""Derive the committed schemas: ``python -m trainyard.extensions.facts.derive_schemas FOLDER [--trainer-2.1 FOLDER]``.

Reads released CRDs (``crds/PROJECT/VERSION/*.yaml``), Kubernetes' core definitions, eksctl's schema and what only a
documentation (``documented``) or the models of a client state (``modelled``), and writes one JSON file a kind and
version into ``verify/data``. Each file names project, release and source. Upstream prose is left out. Trainer
2.1's CRDs are not among them: ``git show v2.1.0:manifests/base/crds/…`` of github.com/kubeflow/trainer writes them into
a folder.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from trainyard.extensions.facts import documented, modelled
from trainyard.extensions.facts.core import CoreDefinitions, from_eksctl
from trainyard.verify.jobs import job_objects
from trainyard.verify.schemas import DATA, file_name
from trainyard.verify.structure import Raw, from_crd, shared

# folder below crds/ -> kinds
CRDS: dict[str, frozenset[str]] = {
    "karpenter-provider-aws/v1.14.1": frozenset(
        {"NodePool", "EC2NodeClass", "NodeClaim", "NodeOverlay"}
    ),
    "kueue/v0.19.2": frozenset(
        {
            "ResourceFlavor",
            "ClusterQueue",
            "LocalQueue",
            "Cohort",
            "Topology",
            "WorkloadPriorityClass",
            "AdmissionCheck",
        }
    ),
    "kubeflow-trainer/v2.3.0": frozenset({"ClusterTrainingRuntime", "TrainingRuntime"}),
    "flux-kustomize-controller/v1.10.1": frozenset({"Kustomization"}),
    "flux-source-controller/v1.10.1": frozenset(
        {"GitRepository", "OCIRepository", "HelmRepository"}
    ),
    "flux-helm-controller/v1.6.3": frozenset({"HelmRelease"}),
    "flux-notification-controller/v1.9.3": frozenset({"Alert", "Provider"}),
    "prometheus-operator/v0.93.0": frozenset({"PodMonitor", "PrometheusRule", "ServiceMonitor"}),
    "external-secrets/v2.9.0": frozenset({"ExternalSecret", "SecretStore"}),
    "training-operator/v1.9.4": frozenset({"MPIJob"}),
    "kuberay/v1.6.2": frozenset({"RayCluster", "RayService"}),
    "lws/v0.10.0": frozenset({"LeaderWorkerSet"}),
}
TRAINER_21 = (
    "github.com/kubeflow/trainer tag v2.1.0 "
    "(commit 73c9bece741ce17d2124abda3ec6bfcf5b5b8e87, 2025-11-07), manifests/base/crds"
)
CORE_SOURCE = "kubernetes-core/v1.36.0"
# package, whose last part is the version -> its API group and kinds
CORE: dict[str, tuple[str, tuple[str, ...]]] = {
    "core.v1": (
        "",
        (
            "Namespace",
            "ResourceQuota",
            "LimitRange",
            "ServiceAccount",
            "ConfigMap",
            "Secret",
            "Service",
            "PersistentVolume",
            "PersistentVolumeClaim",
            "Pod",
        ),
    ),
    "admissionregistration.v1": (
        "admissionregistration.k8s.io",
        ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"),
    ),
    "rbac.v1": (
        "rbac.authorization.k8s.io",
        ("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"),
    ),
    "networking.v1": ("networking.k8s.io", ("NetworkPolicy", "Ingress", "IngressClass")),
    "autoscaling.v2": ("autoscaling", ("HorizontalPodAutoscaler",)),
    "scheduling.v1": ("scheduling.k8s.io", ("PriorityClass",)),
    "apps.v1": ("apps", ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")),
    "batch.v1": ("batch", ("Job", "CronJob")),
    "storage.v1": ("storage.k8s.io", ("StorageClass", "CSIDriver")),
    "policy.v1": ("policy", ("PodDisruptionBudget",)),
}
CLUSTER_SCOPED = frozenset(
    {
        "Namespace",
        "PersistentVolume",
        "ClusterRole",
        "ClusterRoleBinding",
        "PriorityClass",
        "StorageClass",
        "CSIDriver",
        "IngressClass",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
    }
)
EKSCTL_SOURCE, EKSCTL_LATER = "eksctl/v0.230.0", "eksctl/main-99984adb"


def load_crds(folder: Path) -> Iterator[Raw]:
    """Every CustomResourceDefinition of a folder's YAML files."""
    from trainyard.language.source.libyaml import LOADER, yaml  # controller-gen writes YAML 1.1

    for path in sorted(folder.glob("*.yaml")):
        for document in yaml.load_all(path.read_text(), Loader=LOADER):
            if isinstance(document, dict) and document.get("kind") == "CustomResourceDefinition":
                yield document


def kinds_by_place() -> dict[str, frozenset[str]]:
    """The kinds whose definitions are read, those of jobs too, by the folder below ``crds/``."""
    places = dict(CRDS)
    for kind in job_objects().values():
        if kind.crd not in {CORE_SOURCE, f"{modelled.PROJECT}/{modelled.RELEASE}"}:
            places[kind.crd] = places.get(kind.crd, frozenset()) | {kind.kind}
    return places


def derive(shared_folder: Path, trainer_21: Path | None = None) -> Iterator[tuple[str, Raw]]:
    """File names with derived schemas."""
    for place, kinds in kinds_by_place().items():
        folder = shared_folder / "crds" / place
        project, _, release = place.partition("/")
        yield from _crd_files(folder, kinds, project, release, _source(folder))
    if trainer_21 is not None:
        kinds = kinds_by_place()["kubeflow-trainer/v2.3.0"]
        yield from _crd_files(
            trainer_21, kinds, "kubeflow-trainer", "v2.1.0", TRAINER_21, variant="2.1"
        )
    for derived in from_crd(documented.NODE_CLASS):
        yield _file(derived, documented.PROJECT, documented.RELEASE, documented.SOURCE)
    core_folder = shared_folder / "crds" / CORE_SOURCE
    core = CoreDefinitions(json.loads((core_folder / "_definitions.json").read_text())["$defs"])
    template = core.definition("io.k8s.api.core.v1.PodTemplateSpec")
    for derived in from_crd(modelled.hyperpod_job(template)):
        yield _file(derived, modelled.PROJECT, modelled.RELEASE, modelled.SOURCE)
    yield from _core_files(core, _source(core_folder))
    folder = shared_folder / "aws" / EKSCTL_SOURCE
    later = json.loads((shared_folder / "aws" / EKSCTL_LATER / "schema.json").read_text())
    schema = from_eksctl(json.loads((folder / "schema.json").read_text()), "ClusterConfig", later)
    yield _file(
        {
            "group": "eksctl.io",
            "version": "v1alpha5",
            "kind": "ClusterConfig",
            "scope": "Cluster",
            "schema": schema,
        },
        "eksctl",
        "v0.230.0",
        _source(folder),
    )


def _crd_files(
    folder: Path, kinds: frozenset[str], project: str, release: str, source: str, variant: str = ""
) -> Iterator[tuple[str, Raw]]:
    """The files of some kinds. Raises SystemExit where the folder does not have one of them."""
    found = {crd["spec"]["names"]["kind"]: crd for crd in load_crds(folder)}
    missing = sorted(kinds - found.keys())
    if missing:
        raise SystemExit(f"no definition of {', '.join(missing)} in {folder}")
    for kind in sorted(kinds):
        for derived in from_crd(found[kind]):
            if kind == "Alert":
                _add_kinds(derived["schema"])
            yield _file(derived, project, release, source, variant)


# Flux Operator 0.58.1 adds three kinds to the definition of Alert (internal/builder/templates.go,
# notificationPatchTmpl), and Tofu Controller has people add its own (its documentation, Flux receivers and alerts).
_OF_OTHERS = ("FluxInstance", "ResourceSet", "ResourceSetInputProvider", "Terraform")


def _add_kinds(alert: Raw) -> None:
    """Let an Alert be about the kinds of other controllers of Flux, too: whether they are there nobody knows here."""
    source = alert["properties"]["spec"]["properties"]["eventSources"]["items"]
    source["properties"]["kind"]["enum"] += _OF_OTHERS


def _core_files(core: CoreDefinitions, source: str) -> Iterator[tuple[str, Raw]]:
    for package, (group, kinds) in CORE.items():
        for kind in kinds:
            scope = "Cluster" if kind in CLUSTER_SCOPED else "Namespaced"
            schema = core.kind(f"io.k8s.api.{package}.{kind}")
            derived = {
                "group": group,
                "version": package.rpartition(".")[2],
                "kind": kind,
                "scope": scope,
                "schema": schema,
            }
            yield _file(derived, "kubernetes-core", "v1.36.0", source)


def _file(
    derived: Raw, project: str, release: str, source: str, variant: str = ""
) -> tuple[str, Raw]:
    schema, defs = shared(derived["schema"])
    name = file_name(derived["group"], derived["version"], derived["kind"], variant)
    return name, {
        **derived,
        "project": project,
        "release": release,
        "source": source,
        "schema": schema,
        "defs": defs,
    }


def _source(folder: Path) -> str:
    lines = (folder / "SOURCE.txt").read_text().splitlines()
    return next(
        line.removeprefix("source:").strip() for line in lines if line.startswith("source:")
    )


def write(files: Iterator[tuple[str, Raw]], target: Path) -> int:
    """Write derived files, compact and in a stable order; the number written."""
    target.mkdir(parents=True, exist_ok=True)
    count = 0
    for name, content in files:
        head = {
            key: content[key]
            for key in (
                "group",
                "version",
                "kind",
                "scope",
                "project",
                "release",
                "source",
                "schema",
                "defs",
            )
        }
        (target / name).write_text(
            json.dumps(head, separators=(",", ":"), ensure_ascii=False) + "\n"
        )
        count += 1
    return count


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m trainyard.extensions.facts.derive_schemas",
        description="derive the committed schemas",
    )
    parser.add_argument("shared", type=Path, help="folder with crds/ and aws/")
    parser.add_argument(
        "--trainer-2.1",
        dest="trainer",
        type=Path,
        help="folder with the CRDs of Kubeflow Trainer 2.1.0",
    )
    parser.add_argument("--into", type=Path, default=DATA)
    options = parser.parse_args(arguments)
    files = derive(options.shared, options.trainer)
    count = write(files, options.into)
    summary = f"{count} schemas in {options.into}\n"
    sys.stdout.write(summary)
    return 0


if __name__ == "__main__":
    sys.exit(main())
