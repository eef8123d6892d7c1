"""Assembling: which documents make a spec, and that each value keeps its file and line."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.places.route import Route
from trainyard.language.source import assemble as source
from trainyard.language.source.assemble import SpecSource
from trainyard.run.language.documents import documents, lists
from trainyard.run.language.reference import all_keys

V = "apiVersion: trainyard.dev/v1alpha1\n"
CLUSTER = V + "kind: TrainingCluster\nmetadata: {name: seoul}\nspec:\n  region: ap-northeast-2\n"


def part(kind: str, name: str, spec: str = "{nodes: 4}", metadata: str = "") -> str:
    return f"{V}kind: {kind}\nmetadata: {{name: {name}{metadata}}}\nspec: {spec}\n"


def assemble(paths: Sequence[str]) -> tuple[list[SpecSource], list[Diagnostic]]:
    return source.assemble(paths, lists())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_files(**files: str) -> None:
    """Writes files; ``__`` in a name stands for a folder."""
    for name, text in files.items():
        path = Path(name.replace("__", "/") + ".yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def reported(*paths: str) -> list[tuple[str, str]]:
    return [(item.code, str(item.span) if item.span else "") for item in assemble(paths)[1]]


def only(*paths: str) -> SpecSource:
    specs, found = assemble(paths)
    assert found == []
    assert len(specs) == 1
    return specs[0]


def test_every_item_of_a_list_may_have_a_document(folder: Path) -> None:
    """Whatever kind a subject declares: it becomes an item of its list, with its name and its place."""
    assert len(documents()) >= 7
    kinds = {kind: part(kind, f"n{i}", "{x: 1}") for i, kind in enumerate(documents())}
    write_files(s__a=CLUSTER, **{f"s__{kind.lower()}": text for kind, text in kinds.items()})
    spec = only("s")
    body = spec.document.root.to_python()["spec"]
    for i, (kind, (section, _)) in enumerate(documents().items()):
        assert body[section] == [{"name": f"n{i}", "x": 1}]
        place = spec.document.span(Route(("spec", section, 0, "x")))
        assert place.file.name.endswith(f"{kind.lower()}.yaml")


@pytest.mark.parametrize("kind", documents())
def test_a_document_of_an_item_needs_name_and_spec(kind: str, folder: Path) -> None:
    broken = f"{V}kind: {kind}\nmetadata: {{}}\nspec: 5\nextends: x.yaml\n"
    write_files(a=CLUSTER, f=broken)
    found = assemble(["."])[1]
    assert [fault.code for fault in found] == ["YML036", "YML033", "YML034"]
    assert f"`spec.{lists()[kind]}`" in found[-1].help
    write_files(a=CLUSTER, f=f"{V}kind: {kind}s\nmetadata: {{name: a}}\nspec: {{}}\n")
    (near,) = assemble(["."])[1]
    assert (near.code, near.help) == ("YML032", f"did you mean `{kind}`?")


def test_a_kind_is_of_a_list_whose_items_have_this_model() -> None:
    """A subject that names another list would have its documents judged as something else."""
    for kind, (section, model) in documents().items():
        (key,) = [key for key in all_keys() if key.path == f"spec.{section}"]
        assert key.model is model, kind


def test_one_file_is_a_spec(folder: Path) -> None:
    write_files(a=CLUSTER)
    spec = only("a.yaml")
    assert (spec.name, spec.path, [file.name for file in spec.files]) == (
        "seoul",
        "a.yaml",
        ["a.yaml"],
    )
    assert list(spec.document.root.to_python()) == ["apiVersion", "kind", "metadata", "spec"]


def test_parts_of_a_folder_join_its_cluster_and_keep_their_places(folder: Path) -> None:
    write_files(
        s__cluster=CLUSTER + "  jobs:\n    - {name: zero}\n",
        s__jobs__b=part("TrainingJob", "two") + "---\n" + part("TrainingQueue", "q"),
        s__jobs__a=part("TrainingJob", "one"),
        s__pool=part("TrainingNodePool", "p"),
    )
    spec = only("s")
    assert spec.document.root.to_python()["spec"] == {
        "region": "ap-northeast-2",
        "jobs": [{"name": "zero"}, {"name": "one", "nodes": 4}, {"name": "two", "nodes": 4}],
        "queues": [{"name": "q", "nodes": 4}],
        "nodePools": [{"name": "p", "nodes": 4}],
    }
    assert str(spec.document.span(Route(("spec", "jobs", 1, "nodes")))) == "s/jobs/a.yaml:4:15"
    assert str(spec.document.span(Route(("spec", "jobs", 1, "name")))) == "s/jobs/a.yaml:3:18"
    assert str(spec.document.span(Route(("spec", "jobs", 1, "missing")))) == "s/jobs/a.yaml:4:1"
    lists_at = {
        key: str(spec.document.span(Route(("spec", key))))
        for key in ("jobs", "queues", "nodePools")
    }
    assert lists_at == {
        "jobs": "s/cluster.yaml:7:5",
        "queues": "s/cluster.yaml:4:1",
        "nodePools": "s/cluster.yaml:4:1",
    }
    assert [file.name for file in spec.files] == [
        "s/cluster.yaml",
        "s/jobs/a.yaml",
        "s/jobs/b.yaml",
        "s/pool.yaml",
    ]


def test_the_order_and_repetition_of_paths_do_not_matter(folder: Path) -> None:
    write_files(
        s__cluster=CLUSTER, s__a=part("TrainingJob", "one"), s__b=part("TrainingJob", "two")
    )
    first = only("s").document.root.to_python()
    assert only("s/b.yaml", "./s/a.yaml", "s/cluster.yaml", "s").document.root.to_python() == first


def test_a_stream_holds_a_cluster_and_its_jobs(folder: Path) -> None:
    write_files(
        a=CLUSTER + "---\n" + part("TrainingJob", "one"), b=CLUSTER.replace("seoul", "busan")
    )
    specs, found = assemble(["."])
    assert found == []
    assert {
        spec.name: len(spec.document.root.to_python()["spec"].get("jobs", [])) for spec in specs
    } == {"seoul": 1, "busan": 0}


def test_with_several_clusters_a_part_must_name_its_own(folder: Path) -> None:
    write_files(a=CLUSTER, b=CLUSTER.replace("seoul", "busan"), j=part("TrainingJob", "one"))
    found = assemble(["."])[1]
    assert [(item.code, str(item.span)) for item in found] == [("YML042", "j.yaml:3:18")]
    assert [str(span) for span, _ in found[0].related] == ["a.yaml:3:18", "b.yaml:3:18"]
    write_files(j=part("TrainingJob", "one", metadata=", cluster: busn"))
    found = assemble(["."])[1]
    assert [(item.code, item.help) for item in found] == [("YML043", "did you mean `busan`?")]
    write_files(j=part("TrainingJob", "one", metadata=", cluster: busan"))
    specs, found = assemble(["."])
    assert found == []
    assert ["jobs" in spec.document.root.to_python()["spec"] for spec in specs] == [False, True]


def test_the_nearest_folder_above_wins(folder: Path) -> None:
    write_files(
        a=CLUSTER, x__b=CLUSTER.replace("seoul", "busan"), x__y__z__j=part("TrainingJob", "one")
    )
    specs, found = assemble(["."])
    assert found == []
    assert [spec.name for spec in specs if "jobs" in spec.document.root.to_python()["spec"]] == [
        "busan"
    ]


def test_a_part_that_names_a_cluster_of_elsewhere_is_reported(folder: Path) -> None:
    """In another folder, so that there is none to choose from."""
    write_files(x__a=CLUSTER, y__j=part("TrainingJob", "one", metadata=", cluster: seoul"))
    (found,) = assemble(["."])[1]
    assert found.help == "name the folder of the cluster"


def test_a_part_joins_a_cluster_that_says_nothing_yet(folder: Path) -> None:
    head = V + "kind: TrainingCluster\nmetadata: {name: seoul}\n"
    for spec in ("", "spec:\n"):
        write_files(a=head + spec, j=part("TrainingJob", "one"))
        assert only(".").document.root.to_python()["spec"]["jobs"] == [{"nodes": 4, "name": "one"}]
    write_files(a=CLUSTER + "  jobs: [{nodes: 1}, {name: {}}]\n")
    jobs = only(".").document.root.to_python()["spec"]["jobs"]
    assert [job.get("name") for job in jobs] == [None, {}, "one"]


def test_a_base_of_two_bases_is_read_once(folder: Path) -> None:
    base = V + "kind: TrainingClusterBase\nspec: {}\n"
    write_files(a=CLUSTER + "extends: [b.yaml, c.yaml]\n", d=base)
    write_files(b=base + "extends: d.yaml\n", c=base + "extends: d.yaml\n")
    assert sorted(file.name for file in only("a.yaml").files) == [
        "a.yaml",
        "b.yaml",
        "c.yaml",
        "d.yaml",
    ]


def test_a_base_that_cannot_be_read_is_reported_where_it_is_named(folder: Path) -> None:
    Path("folder.yaml").mkdir()
    Path("binary.yaml").write_bytes(b"\x7fELF\x02\x01\x00\x00\x00")
    write_files(a=CLUSTER + "extends: [folder.yaml, binary.yaml]\n")
    found = assemble(["a.yaml"])[1]
    assert [(each.code, str(each.span)) for each in found] == [
        ("YML021", "a.yaml:6:11"),
        ("YML017", "binary.yaml:1:7"),
    ]
    assert all("relative to this file" not in each.help for each in found)


def test_a_part_without_a_cluster_is_reported(folder: Path) -> None:
    write_files(x__a=CLUSTER, y__j=part("TrainingJob", "one"))
    assert reported(".") == [("YML041", "y/j.yaml:3:18")]


def test_two_jobs_of_one_name_show_both_places(folder: Path) -> None:
    write_files(a=CLUSTER + "  jobs: [{name: one}]\n", j=part("TrainingJob", "one"))
    found = assemble(["."])[1]
    assert [(item.code, str(item.span), str(item.related[0][0])) for item in found] == [
        ("YML045", "j.yaml:3:18", "a.yaml:6:17")
    ]


def test_a_document_that_names_itself_twice_shows_the_first(folder: Path) -> None:
    nameless = V + "kind: TrainingJob\nspec: {name: b}\n"
    named = part("TrainingJob", "a", "{name: b}")
    write_files(c=CLUSTER, a=named, b=nameless)
    firsts = [str(item.related[0][0]) for item in assemble(["."])[1] if item.code == "YML035"]
    assert firsts == ["a.yaml:3:18", "b.yaml:1:1"]


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("- a\n", [("YML030", "f.yaml:1:1")]),
        ("kind: TrainingCluster\n", [("YML030", "f.yaml:1:1")]),
        (
            "apiVersion: trainyard.dev/v1\nkind: TrainingClutser\n",
            [("YML031", "f.yaml:1:13"), ("YML032", "f.yaml:2:7")],
        ),
        (V + "kind: [a]\n", [("YML032", "f.yaml:2:7")]),
        (V + "kind: TrainingJob\nspec: {}\n", [("YML033", "f.yaml:1:1")]),
        (V + "kind: TrainingJob\nmetadata: {}\nspec: {}\n", [("YML033", "f.yaml:3:1")]),
        (V + "kind: TrainingJob\nmetadata: {name: a}\n", [("YML034", "f.yaml:1:1")]),
        (part("TrainingJob", "a", "{name: b}"), [("YML035", "f.yaml:4:8")]),
        (part("TrainingJob", "a") + "extends: x.yaml\n", [("YML036", "f.yaml:5:1")]),
        (part("TrainingJob", "a", metadata=", labels: {}"), [("YML036", "f.yaml:3:21")]),
    ],
)
def test_headers_are_checked(folder: Path, text: str, want: list[tuple[str, str]]) -> None:
    write_files(c=CLUSTER, f=text)
    found = assemble(["."])[1]
    assert [(item.code, str(item.span)) for item in found] == want
    assert all(item.help for item in found)


def test_keys_of_the_headers_of_kubernetes_are_sent_to_the_spec(folder: Path) -> None:
    write_files(
        c=CLUSTER, f=part("TrainingJob", "a", metadata=", namespace: x, labels: {}, cluser: b")
    )
    assert [each.help.partition(",")[0] for each in assemble(["."])[1]] == [
        "write it under `spec`",
        "write it under `spec`",
        "did you mean `cluster`?",
    ]


def test_a_misspelt_kind_gets_the_nearest_name(folder: Path) -> None:
    write_files(f=V + "kind: TrainingClutser\n")
    assert assemble(["f.yaml"])[1][0].help == "did you mean `TrainingCluster`?"


def test_nothing_to_compile_is_reported(folder: Path) -> None:
    os.mkdir("empty")
    write_files(base=V + "kind: TrainingClusterBase\nspec: {}\n")
    assert reported("empty") == [("YML040", "")]
    assert reported("base.yaml") == [("YML040", "")]
    assert reported("none.yaml") == [("YML020", "")]
    assert reported() == [("YML040", "")]


def test_hidden_files_and_folders_are_passed_over(folder: Path) -> None:
    write_files(a=CLUSTER, **{".git__x": "{", ".y": "{"})
    assert only(".").name == "seoul"


def test_output_and_policies_among_the_specs_are_passed_over(folder: Path) -> None:
    """`trainyard compile .` finds what it wrote the last time; somebody else's manifest hides nothing."""
    write_files(
        cluster=CLUSTER, generated__seoul__flux__source="a: 1\n", policies__policy="levels: {}\n"
    )
    Path("generated/seoul/.manifest.json").write_text('{\n "trainyard": "0.1.0",\n "files": {}}')
    assert only(".").path == "cluster.yaml"
    Path("generated/seoul/.manifest.json").write_text(
        '<<<<<<< a\n{\n "trainyard.dev/file": ".manifest.json",\n'
    )
    assert only(".").path == "cluster.yaml"
    Path("generated/seoul/.manifest.json").write_text('{"name": "trainyard"}')
    assert reported(".") == [("YML030", "generated/seoul/flux/source.yaml:1:1")] * 2
    assert reported("policies") == [("YML030", "policies/policy.yaml:1:1")] * 2


