"""Versions and chart values of the spec over those of the release and of Trainyard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import RELEASE, body_of, components, document, faults_of, manifests_of, plan_of, spec
from running import Command
from trainyard.eks.cluster.plan import Cluster
from trainyard.eks.flux.plan import HelmRelease
from trainyard.output.manifest import Manifest
from trainyard.run.driver import check
from trainyard.run.outcome import Options

EFA = "aws-efa-k8s-device-plugin"
OURS = {release.name: release.values for release in plan_of(spec()).of(HelmRelease)}


def values_of(component: str, values: dict[str, Any]) -> Any:
    """The values of a component's chart with those of the spec over them."""
    plan = plan_of(spec(components={component: {"values": values}}))
    (release,) = [each for each in plan.of(HelmRelease) if each.name == component]
    return release.values


def release_of(component: str, values: dict[str, Any]) -> Manifest:
    data = spec(components={component: {"values": values}})
    (manifest,) = [
        each
        for each in manifests_of(data)
        if each.body["kind"] == "HelmRelease" and each.ref.name == component
    ]
    return manifest


def test_mappings_merge_and_all_else_replaces() -> None:
    found = values_of(
        "kueue",
        {
            "controllerManager": {
                "replicas": 3,
                "topologySpreadConstraints": [],
                "featureGates": [{"name": "LocalQueueMetrics", "enabled": True}],
            },
            "enablePrometheus": True,
        },
    )
    ours = OURS["kueue"]
    manager = ours["controllerManager"]
    assert manager["replicas"] != 3
    assert manager["topologySpreadConstraints"]
    assert found == {
        **ours,
        "controllerManager": {
            **manager,
            "replicas": 3,
            "topologySpreadConstraints": [],
            "featureGates": [{"name": "LocalQueueMetrics", "enabled": True}],
        },
        "enablePrometheus": True,
    }


def test_null_removes_what_trainyard_sets() -> None:
    found = values_of("kueue", {"controllerManager": {"podDisruptionBudget": None}})
    manager = OURS["kueue"]["controllerManager"]
    kept = {key: manager[key] for key in manager if key != "podDisruptionBudget"}
    assert len(kept) == len(manager) - 1
    assert found["controllerManager"] == kept


def test_values_of_one_cluster_reach_no_other() -> None:
    values_of("kueue", {"controllerManager": {"podDisruptionBudget": {"enabled": False}}})
    again = plan_of(spec()).of(HelmRelease)
    assert {release.name: release.values for release in again} == OURS


def test_every_leaf_has_the_place_that_sets_it() -> None:
    values = {
        "controllerManager": {"replicas": 3, "podDisruptionBudget": None},
        "extra": {"list": [{"a": 1}]},
    }
    manifest = release_of("kueue", values)
    at = ("spec", "components", "kueue", "values")
    for path in (
        ("controllerManager", "replicas"),
        ("controllerManager", "podDisruptionBudget"),
        ("extra", "list", 0, "a"),
    ):
        assert manifest.origin(("spec", "values", *path)) == (*at, *path)
    ours = ("spec", "values", "controllerManager", "topologySpreadConstraints")
    assert manifest.origin(ours) == manifest.at


def test_explain_says_what_is_replaced() -> None:
    values = {"controllerManager": {"replicas": 3, "podDisruptionBudget": None}}
    plan = plan_of(spec(components={"kueue": {"values": values}}))
    above = "components.kueue.values.controllerManager."
    found = {
        each.field.removeprefix(above): (each.value, each.reason)
        for each in plan.derived
        if each.field.startswith(above)
    }
    assert found["replicas"] == ("3", "set by the spec, instead of 2")
    assert found["podDisruptionBudget"][0] == "removed"


def test_the_version_of_a_chart_has_its_place() -> None:
    kueue, efa = RELEASE.version("kueue"), RELEASE.version(EFA)
    data = spec(components={**components(kueue=kueue), EFA: {"version": efa}})
    manifests = manifests_of(data)
    found = {each.ref.name: each for each in manifests if each.ref.kind == "OCIRepository"}
    tag = found["kueue"].origin(("spec", "ref", "tag"))
    assert tag == ("spec", "components", "kueue", "version")
    (release,) = [
        each for each in manifests if each.ref.kind == "HelmRelease" and each.ref.name == EFA
    ]
    version = release.origin(("spec", "chart", "spec", "version"))
    assert version == ("spec", "components", EFA, "version")


DIGEST = "sha256:" + "3b0c" * 16


