"""`trainyard test`: examples of one's own rules, run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from running import Command
from trainyard.judge.policy.examples import examples
from trainyard.run.examples.rehearse import merged, overlaid

RULE = '''\
from collections.abc import Iterator

from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.model.work import Work


@rule("ORG001")
def too_many_nodes(work: Work) -> Iterator[Finding]:
    """A job takes more than two nodes.

    ## Fails

        {fails}

    ## Passes

        {passes}
    """
    if work.nodes and work.nodes > 2:
        yield Finding(f"job `{{work.name}}` takes {{work.nodes}} nodes", work.where("nodes"), help="take two")
'''
SMALL, LARGE = "jobs: [{name: llama, nodes: 1}]", "jobs: [{name: llama, nodes: 3}]"


def rehearsed(trainyard: Command, folder: Path, fails: str, passes: str) -> tuple[int, str, str]:
    (folder / "policies").mkdir()
    (folder / "policies" / "org001.py").write_text(RULE.format(fails=fails, passes=passes))
    done = trainyard("test", cwd=folder)
    return done.code, done.out, done.err


def test_examples_that_hold(trainyard: Command, tmp_path: Path) -> None:
    assert rehearsed(trainyard, tmp_path, LARGE, SMALL) == (
        0,
        "",
        "1 rule of your own, 2 examples\n",
    )


@pytest.mark.parametrize(
    ("fails", "passes", "message"),
    [
        (SMALL, SMALL, "rule `ORG001` finds nothing in example 1 under `Fails`"),
        (
            LARGE,
            LARGE,
            "rule `ORG001` finds something in example 1 under `Passes`: job `llama` takes 3 nodes",
        ),
        (
            "Resources: {Data: {Properties: {}}}",
            SMALL,
            "of rule `ORG001` cannot be judged: it is no template: no resource has a `Type`",
        ),
        (
            "jobs: [",
            SMALL,
            "example 1 under `Fails` of rule `ORG001` cannot be judged: it is no YAML: ",
        ),
        (
            "- a",
            SMALL,
            "example 1 under `Fails` of rule `ORG001` cannot be judged: it is neither keys of a spec",
        ),
        (
            "jobs: [{name: other}]",
            SMALL,
            "of rule `ORG001` cannot be judged: with the base it is no spec: SPC001 `image`",
        ),
        (
            "region: nowhere",
            SMALL,
            "of rule `ORG001` cannot be judged: with the base it is no spec: ",
        ),
    ],
)
def test_examples_that_do_not_hold(
    fails: str, passes: str, message: str, trainyard: Command, tmp_path: Path
) -> None:
    code, out, _ = rehearsed(trainyard, tmp_path, fails, passes)
    assert code == 1
    assert "error[POL020]: " in out
    assert message in out
    assert "org001.py:7:1" in out
    assert "Traceback" not in out


LIKE = "# as the {} that fails, but\n        {}"
SCRIPT = "#!/bin/bash\n        srun train.py"


@pytest.mark.parametrize(
    ("fails", "passes", "message"),
    [
        (LARGE, LIKE.format("first", SMALL), ""),
        (
            f"{LARGE}\n\n        {LIKE.format('first', 'jobs: [{name: llama, retries: 2}]')}",
            SMALL,
            "",
        ),
        (
            LARGE,
            LIKE.format("first", "jobs: [{name: llama, retries: 2}]"),
            "finds something in example 1",
        ),
        (LARGE, LIKE.format("second", SMALL), "written whole is the `second` that fails"),
        (LARGE, LIKE.format("last", SMALL), "written whole is the `last` that fails"),
        (LARGE, LIKE.format("first", "- a"), "written whole is the `first` that fails"),
        (LARGE, LIKE.format("first", "jobs: ["), "written whole is the `first` that fails"),
        (LIKE.format("first", LARGE), SMALL, "written whole is the `first` that fails"),
        (LARGE, LIKE.format("first", "jobs: 2026-99-99"), "is the `first` that fails"),
        (LARGE, LIKE.format("first", "metadata: 3"), "with the base it is no spec"),
        pytest.param(
            SCRIPT,
            LIKE.format("first", SMALL),
            "written whole is the `first` that fails",
            marks=pytest.mark.needs("parallelcluster"),
        ),
        (
            f"{LARGE}\n\n        {LIKE.format('first', LARGE)}",
            LIKE.format("second", SMALL),
            "written whole is the `second` that fails",
        ),
    ],
)
def test_an_example_is_as_one_that_fails(
    fails: str, passes: str, message: str, trainyard: Command, tmp_path: Path
) -> None:
    code, out, _ = rehearsed(trainyard, tmp_path, fails, passes)
    assert code == (1 if message else 0), out
    assert message in out
    assert "Traceback" not in out


TWO_MORE = """Finds what a test asks.

    ## Fails

        # a whole cluster
        # params: {nodes: 1}
        kind: Job
        metadata: {name: tune}
        spec: {dnsPolicy: Default, containers: [{name: tune, image: a}, {name: log}]}
        ---
        ClusterName: lab
        ---
        Name: research

    ## Passes

        # as the first that fails, but
        # params: {nodes: 2}
        kind: Job
        spec: {dnsPolicy: null, containers: [{name: tune, image: b}]}
        ---
        kind: Job
        metadata: {name: other}
        ---
        Name: lent
    """


def test_an_example_that_is_as_another_has_all_that_it_does_not_say() -> None:
    """Comments too, of which a later one wins. What speaks of the base (`null`) still does."""
    (text,) = examples(TWO_MORE, "Passes")
    comments = [line for line in text.splitlines() if line.startswith("#")]
    assert comments == ["# a whole cluster", "# params: {nodes: 1}", "# params: {nodes: 2}"]
    containers = [{"name": "tune", "image": "b"}, {"name": "log"}]
    assert list(yaml.safe_load_all(text)) == [
        {
            "kind": "Job",
            "metadata": {"name": "tune"},
            "spec": {"dnsPolicy": None, "containers": containers},
        },
        {"ClusterName": "lab"},
        {"Name": "lent"},
        {"kind": "Job", "metadata": {"name": "other"}},
    ]


PARAMS = RULE.replace(
    '@rule("ORG001")', '@rule("ORG001", params={{"nodes": 2}}, enabled=False)'
).replace("(work: Work)", "(work: Work, world: World)")
PARAMS = PARAMS.replace("> 2:", '> world.param("nodes"):').replace(
    "from trainyard.judge.model.work import Work",
    "from trainyard.judge.model.work import Work\nfrom trainyard.judge.policy.world import World",
)


def params(line: str, example: str) -> str:
    """An example with a line above it."""
    return f"{line}\n        {example}"


@pytest.mark.parametrize(
    ("fails", "passes", "message"),
    [
        (LARGE, SMALL, ""),
        (params("# params: {nodes: 0}", SMALL), SMALL, ""),
        (LARGE, params("# params: {nodes: 3}", LARGE), ""),
        (LARGE, params("# a comment\n        # params: {nodes: 3}", LARGE), ""),
        (params("# params: {nodes: 3}", LARGE), SMALL, "finds nothing in example 1"),
        (LARGE, params("# params: {nodes: 0}", SMALL), "finds something in example 1"),
        (
            params("# params: {node: 1}", LARGE),
            SMALL,
            "cannot be judged: rule `ORG001` has no parameter `node`",
        ),
        (
            params("# params: {nodes: many}", LARGE),
            SMALL,
            "cannot be judged: parameter `nodes` of `ORG001` is a whole number",
        ),
        (
            params("# params: 3", LARGE),
            SMALL,
            "cannot be judged: `# params: 3` is not `# params: {name: 1}`",
        ),
        (
            params("# params: {nodes", LARGE),
            SMALL,
            "cannot be judged: `# params: {nodes` is not `# params: {name: 1}`",
        ),
    ],
)
def test_an_example_sets_parameters_and_enables_its_rule(
    fails: str, passes: str, message: str, trainyard: Command, tmp_path: Path
) -> None:
    (tmp_path / "policies").mkdir()
    text = PARAMS.format(fails=fails, passes=passes)
    (tmp_path / "policies" / "org001.py").write_text(text)
    done = trainyard("test", cwd=tmp_path)
    assert done.code == (1 if message else 0), done.out
    assert message in done.out
    assert ("error[POL020]" in done.out) == bool(message)


def test_the_page_of_a_rule_without_a_place_says_none(trainyard: Command, tmp_path: Path) -> None:
    (tmp_path / "policies").mkdir()
    text = RULE.format(fails=LARGE, passes=SMALL).replace('work.where("nodes")', "Route()")
    text = text.replace(
        "import Work\n", "import Work\nfrom trainyard.language.places import Route\n"
    )
    (tmp_path / "policies" / "org001.py").write_text(text)
    page = trainyard("explain", "ORG001", cwd=tmp_path).out
    assert "error[ORG001]: job `llama` takes 3 nodes\n  help: take two\n" in page


def test_a_rule_that_fails_on_its_example(trainyard: Command, tmp_path: Path) -> None:
    (tmp_path / "policies").mkdir()
    text = RULE.format(fails=LARGE, passes=SMALL).replace("if work.nodes", "if work.none")
    (tmp_path / "policies" / "org001.py").write_text(text)
    done = trainyard("test", cwd=tmp_path)
    assert done.code == 1
    for which in ("Fails", "Passes"):
        said = f"example 1 under `{which}` of rule `ORG001` gives POL015: rule `ORG001` failed"
        assert said in done.out


def test_a_rule_that_cannot_be_loaded(trainyard: Command, tmp_path: Path) -> None:
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "org001.py").write_text("def broken(:\n")
    done = trainyard("test", cwd=tmp_path)
    assert done.code == 1
    assert "error[POL010]" in done.out


def test_no_folder(trainyard: Command, tmp_path: Path) -> None:
    assert trainyard("test", cwd=tmp_path).code == 2


def test_the_page_of_a_rule_says_what_it_finds_in_each_example(
    trainyard: Command, tmp_path: Path
) -> None:
    objects = """apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        spec: {trainer: {numNodes: 4}}"""
    (tmp_path / "policies").mkdir()
    fails = f"{LARGE}\n\n        {objects}\n\n        jobs: [{{nam: llama}}]"
    (tmp_path / "policies" / "org001.py").write_text(RULE.format(fails=fails, passes=SMALL))
    page = trainyard("explain", "ORG001", cwd=tmp_path).out
    assert (
        page.partition("## Fails\n\n")[2]
        == f"""\
    {LARGE}

