"""``init``: writes the first spec of a cluster from a few answers, given as options or asked for."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from trainyard.catalog import Catalog, InstanceType
from trainyard.catalog.nccl import expected
from trainyard.cli.streams import UsageError, print_err
from trainyard.language.dataclass import dataclass

if TYPE_CHECKING:
    import argparse

ON_DEMAND, SPOT, RESERVED, BLOCK = "on-demand", "spot", "reserved", "block"
BOUGHT = (ON_DEMAND, SPOT, RESERVED, BLOCK)
_SCHEMA = Path("docs", "schema.json")
_LEVELS = 4  # folders above the spec in which the schema is looked for


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, the option that answers it, and what is taken where nobody does; without that, it must be said."""

    key: str
    text: str
    default: str | None = None


_QUESTIONS = (
    Question("name", "Name of the cluster", "lab"),
    Question("account", "AWS account, 12 digits"),
    Question("region", "Region", "us-west-2"),
    Question("type", "Instance type or accelerator (p5.48xlarge, H100)", "g6e.48xlarge"),
    Question("zone", "Zone, or nothing for the first that has the type", ""),
    Question("nodes", "Nodes at most", "2"),
    Question("buy", f"How they are bought ({', '.join(BOUGHT)})", ON_DEMAND),
)
_OF_CAPACITY = {
    RESERVED: (Question("reservation", "Id of the capacity reservation (cr-…)"),),
    BLOCK: (
        Question("reservation", "Id of the Capacity Block (cr-…)"),
        Question("starts", "When it starts (2026-12-01T11:30:00Z)"),
        Question("ends", "When it ends (2026-12-15T11:30:00Z)"),
    ),
}
_LAST = (
    Question("team", "Namespace of the team, or nothing", ""),
    Question("git_url", "URL of the git repository that Flux reads, or nothing", ""),
    Question("api", "Addresses that reach the Kubernetes API (203.0.113.0/24), or nothing", ""),
)


def answers(options: argparse.Namespace, catalog: Catalog) -> dict[str, str]:
    """Every answer: what an option says, what a person says where one is there to ask, or the default. Options that
    are wrong end it before anybody is asked, and a person is asked again."""
    _check_options(options, catalog)
    ask = _nobody
    if not options.yes and sys.stdin is not None and sys.stdin.isatty():
        ask = _person
    given: dict[str, str] = {}
    for question in _questions(given):
        said = getattr(options, question.key, None)
        is_asked = said is None and ask is _person
        if said is None:
            said = ask(question)
        fault = _fault(question.key, said, given, catalog)
        while fault and is_asked:
            print_err(f"{fault}\n")
            said = ask(question)
            fault = _fault(question.key, said, given, catalog)
        if fault:
            raise UsageError(f"`{_option(question.key)} {said}`: {fault}")
        given[question.key] = said
    unused = [
        _option(question.key)
        for question in _OF_CAPACITY[BLOCK]
        if question.key not in given and getattr(options, question.key) is not None
    ]
    if unused:
        raise UsageError(f"{', '.join(unused)} with `--buy {given['buy']}`: leave out")
    return given


def _questions(given: Mapping[str, str]) -> Iterator[Question]:
    """The questions in their order; those about a reservation follow from how nodes are bought."""
    yield from _QUESTIONS
    yield from _OF_CAPACITY.get(given["buy"], ())
    yield from _LAST


def _check_options(options: argparse.Namespace, catalog: Catalog) -> None:
    """Judge what options say, as far as it needs no other answer."""
    said = {
        question.key: getattr(options, question.key)
        for question in (*_QUESTIONS, *_OF_CAPACITY[BLOCK], *_LAST)
        if getattr(options, question.key, None) is not None
    }
    for key, value in said.items():
        fault = _fault(key, value, said, catalog)
        if fault:
            raise UsageError(f"`{_option(key)} {value}`: {fault}")


def _fault(key: str, said: str, given: Mapping[str, str], catalog: Catalog) -> str:
    """What is wrong with an answer; empty where nothing is."""
    from trainyard.extensions.authoring.answers import fault_of

    if key == "buy" and said not in BOUGHT:
        return f"write one of {', '.join(BOUGHT)}"
    try:
        return fault_of(key, said, given, catalog, _instance)
    except UsageError as unknown:
        return str(unknown)


def _nobody(question: Question) -> str:
    if question.default is None:
        option = _option(question.key)
        raise UsageError(f"nobody is there to be asked: give `{option}`")
    return question.default


def _person(question: Question) -> str:
    shown = f" [{question.default}]" if question.default else ""
    while True:
        print_err(f"{question.text}{shown}: ")
        line = sys.stdin.readline()
        if not line:
            print_err("\n")
            raise UsageError("no answer: nothing was written")
        said = line.strip()
        if said:
            return said
        if question.default is not None:
            return question.default


def _option(key: str) -> str:
    return "--" + key.replace("_", "-")


def path_of(options: argparse.Namespace, given: Mapping[str, str]) -> Path:
    """The path of the new spec, where no file exists yet."""
    path: Path = options.file or Path("specs", f"{given['name']}.yaml")
    if path.suffix not in (".yaml", ".yml"):
        raise UsageError(f"`{path}` is no name of a spec: it ends in `.yaml`")
    if os.path.lexists(path):
        raise UsageError(
            f"`{path}` is there already: choose another `--name`, or name another file"
        )
    return path


