"""Objects of others that say less than ours: what they say is read, and nothing is made up for the rest."""

from __future__ import annotations

import pytest
import yaml
from trainyard.core.storage.plan import PersistentVolume, VolumeClass
from trainyard.eks.delivery.plan import DisruptionBudget
from trainyard.eks.flux.plan import ChartSignature, HelmSource
from trainyard.eks.nodes.plan import AutoNodeClass, NodeClass
from trainyard.eks.secrets.plan import SecretStore
from trainyard.eks.teams.plan import NetworkPolicy, NetworkRule, PodPriority
from trainyard.lift import lift
from trainyard.output.manifest import Manifest
from trainyard.plan import Plan, Quantity
from trainyard.plan.base import PlanItem


def read(api: str, kind: str, rest: str) -> Plan:
    text = f"{{apiVersion: {api}, kind: {kind}, metadata: {{name: a}}, {rest}}}"
    return lift([Manifest(yaml.safe_load(text))], closed=False)


@pytest.mark.parametrize(
    ("node", "api", "kind", "rest"),
    [
        (
            PersistentVolume,
            "v1",
            "PersistentVolume",
            "spec: {capacity: {storage: 1Gi}, nfs: {path: /a}}",
        ),
        (PersistentVolume, "v1", "PersistentVolume", "spec: {csi: {driver: a, volumeHandle: b}}"),
        (
            SecretStore,
            "external-secrets.io/v1",
            "SecretStore",
            "spec: {provider: {vault: {server: https://vault.test}}}",
        ),
        (PodPriority, "scheduling.k8s.io/v1", "PriorityClass", "description: none"),
        (
            DisruptionBudget,
            "policy/v1",
            "PodDisruptionBudget",
            "spec: {maxUnavailable: 1, selector: {matchLabels: {app: a}}}",
        ),
        (
            DisruptionBudget,
            "policy/v1",
            "PodDisruptionBudget",
            "spec: {minAvailable: 1, selector: {}}",
        ),
        (
            DisruptionBudget,
            "policy/v1",
            "PodDisruptionBudget",
            "spec: {minAvailable: 50%, selector: {matchLabels: {app: a}}}",
        ),
    ],
)
def test_what_says_too_little_is_no_node(
    node: type[PlanItem], api: str, kind: str, rest: str
) -> None:
    assert read(api, kind, rest).of(node) == ()


@pytest.mark.parametrize(
    ("types", "ingress", "egress"),
    [("[Ingress]", 1, None), ("[Egress]", None, 1), ("[Ingress, Egress]", 1, 1)],
)
def test_a_network_policy_is_of_the_directions_that_it_names(
    types: str, ingress: int | None, egress: int | None
) -> None:
    rest = f"spec: {{podSelector: {{}}, policyTypes: {types}, ingress: [{{}}], egress: [{{}}]}}"
    (found,) = read("networking.k8s.io/v1", "NetworkPolicy", rest).of(NetworkPolicy)
    assert (None if found.ingress is None else len(found.ingress)) == ingress
    assert (None if found.egress is None else len(found.egress)) == egress


@pytest.mark.parametrize(
    ("rules", "ingress", "egress"),
    [
        ("", (), None),
        ("ingress: [{}], ", (NetworkRule(),), None),
        ("egress: [], ", (), None),
        ("egress: [{}], ", (), (NetworkRule(),)),
    ],
)
def test_a_network_policy_without_directions_is_about_what_comes_in_and_what_it_has_rules_of(
    rules: str, ingress: object, egress: object
) -> None:
    rest = f"spec: {{{rules}podSelector: {{}}}}"
    (found,) = read("networking.k8s.io/v1", "NetworkPolicy", rest).of(NetworkPolicy)
    assert (found.ingress, found.egress) == (ingress, egress)


def test_a_class_is_in_the_zones_of_its_topology() -> None:
    terms = (
        "[{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [us-west-2a]}, "
        "{key: topology.kubernetes.io/region, values: [us-west-2]}]}]"
    )
    rest = f"provisioner: ebs.csi.aws.com, allowedTopologies: {terms}"
    (found,) = read("storage.k8s.io/v1", "StorageClass", rest).of(VolumeClass)
    assert found.zones == ("us-west-2a",)


@pytest.mark.parametrize(
    ("rest", "size"),
    [("spec: {role: a}", None), ("spec: {role: a, ephemeralStorage: {size: 200Gi}}", "200Gi")],
)
def test_the_disk_of_a_node_class_of_auto_mode(rest: str, size: str | None) -> None:
    (found,) = read("eks.amazonaws.com/v1", "NodeClass", rest).of(AutoNodeClass)
    assert (found.ephemeral.size if found.ephemeral else None) == (
        Quantity.parse(size) if size else None
    )


def test_parts_of_a_node_class_that_name_no_card_or_size() -> None:
    rest = (
        "spec: {amiFamily: AL2023, networkInterfaces: [{networkCardIndex: 0, deviceIndex: 1, interfaceType: efa-only}, "
        "{interfaceType: interface}, {networkCardIndex: 1}], blockDeviceMappings: [{deviceName: /dev/xvda}, "
        "{deviceName: /dev/xvdb, ebs: {volumeSize: 20Gi}}]}"
    )
    (found,) = read("karpenter.k8s.aws/v1", "EC2NodeClass", rest).of(NodeClass)
    assert [(each.card, each.device) for each in found.interfaces] == [(0, 1)]
    assert [each.device for each in found.block_devices] == ["/dev/xvdb"]


@pytest.mark.parametrize(
    ("verify", "signature"),
    [
        ("", None),
        (
            ", verify: {provider: cosign, matchOIDCIdentity: [{issuer: '^a$', subject: '^b$'}]}",
            ChartSignature(provider="cosign", secret="", identities=(("^a$", "^b$"),)),
        ),
        (
            ", verify: {secretRef: {name: keys}}",
            ChartSignature(provider="cosign", secret="keys", identities=()),
        ),
    ],
)
def test_who_signs_a_chart(verify: str, signature: ChartSignature | None) -> None:
    rest = f"spec: {{url: oci://registry.test/charts/a, ref: {{tag: 1.0.0}}, interval: 1h{verify}}}"
    (found,) = read("source.toolkit.fluxcd.io/v1", "OCIRepository", rest).of(HelmSource)
    assert found.signature == signature
