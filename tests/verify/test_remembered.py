"""What is remembered of a body holds for equal ones alone."""

from __future__ import annotations

from copy import deepcopy

from trainyard.verify import Schemas, validate_body
from trainyard.verify.body import _schema_without_fault

from verify.conftest import CLUSTER_QUEUE, TRAIN_JOB


def test_an_equal_body_is_looked_at_once() -> None:
    schemas = Schemas()
    before = _schema_without_fault.cache_info().hits
    assert validate_body(CLUSTER_QUEUE, schemas=schemas) == []
    assert _schema_without_fault.cache_info().hits == before
    assert validate_body(deepcopy(CLUSTER_QUEUE), schemas=schemas) == []
    assert _schema_without_fault.cache_info().hits == before + 1


def test_a_body_that_differs_in_a_type_is_another() -> None:
    sound = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "a"},
        "spec": {"ports": [{"port": 1}]},
    }
    assert validate_body(sound) == []
    wrong = deepcopy(sound)
    wrong["spec"] = {"ports": [{"port": True}]}  # True == 1 in Python
    for _ in range(2):
        assert [fault.code for fault in validate_body(wrong)] == ["SCH002"]


def test_a_body_that_was_changed_is_judged_anew() -> None:
    body = deepcopy(CLUSTER_QUEUE)
    assert validate_body(body) == []
    body["spec"]["nonsense"] = 1
    assert [fault.code for fault in validate_body(body)] == ["SCH001"]


def test_jobs_are_not_remembered() -> None:
    before = _schema_without_fault.cache_info().currsize
    assert validate_body(TRAIN_JOB) == []
    assert _schema_without_fault.cache_info().currsize == before


def test_values_that_cannot_be_written_as_bytes_are_judged_all_the_same() -> None:
    class Text(str):
        pass

    body = deepcopy(CLUSTER_QUEUE)
    body["metadata"]["annotations"] = {"a": Text("b")}
    validate_body(body)
    body["spec"]["nonsense"] = 1
    assert "SCH001" in [fault.code for fault in validate_body(body)]