def test_the_digest_of_a_chart_is_what_flux_takes() -> None:
    pinned = {"kueue": {"version": RELEASE.version("kueue"), "digest": DIGEST}}
    (source,) = [
        each
        for each in manifests_of(spec(components=pinned))
        if each.ref.kind == "OCIRepository" and each.ref.name == "kueue"
    ]
    ref = source.body["spec"]["ref"]
    assert ref == {"tag": RELEASE.version("kueue"), "digest": DIGEST}


@pytest.mark.parametrize(
    ("component", "written"),
    [
        ("kueue", {"digest": DIGEST}),
        ("aws-efa-k8s-device-plugin", {"version": "0.5.34", "digest": DIGEST}),
        ("eksctl", {"digest": DIGEST}),
    ],
)
def test_a_digest_that_no_chart_can_be_taken_by(component: str, written: dict[str, Any]) -> None:
    found = faults_of(spec(components={component: written}))
    (fault,) = [each for each in found if each.code == "RES238"]
    assert str(fault.at) == f"spec.components.{component}.digest"


SIGNER = {
    "issuer": "^https://token\\.actions\\.githubusercontent\\.com$",
    "subject": "^https://github\\.com/aws/karpenter-provider-aws/.+$",
}
KEYS = {"secretRef": {"name": "chart-keys"}}


@pytest.mark.parametrize(
    ("verify", "written"),
    [
        (KEYS, {"provider": "cosign", **KEYS}),
        ({"provider": "notation", **KEYS}, {"provider": "notation", **KEYS}),
        ({"matchOIDCIdentity": [SIGNER]}, {"provider": "cosign", "matchOIDCIdentity": [SIGNER]}),
    ],
)
def test_flux_asks_for_the_signature_of_a_chart(
    verify: dict[str, Any], written: dict[str, Any]
) -> None:
    data = spec(components={"karpenter": {"verify": verify}})
    plan = plan_of(data)
    sources = [each for each in manifests_of(data) if each.ref.kind == "OCIRepository"]
    bodies = {each.ref.name: each.body for each in sources}
    assert bodies["karpenter"]["spec"]["verify"] == written
    assert "verify" not in bodies["kueue"]["spec"]
    key = ("v1", "Secret", "flux-system", "chart-keys")
    assert (key in plan.external) == ("secretRef" in verify)


@pytest.mark.parametrize(
    ("component", "verify", "below"),
    [
        ("karpenter", {}, ""),
        ("karpenter", {"provider": "notation"}, ""),
        ("karpenter", {"provider": "notation", "matchOIDCIdentity": [SIGNER]}, ""),
        ("aws-efa-k8s-device-plugin", KEYS, ""),
        ("eksctl", KEYS, ""),
        ("karpenter", {**KEYS, "matchOIDCIdentity": [SIGNER]}, ".matchOIDCIdentity"),
        (
            "karpenter",
            {"matchOIDCIdentity": [SIGNER, {**SIGNER, "subject": "(team"}]},
            ".matchOIDCIdentity[1].subject",
        ),
    ],
)
def test_a_signature_that_is_nobodys(component: str, verify: dict[str, Any], below: str) -> None:
    found = faults_of(spec(components={component: {"verify": verify}}))
    (fault,) = [each for each in found if each.code == "RES239"]
    assert str(fault.at) == f"spec.components.{component}.verify{below}"


def test_an_eks_add_on_takes_another_build() -> None:
    tested = RELEASE.components["vpc-cni"].build
    other = "v1.23.0-eksbuild.9"
    assert tested != other
    addons = {"eks": {"addons": {"vpc-cni": {"version": other}}}}
    plan = plan_of(spec(platform=addons))
    cluster = plan.one(Cluster)
    assert cluster is not None
    builds = {addon.name: addon.version for addon in cluster.addons}
    assert builds["vpc-cni"] == other
    body = body_of(manifests_of(spec(platform=addons)), "ClusterConfig")
    assert other in str(body)


def test_an_eks_add_on_has_the_form_of_its_builds() -> None:
    addons = {"eks": {"addons": {"vpc-cni": {"version": "v1.23.0"}}}}
    (fault,) = faults_of(spec(platform=addons))
    assert fault.code == "RES002"
    assert str(fault.at) == "spec.platform.eks.addons.vpc-cni.version"
    assert fault.help.startswith("write it like `v1.")


def test_null_removes_only_what_is_set_for_an_eks_add_on() -> None:
    values = {"env": {"NOTHING": None}}
    addons = {"eks": {"addons": {"vpc-cni": {"values": values}}}}
    (fault,) = faults_of(spec(platform=addons))
    assert fault.code == "RES083"
    assert str(fault.at) == "spec.platform.eks.addons.vpc-cni.values.env.NOTHING"


