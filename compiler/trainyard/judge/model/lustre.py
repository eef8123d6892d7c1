"""What FSx refuses of a Lustre file system, whether a StorageClass or a template asks for it."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.storage.plan import EFA_STEP, LUSTRE_THROUGHPUT
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics.diagnostic import listed


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of a file system. ``None`` is not said, or unknown; ``size`` in GiB, ``throughput`` in MB/s for
    each TiB."""

    deployment: str | None
    imports: bool = False
    exports: bool = False
    backup_days: int | None = None
    efa: bool = False
    size: int | None = None
    throughput: int | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """What is wrong, by the field of ``Asked`` that is to change, and what to write."""

    field: str
    what: str
    help: str


def refusals(asked: Asked) -> Iterator[Refusal]:
    """What FSx refuses: links to S3 that the deployment does not take, backups of what has none, sizes with EFA."""
    deployment = asked.deployment or ""
    linked = asked.imports or asked.exports
    if linked and deployment == "PERSISTENT_2":
        yield Refusal(
            "imports" if asked.imports else "exports",
            "is PERSISTENT_2, which is linked to S3 by data repository associations alone",
            "remove it, and make an `AWS::FSx::DataRepositoryAssociation`",
        )
    elif asked.exports and not asked.imports:
        yield Refusal(
            "exports",
            "has an export path and no import path",
            "add the import path, in the same bucket",
        )
    if asked.backup_days and (linked or deployment.startswith("SCRATCH")):
        why = "is linked to S3" if linked else f"is {deployment}"
        yield Refusal(
            "backup_days",
            f"{why}, and keeps automatic backups for {asked.backup_days} days",
            "write 0: of such a file system there are no backups",
        )
    known = LUSTRE_THROUGHPUT.get(deployment)
    if known is not None and asked.throughput is not None and asked.throughput not in known:
        yield Refusal(
            "throughput",
            f"is {deployment}, and has {asked.throughput} MB/s for each TiB",
            f"write {listed(known, ' or ')}" if known else "remove it: its throughput is fixed",
        )
    yield from _with_efa(asked)


def _with_efa(asked: Asked) -> Iterator[Refusal]:
    if not asked.efa:
        return
    if asked.deployment is not None and asked.deployment != "PERSISTENT_2":
        yield Refusal(
            "deployment",
            f"has EFA, and is {asked.deployment}",
            "write PERSISTENT_2, or leave EFA out",
        )
        return
    step = EFA_STEP.get(asked.throughput or 0)
    if step is None or asked.size is None:
        return
    if asked.size % step:
        yield Refusal(
            "size",
            f"has EFA at {asked.throughput} MB/s for each TiB, and {asked.size} GiB",
            f"write a multiple of {step} GiB, or another throughput",
        )
