"""Pull-through caches: images of another registry, kept in the account's ECR, and bases pulled from there.

Source: ECR user guide, pull-through-cache; ECR API, CreatePullThroughCacheRule (botocore 1.44.5).
"""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.extensions.images.built.plan import MadeCache
from trainyard.extensions.images.built.spec import ImagesSection
from trainyard.language.places import Route
from trainyard.plan.context import SPEC, Context, unique_names
from trainyard.plan.naming import bounded

# By registry: what ECR calls it, its address, and a short name.
_UPSTREAMS = {
    "public.ecr.aws": ("ecr-public", "public.ecr.aws", "ecr-public"),
    "registry.k8s.io": ("k8s", "registry.k8s.io", "k8s"),
    "quay.io": ("quay", "quay.io", "quay"),
    "docker.io": ("docker-hub", "registry-1.docker.io", "docker-hub"),
    "ghcr.io": ("github-container-registry", "ghcr.io", "ghcr"),
    "registry.gitlab.com": ("gitlab-container-registry", "registry.gitlab.com", "gitlab"),
}
_LONGEST_PREFIX = 30


def resolve_caches(context: Context) -> Mapping[str, MadeCache]:
    """Every cache, by its registry."""
    declared = ImagesSection.of(context.spec).image_caches
    at = SPEC / "imageCaches"
    names = (cache.registry for cache in declared)
    unique_names(context, "image cache", names, at, key="registry")
    caches: dict[str, MadeCache] = {}
    for index, cache in enumerate(declared):
        here = at / index
        upstream, url, short = _UPSTREAMS[cache.registry]
        if cache.secret is not None:
            _check_secret(context, cache.secret, here / "secret")
        room = _LONGEST_PREFIX - len(short) - 1
        prefix = context.settle(
            f"imageCache/{short}",
            "prefix",
            cache.prefix,
            f"{bounded(context.name, room)}/{short}",
            f"the cluster and the registry, in {_LONGEST_PREFIX} characters",
            "ECR API, CreatePullThroughCacheRule ecrRepositoryPrefix",
            at=here / "prefix",
        )
        caches[cache.registry] = MadeCache(
            at=here,
            name=short,
            cluster=context.name,
            upstream=upstream,
            url=url,
            prefix=prefix.rstrip("/"),
            secret=cache.secret,
            origins={
                "upstream": here / "registry",
                "prefix": here / "prefix",
                "secret": here / "secret",
            },
        )
    return caches


def _check_secret(context: Context, arn: str, at: Route) -> None:
    """The secret of a cache lies where its registry is."""
    _, partition, _, region, account, *_ = arn.split(":")
    own = (context.partition, context.spec.region, context.spec.account)
    if (partition, region, account) == own:
        return
    context.fault(
        "RES246",
        f"the secret is in account {account} and Region `{region}`, and the registry in {own[2]} and `{own[1]}`",
        at,
        f"make a secret with the same login in `{own[1]}` of account {own[2]}",
        source="ECR user guide, pull-through-cache: same account and Region",
    )


def registry_and_path(image: str) -> tuple[str, str]:
    """The registry of a reference, and the rest: without a registry it is one of Docker Hub, and a single word one of
    its `library` (github.com/distribution/reference, normalized names)."""
    host, slash, path = image.partition("/")
    is_host = "." in host or ":" in host or host == "localhost"
    if slash and is_host:
        return host, path
    return "docker.io", image if slash else f"library/{image}"