FAULTS: list[tuple[dict[str, Any], str, str, str, str]] = [
    (
        {"keue": {"version": "0.19.2"}},
        "RES080",
        "spec.components.keue",
        "has no component `keue`",
        "did you mean `kueue`?",
    ),
    (
        {"kubernetes": {"version": "1.35.0"}},
        "RES080",
        "spec.components.kubernetes",
        "`kubernetes` is no component",
        "write it as `platform.eks.version`",
    ),
    (
        {"karpenter-crd": {"version": "1.14.1"}},
        "RES081",
        "spec.components.karpenter-crd.version",
        "cannot be set by itself",
        "write the version of `karpenter`",
    ),
    (
        {"vpc-cni": {"version": "v1.23.0-eksbuild.9"}},
        "RES081",
        "spec.components.vpc-cni.version",
        "cannot be set by itself",
        "write it as `platform.eks.addons.vpc-cni.version`",
    ),
    (
        {"flux": {"version": RELEASE.version("flux")}},
        "RES081",
        "spec.components.flux.version",
        "cannot be set by itself",
        "take another `release`",
    ),
    (
        {"trainer": {"version": f"v{RELEASE.version('trainer')}"}},
        "RES002",
        "spec.components.trainer.version",
        "is not supported",
        f"write it like `{RELEASE.version('trainer')}`",
    ),
    (
        {"vpc-cni": {"values": {"env": {"A": "b"}}}},
        "RES082",
        "spec.components.vpc-cni.values",
        "installed by no chart",
        "write them as `platform.eks.addons.vpc-cni.values`",
    ),
    (
        {"kueue": {"values": {"controllerManager": {"replica": None}}}},
        "RES083",
        "spec.components.kueue.values.controllerManager.replica",
        "no value `controllerManager.replica`",
        "removes only what Trainyard sets",
    ),
    (
        {"kueue": {"values": {"controler": {"replicas": None}}}},
        "RES083",
        "spec.components.kueue.values.controler.replicas",
        "no value `controler.replicas`",
        "removes only what Trainyard sets",
    ),
    (
        {"neuron-helm-chart": {"values": {"a": 1}}},
        "RES084",
        "spec.components.neuron-helm-chart",
        "has no `neuron-helm-chart`",
        "remove it",
    ),
]


@pytest.mark.parametrize(
    ("given", "code", "at", "message", "help"),
    FAULTS,
    ids=[f"{code}-{'-'.join(given)}" for given, code, *_ in FAULTS],
)
def test_what_has_no_effect_is_reported(
    given: dict[str, Any], code: str, at: str, message: str, help: str
) -> None:
    data = spec(components=given)
    (fault,) = faults_of(data)
    assert (fault.code, str(fault.at)) == (code, at)
    assert message in fault.message
    assert help in fault.help
    assert fault.at is not None
    _, followed = document(data).node(fault.at)
    assert followed == len(fault.at)


# --- what is written is judged, and a finding is reported at the value

CONFIG = """
      components:
        kueue:
          values:
            managerConfig:
              controllerManagerConfigYaml: |
                apiVersion: config.kueue.x-k8s.io/v1beta2
                kind: Configuration
                integrations: {frameworks: [batch/job]}
"""


def findings_of(folder: Path, parts: dict[str, Any]) -> list[tuple[str, str]]:
    """Code and line of each finding on a spec."""
    text = yaml.safe_dump(spec(**parts), sort_keys=False)
    (folder / "spec.yaml").write_text(text)
    (done,) = check([folder / "spec.yaml"], Options(output=folder / "generated")).compilations
    lines = text.splitlines()
    return [
        (each.code, lines[each.span.line - 1].strip())
        for each in done.diagnostics
        if each.span is not None
    ]


def test_a_configuration_that_admits_no_job_is_found_at_its_line(tmp_path: Path) -> None:
    before = findings_of(tmp_path, {})
    found = findings_of(tmp_path, yaml.safe_load(CONFIG))
    added = [each for each in found if each not in before]
    assert added
    assert {line.partition(":")[0] for _, line in added} == {"controllerManagerConfigYaml"}


def test_explain_shows_the_line_of_a_value(tmp_path: Path, trainyard: Command) -> None:
    values = {"controllerManager": {"replicas": 3}}
    data = spec(components={"kueue": {"values": values}})
    text = yaml.safe_dump(data, sort_keys=False)
    (tmp_path / "spec.yaml").write_text(text)
    line = text.splitlines().index("          replicas: 3") + 1
    done = trainyard("explain", "HelmRelease/flux-system/kueue", "--in", "spec.yaml", cwd=tmp_path)
    assert f"spec.values.controllerManager.replicas: spec.yaml:{line}:" in done.out
