"""CloudFormation templates, from a file or from S3.

``template`` holds what is wrong with one, ``references`` what it names, ``reading`` what its resources say, by the
table of ``lift/cloud_resources.py``. Behind these, ``structure`` has the properties of types, ``values`` what is known
of one, ``grammar`` what a policy of IAM may hold, and ``functions`` what CloudFormation fills in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from trainyard.core.cloud.plan import RESOURCES
from trainyard.core.launch.plan import Launch, LaunchTemplate
from trainyard.language.diagnostics import Diagnostic
from trainyard.output.artifact import Artifact
from trainyard.output.emit.yaml import dump
from trainyard.plan import PlanItem
from trainyard.verify.formats import Setting
from trainyard.verify.formats.cloudformation.functions import TAGS
from trainyard.verify.formats.cloudformation.reading import nodes
from trainyard.verify.formats.cloudformation.structure import types
from trainyard.verify.formats.cloudformation.template import (
    BY_FILE,
    BY_S3,
    faults,
    is_template,
    types_in,
)
from trainyard.verify.verifier import diagnostic

__all__ = ["LATE", "TAGS", "hinted", "lifted", "parts", "recognised", "verified", "written"]

LATE = False
SUBJECTS = (*RESOURCES, Launch, LaunchTemplate)
_SECTIONS = ("AWSTemplateFormatVersion", "Resources")
_SECTION = (
    r"""(?m)^["']?(?:AWSTemplateFormatVersion|Resources)["']?\s*:|\A\s*\{[\s\S]*"Resources"\s*:"""
)


def verified(artifacts: Sequence[Artifact], setting: Setting) -> list[Diagnostic]:
    """Everything that CloudFormation would refuse, or that a resource's service would."""
    limit = BY_FILE if setting.closed else BY_S3
    return [
        diagnostic(artifact, fault)
        for artifact in artifacts
        for fault in faults(artifact.body, _size(artifact, limit), limit, closed=setting.closed)
    ]


def _size(artifact: Artifact, limit: int) -> int:
    """Bytes of a template: of the file that it was read from, or is written to. A small one is not written for it."""
    if artifact.text:
        return len(artifact.content.encode())
    if len(repr(artifact.body)) * _WIDER < limit:
        return 0
    return len(written(artifact))


_WIDER = 4
"""YAML takes less than four times the room of Python's own form: an indented line for each value."""


def lifted(artifacts: Sequence[Artifact], *, closed: bool) -> Iterable[PlanItem]:
    """The resources of templates, as far as they are read."""
    for artifact in artifacts:
        yield from nodes(artifact)


def hinted(text: str) -> bool:
    """Whether a text has the sections of a template where a template has them."""
    named = any(section in text for section in _SECTIONS)
    return named and re.search(_SECTION, text) is not None


def recognised(body: Any) -> bool:
    """Whether a document is a template."""
    return is_template(body)


def parts(artifact: Artifact) -> Iterable[tuple[str, bool]]:
    """The types of the resources, and whether their structure is known."""
    known = types()
    return ((kind, kind in known) for kind in types_in(artifact.body))


def written(artifact: Artifact) -> bytes:
    """One YAML document, with functions in their long form."""
    return dump(artifact.body).encode()
