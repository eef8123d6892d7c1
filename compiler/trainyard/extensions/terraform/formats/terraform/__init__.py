"""Terraform modules, in JSON (`*.tf.json`) and in the native syntax (`*.tf`, ``native``).

``structure`` has the arguments of the AWS provider's types, ``faults`` what is wrong with a module, ``reading`` what
its resources say: by the table that reads templates of CloudFormation too, so that the same rules judge both, and
``spelling``, which says what the provider calls by another name.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from trainyard.core.cloud.plan import RESOURCES
from trainyard.core.launch.plan import Launch, LaunchTemplate
from trainyard.extensions.terraform.formats.terraform.faults import faults
from trainyard.extensions.terraform.formats.terraform.native import parsed
from trainyard.extensions.terraform.formats.terraform.reading import nodes
from trainyard.extensions.terraform.formats.terraform.structure import types
from trainyard.language.diagnostics import Diagnostic
from trainyard.output.artifact import Artifact
from trainyard.plan import PlanItem
from trainyard.verify.formats import Setting
from trainyard.verify.verifier import diagnostic

__all__ = [
    "LATE",
    "TAGS",
    "hinted",
    "lifted",
    "named",
    "parsed",
    "parts",
    "recognised",
    "verified",
    "written",
]

LATE = False
SUBJECTS = (*RESOURCES, Launch, LaunchTemplate)
TAGS: Mapping[str, str] = {}
_SECTIONS = ("resource", "data")
_NATIVE = re.compile(r'^[ \t]*(?:resource|data)[ \t]+"?aws_', re.MULTILINE)


def verified(artifacts: Sequence[Artifact], setting: Setting) -> list[Diagnostic]:
    """Everything that Terraform would refuse of a module, or the provider of a resource."""
    return [
        diagnostic(artifact, fault)
        for artifact in artifacts
        for fault in faults(artifact.body, closed=setting.closed)
    ]


def lifted(artifacts: Sequence[Artifact], *, closed: bool) -> Iterable[PlanItem]:
    """The resources of modules, as far as they are read. A module is all files of a folder."""
    modules: dict[str, list[Artifact]] = {}
    for artifact in artifacts:
        modules.setdefault(os.path.dirname(artifact.path), []).append(artifact)
    for files in modules.values():
        yield from nodes(files)


def hinted(text: str) -> bool:
    """Whether a text may have resources of the AWS provider, in JSON."""
    return '"aws_' in text and ('"resource"' in text or '"data"' in text)


def named(name: str) -> bool:
    """Whether a file is of the native syntax, by its name."""
    return name.endswith(".tf")


def recognised(body: Any) -> bool:
    """Whether a document, or a text of the native syntax, is a module with resources of the AWS provider."""
    if isinstance(body, str):
        return _NATIVE.search(body) is not None
    if not isinstance(body, dict) or "apiVersion" in body:
        return False
    return any(
        isinstance(kind, str) and kind.startswith("aws_")
        for section in _SECTIONS
        if isinstance(body.get(section), dict)
        for kind in body[section]
    )


def parts(artifact: Artifact) -> Iterable[tuple[str, bool]]:
    """The types of the resources, and whether their structure is known."""
    resources = artifact.body.get("resource")
    if isinstance(resources, dict):
        for kind, labels in resources.items():
            for _ in labels if isinstance(labels, dict) else ():
                yield kind, kind in types()


def written(artifact: Artifact) -> bytes:
    """One JSON object over several lines."""
    text = json.dumps(artifact.body, indent=1, ensure_ascii=False)
    return f"{text}\n".encode()
