"""Running rules over a plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from compiler.catalog import Catalog
from compiler.diagnostics import Diagnostic, Severity
from compiler.manifest import Manifest, ObjectRef
from compiler.plan import Plan, PlanNode
from compiler.policy.config import NO_CONFIG, Config
from compiler.policy.load import is_builtin, line_of, quiet, words
from compiler.policy.rule import Finding, Rule, malformed
from compiler.policy.work import Work
from compiler.policy.world import World


def run(
    plan: Plan,
    catalog: Catalog,
    rules: Sequence[Rule],
    config: Config = NO_CONFIG,
    manifests: Sequence[Manifest] = (),
) -> list[Diagnostic]:
    """Every finding of every rule that is not off.

    ``manifests`` are what the plan was lifted from (or will be lowered to), for rules over single objects; their
    findings point into the manifest by a route that begins with its id. Exceptions are applied by
    ``Config.excuse``, once the caller has told which object each finding is about.
    """
    world = World(plan, catalog, manifests)
    world.today = config.today
    subjects = Subjects(world)
    found: list[Diagnostic] = []
    with quiet():
        for each in rules:
            level = config.levels.get(each.code, each.default_level)
            if level is not None:
                world.params = config.params.get(each.code, each.params)
                found.extend(
                    _run_one(
                        each,
                        subjects,
                        world,
                        level if each.code in config.levels else None,
                    )
                )
    return found


def _run_one(
    rule: Rule, subjects: Subjects, world: World, level: Severity | None
) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    first: dict[object, int] = {}  # where a finding that jobs have in common was told
    more: Counter[int] = Counter()
    check = rule.check
    try:
        for node in subjects.of(rule):
            for f in check(node, world) if rule.needs_world else check(node):
                if wrong := malformed(f):
                    raise TypeError(wrong)
                key = _common(f, node) if node.__class__ is Work else None
                if key is not None and (
                    index := first.setdefault(key, len(found))
                ) < len(found):
                    more[index] += 1
                    continue
                found.append(
                    Diagnostic(
                        rule.code,
                        level or f.severity or rule.severity,
                        f.message,
                        f.at,
                        label=f.label,
                        notes=f.notes,
                        help=f.help,
                        key=f.key,
                        subject=_subject(node),
                    )
                )
    except BaseException as problem:
        # A rule is somebody's program: neither its fault nor its `sys.exit` may hide what other rules find.
        if isinstance(problem, KeyboardInterrupt):
            raise
        found.append(_failure(rule, problem))
    for index, count in more.items():
        found[index] = replace(
            found[index],
            notes=(*found[index].notes, f"{count} more jobs have it from here"),
        )
    return found


def _subject(node: Any) -> str:
    """The id of the object that a rule was run on; empty for one on all of them."""
    if isinstance(node, Manifest):
        return node.id
    at = getattr(node.job if isinstance(node, Work) else node, "at", ())
    return str(at[0]) if at else ""


def _common(f: Finding, work: Work) -> object:
    """What makes a finding the same for another job: its place in their runtime, or its place and words elsewhere
    outside of them; ``None`` for one in the job itself."""
    if not f.at or not work.job.at or f.at[0] == work.job.at[0]:
        return None
    shared = work.runtime is not None and f.at[0] == work.runtime.at[0]
    return f.at, "" if shared else f.message.replace(f"`{work.name}`", "")


def _failure(rule: Rule, problem: BaseException) -> Diagnostic:
    """A rule that raised: our own fault if it is built in, its author's otherwise."""
    line = _line(problem, rule.file)
    python = rule.file.endswith(".py")
    return Diagnostic(
        "INT002" if is_builtin(rule) else "POL015",
        Severity.ERROR,
        f"rule `{rule.code}` failed: {words(problem)}",
        span=line_of(
            Path(rule.file),
            line or (rule.check.__code__.co_firstlineno if python else 1),
        ),
        notes=(f"in {rule.file}{f', line {line}' if line else ''}",),
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
    """What each rule is run on: plan nodes by class, manifests by kind."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._nodes: dict[type, list[PlanNode]] = {}
        self._manifests: dict[str, list[Manifest]] = {}
        for each in _nodes(world.plan):
            self._nodes.setdefault(type(each), []).append(each)
        for manifest in world.manifests:
            self._manifests.setdefault(_kind(manifest), []).append(manifest)

    def of(self, rule: Rule) -> Sequence[Any]:
        """The subjects of a rule."""
        if rule.subject is Plan:
            return (self._world.plan,)
        if rule.subject is Work:
            return (
                (*self._world.works, *self._world.pods)
                if rule.pods
                else self._world.works
            )
        if rule.subject is Manifest:
            if not rule.kinds:
                return self._world.manifests
            return [
                each for kind in rule.kinds for each in self._manifests.get(kind, ())
            ]
        return self._nodes.get(rule.subject, ())


def _kind(manifest: Manifest) -> str:
    api_version, kind = manifest.body.get("apiVersion"), manifest.body.get("kind")
    return f"{ObjectRef(str(api_version or ''), '', '', '').group}/{kind}"


def _nodes(plan: Plan) -> Iterator[PlanNode]:
    """Every node that stands at the top of the plan, and the node groups of the cluster."""
    for each in fields(plan):
        value = getattr(plan, each.name)
        if isinstance(value, PlanNode):
            yield value
        elif isinstance(value, tuple):
            yield from (item for item in value if isinstance(item, PlanNode))
    if plan.cluster is not None:
        yield from plan.cluster.node_groups
