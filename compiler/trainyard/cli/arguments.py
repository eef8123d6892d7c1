"""Arguments that several commands take."""

from __future__ import annotations

import argparse
from pathlib import Path

FORMATS = ("text", "json", "sarif", "github", "junit", "markdown")
LEVELS = ("error", "warning", "note", "never")
SPECS = "specs"


def specs(parser: argparse.ArgumentParser) -> None:
    """Any specs."""
    parser.add_argument(
        "paths",
        nargs="*",
        default=[SPECS],
        metavar="SPEC",
        help=f"spec files or folders; `-` is standard input (default: {SPECS}/)",
    )


def one_spec(parser: argparse.ArgumentParser) -> None:
    """The spec of one cluster."""
    parser.add_argument(
        "paths",
        nargs="*",
        default=[SPECS],
        metavar="SPEC",
        help=f"the spec of one cluster: a file or folder (default: {SPECS}/)",
    )


def judging(parser: argparse.ArgumentParser) -> None:
    """How findings are printed, and where earlier runs are kept."""
    parser.add_argument(
        "--format",
        action="append",
        metavar="FORMAT[=FILE]",
        dest="formats",
        help=f"{', '.join(FORMATS)}; into FILE if given; may be given several times (default: text)",
    )
    parser.add_argument(
        "--fail-on",
        choices=LEVELS,
        default="error",
        metavar="LEVEL",
        help=f"lowest level that fails the run: {', '.join(LEVELS)} (default: error)",
    )
    rules_and_facts(parser)
    parser.add_argument(
        "--cache-dir",
        type=Path,
        metavar="DIR",
        help="where is kept what runs said, for those whose inputs are the same "
        "(default: TRAINYARD_CACHE_DIR, or `trainyard` in XDG_CACHE_HOME or ~/.cache)",
    )
    parser.add_argument(
        "--no-cache", action="store_true", help="judge everything again, and cache nothing"
    )


def rules_and_facts(parser: argparse.ArgumentParser) -> None:
    """Policies and the catalog."""
    parser.add_argument(
        "--policies",
        type=Path,
        metavar="DIR",
        help="the adopter's policies, which are code (default: `policies/` of the working directory)",
    )
    facts(parser)


def facts(parser: argparse.ArgumentParser) -> None:
    """The catalog, for what judges nothing."""
    parser.add_argument(
        "--catalog", type=Path, metavar="FILE", help="facts from `trainyard catalog refresh`"
    )


def committed(parser: argparse.ArgumentParser) -> None:
    """What was committed, and its runs."""
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("generated"),
        metavar="DIR",
        help="folder with one folder a cluster (default: generated/)",
    )
    parser.add_argument(
        "--replace",
        action="append",
        default=[],
        metavar="JOB",
        help="forget the last run of a job, which was never pushed; repeatable, `'*'` for all",
    )


def against(parser: argparse.ArgumentParser) -> None:
    """Another committed output."""
    parser.add_argument(
        "--against",
        type=Path,
        metavar="DIR",
        help="committed output to compare with, like that of another branch (default: the output)",
    )


def limited(parser: argparse.ArgumentParser) -> None:
    """How much is printed."""
    parser.add_argument(
        "--limit",
        type=int,
        metavar="BYTES",
        help="print so much at most: changed clusters first, each whole, and a line for each of the others",
    )
    parser.add_argument(
        "--link",
        default="",
        metavar="URL",
        help="where the whole report is, for what `--limit` leaves out",
    )


def asking(parser: argparse.ArgumentParser) -> None:
    """The options of commands that ask a cluster."""
    parser.add_argument(
        "--context",
        metavar="NAME",
        help="the context of the kubeconfig (default: the current one); KUBECONFIG names the file",
    )


def tabled(parser: argparse.ArgumentParser) -> None:
    """Text or JSON."""
    parser.add_argument(
        "--format", default="text", metavar="FORMAT", help="text, json (default: text)"
    )
