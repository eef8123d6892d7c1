"""Write what is generated in docs/: ``python -m docs.generate`` (``make docs``). tests/test_docs.py compares.

The schema comes from the spec's models, the rule pages from the rules' docstrings, ``cli.md`` from the grammar of the
command line, ``adr/README.md`` from the titles of the decisions, ``runbooks.md`` from the alerts of ``monitoring``,
``bounds.md`` and the tables of ``spec.md`` from the models, with their descriptions and examples; the rest of
``spec.md`` is written by hand. Console blocks of README.md and docs/policies.md are run anew.
"""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree, rmtree
from tempfile import TemporaryDirectory

from pydantic import BaseModel
from trainyard.catalog import load_catalog
from trainyard.cli.grammar import EXIT_CODES, RULES_ARE_CODE, parser
from trainyard.eks.health.alert import PLATFORM
from trainyard.extensions.authoring.schema import schema_text
from trainyard.extensions.hyperpod.groups.watch import AGENT
from trainyard.extensions.observability.monitoring.alerts import pages as alert_pages
from trainyard.judge.policy.load import builtin_folder, load_rules
from trainyard.judge.policy.rule import Rule
from trainyard.language.diagnostics.pages import Page, load_pages
from trainyard.run.examples.pages import page
from trainyard.run.language.reference import all_keys, keys, models

from docs.console import EXAMPLE, FILES, prepare, refreshed

DOCS = Path(__file__).resolve().parent
BEGIN, END = "<!-- generated: make docs -->\n", "<!-- end -->\n"
AREAS = {
    "ACC": "Access",
    "CAT": "The catalog",
    "CHG": "Changes of a cluster that runs",
    "CLU": "Asking a cluster",
    "EFA": "EFA",
    "HLT": "Node health",
    "INT": "Faults of Trainyard itself",
    "LFT": "Lift",
    "LIM": "Resources and limits",
    "LNT": "Lint",
    "NAM": "Names",
    "OUT": "Output",
    "PLC": "Zones and placement",
    "PLN": "Comparing with a revision of git",
    "POL": "Policies",
    "QUE": "Queues and quota",
    "REF": "References",
    "RES": "Resolving the spec",
    "RUN": "Jobs that run once",
    "SCH": "Schemas",
    "SLM": "Slurm",
    "SPC": "The shape of the spec",
    "YML": "YAML and files",
}


def generated() -> dict[str, str]:
    """Every generated file by its path below docs/."""
    files = rule_pages()
    files["schema.json"] = schema_text()
    files["cli.md"] = cli()
    files["adr/README.md"] = "\n".join(decisions())
    files["bounds.md"] = "\n".join(bounds())
    files["runbooks.md"] = "\n".join(runbooks())
    files["spec.md"] = with_reference((DOCS / "spec.md").read_text(encoding="utf-8"))
    return files


# -- runbooks.md


SUBJECTS = {
    "gpus": "GPUs",
    "efa": "EFA",
    "jobs": "Jobs",
    "checkpoints": "Checkpoints",
    "nodes": "Nodes and volumes",
    "logs": "Logs",
    "capacity": "Reserved capacity",
    "control": "The cluster itself",
}


def runbooks() -> Iterator[str]:
    """A table of all alerts, then what each means and what to do."""
    pages = alert_pages(load_catalog().xids, AGENT)
    yield "# Runbooks\n"
    yield "What each alert of `monitoring: {}` means, and what to do. Its annotation `description` says the same, and"
    yield "is sent with it. [monitoring.md](monitoring.md) says how alerts come about. Queries are for Prometheus:"
    yield "`kubectl port-forward -n monitoring svc/prometheus-prometheus 9090`.\n"
    yield "| alert | severity | after | whose |"
    yield "| --- | --- | --- | --- |"
    for alerts in pages.values():
        for alert in alerts:
            whose = "the platform's" if alert.owner == PLATFORM else "the job's team"
            wait = alert.wait or "at once"
            yield f"| [{alert.name}](#{alert.name.lower()}) | {alert.severity} | {wait} | {whose} |"
    for subject, alerts in pages.items():
        yield f"\n## {SUBJECTS[subject]}"
        for alert in alerts:
            yield f"\n### {alert.name}\n"
            yield f"{alert.means}\n"
            yield from (f"- {step}" for step in alert.steps)
    yield ""


