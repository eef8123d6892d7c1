"""Who has access and what changes it: principals, third-party objects, and the findings about either."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.cluster.plan import AccessEntry, Bootstrap, Cluster
from trainyard.eks.overrides.plan import IncludedObject, ObjectPatch
from trainyard.eks.rbac.plan import Access
from trainyard.extensions.forecast.blocks import Block, Heading, code_text, table
from trainyard.extensions.forecast.subject import Subject
from trainyard.extensions.review.report.findings import place
from trainyard.plan import Plan

CODES = frozenset(
    {
        *(f"ACC0{number}" for number in range(40, 54)),
        *("ACC005", "ACC014", "ACC016", "HLT030", "RES236", "RES237", "RUN024", "RUN064", "RUN156"),
    }
)
"""The findings that are about trust. Other findings are about whether the cluster works."""

_OWN = "ServiceAccount"  # those of Trainyard's own stages and add-ons
_Row = tuple[str, str]


def section(subject: Subject) -> Iterator[Block]:
    """A line for each principal, included object, patch and finding; with a base, which are new and which are gone."""
    rows = list(_rows(subject.plan))
    found = [finding for finding in subject.findings if finding.code in CODES]
    if subject.before is not None:
        before = list(_rows(subject.before.plan))
    else:
        before = rows
    gone = [row for row in before if row not in rows]
    if not rows and not gone and not found:
        return
    yield Heading("Who gets in, what changes hands")
    marked = []
    for row in rows:
        mark = "" if row in before else "new"
        marked.append((*row, mark))
    marked += [(*row, "gone") for row in gone]
    marked += [
        (f"{finding.severity} {finding.code}", finding.message, place(finding)) for finding in found
    ]
    yield table(("access", "who or what", "change"), marked)


def _rows(plan: Plan) -> Iterator[_Row]:
    for entry in _entries(plan):
        if entry.type == "STANDARD":
            yield _entered(entry), code_text(entry.principal)
    for access in plan.of(Access):
        where = f"namespace {code_text(access.namespace)}" if access.namespace else "all"
        for subject in access.subjects:
            if subject.kind != _OWN:
                who = f"{subject.kind} {code_text(subject.name)}"
                yield f"role {code_text(access.name)} in {where}", who
    for included in plan.of(IncludedObject):
        name = included.body.get("metadata", {}).get("name", "")
        what = f"{included.body.get('kind')}/{name}"
        yield "included", f"{code_text(what)} of {code_text(included.file)}"
    for patch in plan.of(ObjectPatch):
        yield "patched", _patched(patch)


def _entries(plan: Plan) -> Iterator[AccessEntry]:
    cluster = plan.one(Cluster)
    if cluster is not None:
        yield from cluster.access
    bootstrap = plan.one(Bootstrap)
    if bootstrap is not None:
        yield from bootstrap.access


def _entered(entry: AccessEntry) -> str:
    if entry.policy is not None:
        policy = entry.policy.rpartition("/")[2]
        return f"enters with {code_text(policy)}"
    return f"enters as {', '.join(map(code_text, entry.groups))}"


def _patched(patch: ObjectPatch) -> str:
    """What is patched, and where: the paths of operations, or of what is merged."""
    target = patch.kind if patch.name is None else f"{patch.kind}/{patch.name}"
    if patch.operations:
        paths = [f"{operation.op} {operation.path}" for operation in patch.operations]
    else:
        paths = list(_leaves(patch.merge, ""))
    return f"{code_text(target)}: {', '.join(map(code_text, paths))}"


def _leaves(merged: object, path: str) -> Iterator[str]:
    """The paths of a patch's values; a list is one."""
    if not isinstance(merged, dict) or not merged:
        yield path
        return
    for key, item in merged.items():
        yield from _leaves(item, f"{path}/{key}")
