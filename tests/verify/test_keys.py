"""Keys of ConfigMaps and Secrets that pods want."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from trainyard.output.manifest import Manifest
from trainyard.verify import verify

from verify.conftest import JOB, TRAIN_JOB

Body = dict[str, Any]


def data(kind: str, name: str, **fields: Any) -> Body:
    return {
        "apiVersion": "v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "team-a"},
        **fields,
    }


SETTINGS = data("ConfigMap", "settings", data={"model.yaml": "a", "lr": "1"})
TOKEN = data("Secret", "token", stringData={"hf": "x"}, data={"wandb": "eA=="})
FILLED_LATER = data("ConfigMap", "bundle")


def pod(**fields: Any) -> Body:
    """A Job with one container and more fields of its pod."""
    body = copy.deepcopy(JOB)
    body["metadata"]["namespace"] = "team-a"
    spec = body["spec"]["template"]["spec"]
    spec["containers"][0].update(fields.pop("container", {}))
    spec.update(fields)
    return body


def variable(kind: str, name: str, key: str, **more: Any) -> Body:
    return {"name": "X", "valueFrom": {kind: {"name": name, "key": key, **more}}}


def volume(source: Body) -> Body:
    return pod(volumes=[{"name": "v", **source}])


def job(part: str, entry: Body) -> Body:
    body = copy.deepcopy(TRAIN_JOB)
    body["metadata"]["namespace"] = "team-a"
    body["spec"].setdefault(part, {})
    (body["spec"][part] if part == "trainer" else body["spec"][part].setdefault("dataset", {}))[
        "env"
    ] = [entry]
    return body


def reported(*bodies: Body) -> list[tuple[str, str, str, str]]:
    found = verify([Manifest(each) for each in bodies], closed=False)
    return [(each.code, "/".join(map(str, each.at[2:])), each.message, each.help) for each in found]


ITEMS = {"items": [{"key": "model.yml", "path": "m"}]}
WRONG = [
    (
        volume({"configMap": {"name": "settings", **ITEMS}}),
        "template/spec/volumes/0/configMap/items/0/key",
    ),
    (
        volume({"projected": {"sources": [{"configMap": {"name": "settings", **ITEMS}}]}}),
        "template/spec/volumes/0/projected/sources/0/configMap/items/0/key",
    ),
    (
        pod(container={"env": [variable("configMapKeyRef", "settings", "model.yml")]}),
        "template/spec/containers/0/env/0/valueFrom/configMapKeyRef/key",
    ),
    (
        job("trainer", variable("configMapKeyRef", "settings", "model.yml")),
        "trainer/env/0/valueFrom/configMapKeyRef/key",
    ),
]


@pytest.mark.parametrize(("body", "place"), WRONG)
def test_a_key_that_the_object_of_the_set_does_not_have(body: Body, place: str) -> None:
    assert reported(body, SETTINGS) == [
        (
            "REF001",
            place,
            "ConfigMap `settings` has no key `model.yml`",
            "did you mean `model.yaml`?",
        )
    ]
    assert reported(body) == []
    assert reported(body, {**SETTINGS, "data": {"model.yml": ""}}) == []
    assert (
        reported(body, {**SETTINGS, "metadata": {"name": "settings", "namespace": "team-b"}}) == []
    )


def test_keys_of_secrets() -> None:
    for entry in ("hf", "wandb"):
        assert reported(job("trainer", variable("secretKeyRef", "token", entry)), TOKEN) == []
    assert reported(job("initializer", variable("secretKeyRef", "token", "HF_TOKEN")), TOKEN) == [
        (
            "REF001",
            "initializer/dataset/env/0/valueFrom/secretKeyRef/key",
            "Secret `token` has no key `HF_TOKEN`",
            "known: `hf`, `wandb`",
        )
    ]
    assert [
        code for code, *_ in reported(volume({"secret": {"secretName": "token", **ITEMS}}), TOKEN)
    ] == ["REF001"]


def test_what_need_not_be_there_or_comes_later() -> None:
    assert (
        reported(job("trainer", variable("secretKeyRef", "token", "none", optional=True)), TOKEN)
        == []
    )
    assert (
        reported(volume({"configMap": {"name": "settings", "optional": True, **ITEMS}}), SETTINGS)
        == []
    )
    assert reported(volume({"configMap": {"name": "bundle", **ITEMS}}), FILLED_LATER) == []
