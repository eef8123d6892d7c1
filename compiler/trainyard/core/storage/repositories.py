"""Data repositories: folders of a created FSx file system that are linked to buckets.

Sources: FSx API, CreateDataRepositoryAssociation (botocore 1.44.5), and the FSx for Lustre user guide,
overview-dra-data-repo.
"""

from __future__ import annotations

from trainyard.core.storage.kinds import CreatedLustre, DataRepository
from trainyard.core.storage.plan import Repository
from trainyard.core.storage.spec import StorageSection
from trainyard.language.places import Route
from trainyard.plan.context import Context, near_help

_API = "FSx API, CreateDataRepositoryAssociation (botocore 1.44.5)"
_MOST = 8


def repositories(context: Context, spec: CreatedLustre, at: Route) -> tuple[Repository, ...]:
    """The links of a file system, each to a place in S3; what FSx would refuse of them is reported."""
    at = at / "dataRepositories"
    links = spec.data_repositories
    if links and spec.version == "2.10":
        context.fault(
            "RES125",
            "a file system of Lustre `2.10` has no data repository associations",
            at,
            'write `version: "2.15"`, or remove it',
            source="FSx for Lustre user guide, overview-dra-data-repo",
        )
    if len(links) > _MOST:
        context.fault(
            "RES125",
            f"{len(links)} folders are linked, and a file system has {_MOST} links at most",
            at / _MOST,
            "link a folder above several of them",
            source="FSx for Lustre user guide, overview-dra-data-repo",
        )
    made: list[Repository] = []
    for index, link in enumerate(links):
        here = at / index
        s3 = _place(context, link, here)
        if s3 is None:
            continue
        if not (link.import_events or link.export_events or link.import_on_create):
            context.doubt(
                "RES125",
                f"the link of `{link.path}` imports nothing and exports nothing",
                here,
                "name what it is for: `import: [NEW, CHANGED]`, `export: [NEW, CHANGED]` or `importOnCreate: true`",
                source=_API,
            )
        repository = Repository(
            path=_folder(link.path),
            s3=s3,
            imports=tuple(link.import_events),
            exports=tuple(link.export_events),
            import_on_create=link.import_on_create,
            at=here,
        )
        _apart(context, repository, made, "storage" if link.storage else "s3")
        made.append(repository)
    return tuple(made)


def _folder(path: str) -> str:
    return path.rstrip("/") or "/"


def _place(context: Context, link: DataRepository, at: Route) -> str | None:
    """The place in S3, which ends with a slash; ``None`` where it names no bucket."""
    if link.s3 is not None:
        return f"{link.s3.rstrip('/')}/"
    declared = StorageSection.of(context.spec).storage
    stored = {item.name: item for item in declared}
    name = link.storage or ""
    buckets = [item.name for item in stored.values() if item.s3 is not None]
    if name not in buckets:
        what = "is no bucket" if name in stored else "is not declared"
        context.fault(
            "RES125",
            f"storage `{name}` {what}",
            at / "storage",
            near_help(name, buckets, "storages with a bucket")
            if buckets
            else "add a storage with `s3:`, or write `s3:` here",
        )
        return None
    item = stored[name]
    if item.s3 is not None and item.s3.existing is not None and item.s3.existing.read_only:
        _only_imports(context, link, at)
    bucket = item.bucket(context.name, context.spec.account, context.spec.region)
    assert item.s3 is not None
    prefix = item.s3.prefix.strip("/")
    if prefix:
        return f"s3://{bucket}/{prefix}/"
    return f"s3://{bucket}/"


def _only_imports(context: Context, link: DataRepository, at: Route) -> None:
    """A bucket that is only read takes nothing from a file system."""
    if link.export_events:
        context.fault(
            "RES425",
            f"folder `{link.path}` is exported to storage `{link.storage}`, which is only read",
            at / "export",
            "write `export: []`",
        )


def _apart(context: Context, new: Repository, others: list[Repository], key: str) -> None:
    """Two links overlap neither in the file system nor in S3; ``key`` is where the spec says the place in S3."""
    for other in others:
        if _overlap(new.path, other.path):
            context.fault(
                "RES125",
                f"folder `{new.path}` overlaps with `{other.path}`, which is linked too",
                new.at / "path",
                "link folders that do not contain each other",
                source=_API,
            )
            return
        own = new.s3.rstrip("/")
        if _overlap(own, other.s3.rstrip("/")):
            context.fault(
                "RES125",
                f"folder `{new.path}` is linked to `{new.s3}`, "
                f"and `{other.path}` to `{other.s3}`, which overlap",
                new.at / key,
                "link each folder to a prefix of its own",
                source="FSx for Lustre user guide, overview-dra-data-repo",
            )
            return


def _overlap(one: str, other: str) -> bool:
    return _within(one, other) or _within(other, one)


def _within(path: str, folder: str) -> bool:
    if folder == "/":
        return True
    return path == folder or path.startswith(f"{folder}/")
