"""The escape hatches of the language: `components`, `patches` and `include`."""

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Discriminator, Tag, model_validator

from trainyard.language.models.base import SpecModel
from trainyard.language.models.checks import fault
from trainyard.language.models.field import Field
from trainyard.language.models.section import Section
from trainyard.language.models.types import (
    ChartDigest,
    ComponentVersion,
    Distinct,
    IncludePath,
    JsonPointer,
    Kind,
    LabelSelector,
    Name,
    NamePattern,
    ObjectName,
)


class SignerIdentity(SpecModel):
    """Who may have signed, by the certificate that Sigstore gave for it."""

    issuer: str = Field(
        min_length=1,
        description="A regular expression of Go for the issuer of the identity.",
        examples=["^https://token.actions.githubusercontent.com$"],
        bound="a regular expression of Go; not with `secretRef`",
        source="source-controller v1.10.1, OIDCIdentityMatch",
        codes=("RES239",),
    )
    subject: str = Field(
        min_length=1,
        description="A regular expression of Go for the identity.",
        examples=[
            "^https://github.com/aws/karpenter-provider-aws/.github/workflows/release.yaml@.+$"
        ],
        bound="a regular expression of Go; not with `secretRef`",
        source="source-controller v1.10.1, OIDCIdentityMatch",
        codes=("RES239",),
    )


class SecretOfKeys(SpecModel):
    """A Secret in the namespace of Flux."""

    name: ObjectName = Field(
        description="The name of the Secret, in `flux-system`.",
        examples=["chart-keys"],
        bound="a DNS subdomain of 253 characters at most; asked for by `notation`",
        source="Kubernetes, object names; source-controller v1.10, ocirepository_controller.go",
        codes=("RES239",),
    )


class ChartSignature(SpecModel):
    """Whose signature a chart must have: of a key, or of an identity."""

    provider: Literal["cosign", "notation"] = Field(
        "cosign",
        description="What the chart is signed with.",
        examples=["notation"],
        bound="`cosign`, `notation`; of a chart in an OCI registry",
        source="Flux source-controller v1.10.1, OCIRepository `spec.verify`",
        codes=("RES239",),
    )
    secret_ref: SecretOfKeys | None = Field(
        None,
        description="The Secret with the public keys (cosign), or with certificates and `trustpolicy.json` (notation).",
        examples=[{"name": "chart-keys"}],
    )
    match_oidc_identity: list[SignerIdentity] = Field(
        [],
        alias="matchOIDCIdentity",
        description="Without keys: who may have signed, any one of these; Flux then asks Sigstore on the internet.",
        examples=[
            [
                {
                    "issuer": "^https://token.actions.githubusercontent.com$",
                    "subject": "^https://github.com/aws/karpenter-provider-aws/.+$",
                }
            ]
        ],
    )


class Component(SpecModel):
    """What differs from the release for one component."""

    version: ComponentVersion | None = Field(
        None,
        description="The version of the component; derived: the release's, or the one that another component needs.",
        examples=["0.19.2"],
        bound="a component of the release, by a whole version that the release supports and that works with "
        "the others",
        source="the release's sources; Kueue and Trainer release notes",
        codes=("RES002", "RES034", "RES080", "RES081", "RES084"),
    )
    digest: ChartDigest | None = Field(
        None,
        description="The digest of its chart in an OCI registry, which Flux then takes even if its tag has moved; "
        "goes with `version`, whose chart it is.",
        examples=["sha256:" + "3b0c" * 16],
        bound="the digest of a chart in an OCI registry, next to its `version`",
        source="Flux source-controller v1.10, OCIRepository `spec.ref`",
        codes=("RES238",),
    )
    verify: ChartSignature | None = Field(
        None,
        description="The signature without which Flux does not take its chart, by Flux' own keys; of an OCI registry.",
        examples=[{"provider": "cosign", "secretRef": {"name": "chart-keys"}}],
    )
    values: dict[str, Any] = Field(
        {},
        description="Values of its chart, over Trainyard's: mappings merge by key, lists and scalars replace, `null` "
        "removes a value of Trainyard's.",
        examples=[{"controllerManager": {"replicas": 3}}],
        bound="values of a component that is installed by a chart; `null` only for what Trainyard sets",
        source="helm v3 values files; the rendered HelmRelease is judged; what controllers request fits on the "
        "system's nodes, limits are no smaller than 64Mi, 10m and the requests",
        codes=("RES042", "RES082", "RES083", "RUN135", "RUN137", "LIM042"),
    )


