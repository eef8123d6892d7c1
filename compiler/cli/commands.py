"""The commands: each takes the parsed arguments and returns an exit code."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Sequence
from datetime import date
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compiler import inputs
from compiler.cli import repeat
from compiler.cli.exits import CLEAN, FINDINGS, STALE, USAGE
from compiler.cli.output import exit_code, formats, report_diagnostics, say
from compiler.cli.streams import UsageError, err, out, visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from compiler.diagnostics import Diagnostic
    from compiler.emit.tree import TreeDiff
    from compiler.outcome import Options, Outcome
    from compiler.synthesis import Synthesis


_SHOWN = 12  # paths of changed files that are listed without --verbose
_LEAST = 10_000  # bytes of a report with a limit: the lines of 50 clusters, and a link


def _usage(command: Callable[[argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
    """Report wrong words, and a working directory that was removed, in one line."""

    @wraps(command)
    def run(options: argparse.Namespace) -> int:
        try:
            _require_working_directory()
            return command(options)
        except UsageError as fault:
            err(f"trainyard: {fault}\n")
            return USAGE

    return run


def _require_working_directory() -> None:
    """Paths are shown relative to the working directory, so there must be one."""
    try:
        os.getcwd()
    except FileNotFoundError:
        raise UsageError(
            "the working directory does not exist any more: change to one that does"
        ) from None


def _options(options: argparse.Namespace, *, explained: bool = False) -> Options:
    from compiler.outcome import Options

    folder = options.policies
    if folder is not None and not inputs.is_folder(folder):
        raise UsageError(f"`{folder}` is not a folder with policies")
    options.policies = folder or own_policies()
    if options.policies is None:
        _say_what_is_not_applied(options)
    against = getattr(options, "against", None)
    if against is not None and not inputs.is_folder(against):
        raise UsageError(
            f"`--against {against}` is not a folder: give one with a folder for each cluster, like `generated`"
        )
    output = getattr(options, "output", Path("generated"))
    return Options(
        policies=options.policies,
        catalog=options.catalog,
        today=date.today(),
        output=output,
        folder=_in_repository(output),
        hold=hasattr(options, "replace"),
        replace=_replaced(options, output),
        against=against,
        explained=explained,
        cache=repeat.current.cache if repeat.current is not None else None,
    )


def _replaced(options: argparse.Namespace, output: Path) -> tuple[str, ...]:
    """The jobs of ``--replace``; a name that no remembered run has is a slip."""
    names = tuple(getattr(options, "replace", ()))
    if not names:
        return ()
    from compiler.diagnostics.near import meant
    from compiler.history.runs import FOLDER, read_runs

    committed = getattr(options, "against", None) or output
    known: set[str] = set()
    for folder in inputs.with_file(committed, FOLDER):
        runs, _ = read_runs(Path(folder))
        for run in runs:
            known |= {run.job, run.object}
    for name in names:
        is_pattern = "*" in name or "?" in name
        if is_pattern or name in known:
            continue
        hint = meant(name, known)
        if hint:
            hint = f": {hint}"
        raise UsageError(f"`--replace {name}`: `{committed}` remembers no run of such a job{hint}")
    return names


def _in_repository(output: Path) -> str:
    """The output's path in the repository, whose root is the working directory; the default for one outside of it."""
    path = os.path.relpath(output)
    outside = path == "." or path.startswith("..")
    if outside:
        return "generated"
    return Path(path).as_posix()


def own_policies() -> Path | None:
    """The ``policies/`` of the folder in which the command is run. Rules are code, so none is taken from anywhere
    else: not from beside what is read, nor from above it."""
    folder = Path("policies")
    return folder if inputs.is_folder(folder) else None


def _say_what_is_not_applied(options: argparse.Namespace) -> None:
    """A note on policies that lie beside what is read, where somebody may expect that they are applied."""
    from compiler.policy.load import SETTINGS

    for path in map(Path, options.paths):
        beside = (path if inputs.is_folder(path) else path.parent).absolute()
        for folder in (beside, beside.parent):
            policies = folder / "policies"
            settings = [policies / name for name in SETTINGS]
            if any(map(inputs.is_file, settings)):
                _complain([_not_applied(policies)])
                return


def _not_applied(policies: Path) -> Diagnostic:
    from compiler.diagnostics import Diagnostic, Severity

    shown = os.path.relpath(policies)
    return Diagnostic(
        "POL017",
        Severity.NOTE,
        f"`{shown}` is not applied: rules are code, and are taken from `policies/` of the folder in which this is run",
        help=f"run it in `{os.path.dirname(shown)}`; or write `--policies {shown}`, if you trust its authors",
    )


