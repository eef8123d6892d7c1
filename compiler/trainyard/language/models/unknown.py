"""What to write instead of a key that a mapping of the spec does not have."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from pydantic import BaseModel

from trainyard.language.diagnostics.diagnostic import Diagnostic, error, listed
from trainyard.language.diagnostics.near import name_meant, near, plain
from trainyard.language.models.answers import answer
from trainyard.language.models.elsewhere import REMARKS, meant_key, resources_help
from trainyard.language.models.flow import flow
from trainyard.language.models.foreign import value_help
from trainyard.language.models.models import (
    field_at,
    fields_of,
    holds,
    inner_model,
    keys_of,
    model_at,
)
from trainyard.language.models.renamed import renamed
from trainyard.language.places import Route

_OF_KUBERNETES = ("namespace", "labels", "annotations")
_MOST_NAMED = 3
"""Keys that a help names: of more nobody reads the right one."""
OTHERS = {
    "": ("jobs[]", "nodePools[]"),
    "jobs[]": ("", "nodePools[]"),
    "jobDefaults": ("", "nodePools[]"),
    "nodePools[]": ("", "jobs[]"),
}
"""Where else people write the keys of a mapping: those of a job beside the cluster's, and so on."""
Instead: TypeAlias = Callable[[str], str | None]


def unknown(at: Route, model: type[BaseModel], mapping: Any, instead: Instead) -> Diagnostic:
    """The diagnostic of a key that its mapping does not have. ``instead``: what to write for a key that the platform
    does not take, by its path below ``spec``, so that no help names it."""
    helps = _helps(at, model, mapping, instead)
    return error("SPC002", f"unknown key `{at[-1]}`", at, help=next(filter(None, helps)), key=True)


def _helps(at: Route, model: type[BaseModel], mapping: Any, instead: Instead) -> Iterator[str]:
    """What may be said of an unknown key, the surest first; some of it may be empty, and the last never is."""
    owner = model_at(model, at.parent)
    assert owner is not None
    key = str(at[-1])
    value = mapping.get(at[-1]) if isinstance(mapping, Mapping) else None
    section = section_of(at.parent)
    above = section or ""
    refused = {name: instead(f"{above}.{name}".strip(".")) for name in keys_of(owner)}
    known = [name for name, help in refused.items() if help is None]
    name = called_now(at)
    if name:
        yield f"it is called `{name}` now: `trainyard fmt --fix` renames it"
    yield resources_help(key, value, known)
    if section is not None:
        yield answer(section, key)
        yield from _own_help(at, model, value)
    chosen = _chosen(owner, mapping)
    if chosen:
        yield _of_chosen(owner, chosen, key)
    outer = _one_too_high(owner, key)
    if outer in known and chosen in ("", outer):
        yield value_help(f"{above}.{outer}", key, value) or f"write it under `{outer}`"
    if at.parent == ("metadata",) and key in _OF_KUBERNETES:
        yield "remove it: the objects of a cluster take theirs from `spec`"
    if section is not None:
        yield _misplaced_help(_misplaced(section, key, model))
    yield name_meant(key, known)
    nearest = near(key, refused, limit=1)
    if nearest:
        yield refused[nearest[0]] or ""
    if section is not None:
        yield from _of_another(at, model)
    yield _page(at.parent, known)


def _page(outer: Route, known: list[str]) -> str:
    """Where the keys of a mapping are listed; the keys where they are few."""
    where = f"`{outer[-1]}`" if outer and isinstance(outer[-1], str) else "this mapping"
    if not known:
        return f"{where} has no keys: write `{{}}`"
    if len(known) <= _MOST_NAMED:
        return f"{where} has: {listed(known)}"
    path = ".".join(key for key in outer if isinstance(key, str)).removeprefix("spec.")
    return f"`{f'trainyard explain --spec {path}'.strip()}` lists the keys"


def _own_help(at: Route, model: type[BaseModel], value: Any) -> Iterator[str]:
    """What a word from elsewhere means in its own mapping."""
    section = section_of(at.parent)
    key = meant_key(section or "", str(at[-1]))
    if key:
        *_, last = key.split(".")
        yield value_help(f"{section}.{key}".rpartition(".")[0], last, value)
        yield _elsewhere_help(key, at, model)


def _misplaced_help(path: str) -> str:
    """Where a key belongs that another mapping has by just this name; empty where none has it."""
    outer, _, key = path.rpartition(".")
    if not key:
        return ""
    item = f"an item of `{outer.removesuffix('[]')}`"
    return f"write `{key}` in {item if outer else '`spec`'}"