def test_two_clusters_of_one_name_are_reported(folder: Path) -> None:
    write_files(a=CLUSTER, b=CLUSTER)
    assert reported(".") == [("YML044", "b.yaml:3:18")]


def test_extends_merges_maps_and_named_lists_and_null_removes(folder: Path) -> None:
    write_files(
        bases__all=V
        + "kind: TrainingClusterBase\nmetadata: {name: shared}\nspec:\n  region: r\n  tags: [a, b]\n"
        "  network: {cidr: 10.0.0.0/16, zones: [x]}\n  jobs: [{name: one, nodes: 1, env: {A: 1}}, {name: two}]\n",
        a=V
        + "kind: TrainingCluster\nextends: bases/all.yaml\nmetadata: {name: nn}\nspec:\n  region: ~\n  tags: [c]\n"
        "  network: {zones: [yy]}\n  jobs: [{name: three}, {name: one, env: {B: 2}}]\n",
    )
    spec = only("a.yaml")
    assert spec.document.root.to_python() == {
        "apiVersion": "trainyard.dev/v1alpha1",
        "kind": "TrainingCluster",
        "metadata": {"name": "nn"},
        "spec": {
            "tags": ["c"],
            "network": {"cidr": "10.0.0.0/16", "zones": ["yy"]},
            "jobs": [
                {"name": "one", "nodes": 1, "env": {"A": 1, "B": 2}},
                {"name": "two"},
                {"name": "three"},
            ],
        },
    }
    assert str(spec.document.span(Route(("spec", "network", "cidr")))) == "bases/all.yaml:7:19"
    assert str(spec.document.span(Route(("spec", "jobs", 0, "env", "B")))) == "a.yaml:9:46"
    assert [file.name for file in spec.files] == ["a.yaml", "bases/all.yaml"]


