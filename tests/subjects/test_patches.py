"""Patches of the spec over rendered objects: what they change, what they may not, and where a finding points."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import job_of, shape_faults, spec
from history.folder import codes, compiled, only_object, runs, write
from running import Command
from trainyard.eks.jobs.plan import TrainJob
from trainyard.eks.kueue.plan import ClusterQueue
from trainyard.eks.overrides.plan import Operation
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest
from trainyard.run.driver import check
from trainyard.run.outcome import Compilation, Options
from trainyard.run.patching.merge import merge
from trainyard.run.patching.operations import operate
from trainyard.run.patching.place import Draft, PatchError

AT = Route(("spec", "patches", 0, "patch"))
JOB = {"kind": "TrainJob", "labelSelector": "trainyard.dev/job=train"}
IMAGE = "registry.test/train:2.0"


def done_of(folder: Path, data: dict[str, Any]) -> Compilation:
    (folder / "spec.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
    (done,) = check([folder / "spec.yaml"], Options(output=folder / "generated")).compilations
    return done


def patched(folder: Path, target: dict[str, Any], patch: Any, **parts: Any) -> Compilation:
    return done_of(folder, spec(patches=[{"target": target, "patch": patch}], **parts))


def only(done: Compilation, kind: str) -> Manifest:
    (manifest,) = [each for each in done.manifests if each.ref.kind == kind]
    return manifest


def summaries(done: Compilation) -> list[tuple[str, int]]:
    """Code and line of each error."""
    return [
        (each.code, each.span.line)
        for each in done.diagnostics
        if each.severity.name == "ERROR" and each.span is not None
    ]


# --- JSON patches, by RFC 6902 and its appendix A

RFC: list[tuple[Any, list[Operation], Any]] = [
    ({"foo": "bar"}, [Operation("add", "/baz", value="qux")], {"foo": "bar", "baz": "qux"}),
    (
        {"foo": ["bar", "baz"]},
        [Operation("add", "/foo/1", value="qux")],
        {"foo": ["bar", "qux", "baz"]},
    ),
    ({"baz": "qux", "foo": "bar"}, [Operation("remove", "/baz")], {"foo": "bar"}),
    ({"foo": ["bar", "qux", "baz"]}, [Operation("remove", "/foo/1")], {"foo": ["bar", "baz"]}),
    ({"baz": "qux"}, [Operation("replace", "/baz", value="boo")], {"baz": "boo"}),
    (
        {"foo": {"bar": "baz", "waldo": "fred"}, "qux": {"corge": "grault"}},
        [Operation("move", "/qux/thud", "/foo/waldo")],
        {"foo": {"bar": "baz"}, "qux": {"corge": "grault", "thud": "fred"}},
    ),
    (
        {"foo": ["all", "grass", "cows", "eat"]},
        [Operation("move", "/foo/3", "/foo/1")],
        {"foo": ["all", "cows", "eat", "grass"]},
    ),
    (
        {"foo": ["bar"]},
        [Operation("add", "/foo/-", value=["abc", "def"])],
        {"foo": ["bar", ["abc", "def"]]},
    ),
    ({"/": 9, "~1": 10}, [Operation("test", "/~01", value=10)], {"/": 9, "~1": 10}),
    ({"a": {"b": 1}}, [Operation("copy", "/c", "/a")], {"a": {"b": 1}, "c": {"b": 1}}),
]


@pytest.mark.parametrize(("body", "operations", "after"), RFC)
def test_operations_do_what_the_standard_says(
    body: Any, operations: list[Operation], after: Any
) -> None:
    draft = Draft(body, {})
    for index, operation in enumerate(operations):
        operate(draft, operation, AT / index)
    assert draft.body == after


MISSING: list[tuple[Any, Operation, str]] = [
    ({"foo": "bar"}, Operation("remove", "/fooo"), "did you mean `foo`?"),
    ({"foo": "bar"}, Operation("replace", "/baz", value=1), "the object has `foo`"),
    ({"foo": "bar"}, Operation("add", "/baz/bat", value="qux"), "the object has `foo`"),
    ({"foo": [1, 2]}, Operation("remove", "/foo/2"), "/foo has 2 items"),
    ({"foo": [1, 2]}, Operation("add", "/foo/3", value=1), "/foo has 2 items"),
    ({"foo": [1]}, Operation("add", "/foo/x", value=1), "/foo has 1 items"),
    ({"foo": "bar"}, Operation("add", "/foo/x", value=1), "/foo is `bar`"),
    ({"foo": "bar"}, Operation("copy", "/x", "/y"), "the object has `foo`"),
    ({"foo": 1}, Operation("test", "/foo", value="1"), "write the value that it has"),
]


@pytest.mark.parametrize(("body", "operation", "help"), MISSING)
def test_a_path_that_is_not_there_is_a_fault(body: Any, operation: Operation, help: str) -> None:
    with pytest.raises(PatchError) as problem:
        operate(Draft(body, {}), operation, AT / 0)
    assert problem.value.code == "RES086"
    assert problem.value.at[: len(AT) + 1] == AT / 0
    assert help in problem.value.help


def test_places_move_with_the_items_of_a_list() -> None:
    origins = {("l", 0): Route(("a",)), ("l", 1): Route(("b",)), ("l",): Route(("l",))}
    draft = Draft({"l": [{"x": 1}, {"x": 2}]}, origins)
    operate(draft, Operation("add", "/l/0", value={"x": 0}), AT / 0)
    assert draft.origins["l", 1] == ("a",)
    assert draft.origins["l", 2] == ("b",)
    assert draft.origins["l", 0, "x"] == AT / 0 / "value" / "x"
    operate(draft, Operation("remove", "/l/1"), AT / 1)
    assert draft.body == {"l": [{"x": 0}, {"x": 2}]}
    assert draft.origins["l", 1] == ("b",)


# --- strategic merge


def merged(body: Any, patch: Any, group: str = "apps") -> Any:
    draft = Draft(body, {})
    merge(draft, patch, group, AT)
    return draft.body


PODS = {"containers": [{"name": "a", "image": "a:1"}, {"name": "b", "image": "b:1"}]}


def test_lists_of_built_in_kinds_merge_by_key() -> None:
    patch = {"containers": [{"name": "b", "image": "b:2"}, {"name": "c", "image": "c:1"}]}
    found = merged(PODS, patch)["containers"]
    assert [(each["name"], each["image"]) for each in found] == [
        ("c", "c:1"),
        ("a", "a:1"),
        ("b", "b:2"),
    ]


def test_lists_of_other_kinds_replace() -> None:
    patch = {"containers": [{"name": "b", "image": "b:2"}]}
    assert merged(PODS, patch, "trainer.kubeflow.org") == patch


def test_lists_without_a_key_replace() -> None:
    assert merged({"tolerations": [{"key": "a"}]}, {"tolerations": []}) == {"tolerations": []}


def test_a_list_may_be_replaced_as_a_whole() -> None:
    one = {"name": "c", "image": "c:1"}
    patch = {"containers": [{"$patch": "replace"}, one]}
    assert merged(PODS, patch) == {"containers": [one]}
    assert merged({}, patch) == {"containers": [one]}


@pytest.mark.parametrize(
    ("body", "patch", "whole"),
    [
        # a key that an item has not, a value that is no list, one that was none, and items that are no mappings
        (PODS, {"containers": [{"image": "b:2"}]}, {"containers": [{"image": "b:2"}]}),
        (PODS, {"containers": ["a"]}, {"containers": ["a"]}),
        (PODS, {"containers": {"name": "a"}}, {"containers": {"name": "a"}}),
        ({"ports": 80}, {"ports": [{"port": 81}]}, {"ports": [{"port": 81}]}),
        (
            {"env": ["A", {"name": "B"}]},
            {"env": [{"name": "B", "value": "2"}]},
            {"env": ["A", {"name": "B", "value": "2"}]},
        ),
        # a key of two: of containers, or of Services
        (
            {"ports": [{"port": 80}, {"port": 81}]},
            {"ports": [{"port": 81, "name": "b"}]},
            {"ports": [{"port": 80}, {"port": 81, "name": "b"}]},
        ),
        # `merge` is what happens anyway
        ({"a": {"b": 1}}, {"a": {"$patch": "merge", "c": 2}}, {"a": {"b": 1, "c": 2}}),
        ({"a": 1}, {"a": {"$patch": "merge", "c": 2}}, {"a": {"c": 2}}),
    ],
)
def test_values_of_other_forms(body: Any, patch: Any, whole: Any) -> None:
    assert merged(copy.deepcopy(body), patch) == whole


def test_null_and_directives_remove() -> None:
    assert merged({"a": 1, "b": 2}, {"a": None}) == {"b": 2}
    assert merged({"a": {"b": 1}}, {"a": {"$patch": "delete"}}) == {}
    assert merged({"a": {"b": 1}}, {"a": {"$patch": "replace", "c": 2}}) == {"a": {"c": 2}}
    item = {"name": "a", "$patch": "delete"}
    assert merged(PODS, {"containers": [item]}) == {"containers": PODS["containers"][1:]}


@pytest.mark.parametrize(
    ("patch", "code"),
    [
        ({"nothing": None}, "RES086"),
        ({"containers": [{"name": "x", "$patch": "delete"}]}, "RES086"),
        ({"$patch": "delete"}, "RES087"),
        ({"$setElementOrder/containers": []}, "RES087"),
        ({"new": {"deep": {"$patch": "replace"}}}, "RES087"),
        ({"new": [{"$patch": "delete"}]}, "RES087"),
        ({"containers": {"$patch": "keep"}}, "RES087"),
    ],
)
def test_what_merges_nothing_is_a_fault(patch: Any, code: str) -> None:
    with pytest.raises(PatchError) as problem:
        merged(PODS, patch)
    assert problem.value.code == code


# --- targets


@pytest.mark.parametrize(
    "target",
    [
        {"kind": "TrainJob"},
        {"kind": "TrainJob", "name": "train-.*"},
        {"kind": "TrainJob", "group": "trainer.kubeflow.org", "version": "v1alpha1"},
        {"kind": "TrainJob", "namespace": "train.*"},
        JOB,
        {
            "kind": "TrainJob",
            "labelSelector": "trainyard.dev/job in (a, train),!x,kueue.x-k8s.io/queue-name",
        },
        {
            "kind": "TrainJob",
            "labelSelector": "trainyard.dev/job notin (a, b), trainyard.dev/job != c",
        },
    ],
)
def test_a_target_selects(tmp_path: Path, target: dict[str, Any]) -> None:
    patch = {"metadata": {"labels": {"team": "speech"}}}
    done = patched(tmp_path, target, patch)
    assert summaries(done) == []
    assert only(done, "TrainJob").body["metadata"]["labels"]["team"] == "speech"


@pytest.mark.parametrize(
    ("target", "help"),
    [
        ({"kind": "TrianJob"}, "did you mean `TrainJob`?"),
        ({"kind": "StatefulSet"}, "`trainyard compile` writes no such kind"),
        ({"kind": "ClusterQueue", "name": "gpuu"}, "did you mean `gpu`?"),
        ({"kind": "ClusterQueue", "name": "x"}, "there is `gpu`"),
        ({"kind": "ClusterQueue", "name": "gp"}, "`gpu`"),
        ({"kind": "TrainJob", "namespace": "nowhere"}, "there is `TrainJob/"),
        ({"kind": "ServiceAccount", "name": "zzzz"}, ", and 5 more"),
        ({"kind": "TrainJob", "labelSelector": "trainyard.dev/job!=train"}, "there is `TrainJob/"),
        ({"kind": "TrainJob", "group": ""}, "there is `TrainJob/"),
    ],
)
def test_a_patch_of_nothing_is_a_fault(tmp_path: Path, target: dict[str, Any], help: str) -> None:
    done = patched(tmp_path, target, {"metadata": {"labels": {"a": "b"}}})
    (fault,) = [each for each in done.diagnostics if each.severity.name == "ERROR"]
    assert (fault.code, str(fault.at)) == ("RES085", "spec.patches[0].target")
    assert help in fault.help


# --- what may not change


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "patch", "at"),
    [
        (JOB, {"metadata": {"name": "other"}}, "metadata.name"),
        (JOB, {"metadata": {"namespace": "other"}}, "metadata.namespace"),
        (JOB, {"kind": "PyTorchJob"}, "kind"),
        (JOB, {"metadata": {"labels": {"trainyard.dev/job": "x"}}}, 'labels["trainyard.dev/job"]'),
        (JOB, {"metadata": {"labels": None}}, "labels"),
        (JOB, {"spec": {"suspend": True}}, "spec.suspend"),
        (JOB, {"spec": {"managedBy": "x/y"}}, "spec.managedBy"),
        (JOB, {"spec": {"runtimeRef": {"name": "other"}}}, "spec.runtimeRef"),
        (JOB, [{"op": "replace", "path": "/metadata/name", "value": "x"}], "metadata.name"),
        (
            JOB,
            {"metadata": {"annotations": {"kustomize.toolkit.fluxcd.io/prune": "enabled"}}},
            "prune",
        ),
        (JOB, [{"op": "remove", "path": "/metadata/annotations"}], "prune"),
        (
            {"kind": "ClusterTrainingRuntime"},
            {"metadata": {"annotations": {"kustomize.toolkit.fluxcd.io/force": "enabled"}}},
            "force",
        ),
    ],
)
def test_a_patch_changes_no_identity_and_no_run_once(
    tmp_path: Path, target: dict[str, Any], patch: Any, at: str
) -> None:
    before = done_of(tmp_path, spec())
    done = patched(tmp_path, target, patch)
    (fault,) = [each for each in done.diagnostics if each.severity.name == "ERROR"]
    assert fault.code == "RES088"
    assert at in fault.message
    assert fault.at is not None
    assert fault.at[:4] == ("spec", "patches", 0, "patch")
    assert [each.body for each in done.manifests] == [each.body for each in before.manifests]


# --- runs


def test_a_job_that_runs_otherwise_has_another_name(tmp_path: Path) -> None:
    before = done_of(tmp_path, spec())
    done = patched(tmp_path, JOB, {"spec": {"trainer": {"image": IMAGE}}})
    old, new = only(before, "TrainJob"), only(done, "TrainJob")
    assert new.ref.name != old.ref.name
    assert new.ref.name.startswith("train-")
    assert len(new.ref.name) == len(old.ref.name)
    assert new.path.endswith(f"trainjob-{new.ref.name}.yaml")
    assert old.ref.name not in str(new.body)
    assert new.ref.name in str(new.body["spec"])  # the rendezvous
    assert done.plan is not None
    (job,) = done.plan.of(TrainJob)
    assert (job.name, job.image) == (new.ref.name, IMAGE)
    names = {each.value for each in done.plan.derived if each.field == "name"}
    assert new.ref.name in names
    assert old.ref.name not in names


def test_a_runtime_that_differs_has_another_name_and_so_has_its_job(tmp_path: Path) -> None:
    before = done_of(tmp_path, spec())
    patch = {"spec": {"template": {"spec": {"failurePolicy": {"maxRestarts": 9}}}}}
    done = patched(tmp_path, {"kind": "ClusterTrainingRuntime"}, patch)
    runtime = only(done, "ClusterTrainingRuntime")
    assert runtime.ref.name != only(before, "ClusterTrainingRuntime").ref.name
    job = only(done, "TrainJob")
    assert job.body["spec"]["runtimeRef"]["name"] == runtime.ref.name
    assert job.ref.name != only(before, "TrainJob").ref.name
    assert summaries(done) == []


@pytest.mark.parametrize(
    "patch", [{"metadata": {"labels": {"team": "speech"}}}, {"spec": {"trainer": {"numNodes": 4}}}]
)
def test_a_job_that_runs_the_same_keeps_its_name(tmp_path: Path, patch: Any) -> None:
    done = patched(tmp_path, JOB, patch)
    assert only(done, "TrainJob").ref.name == job_of(spec()).name


def test_names_of_patched_jobs_are_the_same_in_every_order(tmp_path: Path) -> None:
    names = set()
    for order in (("a", "b"), ("b", "a")):
        limits = {f"example.com/{name}": 1 for name in order}
        trainer = {"image": IMAGE, "resourcesPerNode": {"limits": limits}}
        done = patched(tmp_path, JOB, {"spec": {"trainer": trainer}})
        names.add(only(done, "TrainJob").ref.name)
    other = patched(tmp_path, JOB, {"spec": {"trainer": {"image": f"{IMAGE}.1"}}})
    assert len({*names, only(other, "TrainJob").ref.name}) == 2


def with_patch(image: str, **job: Any) -> dict[str, Any]:
    patch = {"target": JOB, "patch": {"spec": {"trainer": {"image": image}}}}
    return spec(patches=[patch], job=job)


@pytest.mark.slow
def test_a_patch_of_a_submitted_job_asks_for_a_rerun(trainyard: Command, tmp_path: Path) -> None:
    compiled(tmp_path, trainyard, spec())
    first = only_object(tmp_path, "train")
    write(tmp_path, with_patch(IMAGE))
    out = trainyard("check", "spec.yaml", cwd=tmp_path).out
    lines = (tmp_path / "spec.yaml").read_text().splitlines()
    line = next(number for number, text in enumerate(lines, 1) if IMAGE in text)
    assert "RES030" in out
    assert f"--> spec.yaml:{line}:" in out
    done = compiled(tmp_path, trainyard, with_patch(IMAGE, rerun=1))
    assert done.code == 0
    states = {name: run["state"] for name, run in runs(tmp_path).items()}
    assert states.pop(first) == "left"
    assert list(states.values()) == ["submitted"]


@pytest.mark.slow
def test_a_submitted_job_with_a_patch_stays_as_it_is(trainyard: Command, tmp_path: Path) -> None:
    assert compiled(tmp_path, trainyard, with_patch(IMAGE)).code == 0
    first = only_object(tmp_path, "train")
    done = compiled(tmp_path, trainyard, with_patch(IMAGE))
    assert (done.code, only_object(tmp_path, "train")) == (0, first)
    removed = compiled(tmp_path, trainyard, spec())
    assert "RES030" in codes(removed)
    again = compiled(tmp_path, trainyard, with_patch(f"{IMAGE}.1"))
    assert "RES030" in codes(again)


# --- judged, explained, and noted in the plan


def test_a_finding_on_a_patched_field_points_at_the_patch(tmp_path: Path) -> None:
    patch = {"spec": {"trainer": {"numNodes": 9}}}
    done = patched(tmp_path, JOB, patch)
    lines = (tmp_path / "spec.yaml").read_text().splitlines()
    line = next(number for number, text in enumerate(lines, 1) if "numNodes" in text)
    assert line in {place for _, place in summaries(done)}


def test_a_patch_that_breaks_the_schema_is_found_at_its_line(tmp_path: Path) -> None:
    patch = [{"op": "add", "path": "/spec/trainer/numNode", "value": 2}]
    done = patched(tmp_path, JOB, patch)
    lines = (tmp_path / "spec.yaml").read_text().splitlines()
    line = next(n for n, text in enumerate(lines, 1) if "value: 2" in text)
    assert [place for code, place in summaries(done) if code.startswith("SCH")] == [line]


def test_flux_substitutes_nothing_that_a_patch_brings(tmp_path: Path) -> None:
    patch = {"spec": {"trainer": {"args": ["${HOME}"]}}}
    body = only(patched(tmp_path, JOB, patch), "TrainJob").body
    annotations = body["metadata"]["annotations"]
    assert annotations["kustomize.toolkit.fluxcd.io/substitute"] == "disabled"


def test_the_plan_says_what_is_written(tmp_path: Path) -> None:
    patch = {"spec": {"queueingStrategy": "StrictFIFO"}}
    done = patched(tmp_path, {"kind": "ClusterQueue"}, patch)
    assert summaries(done) == []
    assert done.plan is not None
    (queue,) = done.plan.of(ClusterQueue)
    assert queue.strategy == "StrictFIFO"
    assert queue.at[0] == "spec"


def test_explain_names_the_line_of_a_patch(tmp_path: Path, trainyard: Command) -> None:
    patch = {"spec": {"queueingStrategy": "StrictFIFO"}}
    patched(tmp_path, {"kind": "ClusterQueue"}, patch)
    lines = (tmp_path / "spec.yaml").read_text().splitlines()
    line = next(n for n, text in enumerate(lines, 1) if "StrictFIFO" in text)
    done = trainyard("explain", "ClusterQueue/gpu", "--in", "spec.yaml", cwd=tmp_path)
    assert f"spec.queueingStrategy: spec.yaml:{line}:" in done.out


def test_a_patch_of_one_object_leaves_the_others(tmp_path: Path) -> None:
    before = {each.path: each.body for each in done_of(tmp_path, spec()).manifests}
    patch = {"spec": {"queueingStrategy": "StrictFIFO"}}
    done = patched(tmp_path, {"kind": "ClusterQueue"}, patch)
    after = {each.path: each.body for each in done.manifests}
    assert before.keys() == after.keys()
    assert [path for path in after if after[path] != before[path]] == [
        only(done, "ClusterQueue").path
    ]


def test_patches_apply_in_order_and_after_values(tmp_path: Path) -> None:
    kueue = {"kind": "HelmRelease", "name": "kueue"}
    test = {"op": "test", "path": "/spec/values/controllerManager/replicas", "value": 3}
    change = {**test, "op": "replace", "value": 4}
    again = {**test, "value": 4}
    data = spec(
        components={"kueue": {"values": {"controllerManager": {"replicas": 3}}}},
        patches=[{"target": kueue, "patch": [test, change]}, {"target": kueue, "patch": [again]}],
    )
    assert summaries(done_of(tmp_path, data)) == []
    for wrong in (5, "3"):  # of the same type, and of another
        refused = {
            **data["spec"],
            "patches": [{"target": kueue, "patch": [{**test, "value": wrong}]}],
        }
        found = done_of(tmp_path, {**data, "spec": refused})
        assert [code for code, *_ in summaries(found)] == ["RES086"]


# --- how it is written


@pytest.mark.parametrize(
    ("patch", "code", "words"),
    [
        ({"target": {"kind": "Job"}, "patch": "spec: {}"}, "SPC005", "a mapping, or a list"),
        ({"target": {"kind": "Job"}, "patch": {}}, "SPC005", "a mapping, or a list"),
        ({"target": {}, "patch": {"a": 1}}, "SPC001", "`kind` is missing"),
        ({"target": {"kind": "job"}, "patch": {"a": 1}}, "SPC005", "`job`"),
        (
            {"target": {"kind": "Job", "name": "("}, "patch": {"a": 1}},
            "SPC005",
            "no regular expression",
        ),
        (
            {"target": {"kind": "Job", "labelSelector": "a in"}, "patch": {"a": 1}},
            "SPC005",
            "label selector",
        ),
        ({"target": {"kind": "Job"}, "patch": [{"op": "put", "path": "/a"}]}, "SPC004", "`put`"),
        (
            {"target": {"kind": "Job"}, "patch": [{"op": "remove", "path": "a"}]},
            "SPC005",
            "JSON pointer",
        ),
        (
            {"target": {"kind": "Job"}, "patch": [{"op": "add", "path": "/a"}]},
            "SPC005",
            "`add` has no `value`",
        ),
        (
            {"target": {"kind": "Job"}, "patch": [{"op": "remove", "path": "/a", "value": 1}]},
            "SPC005",
            "takes no `value`",
        ),
        (
            {"target": {"kind": "Job"}, "patch": [{"op": "move", "path": "/a"}]},
            "SPC005",
            "`move` has no `from`",
        ),
    ],
)
def test_a_patch_of_another_form_is_refused(patch: dict[str, Any], code: str, words: str) -> None:
    (fault,) = shape_faults(spec(patches=[patch]))
    assert fault.code == code
    assert words in fault.message
    assert fault.at is not None
    assert fault.at[:3] == ("spec", "patches", 0)


def test_add_may_set_null(tmp_path: Path) -> None:
    data = spec(
        patches=[{"target": JOB, "patch": [{"op": "add", "path": "/spec/x", "value": None}]}]
    )
    assert shape_faults(data) == []
