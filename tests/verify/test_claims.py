"""Claims that the default class keeps from their volume."""

from __future__ import annotations

from typing import Any

import pytest
from trainyard.output.manifest import Manifest
from trainyard.verify import verify

Body = dict[str, Any]


def storage_class(name: str, default: str) -> Body:
    annotations = {"storageclass.kubernetes.io/is-default-class": default}
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "provisioner": "ebs.csi.aws.com",
        "metadata": {"name": name, "annotations": annotations},
    }


def volume(**spec: Any) -> Body:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "data"},
        "spec": {
            "capacity": {"storage": "1200Gi"},
            "accessModes": ["ReadWriteMany"],
            "csi": {
                "driver": "fsx.csi.aws.com",
                "volumeHandle": "fs-0a1b2c3d4e5f60718",
                "volumeAttributes": {"dnsname": "fs-0a1b2c3d4e5f60718.fsx.us-west-2.amazonaws.com"},
            },
            **spec,
        },
    }


def claim(**spec: Any) -> Body:
    metadata, requests = {"name": "data", "namespace": "a"}, {"storage": "1200Gi"}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata,
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "resources": {"requests": requests},
            "volumeName": "data",
            **spec,
        },
    }


def reported(*bodies: Body) -> list[tuple[str, str, str]]:
    found = verify([Manifest(each) for each in bodies], closed=False)
    return [(each.code, each.message, each.help) for each in found]


def test_a_claim_gets_the_default_class_although_it_names_a_volume() -> None:
    assert reported(storage_class("gp3", "true"), volume(), claim()) == [
        (
            "SCH012",
            "claim gets the default class `gp3`, and volume `data` has none: never bound",
            'write `storageClassName: ""` as well',
        )
    ]


def test_a_claim_with_a_class_of_its_own() -> None:
    gp3 = storage_class("gp3", "true")
    assert reported(gp3, volume(), claim(storageClassName="")) == []
    assert reported(gp3, volume(storageClassName="gp3"), claim()) == []


def test_what_the_default_is_may_not_be_known() -> None:
    assert reported(volume(), claim()) == []
    assert reported(storage_class("gp3", "false"), volume(), claim()) == []
    assert (
        reported(storage_class("gp3", "true"), storage_class("gp2", "true"), volume(), claim())
        == []
    )
    assert reported(storage_class("gp3", "true"), claim()) == []


@pytest.mark.parametrize(
    ("of_volume", "of_claim", "message"),
    [
        (
            {"storageClassName": "gp3"},
            {"storageClassName": ""},
            "claim has storage class ``, volume `data` has `gp3`: never bound",
        ),
        (
            {"accessModes": ["ReadWriteOnce"]},
            {"storageClassName": ""},
            "volume `data` does not offer `ReadWriteMany`: never bound",
        ),
    ],
)
def test_a_claim_that_its_volume_does_not_suit(
    of_volume: Body, of_claim: Body, message: str
) -> None:
    assert [each[1] for each in reported(volume(**of_volume), claim(**of_claim))] == [message]


@pytest.mark.parametrize("unsaid", [{"accessModes": None}, {"capacity": {}}])
def test_what_a_volume_does_not_say_is_its_own_fault(unsaid: Body) -> None:
    found = verify([Manifest(volume(**unsaid)), Manifest(claim(storageClassName=""))], closed=False)
    assert {each.object for each in found} <= {"PersistentVolume/data"}
