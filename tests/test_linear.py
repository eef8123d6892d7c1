"""Work that grows with what is read and no faster, by counts of calls and not by seconds."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import spec
from trainyard.extensions.lint import coverage
from trainyard.extensions.lint.linter import lint
from trainyard.judge import judging as judge
from trainyard.judge.model import fit
from trainyard.language.diagnostics import near
from trainyard.language.places import Route
from trainyard.run.driver import check
from trainyard.run.outcome import Options

OPTIONS = Options(today=date(2026, 11, 22))


def _jobs(count: int, **trainer: Any) -> str:
    body: dict[str, Any] = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "spec": {"runtimeRef": {"name": "torch"}, "trainer": trainer},
    }
    bodies = []
    for index in range(count):
        metadata = {"name": f"job-{index}", "namespace": "a"}
        bodies.append(json.dumps({**body, "metadata": metadata}))
    return "\n---\n".join(bodies)


def test_the_text_of_a_file_is_searched_once_however_many_objects_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[int] = []
    whole = coverage.may_have_placeholders

    def counted(text: str) -> bool:
        searched.append(len(text))
        return whole(text)

    monkeypatch.setattr(coverage, "may_have_placeholders", counted)
    (tmp_path / "jobs.yaml").write_text(_jobs(50, image="${IMAGE}"))
    done = lint([tmp_path / "jobs.yaml"], OPTIONS)
    assert len(searched) == 1
    assert done.coverage.placeholders["${IMAGE}"] == 50


def _lookups(count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many routes are made to find the places of findings in jobs with two faults each."""
    made = 0

    class Counted(Route):
        def __new__(cls, keys: Any = ()) -> Any:
            nonlocal made
            made += 1
            return Route(keys)

    monkeypatch.setattr(judge, "Route", Counted)
    file = tmp_path / f"{count}.yaml"
    file.write_text(_jobs(count, imagee="a", numNodes="2"))
    assert len(lint([file], OPTIONS).diagnostics) >= count
    return made


def test_places_of_findings_are_found_without_a_search_through_all_faults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = _lookups(40, tmp_path, monkeypatch)
    two = _lookups(80, tmp_path, monkeypatch)
    assert one > 0
    assert two <= 2.1 * one


def test_long_words_and_words_of_other_lengths_are_not_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared: list[tuple[str, str]] = []

    def counted(word: str, name: str) -> float:
        compared.append((word, name))
        return 0.0

    monkeypatch.setattr(near, "likeness", counted)
    names = [f"policy{index}" for index in range(1000)]
    assert near.near("a" * 5000, names) == []
    assert compared == []
    near.near("policyx1", ["policy1", "p"])
    assert compared == [("policyx1", "policy1")]


def _asked(count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often is asked whether a node is large enough, of jobs all of which want more nodes than there are."""
    asked = 0
    whole = fit.exceeds_node

    def counted(*given: Any) -> bool:
        nonlocal asked
        asked += 1
        return whole(*given)

    data = spec()
    job = {**data["spec"]["jobs"][0], "nodes": 999}
    data["spec"]["jobs"] = [{**job, "name": f"job-{index}"} for index in range(count)]
    file = tmp_path / "spec.yaml"
    file.write_text(yaml.safe_dump(data))
    with monkeypatch.context() as patched:
        patched.setattr(fit, "exceeds_node", counted)
        found = check([file], OPTIONS).all()
    assert "LIM003" in {each.code for each in found}
    return asked


@pytest.mark.slow
def test_jobs_that_do_not_fit_are_not_each_compared_with_all_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = _asked(20, tmp_path, monkeypatch)
    two = _asked(40, tmp_path, monkeypatch)
    assert one > 0
    assert two <= 2.1 * one
