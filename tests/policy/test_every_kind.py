"""Each rule about a job is found in a job of every kind, as it is in a TrainJob: in files of others, and in specs.

The Fails examples of all rules are written again as every kind that runs a gang (``wrapping``). Where a rule does not
hold for a kind, the tables say why; what is in them without need fails, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache

import pytest
from drawn import at_least, drawn, reasons_of
from trainyard.catalog import load_catalog
from trainyard.eks.jobs.plan import Runtime
from trainyard.judge.model.work import Work
from trainyard.judge.policy.engine import run
from trainyard.judge.policy.rule import Rule
from trainyard.lift import lift
from trainyard.output.manifest import Body, Manifest
from trainyard.run.examples.rehearse import UnusableExampleError, config_for
from trainyard.run.examples.rehearse import lifted as example
from trainyard.verify.formats import objects

from tests.policy.harness import TODAY, builtin_rules
from tests.policy.wrapping import KINDS, wrapped

pytestmark = pytest.mark.slow

ALL = tuple(KINDS)
OF_RUNTIME = "it is about a runtime, which only a TrainJob has"
NO_DEADLINE = "it has no deadline for all of its attempts"
NO_FIELD = "it has no such field"
NO_TORCH = "only a runtime says that its program is torch's"
NO_BACKOFF = "how often it starts again is not said by it, or of single pods"
ALONE = "its operator restarts single pods, and they join the others"
OWN_HOSTS = (
    "its operator calls the hosts otherwise, so that the wrong name of the example may be right"
)
RAY = "KubeRay mounts /dev/shm"
HEAD = "its workers ask for less: its head has the rest"
RESTARTS = "it starts again by default, or says how often itself"
Reasons = Mapping[str, Mapping[str, str]]


def each(reason: str, *kinds: str) -> dict[str, str]:
    return dict.fromkeys(kinds or ALL, reason)


def but(reason: str, *kinds: str) -> dict[str, str]:
    return {kind: reason for kind in ALL if kind not in kinds}


SILENT: Reasons = {
    "HLT045": each(NO_DEADLINE, "JobSet", "LeaderWorkerSet", "Job.batch.volcano.sh"),
    "LIM002": each(HEAD, "RayJob"),
    "LIM004": each("it may serve, where requests below limits are a choice", "LeaderWorkerSet"),
    "LIM006": each(RAY, "RayJob"),
    "LIM011": each("LIM030 finds it"),
    "LIM014": each(HEAD, "RayJob"),
    "QUE005": each("its head counts in the same quota, and no node has that much", "RayJob"),
    "RUN001": each("it was observed with Trainer; Kueue's own samples suspend the others"),
    "QUE049": each("only Trainer's patches replace what a runtime tolerates"),
    "RUN002": each("none of its pods is how it is paused"),
    "RUN003": each(NO_FIELD, "LeaderWorkerSet", "Job.batch.volcano.sh"),
    "RUN004": each("it has no patches"),
    "RUN005": each("it has no patches"),
    "RUN006": each("Trainer does not run it"),
    "RUN007": but(ALONE, "JobSet"),
    "RUN008": but(RESTARTS, "JobSet"),
    "RUN011": each("an example has the processes in a runtime, or the kind has no field for them"),
    "RUN013": each("RUN077 finds those of other containers"),
    "RUN015": each(OF_RUNTIME),
    "RUN022": each(OF_RUNTIME),
    "RUN023": each(OF_RUNTIME),
    "RUN026": each("its operator gives it the hosts", "MPIJob"),
    "RUN028": each("Trainer does not run it"),
    "RUN036": each("only a runtime says that its program is JAX"),
    "RUN041": each(
        NO_BACKOFF,
        *("JobSet", "Job", "LeaderWorkerSet", "Job.batch.volcano.sh", "XGBoostJob", "PaddleJob"),
    ),
    "RUN121": each(NO_TORCH),
    "RUN122": each(NO_TORCH),
    "RUN129": each("a worker that runs sshd is as it should be", "MPIJob"),
    "RUN150": each(NO_DEADLINE, "JobSet", "LeaderWorkerSet", "Job.batch.volcano.sh"),
    "RUN190": each("its program runs once, in the launcher or on the head", "MPIJob", "RayJob"),
    "RUN191": each(
        OWN_HOSTS, *("RayJob", "HyperPodPyTorchJob", "LeaderWorkerSet"), "Job.batch.volcano.sh"
    ),
}
"""By rule and kind, why an example is not found in files of others."""
OF_SPECS = {
    "EFA014": "what it needs may be elsewhere",
    "PLC085": "its length stands in a spec alone",
    "RUN096": "its model stands in a spec alone",
    "PLC082": "its length stands in a spec alone",
    "PLC083": "its length stands in a spec alone",
    "PLC084": "its length stands in a spec alone",
    "QUE023": "a set of others may not be the whole cluster",
    "QUE033": "a set of others may not be the whole cluster",
    "QUE034": "a set of others may not be the whole cluster",
    "RUN016": "others may have other means",
    "RUN052": "what others allow is not known",
    "RUN197": "which jobs run together stands in a spec alone",
    "RUN175": "its length stands in a spec alone",
    "RUN200": "a model and its tokens stand in a spec alone",
    "RUN201": "a model stands in a spec alone",
}
"""Rules that find nothing in a TrainJob of others either, with the reason."""


def about_jobs() -> Iterator[Rule]:
    """Rules that are run on jobs, or ask which jobs there are."""
    asking = ("works_on(", "works_of(", "world.works", "world.gangs")
    for rule in builtin_rules():
        with open(rule.file, encoding="utf-8") as file:
            source = file.read()
        if rule.subject in (Work, Runtime) or any(word in source for word in asking):
            yield rule


def is_found(rule: Rule, text: str, bodies: list[Body]) -> bool:
    manifests = [Manifest(body) for body in bodies]
    plan = lift(manifests, closed=False)
    found = run(plan, load_catalog(), (rule,), config_for(rule, text, TODAY), manifests)
    assert not any(each.code.startswith("INT") for each in found), found
    return bool(found)


@cache
def walked() -> tuple[Rule, ...]:
    return tuple(drawn(about_jobs(), 30))


@cache
def judged() -> tuple[frozenset[str], frozenset[str], Mapping[str, frozenset[str]]]:
    """The rules that find a TrainJob of others, those that find none, and by rule the kinds in which an example of it
    is not found."""
    seen, unseen = set(), set()
    silent = defaultdict[str, set[str]](set)
    for rule in walked():
        for text in rule.fails:
            try:
                _, artifacts = example(text)
            except UnusableExampleError:
                continue
            bodies = [dict(manifest.body) for manifest in objects(artifacts)]
            if not any(body.get("kind") == "TrainJob" for body in bodies):
                continue
            if not is_found(rule, text, bodies):
                unseen.add(rule.code)
                continue
            seen.add(rule.code)
            for kind, wrap in KINDS.items():
                other = wrapped(bodies, wrap)
                if other is not None and not is_found(rule, text, other):
                    silent[rule.code].add(kind)
    by_rule = {code: frozenset(kinds) for code, kinds in silent.items()}
    return frozenset(seen), frozenset(unseen - seen), by_rule


def test_each_rule_holds_for_every_kind_or_says_why_not() -> None:
    seen, _, silent = judged()
    codes = {rule.code for rule in walked()}
    reasons = reasons_of(SILENT, codes)
    assert len(seen) >= at_least(120)
    assert silent == {code: frozenset(kinds) for code, kinds in reasons.items()}


def test_what_only_specs_say_has_its_reason() -> None:
    _, unseen, _ = judged()
    assert unseen == reasons_of(OF_SPECS, {rule.code for rule in walked()}).keys()
