"""Whatever is written is judged: a format without a judge is none, and nothing is made of it."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
import trainyard.verify.formats as registry
from builders import ROOT, SPECS, example, plan_of, spec
from trainyard.output import Artifact, UnjudgedError
from trainyard.output.artifact import kinds_of_formats
from trainyard.output.manifest import Manifest
from trainyard.plan import Plan
from trainyard.plan.features import parts
from trainyard.run.lower import lower
from trainyard.verify.formats import checked, format_of, formats, objects, recognised, written


def test_an_artifact_of_an_unknown_format_cannot_be_made() -> None:
    with pytest.raises(UnjudgedError, match="judges the format `nomad`"):
        Artifact({"job": "train"}, "jobs/train.nomad", format="nomad")


def test_a_format_that_lacks_a_part_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = format_of("cloudformation")
    for part in registry._PARTS:
        module = ModuleType("sagemaker")
        vars(module).update(
            {
                name: value
                for name, value in vars(whole).items()
                if name != part and not name.startswith("__")
            }
        )
        with pytest.raises(UnjudgedError, match=f"`sagemaker` has no {part}"):
            checked("sagemaker", module)


def test_a_spec_with_an_unjudged_output_cannot_be_built(monkeypatch: pytest.MonkeyPatch) -> None:
    """A target that writes what nobody judges fails at its first artifact, not on somebody's cluster."""

    def unjudged(plan: Plan) -> Iterator[Artifact]:
        yield Artifact(path="train.nomad", text="job", format="nomad")

    sketch = ModuleType("trainyard.extensions.sketch.lower")
    vars(sketch)["lower"] = unjudged
    more = (*parts("lower"), sketch)
    monkeypatch.setattr("trainyard.run.lower.parts", lambda name, rooms: more)
    with pytest.raises(UnjudgedError):
        lower(plan_of(spec()))


def test_a_format_is_found_by_being_there() -> None:
    folder = ROOT / "compiler" / "trainyard" / "verify" / "formats"
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    packages = {path.parent.name for path in folder.glob("*/__init__.py")}
    assert modules | packages <= set(formats())
    assert set(formats()) == set(kinds_of_formats())  # each has a name for what it writes
    assert {"kubernetes", "eksctl", "cloudformation", "markdown"} <= set(formats())
    for name in formats():
        assert format_of(name).verified([], registry.Setting()) == []


@pytest.mark.parametrize("name", SPECS)
def test_everything_in_a_folder_is_an_artifact(name: str) -> None:
    found = lower(example(name)[1])
    assert {each.format for each in found} == {
        "kubernetes",
        "eksctl",
        "cloudformation",
        "markdown",
        "shell",
    }
    assert len({each.id for each in found}) == len(found)
    assert len({each.path for each in found}) == len(found)
    assert all(each.path and written(each) for each in found)
    assert [each.ref.kind for each in found if each.format == "eksctl"] == ["ClusterConfig"]
    assert all(isinstance(each, Manifest) for each in objects(found))


@pytest.mark.parametrize(
    ("body", "format"),
    [
        ({"apiVersion": "v1", "kind": "Pod"}, "kubernetes"),
        ({"apiVersion": "eksctl.io/v1alpha5", "kind": "ClusterConfig"}, "eksctl"),
        ({"Resources": {"A": {"Type": "AWS::SQS::Queue"}}}, "cloudformation"),
        ({"AWSTemplateFormatVersion": "2010-09-09"}, "cloudformation"),
        ({"Resources": {"A": {"Type": "queue"}}}, ""),
        ({"services": {"web": {"image": "a"}}}, ""),
        (["a"], ""),
        ("text", ""),
        (None, ""),
    ],
)
def test_a_document_is_of_the_format_that_recognises_it(body: Any, format: str) -> None:
    assert recognised(body) == format


def test_a_text_is_made_when_it_is_read() -> None:
    made: list[int] = []

    def text() -> str:
        made.append(1)
        return "# A\n"

    page = Artifact(path="a.md", text=text, format="markdown")
    assert (made, page.id) == ([], "@Page/a.md")
    assert (page.content, page.content, made) == ("# A\n", "# A\n", [1])
