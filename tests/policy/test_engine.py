"""The engine: what rules are run on, and what happens when one breaks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from trainyard.catalog import load_catalog
from trainyard.eks.jobs.plan import TrainJob
from trainyard.eks.kueue.plan import QueueManager
from trainyard.eks.nodes.plan import NodeGroup, NodePool
from trainyard.judge.model.command import options
from trainyard.judge.model.work import Work
from trainyard.judge.policy.config import Config
from trainyard.judge.policy.engine import run
from trainyard.judge.policy.examples import examples
from trainyard.judge.policy.rule import Finding, Rule, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest
from trainyard.plan import Plan

from tests.policy.harness import findings_for, lifted

ROOT = Route()


def made(function: object) -> Rule:
    found = function.rule  # type: ignore[attr-defined]
    assert isinstance(found, Rule)
    return found


@rule("TST001")
def whole_plan(plan: Plan) -> Iterator[Finding]:
    yield Finding(f"{len(plan.of(TrainJob))} jobs", ROOT)


@rule("TST002", severity=Severity.NOTE)
def each_pool(pool: NodePool, world: World) -> Iterator[Finding]:
    yield Finding(pool.name, pool.at)


@rule("TST003", params={"word": "none"})
def each_work(work: Work, world: World) -> Iterator[Finding]:
    yield Finding(f"{work.name} {world.param('word')}", work.where("nodes"))


@rule("TST004", kinds=("karpenter.sh/NodePool", "/Namespace"))
def some_manifests(manifest: Manifest) -> Iterator[Finding]:
    yield Finding(str(manifest.ref), Route((manifest.id,)))


@rule("TST005")
def single_nodes(manager: QueueManager) -> Iterator[Finding]:
    yield Finding("manager", manager.at)


@rule("TST006")
def node_groups(group: NodeGroup) -> Iterator[Finding]:
    yield Finding(group.name, group.at)


@rule("TST007")
def breaks(pool: NodePool) -> Iterator[Finding]:
    yield Finding("before", pool.at)
    raise KeyError("gone")


@rule("TST008")
def shared_and_own(work: Work, world: World) -> Iterator[Finding]:
    """What lies outside of a job is the same for all that use it."""
    (pool,) = world.plan.of(NodePool)
    yield Finding(f"`{work.name}` uses a small pool", pool.at)
    yield Finding(work.name, work.where("nodes"))


def reported(*functions: object, config: Config | None = None) -> list[tuple[str, str]]:
    plan, manifests = lifted("jobs: [{name: llama}]")
    found = run(
        plan, load_catalog(), [made(each) for each in functions], config or Config(), manifests
    )
    return [(each.code, each.message) for each in found]


def test_the_annotation_chooses_the_subject() -> None:
    assert reported(whole_plan) == [("TST001", "1 jobs")]
    assert reported(each_pool) == [("TST002", "gpu")]
    assert reported(single_nodes) == [("TST005", "manager")]
    assert reported(node_groups) == [("TST006", "system")]
    assert sorted(text for _, text in reported(some_manifests)) == [
        "Namespace/team-a",
        "NodePool/gpu",
    ]
    assert [text.partition(" ")[2] for _, text in reported(each_work)] == ["none"]


def test_parameters_reach_their_rule_only() -> None:
    config = Config(params={"TST003": {"word": "given"}})
    assert [
        text.partition(" ")[2] for _, text in reported(each_pool, each_work, config=config)
    ] == ["", "given"]


def test_what_jobs_share_is_reported_once_and_hides_nothing_after_it() -> None:
    rest = "image: 'repo:1.0', command: [train]"
    plan, manifests = lifted(f"jobs: [{{name: llama}}, {{name: b, {rest}}}, {{name: c, {rest}}}]")
    found = run(plan, load_catalog(), [made(shared_and_own)], manifests=manifests)
    shared, *own = found
    assert "uses a small pool" in shared.message
    assert shared.notes == ("2 more jobs have it from here",)
    assert [finding.message for finding in own] == ["llama", "b", "c"]


def test_what_is_about_no_place_is_reported_of_each_job() -> None:
    rest = "image: 'repo:1.0', command: [train]"
    plan, manifests = lifted(f"jobs: [{{name: llama}}, {{name: b, {rest}}}]")

    @rule("TST009")
    def nowhere(work: Work) -> Iterator[Finding]:
        """A finding without a place."""
        yield Finding(f"of {work.name}", Route())

    found = run(plan, load_catalog(), [made(nowhere)], manifests=manifests)
    assert [each.message for each in found] == ["of llama", "of b"]


def test_a_broken_rule_of_elsewhere_is_none_of_ours() -> None:
    """Whatever its code: what fails of the built-in rules is a fault of Trainyard."""

    @rule("EFA998")
    def broken(plan: Plan) -> Iterator[Finding]:
        """Anything."""
        raise KeyError(plan)

    assert [code for code, _ in reported(broken)] == ["POL015"]


def test_a_broken_rule_is_reported_and_hides_nothing() -> None:
    plan, manifests = lifted("jobs: [{name: llama}]")
    found = run(plan, load_catalog(), [made(breaks), made(whole_plan)], manifests=manifests)
    assert [each.code for each in found] == ["TST007", "POL015", "TST001"]
    broken = found[1]
    assert "TST007" in broken.message
    assert "KeyError" in broken.message
    assert __file__ in broken.notes[0]
    assert broken.severity is Severity.ERROR


def test_a_place_of_no_field_is_a_fault_of_the_rule() -> None:
    """A misspelt name must not point at the whole object."""

    @rule("TST021")
    def misspelt(work: Work) -> Iterator[Finding]:
        """Anything."""
        yield Finding("a", work.where("imagee"))

    (found,) = reported(misspelt)
    assert found[0] == "POL015"
    assert "`TrainJob` has no field `imagee`" in found[1]


def test_examples_of_a_page() -> None:
    doc = """One line.

    ## Fails

        a: 1

        b: 2

    Then another:

        c: 3

    ## Passes

        d: 4
    """
    assert examples(doc, "Fails") == ("a: 1\n", "b: 2\n", "c: 3\n")
    assert examples(doc, "Passes") == ("d: 4\n",)
    assert examples("nothing", "Fails") == ()
    assert examples(f"\n    {doc}", "Fails") == ("a: 1\n", "b: 2\n", "c: 3\n")


def test_options() -> None:
    words = (
        "bash",
        "-c",
        "torchrun --nnodes=4 --nproc_per_node 8 --standalone\n train.py --save_path='/data'",
    )
    assert dict(options(words)) == {
        "nnodes": "4",
        "nproc-per-node": "8",
        "standalone": None,  # the line ends the command
        "save-path": "/data",
    }
    assert dict(options(("torchrun", "--nnodes", "2", "--verbose"))) == {
        "nnodes": "2",
        "verbose": None,
    }


def test_same_result_twice() -> None:
    text = (
        "nodePools: [{name: gpu, capacity: {spot: {}}}]\njobs: [{name: llama, resources: {efa: 0}}]"
    )
    assert findings_for(text) == findings_for(text)
    assert len(findings_for(text)) > 1


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        (Finding(None, Route()), "TypeError: `message` of its finding is `None`, not text"),  # type: ignore[arg-type]
        (Finding(" ", Route()), "TypeError: its finding has no message"),
        (Finding("a", None), "TypeError: `at` of its finding is `None`, not a `Route`"),  # type: ignore[arg-type]
        (Finding("a", ("b",)), "TypeError: `at` of its finding is `tuple`, not a `Route`"),  # type: ignore[arg-type]
        (Finding("a", Route(), help=3), "TypeError: `help` of its finding is `int`, not text"),  # type: ignore[arg-type]
        (
            Finding("a", Route(), notes="b"),  # type: ignore[arg-type]
            "TypeError: `notes` of its finding is not a tuple of texts",
        ),
        (
            Finding("a", Route(), also=((Route(), 3),)),  # type: ignore[arg-type]
            "TypeError: `also` of its finding is not a tuple of routes with texts",
        ),
        (
            Finding("a", Route(), also=[(Route(), "b")]),  # type: ignore[arg-type]
            "TypeError: `also` of its finding is not a tuple of routes with texts",
        ),
        (
            Finding("a", Route(), also=((Route(),),)),  # type: ignore[arg-type]
            "TypeError: `also` of its finding is not a tuple of routes with texts",
        ),
        (
            Finding("a", Route(), also=((("spec",), "b"),)),  # type: ignore[arg-type]
            "TypeError: `also` of its finding is not a tuple of routes with texts",
        ),
        (
            Finding("a", Route(), severity="error"),  # type: ignore[arg-type]
            "TypeError: `severity` of its finding is `str`, not a `Severity`",
        ),
        (None, "TypeError: it yields `None`, not a `Finding`"),
        (SystemExit(0), "SystemExit: 0"),
        (GeneratorExit(), "GeneratorExit"),
        (RecursionError("a\nb"), "RecursionError: a b"),
    ],
)
def test_whatever_a_rule_yields_or_raises_is_a_finding(verdict: object, words: str) -> None:
    """It ends neither the run nor what other rules find."""

    @rule("TST020")
    def odd(plan: Plan) -> Iterator[Finding]:
        """Anything."""
        if isinstance(verdict, BaseException):
            raise verdict
        yield verdict  # type: ignore[misc]

    found = reported(odd, whole_plan)
    assert [code for code, _ in found] == ["POL015", "TST001"]
    assert found[0][1] == f"rule `TST020` failed: {words}"


@pytest.mark.parametrize(("closed", "helped"), [(True, "nodes"), (False, "replicas")])
def test_a_help_speaks_of_the_spec_where_there_is_one(closed: bool, helped: str) -> None:
    """And of the object where that is somebody's own."""

    @rule("TST022")
    def helpful(plan: Plan) -> Iterator[Finding]:
        """Anything."""
        yield Finding("a", ROOT, help="replicas", spec_help="nodes")
        yield Finding("b", ROOT, help="replicas")

    found = run(Plan(closed=closed), load_catalog(), [made(helpful)])
    assert [each.help for each in found] == [helped, "replicas"]


def test_an_interrupt_in_a_rule_ends_the_run() -> None:
    """Whoever presses Ctrl-C means it."""

    @rule("TST021")
    def interrupted(plan: Plan) -> Iterator[Finding]:
        """Anything."""
        raise KeyboardInterrupt
        yield

    with pytest.raises(KeyboardInterrupt):
        reported(interrupted)
