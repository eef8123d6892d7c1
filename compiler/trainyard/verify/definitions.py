"""Schemas of the CustomResourceDefinitions that are among the objects themselves."""

from __future__ import annotations

from collections.abc import Iterable

from trainyard.output.manifest import Body, Manifest
from trainyard.verify.schemas import Schemas
from trainyard.verify.structure import Raw, from_crd

DEFINITION = "CustomResourceDefinition"


def with_definitions(schemas: Schemas, manifests: Iterable[Manifest]) -> Schemas:
    """The schemas, and those of kinds that only a definition among the objects knows."""
    definitions = [manifest.body for manifest in manifests if manifest.ref.kind == DEFINITION]
    if not definitions:
        return schemas
    extended = schemas.copy()
    for definition in definitions:
        for derived in schemas_of(definition):
            api_version = f"{derived['group']}/{derived['version']}"
            if not schemas.find(api_version, derived["kind"]):
                extended.add(derived)
    return extended


def schemas_of(definition: Body) -> list[Raw]:
    """What ``structure.from_crd`` derives; nothing where the definition has another form than Kubernetes takes.

    The schema is OpenAPI v3's, which has the keywords of JSON Schema's draft 4 (Kubernetes, CustomResourceDefinition,
    structural schemas).
    """
    from jsonschema import Draft4Validator, SchemaError  # few specs include definitions

    try:
        for version in definition["spec"]["versions"]:
            Draft4Validator.check_schema(version["schema"]["openAPIV3Schema"])
        return from_crd(definition)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError, SchemaError):
        return []
