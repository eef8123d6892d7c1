"""OpenCost: the prices that it counts with, and the stage that carries them and its chart.

They are those of the report: on demand by instance type, of a Capacity Block by its pool. Types are all that have a
price, so no pool that comes changes them (ADR 0009).
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.catalog.prices import MONTH, auto_mode_fee, block, dearest, on_demand, service
from trainyard.core.pools.spec import PoolsSection
from trainyard.core.storage.spec import StorageSection
from trainyard.eks.flux.accounts import deliverer, may_make
from trainyard.eks.flux.stages import stage
from trainyard.eks.settings.spec import ClusterSection
from trainyard.eks.settings.volumes import class_name
from trainyard.extensions.observability.logs import names as logs
from trainyard.extensions.observability.monitoring import names as monitoring
from trainyard.extensions.observability.opencost.names import PRICES, STAGE, key_route
from trainyard.extensions.observability.opencost.plan import CostPrices
from trainyard.plan import PlanItem
from trainyard.plan.context import Context

_RIGHTS = (
    may_make("", "configmaps"),
    may_make("helm.toolkit.fluxcd.io", "helmreleases"),
    may_make("source.toolkit.fluxcd.io", "helmrepositories"),
)


def resolve(context: Context) -> Iterator[PlanItem]:
    """Nothing where the spec does not ask for it."""
    if not monitoring.prices_pods(context):
        return
    _check(context)
    yield CostPrices(
        at=key_route(),
        name=PRICES,
        namespace=monitoring.namespace(context),
        region=context.spec.region,
        types=_types(context),
        pools=_pools(context),
        volumes=_volumes(context),
    )
    yield stage(context, STAGE, "platform", account=STAGE)
    yield from deliverer(STAGE, *_RIGHTS)


def _check(context: Context) -> None:
    """OpenCost asks a Prometheus, and with ``managed`` there is none that has samples."""
    if monitoring.is_managed(context):
        context.fault(
            "RES344",
            "AWS keeps the samples, and OpenCost would need a proxy that signs its queries, which its chart takes by "
            "the tag `latest`",
            key_route(),
            "remove it, or remove `managed`: what jobs and teams cost is in `trainyard report` too",
            key=True,
            source="opencost/opencost-helm-chart opencost-2.5.17, values.yaml: opencost.sigV4Proxy.image",
        )


def _types(context: Context) -> dict[str, float]:
    """An hour of each instance type on demand, with the fee of EKS Auto Mode where that launches it."""
    auto = ClusterSection.of(context.spec).auto_mode is not None
    region = context.spec.region
    prices = {}
    for name in sorted(context.catalog.instance_types):
        price = on_demand(context.catalog, name, region)
        if price is not None:
            fee = auto_mode_fee(context.catalog, name, region) if auto else None
            prices[name] = price.usd + (fee.usd if fee is not None else 0)
        prices |= _of_launchers(context, name)
    return prices


def _of_launchers(context: Context, name: str) -> dict[str, float]:
    """An hour of an instance type where a launcher has a price and a name of its own for it."""
    prices = {}
    for launcher in monitoring.launchers(context):
        label = launcher.type_label(name)
        price = launcher.price(context.catalog, name, context.spec.region)
        if label not in ("", name) and price is not None:
            prices[label] = price.usd
    return prices


def _pools(context: Context) -> dict[str, float]:
    """An hour of a node of each Capacity Block, where its price is known."""
    prices = {}
    for pool in PoolsSection.of(context.spec).node_pools:
        if pool.capacity_types != ("block",):
            continue
        price = dearest(block(name, context.spec.region) for name in pool.instance_types)
        if price is not None:
            prices[pool.name] = price.usd
    return prices


def _volumes(context: Context) -> dict[str, float]:
    """An hour of a GiB of EBS. Volumes without a class are file systems and buckets, which are there and paid whether a
    pod mounts them or not."""
    prices = {"": 0.0}
    price = service("gp3 GiB month", context.spec.region)
    if price is None:
        return prices
    classes = [monitoring.CLASS]
    if logs.is_wanted(context):
        classes.append(logs.CLASS)
    disks = [each for each in StorageSection.of(context.spec).storage if each.disk is not None]
    classes += [class_name(disk.name) for disk in disks]
    for name in classes:
        prices[name] = round(price.usd / MONTH, 8)  # as it is written
    return prices
