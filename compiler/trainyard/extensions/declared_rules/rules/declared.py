"""Users' rules without code: a JSON Schema that every object of a kind must satisfy, or CEL (``admission_rule``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from trainyard.extensions.declared_rules import admission_rule
from trainyard.judge.policy.documents import read_documents
from trainyard.judge.policy.rule import SEVERITIES, Finding, Rule, is_code, is_slug
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.diagnostic import error, listed
from trainyard.language.places import Document, Route
from trainyard.output.manifest import Manifest, ObjectRef
from trainyard.verify.kinds import kind_meant, unknown_kind

_KEYS = {"code", "slug", "severity", "enabled", "match", "schema", "message", "help", "description"}
_Fault = admission_rule.Fault


def load_rules(path: Path, faults: list[Diagnostic]) -> list[Rule]:
    """The rules of a YAML file, one a document; its faults are added to ``faults`` with their place."""
    documents, unreadable = read_documents(path)
    if unreadable:
        faults += unreadable
        return []
    rules = []
    for document in documents:
        data = document.root.to_python()
        if admission_rule.is_admission(data):
            if data["kind"] == admission_rule.BINDING:
                continue  # for clusters: where the rule is enforced there
            wrong = _placed(admission_rule.faults(data), document)
        elif _is_for_cluster(data):
            continue
        else:
            wrong = _wrong(document)
        faults += wrong
        if wrong:
            continue
        if admission_rule.is_admission(data):
            rules.append(admission_rule.rule_of(data, str(path)))
        else:
            rules.append(_rule(data, path))
    return rules


def _is_for_cluster(data: Any) -> bool:
    """Whether a document is an object of Kubernetes and no rule: policies of Kyverno or Gatekeeper, a kustomization."""
    return isinstance(data, Mapping) and {"apiVersion", "kind"} <= set(data) and "code" not in data


def _wrong(document: Document) -> list[Diagnostic]:
    """What is wrong with the rule of a document."""
    data = document.root.to_python()
    faults = _placed(_faults(data), document)
    return faults or _unmatched(data["match"], document)


def _placed(faults: Iterable[_Fault], document: Document) -> list[Diagnostic]:
    return [
        error("POL013", message, at=document.span(at, key=key), help=help)
        for message, at, key, help in faults
    ]


def _rule(data: Mapping[str, Any], path: Path) -> Rule:
    match = data["match"]
    group = ObjectRef(match["apiVersion"], "", "", "").group
    return Rule(
        code=data["code"],
        slug=data["slug"],
        severity=SEVERITIES[data.get("severity", "error")],
        doc=data.get("description") or data["message"],
        subject=Manifest,
        check=_checker(data["schema"], match["apiVersion"], data["message"], data.get("help", "")),
        kinds=(f"{group}/{match['kind']}",),
        needs_world=False,
        file=str(path),
        enabled=data.get("enabled", True),
    )


def _faults(data: Any) -> Iterator[_Fault]:
    if not isinstance(data, Mapping):
        yield (
            "the rule is not a mapping",
            Route(),
            False,
            "write `code`, `slug`, `match`, `schema` and `message`",
        )
        return
    for key in data:
        if key not in _KEYS:
            known = listed(sorted(_KEYS))
            yield (f"unknown key `{key}`", Route((key,)), True, f"write one of {known}")
    if not is_code(data.get("code")):
        what = f"`{data.get('code', '')}` is no code"
        yield (what, Route(("code",)), False, "write 2 to 4 capitals and 3 digits: `ORG001`")
    slug = data.get("slug")
    if not is_slug(slug):
        yield (
            f"`{data.get('slug', '')}` is no slug",
            Route(("slug",)),
            False,
            "write words joined by `-`",
        )
    severity = data.get("severity", "error")
    if not isinstance(severity, str) or severity not in SEVERITIES:
        yield (
            f"`{severity}` is no severity",
            Route(("severity",)),
            False,
            "write `error`, `warning` or `note`",
        )
    if not isinstance(data.get("enabled", True), bool):
        yield (
            "`enabled` is neither `true` nor `false`",
            Route(("enabled",)),
            False,
            "write `enabled: false` for a rule that is off by default",
        )
    match = data.get("match")
    if (
        not isinstance(match, Mapping)
        or set(match) != {"apiVersion", "kind"}
        or not all(map(_is_text, match.values()))
    ):
        what = "`match` is not an `apiVersion` and a `kind`"
        yield what, Route(("match",)), False, "write `match: {apiVersion: …, kind: …}`"
    yield from _word_faults(data)
    yield from _schema_faults(data.get("schema"))


def _word_faults(data: Mapping[str, Any]) -> Iterator[_Fault]:
    """What the rule says to people."""
    if not _is_text(data.get("message")):
        yield (
            "`message` is missing",
            Route(("message",)),
            False,
            "say in one sentence what is wrong",
        )
    for key in ("help", "description"):
        if not isinstance(data.get(key, ""), str):
            yield (
                f"`{key}` is not text",
                Route((key,)),
                False,
                "write a sentence, in quotes if it contains `: `",
            )


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value.strip() != ""


def _unmatched(match: Mapping[str, str], document: Document) -> list[Diagnostic]:
    """A rule on objects that there cannot be finds nothing, for ever, and looks like one that passes."""
    right = kind_meant(match["apiVersion"], match["kind"])
    if right is None:
        return []
    fault = unknown_kind(match["apiVersion"], match["kind"], right)
    at = Route(("match", *fault.path))
    return [
        error(
            "POL016",
            f"no object ever matches: {fault.message}",
            help=fault.help,
            at=document.span(at),
        )
    ]


def _schema_faults(schema: Any) -> Iterator[_Fault]:
    if not isinstance(schema, Mapping):
        yield (
            "`schema` is missing",
            Route(("schema",)),
            False,
            "write a JSON Schema for the whole object",
        )
        return
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    try:
        Draft202012Validator.check_schema(
            dict(schema), format_checker=Draft202012Validator.FORMAT_CHECKER
        )
    except SchemaError as problem:
        at = Route(("schema", *problem.absolute_path))
        yield (
            f"the schema is not JSON Schema: {problem.message}",
            at,
            False,
            "see json-schema.org, draft 2020-12",
        )


def _checker(
    schema: Mapping[str, Any], api_version: str, message: str, help: str
) -> Callable[..., Iterator[Finding]]:
    validators: list[Any] = []

    def check(manifest: Manifest) -> Iterator[Finding]:
        if manifest.body.get("apiVersion") != api_version:
            return
        if not validators:
            from jsonschema import Draft202012Validator
            from referencing.jsonschema import EMPTY_REGISTRY

            validators.append(
                Draft202012Validator(schema, registry=EMPTY_REGISTRY)
            )  # a rule fetches nothing
        for problem in validators[0].iter_errors(manifest.body):
            # The validator's own words quote values, and those of a Secret are never printed.
            is_secret = manifest.body.get("kind") == "Secret"
            notes = () if is_secret else (problem.message,)
            yield Finding(
                message, Route((manifest.id, *problem.absolute_path)), help=help, notes=notes
            )

    return check
