"""The CPU of `lint` over whole repositories, and that of kubeconform over the same files with the schemas of its kinds.

Usage: repositories.py --kubeconform PATH [--crds FOLDER] [--core FILE] [--runs N] FOLDER …

Each FOLDER is a checkout. kubeconform gets the YAML and JSON files of it that are no templates of Helm, strict, and
what it has no schema for it passes over, as `lint` does. Its schemas are made of the CRDs in ``--crds``
(``PROJECT/VERSION/*.yaml``) and of Kubernetes' definitions in ``--core``. kubeconform checks schemas; `lint` schemas,
webhooks' rules, references, kustomizations and policies. Runs are in turns; the least of each is what counts.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench import ENV, PYTHON, ROOT, strict

SHARED = ROOT.parent / "shared" / "crds"
CORE = SHARED / "kubernetes-core" / "v1.36.0" / "_definitions.json"
_ENDS = (".yaml", ".yml", ".json")
_KEYS = "{{ .Group }}_{{ .ResourceKind }}_{{ .ResourceAPIVersion }}.json"


def cpu(command: Sequence[str]) -> float:
    """Seconds of CPU of a program, which may find faults."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=ROOT, env=ENV, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{command[0]} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def crd_schemas(folder: Path, out: Path) -> Iterator[str]:
    """The schemas of all versions of all CRDs of a folder, as files for kubeconform; their names."""
    import yaml

    for file in sorted(folder.glob("*/*/*.yaml")):
        for body in yaml.load_all(file.read_text(encoding="utf-8"), yaml.CSafeLoader):
            if not isinstance(body, dict) or body.get("kind") != "CustomResourceDefinition":
                continue
            group, kind = body["spec"]["group"], body["spec"]["names"]["kind"].lower()
            for version in body["spec"]["versions"]:
                schema = version.get("schema", {}).get("openAPIV3Schema")
                if schema is not None:
                    yield _write(out, group, kind, version["name"], _whole(strict(schema)))


def _whole(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema whose object has the keys that every object has."""
    properties = schema.setdefault("properties", {})
    properties["metadata"] = {"type": "object"}
    for key in ("apiVersion", "kind"):
        properties.setdefault(key, {"type": "string"})
    return schema


def core_schemas(file: Path, out: Path) -> Iterator[str]:
    """The schemas of Kubernetes' own kinds, each with all that it refers to in one file."""
    definitions = json.loads(file.read_text(encoding="utf-8"))["$defs"]
    for definition in definitions.values():
        for kind in definition.get("x-kubernetes-group-version-kind", ()):
            schema = strict(_inlined(definition, definitions, ()))
            yield _write(out, kind["group"], kind["kind"].lower(), kind["version"], schema)


def _inlined(part: Any, definitions: dict[str, Any], above: tuple[str, ...]) -> Any:
    """A definition with what it refers to in place of each reference; what contains itself takes anything there."""
    if isinstance(part, list):
        return [_inlined(each, definitions, above) for each in part]
    if not isinstance(part, dict):
        return part
    target = part.get("$ref")
    if not isinstance(target, str):  # `$ref` is a property of CRDs, too
        return {key: _inlined(value, definitions, above) for key, value in part.items()}
    name = target.rpartition("/")[2]
    if name in above:
        return {}
    return _inlined(definitions[name], definitions, (*above, name))


def _write(out: Path, group: str, kind: str, version: str, schema: Any) -> str:
    file = out / f"{group}_{kind}_{version}.json"
    file.write_text(json.dumps(schema), encoding="utf-8")
    return file.name


def manifests(folder: Path) -> list[str]:
    """The files of a checkout that may hold objects, as `lint` looks for them, without those that are templates."""
    found = []
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(parent, name)
            if name.startswith(".") or not name.lower().endswith(_ENDS) or not path.is_file():
                continue
            text = path.read_text(encoding="utf-8", errors="replace")
            if "{{" not in text and "apiVersion" in text and "kind" in text:
                found.append(str(path))
    return found


def measure(folder: Path, kubeconform: str, schemas: str, runs: int) -> None:
    """Prints a row of a repository."""
    files = manifests(folder)
    theirs = [
        kubeconform,
        "-strict",
        "-ignore-missing-schemas",
        "-schema-location",
        schemas,
        *files,
    ]
    ours = [PYTHON, "-m", "trainyard", "lint", str(folder), "-q"]
    pairs = [(cpu(ours), cpu(theirs)) for _ in range(runs)]
    mine, peer = (min(each[which] for each in pairs) for which in (0, 1))
    print(
        f"| {folder.name} | {len(files)} | {mine:.2f} | {peer:.2f} | {mine / peer:.2f} |",
        flush=True,
    )


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--kubeconform", required=True, help="its program")
    arguments.add_argument("--crds", type=Path, default=SHARED)
    arguments.add_argument("--core", type=Path, default=CORE)
    arguments.add_argument("--runs", type=int, default=3)
    arguments.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch)
        names = [*core_schemas(options.core, out), *crd_schemas(options.crds, out)]
        empty = out / "empty.yaml"
        empty.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", encoding="utf-8")
        start = min(cpu([PYTHON, "-m", "trainyard", "lint", str(empty), "-q"]) for _ in range(3))
        print(f"{len(set(names))} schemas; `lint` of one ConfigMap takes {start:.2f} s of CPU\n")
        print(
            "| repository | files | lint, CPU s | kubeconform, CPU s | ratio |\n| --- | --- | --- | --- | --- |"
        )
        for folder in options.folders:
            measure(folder, options.kubeconform, str(out / _KEYS), options.runs)


if __name__ == "__main__":
    main()
