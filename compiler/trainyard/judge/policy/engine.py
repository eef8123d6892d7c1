"""Running rules over a plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainyard.catalog import Catalog
from trainyard.eks.cluster.plan import Cluster
from trainyard.judge.model.work import Work
from trainyard.judge.policy.config import NO_CONFIG, Config
from trainyard.judge.policy.load import is_builtin, line_of, quiet, words
from trainyard.judge.policy.rule import Finding, Rule, malformed
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.language.diagnostics.words import numbered
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest, group_of
from trainyard.plan import Plan, PlanItem

if TYPE_CHECKING:
    from trainyard.judge.policy.reach import Reach


def run(
    plan: Plan,
    catalog: Catalog,
    rules: Sequence[Rule],
    config: Config = NO_CONFIG,
    manifests: Sequence[Manifest] = (),
    reach: Reach | None = None,
) -> list[Diagnostic]:
    """Every finding of every rule that is not off; ``reach`` gets what each had to look at.

    ``manifests`` are what the plan was lifted from (or will be lowered to), for rules over single objects; their
    findings point into the manifest by a route that begins with its id. Exceptions are applied by
    ``Config.excuse``, once the caller has named the object of each finding.
    """
    world = World(plan, catalog, manifests)
    world.today = config.today
    subjects = Subjects(world)
    findings: list[Diagnostic] = []
    with quiet():
        for rule in rules:
            code = rule.code
            if config.levels.get(code, rule.default_level) is None:
                continue
            world.params = config.params.get(code, rule.params)
            nodes = subjects.of(rule)
            if reach is not None:
                reach.add(rule, nodes)
            if nodes:
                level = config.levels.get(code)
                findings += _run_one(rule, nodes, world, level)
    if reach is not None:
        reach.add_jobs(world)
    return findings


def _run_one(
    rule: Rule, nodes: Sequence[Any], world: World, level: Severity | None
) -> list[Diagnostic]:
    """What a rule finds in its subjects. ``level`` is the one that the user set; ``None`` without one.

    A finding that several jobs have in common is reported once, with the number of the others, and one that several
    sets of pods of a third-party job have at the first of them.
    """
    reported: dict[object, Diagnostic] = {}
    repeats: Counter[object] = Counter()
    failures: list[Diagnostic] = []
    of_sets: set[tuple[Route, str]] = set()
    try:
        for node, finding in _findings(rule, nodes, world):
            key = None
            if node.__class__ is Work and node.own_sets:
                said = node.at, finding.message.replace(node.title, "")
                if said in of_sets:
                    continue
                of_sets.add(said)
            if node.__class__ is Work:
                key = _shared_key(finding, node)
            if key is not None and key in reported:
                repeats[key] += 1
                continue
            if key is None:
                key = len(reported)
            reported[key] = Diagnostic(
                rule.code,
                level or finding.severity or rule.severity,
                finding.message,
                finding.at,
                label=finding.label,
                notes=finding.notes,
                help=finding.advice(of_spec=world.plan.closed),
                key=finding.key,
                secret=finding.secret,
                also=finding.also,
                subject=_subject(node),
            )
    except BaseException as problem:
        # A third-party rule may raise or call `sys.exit`: neither may hide what other rules find.
        if isinstance(problem, KeyboardInterrupt):
            raise
        failures.append(_failure(rule, problem))
    for key, count in repeats.items():
        shared = reported[key]
        note = numbered(count, "more job has it from here", "more jobs have it from here")
        notes = (*shared.notes, note)
        reported[key] = replace(shared, notes=notes)
    return [*reported.values(), *failures]


def _findings(rule: Rule, nodes: Sequence[Any], world: World) -> Iterator[tuple[Any, Finding]]:
    """What a rule yields, with the subject that it was run on. Raises ``TypeError`` for what is no sound finding."""
    check = rule.check
    needs_world = rule.needs_world
    for node in nodes:
        if needs_world:
            verdicts = check(node, world)
        else:
            verdicts = check(node)
        for finding in verdicts:
            wrong = malformed(finding)
            if wrong:
                raise TypeError(wrong)
            yield node, finding


def _subject(node: Any) -> str:
    """The id of the object that a rule was run on; empty for one on all of them."""
    if isinstance(node, Manifest):
        return node.id
    if isinstance(node, Work):
        own = node.job
    else:
        own = node
    at = getattr(own, "at", ())
    if at:
        return str(at[0])
    return ""


def _shared_key(finding: Finding, work: Work) -> object:
    """By what a finding is the same for another job: its place in their runtime, or its place and words elsewhere
    outside of them; ``None`` for one in the job itself."""
    at = finding.at
    of_job = work.job.at
    if not at or not of_job:
        return None
    if at[0] == of_job[0]:
        return None
    if work.runtime is not None:
        of_runtime = work.runtime.at
        if at[0] == of_runtime[0]:
            return at, ""
    name = f"`{work.name}`"
    return at, finding.message.replace(name, "")


def _failure(rule: Rule, problem: BaseException) -> Diagnostic:
    """A rule that raised: our own fault if it is built in, its author's otherwise."""
    line = _line(problem, rule.file)
    first = 1
    if rule.file.endswith(".py"):
        first = rule.check.__code__.co_firstlineno
    where = f", line {line}" if line else ""
    return Diagnostic(
        "INT002" if is_builtin(rule) else "POL015",
        Severity.ERROR,
        f"rule `{rule.code}` failed: {words(problem)}",
        span=line_of(Path(rule.file), line or first),
        notes=(f"in {rule.file}{where}",),
        help=f'set `{rule.code}: "off"` in policies/policy.yaml until the rule is fixed',
    )


