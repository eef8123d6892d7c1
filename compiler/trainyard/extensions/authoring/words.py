"""The words that shell completion offers: rules, specs, facts and keys, as they are now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trainyard.cli.explain import all_codes, object_names
from trainyard.cli.keys import key_rows
from trainyard.judge.policy.interface import summaries
from trainyard.run.outcome import Options


def words(name: str, paths: Sequence[str], options: Options) -> Iterable[str]:
    """The words of a list (``WORDS`` of the grammar); none of objects where the specs cannot be read."""
    if name == "codes":
        return _codes(options)
    if name == "objects":
        return object_names(paths, options)
    if name == "keys":
        return [key.replace("[]", "") for key, _ in key_rows()]
    if name == "classes":
        return [each for each, _ in summaries()]
    return _facts(name, options)


def _codes(options: Options) -> list[str]:
    found = []
    for code, slug, _ in all_codes(options):
        found += [code, slug]
    return found


def _facts(name: str, options: Options) -> list[str]:
    from trainyard.catalog import load_catalog

    catalog = load_catalog(options.catalog)
    if name == "regions":
        return sorted(catalog.regions)
    accelerators = set()
    for known in map(catalog.instance, catalog.instance_types):
        if known is not None and known.accelerator:
            accelerators.add(known.accelerator)
    return ["refresh", "sources", *sorted(accelerators), *catalog.instance_types]
