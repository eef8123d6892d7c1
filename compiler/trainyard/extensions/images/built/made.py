"""Resolves an image of the spec: its recipe, its repository, its build, and its digest."""

from __future__ import annotations

import hashlib
import posixpath
import re
from dataclasses import replace

from trainyard.catalog.efa import arch_of
from trainyard.core.delivery.folder import folder
from trainyard.core.delivery.spec import DeliverySection
from trainyard.core.images.plan import Installer, MadeImage, Project, Recipe, Workflow
from trainyard.core.storage.made import check_key
from trainyard.extensions.images.built.caches import registry_and_path, resolve_caches
from trainyard.extensions.images.built.requirements import check_requirements
from trainyard.extensions.images.built.spec import CodeBuild, GithubActions, Image
from trainyard.extensions.images.built.versions import check_versions
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.plan.base import content
from trainyard.plan.context import Context

# The lock of an image: the file in which its build keeps the digest that jobs run.

_LINES = {"digest": r"sha256:[0-9a-f]{64}", "recipe": r"[0-9a-f]{12}"}


def locked(context: Context, spec: Image, at: Route) -> tuple[str | None, str | None]:
    """The digest of the last build that is committed, and the recipe that it was built of; ``None`` before the first.

    The file has a line ``digest: sha256:…`` and a line ``recipe: …``, and comments.
    """
    text = context.texts.get(at / "lock")
    if text is None or not text.there:
        return None, None
    values: dict[str, str] = {}
    for number, line in enumerate(text.lines):
        if not line.strip() or line.startswith("#"):
            continue
        key, _, value = line.partition(": ")
        pattern = _LINES.get(key, r"\b\B")
        if not re.fullmatch(pattern, value) or key in values:
            _unreadable(context, spec, at / "lock" / number, f"`{line[:80]}` is no line of it")
            return None, None
        values[key] = value
    if len(values) < len(_LINES):
        lacking = next(key for key in _LINES if key not in values)
        _unreadable(context, spec, at / "lock" / 0, f"it has no line `{lacking}: …`")
        return None, None
    return values["digest"], values["recipe"]


def _unreadable(context: Context, spec: Image, at: Route, why: str) -> None:
    context.fault(
        "RES148",
        f"the lock of image `{spec.name}` cannot be read: {why}",
        at,
        "build the image again, or take back the last change of the file: the build writes it",
    )


USER = 10001
_DIGITS = 12
# CodeBuild API, ProjectSource type, and the hosts that these are of.
_HOSTS = {"github.com": "GITHUB", "gitlab.com": "GITLAB", "bitbucket.org": "BITBUCKET"}
_RUNNERS = {"amd64": "ubuntu-24.04", "arm64": "ubuntu-24.04-arm"}
_LONGEST_ROLE = 64
_PRIVATE = re.compile(
    r"(?P<host>(?P<account>\d{12})\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(?:\.cn)?)/(?P<name>[^:@]+)"
)


def made_image(context: Context, spec: Image, at: Route) -> tuple[Recipe, MadeImage]:
    """The recipe of an image, and what the bootstrap makes for it."""
    arch = _arch(context, spec, at)
    check_requirements(context, spec, at)
    check_versions(context, spec, at)
    check_key(context, spec.repository.kms_key, at / "repository")
    recipe = _recipe(context, spec, at)
    digest, built = locked(context, spec, at)
    repository = context.settle(
        f"image/{spec.name}",
        "repository.name",
        spec.repository.name,
        f"{context.name}/{spec.name}",
        "a repository for each image of a cluster",
        at=at / "repository" / "name",
    )
    project = _build(context, spec, at, arch)
    if digest is not None and built != recipe.digest:
        _built_of_another(context, project, spec, at, f"{built}", recipe.digest)
    made = MadeImage(
        at=at,
        name=spec.name,
        cluster=context.name,
        account=context.spec.account,
        region=context.spec.region,
        partition=context.partition,
        repository=repository,
        registry=_registry(context),
        arch=arch,
        dockerfile=f"{folder(context)}/{recipe.path}",
        lock=lock_path(context, spec, at),
        recipe=recipe.digest,
        keep=spec.repository.keep,
        project=project,
        key=spec.repository.kms_key,
        digest=digest,
        tags={**context.spec.tags, "trainyard-image": f"{context.name}.{spec.name}"},
        origins={
            "repository": at / "repository" / "name",
            "keep": at / "repository" / "keep",
            "key": at / "repository" / "kmsKey",
            "arch": at / "arch",
            "project": at / "build",
        },
    )
    return recipe, made