def _misplaced(section: str, word: str, model: type[BaseModel]) -> str:
    """The key of another mapping that has just this name, by its path from ``spec``; empty where none has it."""
    for other in OTHERS.get(section, ()):
        owner = model_at(model, _route(other))
        for key in fields_of(owner) if owner is not None else ():
            if plain(key) == plain(word):
                return f"{other}.{key}".lstrip(".")
    return ""


def _of_another(at: Route, model: type[BaseModel]) -> Iterator[str]:
    """What a word from elsewhere means where people write another part of the spec."""
    key = _key_of_another(at, model)
    if key:
        yield _elsewhere_help(key, at, model)
    for other in OTHERS.get(section_of(at.parent) or "", ()):
        yield answer(other, str(at[-1]))


def _key_of_another(at: Route, model: type[BaseModel]) -> str:
    """The key that a word means in another mapping, by its path from ``spec``; empty where none is known."""
    for other in OTHERS.get(section_of(at.parent) or "", ()):
        key = meant_key(other, str(at[-1]))
        if key:
            whole = f"{other}.{key}".lstrip(".")
            return whole if field_at(model, _route(whole)) is not None else key
    return ""


def _route(path: str) -> Route:
    """The route of a path from ``spec``."""
    return Route(("spec", *filter(None, path.replace("[]", "").split("."))))


def called_now(at: Route) -> str:
    """What a former key at a route is called; empty where it had no other name."""
    section = section_of(at.parent)
    return "" if section is None else renamed(section, str(at[-1]))


def meant_elsewhere(at: Route) -> str:
    """The key that a word known from other tools means at a route; empty for other words."""
    section = section_of(at.parent)
    if section is None:
        return ""
    return meant_key(section, str(at[-1]))


def meant_paths(at: Route, model: type[BaseModel]) -> tuple[str, ...]:
    """The keys that a word known from other tools may mean at a route, by their paths from ``spec``: one of its mapping
    first, then one of all of ``spec``."""
    section = section_of(at.parent)
    if section is None or called_now(at) or answer(section, str(at[-1])):
        return ()
    key = meant_elsewhere(at) or _misplaced(section, str(at[-1]), model)
    key = key or _key_of_another(at, model)
    if not key:
        return ()
    return tuple(path.replace("[]", "").lstrip(".") for path in (f"{section}.{key}", key))


def section_of(at: Route) -> str | None:
    """The path of a mapping from ``spec``, without the numbers of items; ``None`` outside of ``spec``."""
    if not at or at[0] != "spec":
        return None
    path = ""
    for key in at[1:]:
        if isinstance(key, int):
            path += "[]"
        elif path:
            path += f".{key}"
        else:
            path = key
    return path


def _elsewhere_help(key: str, at: Route, model: type[BaseModel]) -> str:
    """How to write a key that is in another place or has another name, with the example of its field."""
    if key in REMARKS:
        return REMARKS[key]
    steps = key.replace("[]", "").split(".")
    field = field_at(model, Route((*at.parent, *steps)))
    *outer, last = key.split(".")
    if field is None:
        field = field_at(model, Route(("spec", *steps)))
        if at.parent != ("spec",):
            outer = outer or ["spec"]
    help = f"here it is `{last}`"
    if outer:
        where = ".".join(outer)
        help += f" under `{where}`"
    if field is not None:
        assert field.examples
        example = flow(field.examples[0])
        help += f", like `{last}: {example}`"
    return help


def _chosen(owner: type[BaseModel], mapping: Any) -> str:
    """The kind that is chosen in a mapping that is of exactly one of some kinds; empty where there is no choice."""
    extra = owner.model_config.get("json_schema_extra")
    if not isinstance(extra, dict) or not isinstance(mapping, Mapping):
        return ""
    forms: Any = extra.get("oneOf", ())
    return next((form["required"][0] for form in forms if form["required"][0] in mapping), "")


def _of_chosen(owner: type[BaseModel], chosen: str, key: str) -> str:
    """Where a key belongs that stands beside the kind that it is of; empty where it is none of its own."""
    inner = inner_model(fields_of(owner)[chosen].annotation)
    names = keys_of(inner) if inner is not None else ()
    if key in names:
        return f"write it under `{chosen}`"
    longer = [name for name in names if name.startswith(key)]
    return f"`{chosen}` calls it `{longer[0]}`" if len(longer) == 1 else ""


def _one_too_high(owner: type[BaseModel], key: str) -> str | None:
    """The mapping inside ``owner`` that has the key, where there is just one."""
    outer = []
    for name, field in fields_of(owner).items():
        inner = inner_model(field.annotation)
        has_key = inner is not None and key in keys_of(inner)
        if has_key and not holds(field.annotation, list):
            outer.append(name)
    if len(outer) == 1:
        return outer[0]
    return None
