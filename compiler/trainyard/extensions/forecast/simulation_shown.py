"""``simulate``: what Kueue will do with the jobs of each cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trainyard.catalog import load_catalog
from trainyard.cli.output import as_json
from trainyard.cli.streams import UsageError
from trainyard.extensions.forecast.simulate.compiled import Cluster, cluster
from trainyard.extensions.forecast.simulate.forecasts import forecast
from trainyard.extensions.forecast.simulate.verdict import Forecast, Kind, text, values
from trainyard.extensions.forecast.timeline.outlook import MOST_JOBS, timeline_of
from trainyard.extensions.forecast.timeline.until import with_starts
from trainyard.judge.model.reading import Reading
from trainyard.language.diagnostics.near import name_meant
from trainyard.run.outcome import Compilation, Options, Outcome


def forecasts(done: Outcome, options: Options, nodes: Sequence[str]) -> list[Forecast]:
    """The verdicts on the jobs of each cluster; ``nodes``: ``POOL=N``, another number of nodes than the spec says."""
    return [_forecast(each, reading) for _, reading, each in clusters_of(done, options, nodes)]


def _forecast(compiled: Cluster, reading: Reading) -> Forecast:
    found = forecast(compiled)
    if not found.verdicts_of(Kind.WAITS) or len(compiled.jobs) > MOST_JOBS:
        return found
    return with_starts(found, timeline_of(compiled, reading))


def clusters_of(
    done: Outcome, options: Options, nodes: Sequence[str]
) -> list[tuple[Compilation, Reading, Cluster]]:
    """The clusters that can be simulated, each with what it is read from."""
    counts = _counts(nodes)
    catalog = load_catalog(options.catalog)
    found = []
    for compilation in done.compilations:
        if compilation.plan is not None:
            reading = Reading(compilation.plan, catalog, compilation.manifests)
            found.append((compilation, reading, cluster(compilation.name, reading, counts)))
    _require_pools(counts, [each for _, _, each in found])
    return found


def _counts(nodes: Sequence[str]) -> Mapping[str, int]:
    counts = {}
    for given in nodes:
        pool, _, count = given.rpartition("=")
        if not pool or not count.isascii() or not count.isdecimal():
            raise UsageError(f"`--nodes {given}`: write POOL=N, like `--nodes h100=8`")
        counts[pool] = int(count)
    return counts


def _require_pools(counts: Mapping[str, int], clusters: Sequence[Cluster]) -> None:
    known = {pool.title for each in clusters for pool in each.pools}
    for pool in counts:
        if pool not in known:
            hint = name_meant(pool, known)
            more = f": {hint}" if hint else ""
            raise UsageError(f"`--nodes {pool}=…`: no cluster has such a pool of a queue{more}")


def printed(found: Sequence[Forecast], format: str) -> str:
    """The forecasts in a format: ``text`` or ``json``."""
    if format == "json":
        return as_json(values(found))
    return text(found)