@_usage
def run_init(options: argparse.Namespace) -> int:
    """``init``: the first spec of a cluster; one with findings is not written."""
    from compiler.catalog import load_catalog
    from compiler.cli.init import answers, path_of, spec, write

    given = answers(options)
    path = path_of(options, given)
    options.paths = [os.fspath(path.absolute())]
    settings = _options(options)
    catalog = load_catalog(options.catalog)
    if catalog.faults:
        _complain(catalog.faults)
        return USAGE
    text = spec(given, catalog, path)
    faults = _judged(text, path, settings)
    if faults:
        err(faults)
        say(options, "nothing was written")
        return FINDINGS
    write(path, text)
    say(options, f"{path}: written; now `trainyard check {path}`, `trainyard compile`")
    return CLEAN


def _judged(text: str, path: Path, settings: Options) -> str:
    """What is found in a spec that is not written yet, shown as if it were."""
    from tempfile import TemporaryDirectory

    from compiler import __version__
    from compiler.diagnostics.render import render
    from compiler.driver import check

    with TemporaryDirectory() as folder:
        draft = Path(folder, path.name)
        draft.write_text(text, encoding="utf-8", errors="backslashreplace")
        done = check([draft], settings)
        found = done.all()
        if not found:
            return ""
        shown = render("text", found, tool_version=__version__)
        return shown.replace(os.fspath(draft), os.fspath(path))


@_usage
def run_check(options: argparse.Namespace) -> int:
    """``check``: every pass but writing, and what was committed if it is there."""
    from compiler.driver import check

    formats(options)
    done = check(options.paths, _options(options))
    return _report(options, done)


def _report(options: argparse.Namespace, done: Outcome) -> int:
    diagnostics = done.all()
    report_diagnostics(options, diagnostics, excused=done.excused)
    if not diagnostics:
        names = [compilation.name for compilation in done.compilations]
        shown = ", ".join(names)
        if len(names) > _SHOWN and not options.verbose:
            shown = f"{len(names)} clusters"
        say(options, f"clean: {shown}" if names else "clean")
    return exit_code(options, diagnostics)


@_usage
def run_report(options: argparse.Namespace) -> int:
    """``report``: what a reviewer wants to know of each cluster; 1 where a spec is in error."""
    from compiler.cli.report import text
    from compiler.driver import check

    if options.limit is not None and options.limit < _LEAST:
        raise UsageError(
            f"`--limit {options.limit}` is too short for a report: give at least {_LEAST} bytes"
        )
    settings = _options(options, explained=True)
    done = check(options.paths, settings, current=lambda _: None)
    out(text(done, settings, options.limit, options.link))
    return exit_code(options, done.all())


@_usage
def run_lint(options: argparse.Namespace) -> int:
    """``lint``: manifests that others wrote."""
    from compiler.linter import lint

    formats(options)
    done = lint(options.paths, _options(options))
    diagnostics = done.all()
    report_diagnostics(options, diagnostics, excused=done.excused)
    for line in done.coverage.lines(findings=bool(diagnostics)):
        say(options, line)
    return exit_code(options, diagnostics)


@_usage
def run_compile(options: argparse.Namespace) -> int:
    """``compile``: check, then write every cluster's folder, or none."""
    from compiler.emit import MANIFEST
    from compiler.synthesis import Synthesis

    formats(options)
    with Synthesis() as cdk8s:
        committed = inputs.with_file(options.output, MANIFEST)
        if not options.check and not committed:
            cdk8s.start()  # all will be new, so Node may start while the specs are read
        return _compile_all(options, cdk8s)


def _compile_all(options: argparse.Namespace, cdk8s: Synthesis) -> int:
    from compiler.driver import check
    from compiler.writer import current, orphans

    settings = _options(options)
    done = check(
        options.paths,
        settings,
        cdk8s.take if cdk8s.started else None,
        lambda compilation: current(compilation, settings),
    )
    # Where only files are named, not every spec was read.
    has_folder = any(map(inputs.is_folder, options.paths))
    if done.compilations and has_folder:
        done.diagnostics += orphans(done, settings, options.paths)
    code = exit_code(options, done.all())
    if done.failed or code != CLEAN:
        report_diagnostics(options, done.all(), excused=done.excused)
        say(options, "nothing was written")
        return code or FINDINGS
    return _write_all(options, done, settings, cdk8s)