# -- rules/


def rule_pages() -> dict[str, str]:
    """An index, and a page an area: fixed codes of the compiler, and policies."""
    rules, faults = load_rules(None)
    assert not faults
    areas: dict[str, list[Page | Rule]] = {}
    every: list[Page | Rule] = [*load_pages().values(), *rules]
    for each in every:
        areas.setdefault(each.code[:-3], []).append(each)
    files = {
        f"rules/{area.lower()}.md": "\n".join(_area(area, items))
        for area, items in sorted(areas.items())
    }
    return {"rules/README.md": "\n".join(_index(areas)), **files}


def _index(areas: dict[str, list[Page | Rule]]) -> Iterator[str]:
    yield "# Codes\n"
    yield "`trainyard explain CODE` prints the same page. Fixed codes are facts and cannot be silenced; the level,"
    yield "parameters and exceptions of policies belong to you: `policies/policy.yaml`, `policies/exceptions.yaml`.\n"
    for fixed in (False, True):
        yield f"## {'Fixed codes' if fixed else 'Policies'}\n"
        for area, items in sorted(areas.items()):
            if isinstance(items[0], Page) == fixed:
                yield f"**[{AREAS[area]}]({area.lower()}.md)**\n"
                yield from (
                    f"- [{each.code}]({area.lower()}.md#{_anchor(each)}) {each.title}{_off(each)}"
                    for each in items
                )
                yield ""


def _off(each: Page | Rule) -> str:
    off = isinstance(each, Rule) and not each.enabled
    return " (off by default)" if off else ""


def _anchor(each: Page | Rule) -> str:
    return f"{each.code} {each.slug}".lower().replace(" ", "-")


def _area(area: str, items: list[Page | Rule]) -> Iterator[str]:
    yield f"# {AREAS[area]}\n"
    for each in items:
        yield f"## {each.code} {each.slug}\n"
        if isinstance(each, Rule):
            yield f"{_level(each)}{_params(each)}{_scope(each)}. Source: {_source(each)}\n"
            yield re.sub(r"^## ", "### ", page(each, fence="```"), flags=re.MULTILINE) + "\n"
        else:
            yield f"{each.text}\n"


def _level(rule: Rule) -> str:
    if rule.enabled:
        return f"Level: {rule.severity}"
    return f"Level: off by default; `levels: {{{rule.code}: {rule.severity}}}` enables it"


def _scope(rule: Rule) -> str:
    """Why a rule does not judge jobs of other platforms, where it does not."""
    if not rule.kubernetes:
        return ""
    return f". In Kubernetes alone: {rule.kubernetes}"


def _source(rule: Rule) -> str:
    """A link to the file of a rule, whose name is not its code."""
    name = Path(rule.file).relative_to(builtin_folder()).as_posix()
    return f"[policies/{name}](../../policies/{name})"


def _params(rule: Rule) -> str:
    listed = ", ".join(
        f"`{name}: {str(value).lower() if isinstance(value, bool) else value}`"
        for name, value in rule.params.items()
    )
    return f". Parameters: {listed}" if listed else ""


# -- cli.md


def cli() -> str:
    """The command line, from its own grammar."""
    return "\n".join(_cli())


def _cli() -> Iterator[str]:
    top = parser()
    yield "# Command line\n"
    yield f"{top.description}\n"
    yield "```\n" + EXIT_CODES + "\n```\n"
    yield f"{RULES_ARE_CODE}\n"
    for name, command in _commands(top).items():
        yield f"## trainyard {name}\n"
        yield f"{command.description}\n"
        yield "| argument | meaning |\n| --- | --- |"
        yield from (
            f"| {_argument(each)} | {_cell(each)} |"
            for each in command._actions
            if each.dest != "help"
        )
        yield ""