error[ORG001]: job `llama` takes 3 nodes
  at spec.jobs[0].nodes
  note: rendered as `spec.trainer.numNodes`
  help: take two

    apiVersion: trainer.kubeflow.org/v1alpha1
    kind: TrainJob
    spec: {{trainer: {{numNodes: 4}}}}

error[ORG001]: job `llama` takes 4 nodes
  at spec.trainer.numNodes of TrainJob/team-a/llama
  help: take two

    jobs: [{{nam: llama}}]

## Passes

    {SMALL}
"""
    )


GPU = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "gpu"}, "spec": 1}


@pytest.mark.parametrize(
    ("version", "spec"),
    [("karpenter.sh/v1", 1), ("karpenter.sh/v1beta1", 1), ("other.sh/v1", None)],
)
def test_a_new_pool_begins_as_the_base_has_one_of_its_group(version: str, spec: int | None) -> None:
    """Kinds of other groups have the name by chance."""
    change = {"apiVersion": version, "kind": "NodePool", "metadata": {"name": "more"}}
    _, made = overlaid([GPU], [change])
    assert made == {**change, **({} if spec is None else {"spec": spec})}


@pytest.mark.parametrize(
    ("base", "change", "laid"),
    [
        ([{"a": 1}], [{"b": 2}], [{"a": 1, "b": 2}]),
        ([{"a": 1}], [{"b": 2}, {"c": 3}], [{"a": 1, "b": 2}, {"c": 3}]),
        ([{"name": "x", "a": 1}], [{"name": "y"}], [{"name": "x", "a": 1}, {"name": "y"}]),
        ([{"name": "x", "a": 1}], [{"name": "x", "a": None}], [{"name": "x"}]),
        ([1], [2, 3], [2, 3]),
    ],
)
def test_items_of_a_list_are_laid_by_name_or_place(
    base: list[Any], change: list[Any], laid: list[Any]
) -> None:
    assert merged(base, change) == laid