def _arch(context: Context, spec: Image, at: Route) -> str:
    target, place = f"image/{spec.name}", at / "arch"
    if spec.arch is not None:
        context.given(target, "arch", spec.arch, place)
        return spec.arch
    said = arch_of(spec.base)
    why = "the name of the base says so"
    if said is None:
        why = "the name of the base says no other"
    source = "AWS Deep Learning Containers, available images"
    arch = said or "amd64"
    context.unset(target, "arch", arch, why, source, at=place, follows=at / "base")
    return arch


def _built_of_another(
    context: Context, project: Project | Workflow, spec: Image, at: Route, built: str, recipe: str
) -> None:
    again = f"`bash {folder(context)}/bootstrap/images.sh build {spec.name}`"
    if isinstance(project, Workflow):
        again = "push a branch"
    context.doubt(
        "RES142",
        f"image `{spec.name}` was built of recipe `{built}`, and it is `{recipe}` now",
        at / "lock" / 0,
        f"compile, commit, then build it again: {again}; until then jobs run the earlier build",
    )


def lock_path(context: Context, spec: Image, at: Route) -> str:
    """The file that keeps the digest, from the root of the repository."""
    text = context.texts.get(at / "lock")
    if text:
        return text.path
    return f"images/{context.name}/{spec.name}.lock"


def _recipe(context: Context, spec: Image, at: Route) -> Recipe:
    requirements = context.texts.get(at / "requirements")
    copies = []
    for index, source in enumerate(spec.sources):
        place = at / "sources" / index / "from"
        text = context.texts.get(place)
        if text:
            origin = text.path
        else:
            origin = posixpath.normpath(source.origin)
        copies.append((origin, posixpath.normpath(source.to)))
    user = context.settle(
        f"image/{spec.name}",
        "user",
        spec.user,
        USER,
        "a compromised program then owns no file of its container",
        "Docker, building best practices: USER",
        at=at / "user",
    )
    installer = spec.efa_installer
    efa = None
    if installer is not None:
        efa = Installer(at=at / "efaInstaller", version=installer.version, sha256=installer.sha256)
    recipe = Recipe(
        at=at,
        path=f"bootstrap/images/{spec.name}/Dockerfile",
        base=_base(context, spec, at),
        efa=efa,
        packages=dict(sorted(spec.packages.items())),
        requirements=(requirements.path if requirements else spec.requirements),
        copies=tuple(copies),
        working_dir=posixpath.normpath(spec.working_dir),
        env=dict(spec.env),
        user=user,
        origins={
            "base": at / "base",
            "efa": at / "efaInstaller",
            "packages": at / "packages",
            "requirements": at / "requirements",
            "copies": at / "sources",
            "working_dir": at / "workingDir",
            "env": at / "env",
            **{f"env.{name}": at / "env" / name for name in spec.env},
            "user": at / "user",
        },
    )
    lines = requirements.lines if requirements else ()
    # Not the path of the requirements is part of the image, but what they say.
    anywhere = replace(recipe, requirements="")
    whole = "\n".join((content(anywhere), *lines))
    whole_digest = hashlib.sha256(whole.encode()).hexdigest()
    digest = whole_digest[:_DIGITS]
    return replace(recipe, digest=digest)


def _registry(context: Context) -> str:
    """The host of the account's registry (ECR user guide, Registries)."""
    suffix = ".cn" if context.partition == "aws-cn" else ""
    account = context.spec.account
    region = context.spec.region
    return f"{account}.dkr.ecr.{region}.amazonaws.com{suffix}"


def _base(context: Context, spec: Image, at: Route) -> str:
    """The base as it is pulled: where its registry has a cache, from there. A digest is the same in both."""
    host, path = registry_and_path(spec.base)
    cache = context.once(resolve_caches).get(host)
    if cache is None:
        return spec.base
    base = f"{_registry(context)}/{cache.prefix}/{path}"
    context.derive(
        f"image/{spec.name}",
        "base",
        base,
        f"pulled through the cache of {host}",
        "ECR user guide, pull-through-cache",
        follows=at / "base",
    )
    return base


def _build(context: Context, spec: Image, at: Route, arch: str) -> Project | Workflow:
    base = _pulled_base(context, spec.base)
    if spec.build.github_actions is not None:
        return _workflow(context, spec, spec.build.github_actions, at, arch, base)
    assert spec.build.code_build is not None
    return _project(context, spec, spec.build.code_build, at, base)