def _line(problem: BaseException, file: str) -> int:
    trace, line = problem.__traceback__, 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


class Subjects:
    """What each rule is run on: plan items by class, those of a class that is another one as well, manifests by
    kind."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._nodes: dict[type, list[PlanItem]] = {}
        self._manifests: dict[str, list[Manifest]] = {}
        self._works = tuple(world.works)
        self._pods = tuple(world.pods)
        self._roles = tuple(world.roles)
        self._gangs = tuple(world.gangs)
        self._other_sets = tuple(world.other_sets)
        self._containers = tuple(world.containers_beside)
        self._parts = tuple(world.parts_beside)
        self._in_pods = tuple(work for work in self._works if work.has_pods)
        by_class: dict[type, list[PlanItem]] = {}
        for node in _nodes(world.plan):
            by_class.setdefault(type(node), []).append(node)
        for kind, nodes in by_class.items():
            own_bases = kind.__mro__.index(PlanItem)
            for base in kind.__mro__[:own_bases]:
                of_base = self._nodes.setdefault(base, [])
                of_base.extend(nodes)
        for manifest in world.manifests:
            of_kind = self._manifests.setdefault(_kind(manifest), [])
            of_kind.append(manifest)

    def of(self, rule: Rule) -> Sequence[Any]:
        """The subjects of a rule."""
        if rule.subject is Plan:
            return (self._world.plan,)
        if rule.subject is Work:
            return self._of_jobs(rule)
        if rule.subject is Manifest:
            if not rule.kinds:
                return self._world.manifests
            manifests: list[Manifest] = []
            for kind in rule.kinds:
                manifests += self._manifests.get(kind, ())
            return manifests
        return self._nodes.get(rule.subject, ())

    def _of_jobs(self, rule: Rule) -> Sequence[Work]:
        """Jobs of any platform or those in pods, and what is like one: third-party pods or all of a third-party job,
        roles of JobSets, and what is a role in third-party jobs: their other sets of pods; containers beside; pods of a
        runtime that ask for other devices."""
        jobs = self._in_pods if rule.kubernetes else self._works
        pods = self._pods if rule.pods else ()
        roles = self._roles if rule.roles else ()
        gangs = self._gangs if rule.gangs else ()
        sets = self._other_sets if rule.gangs and rule.roles else ()
        containers = self._containers if rule.containers else ()
        parts = self._parts if rule.pods and not rule.roles else ()
        return (*jobs, *pods, *roles, *gangs, *sets, *containers, *parts)


def _kind(manifest: Manifest) -> str:
    """The kind of a manifest as rules name it: ``group/Kind``."""
    api_version = str(manifest.body.get("apiVersion") or "")
    group = group_of(api_version)
    kind = manifest.body.get("kind")
    return f"{group}/{kind}"


def _nodes(plan: Plan) -> Iterator[PlanItem]:
    """Every top-level item of the plan, and the node groups of the cluster."""
    yield from plan.items
    cluster = plan.one(Cluster)
    if cluster is not None:
        yield from cluster.node_groups