def _commands(top: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def _argument(action: argparse.Action) -> str:
    value = "" if action.nargs == 0 else str(action.metavar or action.dest.upper())
    return ", ".join(
        f"`{f'{flag} {value}'.strip()}`" for flag in action.option_strings or [""]
    ).replace("|", "\\|")


def _cell(action: argparse.Action) -> str:
    choices = f" ({', '.join(action.choices)})" if action.choices and action.metavar is None else ""
    return ((action.help or "the shell") + choices).replace("|", "\\|")


# -- spec.md


def with_reference(text: str) -> str:
    """``spec.md`` with its tables as they should be."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{reference()}\n{END}{after}"


def reference() -> str:
    """A table a model, in the order in which a spec mentions them."""
    return "\n".join(line for model in models() for line in _table(model))


def _table(model: type[BaseModel]) -> Iterator[str]:
    yield f"### {model.__name__}\n"
    yield f"{inspect.cleandoc(model.__doc__ or '').replace('``', '`')}\n"
    yield "| key | value | unless given | what it is | example |\n| --- | --- | --- | --- | --- |"
    for key in keys(model):
        default = (
            f"`{key.default}`" if key.default not in ("", "required", "derived") else key.default
        )
        value = "; ".join(filter(None, (key.kind(_link), key.limits)))
        cells = (f"`{key.name}`", value, default, key.description, f"`{key.example}`")
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
    yield ""


def _link(model: type[BaseModel]) -> str:
    return f"[{model.__name__}](#{model.__name__.lower()})"


# -- adr/README.md


def decisions() -> Iterator[str]:
    """Every decision by its title, which is the first line of its page."""
    yield "# Decisions\n"
    yield "How Trainyard came to be built as it is ([architecture.md](../architecture.md)): each with what was tried"
    yield "and what it costs.\n"
    for path in sorted((DOCS / "adr").glob("[0-9]*.md")):
        first = path.read_text(encoding="utf-8").partition("\n")[0]
        _, _, title = first.partition(". ")
        yield f"- [{path.name[:4]}]({path.name}) {title}"
    yield ""


# -- bounds.md


def bounds() -> Iterator[str]:
    """Every value of the language with its bound, from its field."""
    yield "# What bounds each value\n"
    yield "Every value of the [spec language](spec.md), what it may be, where that is known from, and what refuses the"
    yield "rest: the type in `language/models/types.py`, `model` (a choice, a number or a length in the"
    yield "model itself), or a [code](rules/README.md). Codes of policies are of judgement, and can be given another"
    yield "level.\n"
    yield "| key | bound | source | held by |"
    yield "| --- | --- | --- | --- |"
    for key in all_keys():
        if key.bound is not None:
            cells = (f"`{key.path}`", key.bound.text, key.bound.source, ", ".join(key.holders))
            yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
    yield ""


def main() -> None:
    """Write every file, and remove generated ones that are no longer made."""
    copy_examples()
    files = generated()
    for name, text in files.items():
        (DOCS / name).parent.mkdir(exist_ok=True)
        (DOCS / name).write_text(text, encoding="utf-8", newline="\n")
    for path in unknown(files):
        path.unlink()
    for name in FILES:
        path = DOCS.parent / name
        with TemporaryDirectory() as folder:
            prepare(Path(folder))
            path.write_text(
                refreshed(path.read_text(encoding="utf-8"), Path(folder)),
                encoding="utf-8",
                newline="\n",
            )


def copy_examples() -> None:
    """The specs that come with Trainyard, for the tests and the documentation."""
    copies = EXAMPLE / "specs"
    rmtree(copies)
    copytree(DOCS.parent / "specs", copies)


def unknown(files: dict[str, str]) -> list[Path]:
    """What stands among the generated files and is not generated."""
    return [path for path in (DOCS / "rules").iterdir() if f"rules/{path.name}" not in files]


if __name__ == "__main__":
    main()