@dataclass(frozen=True)
class _PulledBase:
    """Where the base of an image is pulled from.

    ``pulled``: the ARN of its repositories, ``registry``: the host of a private registry, both of ECR; ``cached``: a
    cache of the account has it.
    """

    pulled: str | None
    registry: str | None
    cached: bool


def _pulled_base(context: Context, base: str) -> _PulledBase:
    of_base, _ = registry_and_path(base)
    cache = context.once(resolve_caches).get(of_base)
    pulled, registry = _pulled(context, base)
    if cache is not None:
        region = context.spec.region
        account = context.spec.account
        repositories = f"{region}:{account}:repository/{cache.prefix}"
        pulled = f"arn:{context.partition}:ecr:{repositories}/*"
    return _PulledBase(pulled, registry, cache is not None)


def _workflow(
    context: Context, spec: Image, actions: GithubActions, at: Route, arch: str, base: _PulledBase
) -> Workflow:
    flux = DeliverySection.of(context.spec).flux
    host, path = _address(flux.url or "")
    if host != "github.com":
        _no_source(context, spec, "GitHub Actions", at / "build" / "githubActions")
    runner = context.settle(
        f"image/{spec.name}",
        "build.githubActions.runner",
        actions.runner,
        _RUNNERS[arch],
        f"a runner of GitHub for {arch}",
        "GitHub documentation, GitHub-hosted runners",
        at=at / "build" / "githubActions" / "runner",
    )
    name = f"trainyard-{context.name}-image-{spec.name}"
    if len(name) > _LONGEST_ROLE:
        context.fault(
            "RES147",
            f"the role by which the workflow of image `{spec.name}` pushes would be called `{name}`, of "
            f"{len(name)} characters, and IAM takes {_LONGEST_ROLE}",
            at / "name",
            "give the image a shorter name",
            source="IAM API, CreateRole roleName",
        )
    return Workflow(
        repository=path.removesuffix(".git"),
        folder=folder(context),
        branch=flux.branch,
        runner=runner,
        minutes=actions.minutes,
        role=f"arn:{context.partition}:iam::{context.spec.account}:role/{name}",
        file=f"image-{context.name}-{spec.name}.yaml",
        pulled=base.pulled,
        registry=base.registry,
        cached=base.cached,
    )


def _project(
    context: Context, spec: Image, build: CodeBuild, at: Route, base: _PulledBase
) -> Project:
    host, path = _address(DeliverySection.of(context.spec).flux.url or "")
    if host not in _HOSTS:
        _no_source(context, spec, "CodeBuild", at / "build" / "codeBuild")
    return Project(
        kind=_HOSTS.get(host, ""),
        repository=f"https://{host}/{path}",
        folder=folder(context),
        compute=build.compute,
        minutes=build.minutes,
        connection=build.connection,
        pulled=base.pulled,
        registry=base.registry,
        cached=base.cached,
    )


def _no_source(context: Context, spec: Image, what: str, at: Route) -> None:
    url = DeliverySection.of(context.spec).flux.url
    fact = "the spec does not say which it is"
    if url is not None:
        fact = f"its host is `{_address(url)[0]}`"
    hosts = "github.com, gitlab.com or bitbucket.org"
    context.fault(
        "RES147",
        f"{what} reads the repository of Flux to build image `{spec.name}`, and {fact}",
        at,
        "write `flux: {url: …}` with a repository of "
        f"{'github.com' if what == 'GitHub Actions' else hosts}",
        source="CodeBuild API, ProjectSource type and location; GitHub documentation, actions",
    )


def _pulled(context: Context, base: str) -> tuple[str | None, str | None]:
    """The ARN of the repository of a base, and the host of its registry, where that is a private one of ECR."""
    private = _PRIVATE.match(base)
    if private is None:
        return None, None
    region = private["region"]
    account = private["account"]
    arn = f"arn:{context.partition}:ecr:{region}:{account}:repository/{private['name']}"
    return arn, private["host"]


def _address(url: str) -> tuple[str, str]:
    """Host and path of a repository's URL."""
    address = url.partition("://")[2]
    host, _, path = address.partition("/")
    without_user = host.rpartition("@")[2]
    host = without_user.partition(":")[0]
    return host, path.removesuffix(".git") + ".git"
