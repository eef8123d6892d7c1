"""``explain``: a code's page, a key of the spec, what rules meet, or the derived values of an object."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from trainyard.cli import arguments
from trainyard.cli.exits import CLEAN
from trainyard.cli.output import print_table
from trainyard.cli.settings import command, run_options
from trainyard.cli.streams import UsageError, print_out, visible

_COLUMNS = ("code", "name", "what it finds")
HELP = "explain a code, a key of the spec, or the derived values of an object"


def declare(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes."""
    parser.add_argument(
        "subject",
        nargs="?",
        metavar="CODE|OBJECT",
        help="a code (EFA003) or how codes begin (EFA), or job/NAME, pool/NAME, storage/NAME, …, cluster, "
        "Kind/[namespace/]name; without it all codes are listed",
    )
    parser.add_argument(
        "field", nargs="?", default="", metavar="FIELD", help="only this field and what is below it"
    )
    parser.add_argument(
        "--spec",
        nargs="?",
        const="",
        metavar="KEY",
        dest="key",
        help="a key of the spec language (jobs.checkpoint.every): type, default, bound, example; "
        "without KEY all are listed",
    )
    parser.add_argument(
        "--interface",
        nargs="?",
        const="",
        metavar="NAME",
        help="what a rule is given, and what it yields (rule, Finding, Work, …): fields and methods; "
        "without NAME all are listed",
    )
    parser.add_argument(
        "--platforms",
        action="store_true",
        help="which keys each platform takes, and what to write instead of one that it does not",
    )
    parser.add_argument(
        "--in",
        dest="paths",
        action="append",
        metavar="SPEC",
        help=f"specs (default: {arguments.SPECS}/)",
    )
    arguments.rules_and_facts(parser)


@command
def run(options: argparse.Namespace) -> int:
    """Run it; returns an exit code."""
    from trainyard.cli.explain import all_codes, codes_that_begin, explain_code, explain_object

    if options.key is not None:
        return _explain_key(options)
    if options.interface is not None:
        return _explain_interface(options)
    if options.platforms:
        return _explain_platforms(options)
    options.paths = options.paths or ["specs"]
    settings = run_options(options, explained=True)
    if options.subject is None:
        print_table(_COLUMNS, all_codes(settings))
        return CLEAN
    rows = codes_that_begin(options.subject, settings)
    if rows:
        print_table(_COLUMNS, rows)
        return CLEAN
    text = explain_code(options.subject, settings)
    if text is None:
        if options.subject.startswith("spec."):
            raise UsageError(
                f"there is no code or object `{options.subject}`: "
                f"`trainyard explain --spec {options.subject}` explains a key of the spec"
            )
        text = explain_object(options.subject, options.field, options.paths, settings)
    print_out(visible(text))
    return CLEAN


def _explain_key(options: argparse.Namespace) -> int:
    from trainyard.cli.keys import explain_key, key_rows

    _check_one_subject(f"--spec {options.key}", options)
    if options.key:
        print_out(explain_key(options.key))
    else:
        print_table(("key", "what it is"), key_rows())
    return CLEAN


def _explain_interface(options: argparse.Namespace) -> int:
    from trainyard.judge.policy.interface import describe, summaries
    from trainyard.language.diagnostics.near import name_meant

    _check_one_subject(f"--interface {options.interface}", options)
    rows = summaries()
    if not options.interface:
        print_table(("name", "what it is"), rows)
        return CLEAN
    text = describe(options.interface)
    if text is None:
        names = [name for name, _ in rows]
        hint = name_meant(options.interface, names) or "`trainyard explain --interface` lists all"
        raise UsageError(f"rules meet no `{options.interface}`: {hint}")
    print_out(text)
    return CLEAN


def _explain_platforms(options: argparse.Namespace) -> int:
    from trainyard.run.language.by_platform import keys_by_platform
    from trainyard.run.platforms import PLATFORMS

    _check_one_subject("--platforms", options)
    rows = [
        (
            key.path,
            *("no" if name in key.instead else "yes" for name in PLATFORMS),
            _why(key.instead),
        )
        for key in keys_by_platform()
    ]
    print_table(("key", *PLATFORMS, "instead"), rows)
    return CLEAN


def _check_one_subject(option: str, options: argparse.Namespace) -> None:
    if options.subject is not None:
        raise UsageError(
            f"`{option.strip()}` and `{options.subject}` are two subjects: ask for one at a time"
        )


def _why(instead: Mapping[str, str]) -> str:
    """What to write instead of a key: the same for all platforms that do not take it, or by their names."""
    texts = list(dict.fromkeys(instead.values()))
    if len(texts) < 2:
        return "".join(texts)
    return "; ".join(f"{name}: {text}" for name, text in instead.items())
