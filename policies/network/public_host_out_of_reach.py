from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.catalog import Catalog
from trainyard.core.pods.plan import Container
from trainyard.eks.flux.plan import GitSource, HelmSource
from trainyard.judge.model.containers import with_images
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.output.manifest import placeholder
from trainyard.plan import Plan

_HUB = "docker.io"
# ECR user guide, pull-through-cache: upstream registries.
_CACHED = (_HUB, "ghcr.io", "public.ecr.aws", "quay.io", "registry.gitlab.com", "registry.k8s.io")
_COPIED = ("gcr.io", "mcr.microsoft.com", "nvcr.io")
_OF_FILES = ("bitbucket.org", "github.com", "github.io", "gitlab.com", "ngc.nvidia.com")
_OF_CHARTS = ("charts.jetstack.io",)
_ECR = r"\d{12}\.dkr[.-]ecr(?:-fips)?\.([a-z0-9-]+)\."
_HOST = r"(?:[a-z+]+://)?(?:[^@/]*@)?([^/:]+)"


@rule("RUN071", severity=Severity.WARNING)
def public_host_out_of_reach(plan: Plan, world: World) -> Iterator[Finding]:
    """A cluster without internet takes an image, a chart or its repository from a public host.

    Nodes and Flux go through endpoints of the VPC: to private ECR of their own Region, by `ecr.api`, `ecr.dkr` and S3
    (EKS user guide, private-clusters). Public registries, ECR Public among them, have none: pods stay in
    ImagePullBackOff, sources are never Ready. A pull-through cache of ECR has what lies in Docker Hub, GitHub, Quay,
    ECR Public, GitLab and the registry of Kubernetes; the first pull of each is one from where there is internet (ECR
    user guide, pull-through-cache and vpc-endpoints). A source in private ECR has `provider: aws` (Flux's
    OCIRepository). A host of your own may be in reach, and is not judged.

    ## Fails

        network: {create: {nat: none}}

        network: {create: {nat: none}}
        jobs: [{name: llama, image: "team/train:1.0"}]

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        privateCluster: {enabled: true}
        ---
        apiVersion: source.toolkit.fluxcd.io/v1
        kind: OCIRepository
        metadata: {name: kueue, namespace: flux-system}
        spec: {url: oci://registry.k8s.io/kueue/charts/kueue, interval: 1h, ref: {tag: 0.19.2}}

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        privateCluster: {enabled: true}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {
          containers: [{name: logs, image: "fluent/fluent-bit:4.1"}]}}}}}]}}}

    ## Passes

        network: {create: {nat: single}}
        jobs: [{name: llama, image: "team/train:1.0"}]
    """
    if not world.isolated:
        return
    for work in (*world.works, *world.pods):
        yield from _images(work, world)
    public = (*_CACHED, *_COPIED, *_OF_FILES, *_OF_CHARTS, *_of_releases(world.catalog))
    for source in plan.of(HelmSource):
        yield from _source(source, "the chart", public)
    for repository in plan.of(GitSource):
        yield from _source(repository, "the repository", public)


def _of_releases(catalog: Catalog) -> Iterator[str]:
    """The hosts of the charts of all releases."""
    for release in catalog.releases.values():
        for component in release.components.values():
            host = re.match(_HOST, component.chart.repository) if component.chart else None
            if host is not None:
                yield host[1]


def _images(work: Work, world: World) -> Iterator[Finding]:
    for node in with_images(work):
        yield from _image(work, node, world.region)


def _image(work: Work, node: Work | Container, region: str | None) -> Iterator[Finding]:
    image = node.image or ""
    if not image or placeholder(image.partition("/")[0]):
        return
    host = _registry(image)
    help = _help(host, region)
    if help:
        yield Finding(
            f"image `{image}` of {work.title} is in `{host}`, and the cluster has no way to the internet",
            node.where("image"),
            label="no node can pull it",
            help=help,
        )


def _registry(image: str) -> str:
    """The registry of an image; Docker Hub's where it names none (distribution/reference, splitDockerDomain)."""
    first, slash, _ = image.partition("/")
    is_host = "." in first or ":" in first or first == "localhost"
    if slash and is_host:
        return first
    return _HUB


def _is_of(host: str, known: tuple[str, ...]) -> bool:
    return any(host == name or host.endswith(f".{name}") for name in known)


def _help(host: str, region: str | None) -> str:
    """What to write instead of an image of a registry; empty where it may be in reach."""
    own = f"ACCOUNT.dkr.ecr.{region or 'REGION'}.amazonaws.com"
    if _is_of(host, _CACHED):
        return f"take it through a pull-through cache, `{own}/PREFIX/…`, and pull it once from where there is internet"
    if _is_of(host, _COPIED):
        return f"copy it into ECR, `{own}/…`"
    private = re.match(_ECR, host)
    if private is not None and region and private[1] != region:
        return f"replicate it to `{region}`: `{own}/…`"
    return ""


def _source(
    source: HelmSource | GitSource, what: str, public: tuple[str, ...]
) -> Iterator[Finding]:
    host = re.match(_HOST, source.url)
    if host is None:
        return
    name = host[1].lower()
    if not _is_of(name, public):
        return
    kind = "GitRepository"
    if isinstance(source, HelmSource):
        kind = "OCIRepository" if source.oci else "HelmRepository"
    yield Finding(
        f"{what} of {kind} `{source.name}` is at `{name}`, and the cluster has no way to the internet",
        source.where("url"),
        label="Flux cannot reach it",
        help="copy it into ECR, or to a host of your own network, and write its URL",
        spec_help=_SPEC_HELP[what].format(kind=kind, name=source.name),
    )


_SPEC_HELP = {
    "the chart": "copy the chart into ECR, and lay its URL over by `patches: [{{target: {{kind: {kind}, name: "
    "{name}}}, patch: {{spec: {{url: …}}}}}}]`; its images by `components`",
    "the repository": "name a host that the VPC reaches under `flux.url`",
}
