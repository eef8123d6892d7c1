"""Teams may run what Trainyard and its docs tell them to: every printed `kubectl` is theirs, or the platform's."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

import pytest
from builders import ROOT, manifests_of, spec

PLACES = (
    *ROOT.glob("docs/*.md"),
    *ROOT.glob("docs/rules/*.md"),
    *ROOT.glob("compiler/trainyard/run/history/*.py"),
    *ROOT.glob("compiler/trainyard/extensions/review/report/*.py"),
    *ROOT.glob("compiler/trainyard/eks/runs/**/*.py"),
    *ROOT.glob("compiler/trainyard/eks/kueue/*.py"),
    *ROOT.glob("policies/**/*.py"),
)
"""Where commands are printed; those of the bootstrap are for who runs it."""
COMMAND = re.compile(r"kubectl (?P<verb>[a-z]+(?:-[a-z]+)?)(?P<rest>[^`\n#|;&]*)")
PLATFORM = {
    ("annotate", "node"),
    ("apply", ""),
    ("cordon", "NODE"),
    ("create", "secret"),
    ("create", "token"),
    ("debug", "POD"),
    ("debug", "node"),
    ("delete", "-k"),
    ("delete", "externalsecret"),
    ("delete", "helmrelease"),
    ("delete", "job"),
    ("delete", "nodeclaim"),
    ("delete", "nodepool"),
    ("describe", "deployment"),
    ("get", "crd"),
    ("get", "ec2nodeclas"),
    ("get", "event"),
    ("get", "nodeclas"),
    ("get", "secret"),
    ("patch", "workload"),
    ("rollout", "restart"),
    ("taint", "node"),
    ("wait", "job"),
}
"""What a page or a message gives to those who run the platform."""
ANYBODY = {("auth", "whoami"), ("config", "get-context"), ("get", "--raw")}
"""What takes no right, or one that every user has (Kubernetes 1.35, default roles and role bindings: system:basic-user,
system:public-info-viewer)."""
NO_COMMAND = {"are", "calls", "does", "from", "and", "edit"}
"""Words after the name of the program in sentences about it."""
VERBS = {"get": "get", "delete": "delete", "describe": "get"}
KINDS = {
    "trainjob": "trainjobs",
    "workload": "workloads",
    "clusterqueue": "clusterqueues",
    "nodeclaim": "nodeclaims",
    "pod": "pods",
    "node": "nodes",
    "{word}": "trainjobs",
}


class Printed(NamedTuple):
    """A command as a page prints it."""

    verb: str
    what: str
    everywhere: bool
    place: str


def printed() -> list[Printed]:
    found = []
    for path in PLACES:
        for match in COMMAND.finditer(path.read_text()):
            if match["verb"] in NO_COMMAND:
                continue
            words = match["rest"].split()
            what = re.split(r"[,/]", words[0])[0] if words else ""
            found.append(
                Printed(
                    match["verb"],
                    what.strip("\"'"),
                    "-A" in words,
                    f"{path.relative_to(ROOT)}: {match[0].strip()}",
                )
            )
    return found


@cache
def rights(kind: str) -> set[tuple[str, str]]:
    """Resources and verbs that a team has in its namespace or in the whole cluster."""
    made = manifests_of(spec(namespaces=[{"name": "a", "group": "research"}], jobs=[]))
    return {
        (resource, verb)
        for each in made
        if each.ref.kind == kind and each.ref.name.startswith("training-users")
        for rule in each.body["rules"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def wanted(command: Printed) -> tuple[str, str]:
    """The resource and verb that a command needs."""
    if command.verb == "logs":
        return "pods/log", "get"
    if command.verb == "exec":
        return "pods/exec", "create"
    if command.verb == "port-forward":
        return "pods/portforward", "create"
    name = command.what.removesuffix("s")
    return KINDS[name], VERBS[command.verb]


def named(command: Printed) -> tuple[str, str]:
    return command.verb, command.what.removesuffix("s")


def is_of_the_platform(command: Printed) -> bool:
    return named(command) in PLATFORM or command.verb == "apply"


@pytest.mark.parametrize("command", printed(), ids=lambda command: command.place)
def test_a_team_may_run_what_is_printed_for_it(command: Printed) -> None:
    if is_of_the_platform(command) or named(command) in ANYBODY:
        return
    allowed = rights("ClusterRole")
    if not command.everywhere:
        allowed = allowed | rights("Role")
    assert wanted(command) in allowed


def test_there_are_commands_of_both() -> None:
    kinds = {is_of_the_platform(command) for command in printed()}
    assert kinds == {True, False}