def _write_all(
    options: argparse.Namespace, done: Outcome, settings: Options, cdk8s: Synthesis
) -> int:
    """Every folder is compared before the first is written, so that what one refuses keeps all from being written."""
    from compiler.writer import prepare, write

    ready = [
        (compilation, prepare(compilation, settings, cdk8s)) for compilation in done.compilations
    ]
    refused = any(prepared.changes.failed for _, prepared in ready)
    written: list[tuple[Path, TreeDiff]] = []
    for compilation, prepared in ready:
        changes = prepared.changes
        if not options.check and not refused:
            changes = write(compilation, prepared, settings, cdk8s)
        done.diagnostics += changes.diagnostics
        folder = settings.output / compilation.name
        written.append((folder, changes))
    report_diagnostics(options, done.all(), excused=done.excused)
    if refused:
        lines = ["nothing was written"]
    else:
        lines = _lines(options, written)
    for line in lines:
        say(options, line)
    differs = any(changes.stale for _, changes in written)
    stale = options.check and differs
    if stale and not refused:
        say(options, f"run `trainyard compile`, and commit `{settings.output}`")
    code = exit_code(options, done.all())
    if code != CLEAN:
        return code
    return STALE if stale else CLEAN


def _lines(options: argparse.Namespace, written: list[tuple[Path, TreeDiff]]) -> list[str]:
    """A line for each cluster; of many only those that change, and how many are current."""
    all_shown = options.verbose or len(written) <= _SHOWN
    changing = [(folder, changes) for folder, changes in written if changes.stale or changes.failed]
    if all_shown:
        shown = written
    else:
        shown = changing[:_SHOWN]
    lines: list[str] = []
    for folder, changes in shown:
        lines += _changes(options, folder, changes)
    if all_shown:
        return lines
    more = len(changing) - len(shown)
    if more:
        lines.append(f"and {more} more clusters: `--verbose` lists them")
    verb = "would change" if options.check else "changed"
    change = f"{len(changing)} {verb}"
    current = len(written) - len(changing)
    return [*lines, f"{len(written)} clusters: {change}, {current} current"]


def _changes(options: argparse.Namespace, folder: Path, changes: Any) -> list[str]:
    if changes.failed:
        return [f"{folder}: not written"]
    if not changes.stale:
        return [f"{folder}: current, {len(changes.unchanged)} files"]
    kinds = [
        ("+", "added", changes.added),
        ("~", "changed", changes.changed),
        ("-", "removed", changes.removed),
    ]
    counted = []
    for _, word, paths in kinds:
        if paths:
            counted.append(f"{len(paths)} {word}")
    counts = ", ".join(counted)
    verb = "not current: " if options.check else ""
    lines = [f"{folder}: {verb}{counts}"]
    if options.verbose or options.check:
        marked: list[str] = []
        for mark, _, paths in kinds:
            marked += [f"  {mark} {path}" for path in sorted(paths)]
        if options.verbose:
            shown = marked
        else:
            shown = marked[:_SHOWN]
        lines += shown
        if len(marked) > len(shown):
            hidden = len(marked) - len(shown)
            lines.append(f"  and {hidden} more: `--verbose` lists them")
    return lines


@_usage
def run_test(options: argparse.Namespace) -> int:
    """``test``: the examples of the adopter's own rules."""
    from compiler.examples import judged
    from compiler.policy.config import Config
    from compiler.policy.load import load_rules

    formats(options)
    if not options.policies.is_dir():
        raise UsageError(f"`{options.policies}` is not a folder with policies")
    builtin, _ = load_rules(None)
    builtin_codes = {rule.code for rule in builtin}
    rules, faults = load_rules(options.policies)
    own = [rule for rule in rules if rule.code not in builtin_codes]
    config = Config(today=date.today())
    diagnostics = [*faults, *judged(own, config)]
    report_diagnostics(options, diagnostics)
    examples = 0
    for rule in own:
        examples += len(rule.fails) + len(rule.passes)
    rules_run = "1 rule"
    if len(own) != 1:
        rules_run = f"{len(own)} rules"
    say(options, f"{rules_run} of your own, {examples} examples")
    return exit_code(options, diagnostics)


@_usage
def run_explain(options: argparse.Namespace) -> int:
    """``explain``: a code's page, a key of the spec, or the derived values of an object."""
    from compiler.cli.explain import all_codes, explain_code, explain_object

    if options.key is not None:
        return _explain_key(options)
    options.paths = options.paths or ["specs"]
    settings = _options(options, explained=True)
    if options.subject is None:
        _print_table(("code", "name", "what it finds"), all_codes(settings))
        return CLEAN
    text = explain_code(options.subject, settings)
    if text is None:
        if options.subject.startswith("spec."):
            raise UsageError(
                f"there is no code or object `{options.subject}`: "
                f"`trainyard explain --spec {options.subject}` explains a key of the spec"
            )
        text = explain_object(options.subject, options.field, options.paths, settings)
    out(visible(text))
    return CLEAN