def test_later_bases_win_and_bases_have_bases(folder: Path) -> None:
    base = V + "kind: TrainingClusterBase\nspec: "
    write_files(
        a=CLUSTER.replace("spec:", "extends: [b.yaml, c.yaml]\nspec:"),
        b=base + "{x: 1, yy: 1}\nextends: d/d.yaml\n",
        c=base + "{yy: 2}\n",
        d__d=base + "{x: 0, z: 0}\nextends: ../e.yaml\n",
        e=base + "{w: 9, z: 1}\n",
    )
    assert only("a.yaml").document.root.to_python()["spec"] == {
        "w": 9,
        "z": 0,
        "x": 1,
        "yy": 2,
        "region": "ap-northeast-2",
    }


def test_a_name_given_twice_is_merged_and_stays_twice(folder: Path) -> None:
    """So that it is reported as just that, and not as fields that are missing."""
    base = V + "kind: TrainingClusterBase\nspec: "
    one, two = "[{name: a, m: 1}]", "[{name: a, m: 1}, {name: a, m: 2}]"
    write_files(
        b=f"{base}{{jobs: {two}}}\n",
        a=CLUSTER + "  jobs: [{name: a, k: 3}]\nextends: b.yaml\n",
        d=f"{base}{{jobs: {one}}}\n",
        c=CLUSTER + "  jobs: [{name: a, k: 3}, {name: a}]\nextends: d.yaml\n",
    )
    merged = {"name": "a", "m": 1, "k": 3}
    assert only("a.yaml").document.root.to_python()["spec"]["jobs"] == [
        merged,
        {"name": "a", "m": 2},
    ]
    assert only("c.yaml").document.root.to_python()["spec"]["jobs"] == [
        merged,
        {"name": "a", "m": 1},
    ]