def spec(given: Mapping[str, str], catalog: Catalog, path: Path) -> str:
    """The text of the spec. What only ``check`` can judge is written as it was given."""
    known = _instance(given, catalog)
    nodes = int(given["nodes"])
    pool = _pool_name(known)
    lines = [
        *_modeline(path),
        "# `trainyard explain --spec` lists every key, and `trainyard explain cluster` says what is derived.",
        "apiVersion: trainyard.dev/v1alpha1",
        "kind: TrainingCluster",
        f"metadata: {{name: {_scalar(given['name'])}}}",
        "spec:",
        f"  account: {json.dumps(given['account'])}",
        f"  region: {_scalar(given['region'])}",
    ]
    if given["api"]:
        addresses = _scalar(given["api"])
        lines.append(f"  platform: {{eks: {{apiServer: {{public: [{addresses}]}}}}}}")
    if given["git_url"]:
        lines.append(f"  flux: {{url: {json.dumps(given['git_url'])}}}")
    lines += ["", "  nodePools:", *_pool(given, known, pool, nodes)]
    queue = ""
    if given["team"]:
        team = _scalar(given["team"])
        lines += [
            "",
            "  queues:",
            f"    - {{name: {team}, namespaces: [{team}], quota: [{{pool: {pool}, nodes: {nodes}}}]}}",
        ]
        queue = f"queue: {team}, "
    # A gang that loses nodes to Spot would not measure the network (PLC013).
    if nodes > 1 and given["buy"] != SPOT and expected(known, 2) is not None:
        lines += [
            "",
            "  jobs:",
            "    # The network between the nodes, before anything is trained on them.",
            f"    - {{name: network, {queue}nodes: 2, launcher: {{ncclTest: {{}}}}}}",
        ]
    return "\n".join(lines) + "\n"


def _modeline(path: Path) -> list[str]:
    """The line by which editors find the schema, where a repository made from the template has it."""
    folder = path.absolute().parent
    for above in (folder, *folder.parents)[:_LEVELS]:
        schema = above / _SCHEMA
        if schema.is_file():
            relative = Path(os.path.relpath(schema, folder)).as_posix()
            return [f"# yaml-language-server: $schema={relative}"]
    return []


def _instance(given: Mapping[str, str], catalog: Catalog) -> InstanceType:
    """The type of a name; or the largest with an accelerator that the Region has."""
    word, region = given["type"], given["region"]
    instance = catalog.instance(word)
    if instance is not None:
        return instance
    fitting = [
        known
        for known in map(catalog.instance, catalog.instance_types)
        if known is not None
        and (known.accelerator or "").lower() == word.lower()
        and known.zones.get(region)
    ]
    if fitting:
        return max(fitting, key=lambda known: (known.accelerators, known.name))
    near = catalog.near(word)
    hint = f": did you mean {near[0]}?" if near else ""
    raise UsageError(f"no instance type, and no accelerator that `{region}` has, is `{word}`{hint}")


def _pool_name(known: InstanceType) -> str:
    word = known.accelerator or known.family
    return re.compile(r"[^a-z0-9]+").sub("-", word.lower()).strip("-")


def _pool(given: Mapping[str, str], known: InstanceType, pool: str, nodes: int) -> list[str]:
    zones = known.zones.get(given["region"], ())
    zone = given["zone"] or (zones[0] if zones else f"{given['region']}a")
    start = f"name: {pool}, instanceTypes: [{known.name}], zones: [{_scalar(zone)}]"
    bought = given["buy"]
    if bought == ON_DEMAND:
        return [f"    - {{{start}, nodes: {{max: {nodes}}}}}"]
    if bought == SPOT:
        return [f"    - {{{start}, nodes: {{max: {nodes}}}, capacity: {{spot: {{}}}}}}"]
    reservation = f"reservations: [{{id: {_scalar(given['reservation'])}}}]"
    if bought == RESERVED:
        capacity = f"reserved: {{{reservation}}}"
    else:
        starts, ends = _scalar(given["starts"]), _scalar(given["ends"])
        capacity = f"block: {{{reservation}, starts: {starts}, ends: {ends}}}"
    return [
        f"    - name: {pool}",
        f"      instanceTypes: [{known.name}]",
        f"      zones: [{_scalar(zone)}]",
        f"      nodes: {nodes}",
        f"      capacity: {{{capacity}}}",
    ]


_PLAIN = re.compile(r"[a-z][a-z0-9./-]*|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]+Z|[0-9.]+/[0-9]+")
_WORDS = ("true", "false", "null", "yes", "no", "on", "off", "y", "n")


def _scalar(text: str) -> str:
    """A value as YAML has it, in quotes where it would be read as something else."""
    if _PLAIN.fullmatch(text) and text not in _WORDS:
        return text
    return json.dumps(text)


def write(path: Path, text: str) -> None:
    """Write the spec, unless the file exists by now."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("x", encoding="utf-8", newline="\n") as handle:
        handle.write(text)