def _explain_key(options: argparse.Namespace) -> int:
    from compiler.cli.keys import explain_key, key_rows

    if options.subject is not None:
        raise UsageError(
            f"`--spec {options.key}` and `{options.subject}` are two subjects: ask for one at a time"
        )
    if options.key:
        out(explain_key(options.key))
    else:
        _print_table(("key", "what it is"), key_rows())
    return CLEAN


@_usage
def run_schema(options: argparse.Namespace) -> int:
    """``schema``: the JSON Schema of a kind, or of all."""
    from compiler.language.schema import ALL, KINDS, schema_text

    if options.kind not in (*KINDS, ALL):
        raise UsageError(
            f"`{options.kind}` is no kind: write one of {', '.join(KINDS)}, or `{ALL}`"
        )
    out(schema_text(options.kind))
    return CLEAN


@_usage
def run_catalog(options: argparse.Namespace) -> int:
    """``catalog``: list facts, list sources, or refresh."""
    from compiler.catalog import load_catalog
    from compiler.catalog.show import HEADER, rows, source_rows

    if options.words[:1] == ["refresh"]:
        return _refresh(options)
    catalog = load_catalog(options.catalog)
    if catalog.faults:
        _complain(catalog.faults)
        return USAGE
    if options.words[:1] == ["sources"]:
        _print_table(("facts", "source", "version", "date"), source_rows(catalog))
        return CLEAN
    words = " ".join(options.words)
    listed = rows(catalog, words)
    if not listed:
        near = []
        if options.words:
            near = catalog.near(options.words[0])
        if near:
            hint = f": did you mean {near[0]}?"
        else:
            hint = ""
        raise UsageError(f"no type matches `{words}`{hint}")
    _print_table(HEADER, listed)
    return CLEAN


def _refresh(options: argparse.Namespace) -> int:
    from compiler.catalog.refresh import boto3_clients, caller_account, refresh
    from compiler.diagnostics import Diagnostic

    if not options.region:
        raise UsageError(
            "catalog refresh asks the EC2 API of regions: give at least one `--region`"
        )
    clients = boto3_clients()
    if isinstance(clients, Diagnostic):
        _complain([clients])
        return USAGE
    patch = refresh(clients, options.region, date.today(), caller_account())
    if patch.faults:
        _complain(patch.faults)
        return USAGE
    fault = patch.write(options.output)
    if fault is not None:
        _complain([fault])
        return USAGE
    regions = ", ".join(patch.regions)
    say(options, f"{options.output}: {patch.types} types of {regions}; use it with `--catalog`")
    return CLEAN


def _complain(diagnostics: Iterable[Diagnostic]) -> None:
    from compiler import __version__
    from compiler.diagnostics.render import render

    err(render("text", list(diagnostics), tool_version=__version__))


def _print_table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    table = [header, *rows]
    columns = zip(*table, strict=True)
    widths = [max(map(len, column)) for column in columns]
    for row in table:
        cells = map(str.ljust, row, widths)
        line = "  ".join(cells)
        out(f"{visible(line.rstrip())}\n")


@_usage
def run_fmt(options: argparse.Namespace) -> int:
    """``fmt``: former names of keys, reported or replaced."""
    from compiler.cli.fmt import fmt

    return fmt(options.paths, fix=options.fix)


@_usage
def run_drill(options: argparse.Namespace) -> int:
    """``drill``: a Job for ``kubectl apply -f -``, after comments on what must follow."""
    from compiler.cli.drill import text
    from compiler.diagnostics import Severity
    from compiler.driver import check

    done = check(options.paths, _options(options), current=lambda _: None)
    diagnostics = done.all()
    faults = [fault for fault in diagnostics if fault.severity == Severity.ERROR]
    if faults:
        _complain(faults)
        return FINDINGS
    compiled = [compilation.plan for compilation in done.compilations]
    plans = [plan for plan in compiled if plan is not None]
    out(text(plans, options.node, options.xid))
    return CLEAN


@_usage
def run_completion(options: argparse.Namespace) -> int:
    """``completion``: the script of a shell, or words that such a script asks for."""
    from compiler.cli.arguments import parser
    from compiler.cli.completion import script

    if options.words is not None:
        return _print_words(options)
    if options.shell is None:
        raise UsageError("for which shell? `trainyard completion bash`, zsh or fish")
    out(script(options.shell, parser()))
    return CLEAN


def _print_words(options: argparse.Namespace) -> int:
    from compiler.cli.words import words

    options.paths = options.paths or ["specs"]
    settings = _options(options, explained=True)
    for name in options.words:
        for word in words(name, options.paths, settings):
            out(f"{visible(word)}\n")
    return CLEAN