def test_faults_of_bases_are_reported_at_their_places(folder: Path) -> None:
    base = V + "kind: TrainingClusterBase\nspec: {}\n"
    write_files(
        a=CLUSTER + "extends: [b.yaml, none.yaml, two.yaml, {}, bad.yaml]\n",
        b=base + "extends: c.yaml\n",
        c=base + "extends: b.yaml\n",
        two=base + "---\n" + base,
        bad="a: no\n",
    )
    assert reported("a.yaml") == [
        ("YML037", "a.yaml:6:40"),
        ("YML038", "c.yaml:4:10"),
        ("YML020", "a.yaml:6:19"),
        ("YML037", "a.yaml:6:30"),
        ("YML008", "bad.yaml:1:4"),
        ("YML030", "bad.yaml:1:1"),
        ("YML030", "bad.yaml:1:1"),
    ]


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("sepc: {region: r}\nspec: {}\n", [("YML036", "base.yaml:3:1", "did you mean `spec`?")]),
        (
            "metadata: {name: a, labels: {}}\nspec: {}\n",
            [("YML036", "base.yaml:3:21", "remove the key")],
        ),
        (
            "spec: 5\n",
            [
                (
                    "YML034",
                    "base.yaml:3:7",
                    "write the fields of the `spec` of a cluster under `spec:`",
                )
            ],
        ),
        (
            "",
            [
                (
                    "YML034",
                    "base.yaml:1:1",
                    "write the fields of the `spec` of a cluster under `spec:`",
                )
            ],
        ),
    ],
)
def test_nothing_in_a_base_is_lost_without_a_word(
    text: str, want: list[tuple[str, str, str]], folder: Path
) -> None:
    write_files(
        base=f"{V}kind: TrainingClusterBase\n{text}",
        c=CLUSTER.replace("metadata", "extends: base.yaml\nmetadata"),
    )
    for paths in (["c.yaml"], ["."]):
        assert [(each.code, str(each.span), each.help) for each in assemble(paths)[1]] == want


