"""Records what rules were given to look at: a rule that saw nothing proves nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import field
from typing import Any

from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Rule
from trainyard.judge.policy.world import World
from trainyard.language.dataclass import dataclass
from trainyard.verify.schemas import BUILTIN


@dataclass(slots=True)
class Reach:
    """Of several runs over parts of a set: the rules that had something to look at, those that had nothing with what
    they look for, and the jobs of which a part is not known, each with the reason."""

    looked: set[str] = field(default_factory=set)
    idle: dict[str, Rule] = field(default_factory=dict)
    partly: dict[str, str] = field(default_factory=dict)

    def add(self, rule: Rule, subjects: Sequence[Any]) -> None:
        """Count what a rule was run on."""
        if subjects:
            self.looked.add(rule.code)
        else:
            self.idle[rule.code] = rule

    def add_jobs(self, world: World) -> None:
        """Count the jobs that rules see only in part."""
        for work in (*world.works, *world.pods):
            why = _missing(work)
            if why:
                self.partly[str(work.at)] = why

    def without(self) -> Counter[str]:
        """The rules that had nothing to look at in any run, by what they look for."""
        served = BUILTIN.served()
        wanted = (
            _wanted(rule, served) for code, rule in self.idle.items() if code not in self.looked
        )
        return Counter(filter(None, wanted))


def _wanted(rule: Rule, served: Container[str]) -> str:
    """What a rule is run on, as people call it; empty for what no manifest is."""
    if rule.kinds:
        kinds = sorted({kind.rpartition("/")[2] for kind in rule.kinds})
        return " or ".join(kinds)
    name = rule.subject.__name__
    if name in _NAMES:
        return _NAMES[name]
    return name if name in served else ""


_NAMES = {
    "Work": "job",
    "NodeClass": "EC2NodeClass",
    "Cluster": "ClusterConfig",
    "QueueManager": "configuration of Kueue",
    "Flavor": "ResourceFlavor",
    "Access": "role",
}


def _missing(work: Work) -> str:
    """Why rules know a job in part; empty where they know it whole."""
    if work.pod is None:
        return "without a runtime in the set"
    if work.types:
        return "" if work.complete else "with amounts that are not known"
    if work.queue_unknown:
        return "without a queue in the set"
    return "without nodes in the set"