class PatchTarget(SpecModel):
    """Which objects a patch is for: those that have all of this."""

    group: str | None = Field(
        None,
        description="The API group; empty for Kubernetes' core.",
        examples=["apps"],
        bound="text, the group of an object that is rendered",
        source="kubectl.docs.kubernetes.io, references/kustomize/kustomization/patches",
        codes=("RES085",),
    )
    version: str | None = Field(
        None,
        description="The version of the API group.",
        examples=["v1"],
        bound="text, the version of an object that is rendered",
        source="kubectl.docs.kubernetes.io, references/kustomize/kustomization/patches",
        codes=("RES085",),
    )
    kind: Kind = Field(
        description="The kind.",
        examples=["ClusterQueue"],
        bound="a kind that is rendered",
        source="kubectl.docs.kubernetes.io, references/kustomize/kustomization/patches",
        codes=("RES085",),
    )
    name: NamePattern | None = Field(
        None,
        description="A regular expression for the whole name.",
        examples=["finetune-.*"],
        bound="a regular expression that matches a whole name",
        source="kubectl.docs.kubernetes.io, references/kustomize/kustomization/patches",
        codes=("RES085",),
    )
    namespace: NamePattern | None = Field(
        None,
        description="A regular expression for the whole namespace.",
        examples=["team-.*"],
        bound="a regular expression that matches a whole namespace",
        source="kubectl.docs.kubernetes.io, references/kustomize/kustomization/patches",
        codes=("RES085",),
    )
    label_selector: LabelSelector | None = Field(
        None,
        description="A selector of Kubernetes' form for the labels.",
        examples=["trainyard.dev/job=finetune"],
        bound="requirements of equality and sets, separated by commas",
        source="Kubernetes, labels and selectors",
        codes=("RES085",),
    )


class JsonOperation(SpecModel):
    """One operation of a JSON patch (RFC 6902)."""

    op: Literal["add", "remove", "replace", "move", "copy", "test"] = Field(
        description="What is done.",
        examples=["replace"],
        bound="`add`, `remove`, `replace`, `move`, `copy`, `test`",
        source="RFC 6902, section 4",
    )
    path: JsonPointer = Field(
        description="A JSON pointer to what is changed; `-` is the end of a list, `~1` a slash.",
        examples=["/spec/template/spec/containers/0/image"],
        bound="a pointer to what the object has, or to where it can have more",
        source="RFC 6901",
        codes=("RES086", "RES088"),
    )
    from_: JsonPointer | None = Field(
        None,
        alias="from",
        description="For `move` and `copy`: a JSON pointer to where the value is.",
        examples=["/metadata/labels/team"],
        bound="a pointer to what the object has",
        source="RFC 6902, sections 4.4 and 4.5",
        codes=("SPC005", "RES086"),
    )
    value: Any = Field(
        None,
        description="For `add`, `replace` and `test`: the value.",
        examples=["registry.example/train:1.4.3"],
        bound="any value; what comes of it is verified and judged",
        source="RFC 6902, section 4",
        codes=("SPC005", "RES086", "RES087"),
    )

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> Self:
        given = {"from": "from_", "value": "value"}
        for key, field in given.items():
            wanted = self.op in _NEEDS[key]
            has = field in self.model_fields_set
            if wanted and not has:
                fact = f"`{self.op}` has no `{key}`"
                raise fault(fact, f"add `{key}`")
            if has and not wanted:
                raise fault(f"`{self.op}` takes no `{key}`", "remove it", key)
        return self


_NEEDS = {"from": ("move", "copy"), "value": ("add", "replace", "test")}


_MERGE, _OPERATIONS = "merge", "operations"


def _form(value: Any) -> str:
    if isinstance(value, list):
        return _OPERATIONS
    return _MERGE


def _is_a_patch(value: Any) -> Any:
    if not isinstance(value, dict | list) or not value:
        raise fault(
            "a patch is a mapping, or a list of operations",
            "write it as YAML, not as text: `{spec: {suspend: true}}`, or `[{op: remove, path: /spec/suspend}]`",
        )
    return value


class Patch(SpecModel):
    """A change of objects that are rendered, in Kustomize's form."""

    target: PatchTarget = Field(
        description="Which objects it is for.",
        examples=[{"kind": "ClusterQueue", "name": "research"}],
    )
    patch: Annotated[
        Annotated[dict[str, Any], Tag(_MERGE)] | Annotated[list[JsonOperation], Tag(_OPERATIONS)],
        Discriminator(_form),
        BeforeValidator(_is_a_patch),
    ] = Field(
        description="A strategic merge patch as a mapping, or a JSON patch as a list of operations.",
        examples=[
            {"metadata": {"labels": {"team": "speech"}}},
            [{"op": "remove", "path": "/spec/fairSharing"}],
        ],
    )


class OverridesSection(Section):
    """The escape hatches of the language."""

    components: dict[Name, Component] = Field(
        {},
        description="Versions and chart values that differ from the release's, by component.",
        examples=[{"trainer": {"version": "2.3.0"}}],
    )
    include: Annotated[list[IncludePath], Distinct] = Field(
        [],
        description="Files, or folders of them, with objects of your own, relative to this file: written, applied and "
        "judged with the rest.",
        examples=[["monitoring/"]],
        bound="relative paths to files, or folders of `*.yaml`, of the repository; each once",
        source="fluxcd/pkg ssa ApplyAllStaged for the order",
        codes=("YML046", "YML047", "YML048", "NAM005", "SCH014"),
    )
    patches: list[Patch] = Field(
        [],
        description="Changes of the rendered objects, in order; what comes of them is verified and judged.",
        examples=[
            [
                {
                    "target": {"kind": "ClusterQueue", "name": "research"},
                    "patch": {"metadata": {"labels": {"team": "speech"}}},
                }
            ]
        ],
    )


SECTION = OverridesSection