def test_a_base_that_only_has_bases(folder: Path) -> None:
    write_files(
        one=f"{V}kind: TrainingClusterBase\nspec: {{tags: {{a: b}}}}\n",
        two=f"{V}kind: TrainingClusterBase\nextends: one.yaml\n",
        c=CLUSTER.replace("metadata", "extends: two.yaml\nmetadata"),
    )
    assert only("c.yaml").document.root.to_python()["spec"] == {
        "tags": {"a": "b"},
        "region": "ap-northeast-2",
    }


def test_the_path_of_a_base_is_relative_to_its_file(folder: Path) -> None:
    write_files(s__c=CLUSTER.replace("metadata", "extends: base.yaml\nmetadata"))
    (found,) = assemble(["s"])[1]
    assert (found.message, found.help) == (
        "no file `s/base.yaml`",
        "check the path; it is relative to this file",
    )


def test_a_file_may_not_extend_itself(folder: Path) -> None:
    write_files(a=CLUSTER + "extends: ./a.yaml\n")
    assert reported("a.yaml") == [("YML038", "a.yaml:6:10")]


def test_the_number_of_bases_is_bounded(folder: Path) -> None:
    base = V + "kind: TrainingClusterBase\nspec: {}\n"
    for n in range(40):
        write_files(**{f"b{n}": base + f"extends: [b{n + 1}.yaml, b{n + 2}.yaml]\n"})
    write_files(a=CLUSTER + "extends: b0.yaml\n", b40=base, b41=base)
    assert [code for code, _ in reported("a.yaml")] == ["YML039"]


def test_a_list_of_the_wrong_type_is_left_to_the_spec(folder: Path) -> None:
    write_files(a=CLUSTER + "  jobs: many\n", j=part("TrainingJob", "one"))
    assert only(".").document.root.to_python()["spec"]["jobs"] == "many"
    write_files(a=V + "kind: TrainingCluster\nmetadata: {name: nn}\nspec: text\n")
    assert only(".").document.root.to_python()["spec"] == "text"


def test_a_cluster_without_a_name_takes_that_of_its_file(folder: Path) -> None:
    write_files(dev=V + "kind: TrainingCluster\nspec: {}\n")
    assert only("dev.yaml").name == "dev"


def test_a_file_of_a_folder_stands_for_its_whole_cluster(folder: Path) -> None:
    """Whichever file it is, and whatever stands beside it: nothing of the cluster is left out."""
    base = V + "kind: TrainingClusterBase\nspec: {account: '1'}\n"
    cluster = CLUSTER.replace("spec:", "extends: base.yaml\nspec:")
    write_files(
        s__a__cluster=cluster,
        s__a__base=base,
        s__a__queue=part("TrainingQueue", "q"),
        s__a__jobs__one=part("TrainingJob", "one"),
        s__a__jobs__deep__two=part("TrainingJob", "two"),
        s__a__within__cluster=CLUSTER.replace("seoul", "within"),
        s__a__within__job=part("TrainingJob", "other"),
        s__b__cluster=CLUSTER.replace("seoul", "busan"),
        s__b__job=part("TrainingJob", "three"),
    )
    Path("s/a/notes.yaml").write_text("a: [\n")
    whole = only("s/a/cluster.yaml").document.root.to_python()
    assert [job["name"] for job in whole["spec"]["jobs"]] == ["two", "one"]
    own = ["base.yaml", "queue.yaml", "jobs/one.yaml", "jobs/deep/two.yaml"]
    for name in own:
        assert only(f"s/a/{name}").document.root.to_python() == whole
    assert only("s/a/jobs").document.root.to_python() == whole
    specs, found = assemble(["s/a/jobs/one.yaml", "s/b/cluster.yaml", "s/a/within/job.yaml"])
    assert ([spec.name for spec in specs], found) == (["seoul", "within", "busan"], [])
    assert [len(spec.document.root.to_python()["spec"]["jobs"]) for spec in specs] == [2, 1, 1]


def test_of_two_clusters_in_a_folder_the_named_one_is_read_with_its_parts(folder: Path) -> None:
    write_files(
        a=CLUSTER,
        b=CLUSTER.replace("seoul", "busan"),
        one=part("TrainingJob", "one", metadata=", cluster: seoul"),
        two=part("TrainingJob", "two", metadata=", cluster: busan"),
    )
    for name, job in (("a", "one"), ("b", "two")):
        jobs = only(f"{name}.yaml").document.root.to_python()["spec"]["jobs"]
        assert [each["name"] for each in jobs] == [job]


def test_a_part_that_cannot_be_read_is_a_fault_of_each_file_of_its_cluster(folder: Path) -> None:
    write_files(s__cluster=CLUSTER, s__job=part("TrainingJob", "one") + "  : [\n")
    assert reported("s/cluster.yaml") != []
    assert reported("s/cluster.yaml") == reported("s")
    write_files(s__cluster=CLUSTER + "  : [\n", s__job=part("TrainingJob", "one"))
    assert [code for code, _ in reported("s/job.yaml")][:1] == ["YML002"]
    write_files(s__cluster=CLUSTER, s__other=CLUSTER.replace("seoul", "busan") + "  : [\n")
    assert reported("s/cluster.yaml") == []


def test_the_parts_in_the_file_of_a_cluster_are_its_own_whichever_file_is_named(
    folder: Path,
) -> None:
    queue = part("TrainingQueue", "q")
    write_files(s__cluster=f"{CLUSTER}---\n{queue}", s__job=part("TrainingJob", "one"))
    for name in ("cluster", "job"):
        spec = only(f"s/{name}.yaml").document.root.to_python()["spec"]
        assert [each["name"] for key in ("queues", "jobs") for each in spec[key]] == ["q", "one"]
