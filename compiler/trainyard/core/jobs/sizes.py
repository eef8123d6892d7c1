"""The sizes of a job's model: those of its ``config.json`` and of the spec, and the parameters that follow."""

from __future__ import annotations

import json
from typing import Any

from trainyard.core.jobs.model_spec import Model
from trainyard.core.jobs.spec import Job
from trainyard.core.training.huggingface import SOURCE, ConfigError, shape_of
from trainyard.core.training.shape import Shape
from trainyard.language.places import Route
from trainyard.plan.context import Context

# Keys of `shape` by the field of a shape.
_KEYS = {
    "layers": "layers",
    "hidden": "hidden",
    "heads": "heads",
    "kv_heads": "kvHeads",
    "head_size": "headSize",
    "ffn": "ffn",
    "vocabulary": "vocabulary",
    "gated": "gated",
    "tied": "tiedEmbeddings",
    "experts": "experts",
    "experts_per_token": "expertsPerToken",
}
_NEEDED = ("layers", "hidden", "heads", "ffn", "vocabulary")
_TAKE_IT = "take the `config.json` of the model's repository"
_TOLERANCE = 0.05
"""How far `parameters` may be from those of the shape: names are rounded, biases and norms are not counted."""


def with_parameters(context: Context, job: Job, at: Route) -> Job:
    """The job with the parameters that its model's sizes make; as it is where they are not known."""
    model = job.model
    assert model is not None, "only asked of a job that has one"
    shape = shape_of_model(context, model, at / "model")
    if shape is None:
        return job
    trained = model.trainable
    if trained is not None and trained > shape.parameters:
        context.fault(
            "RES375",
            f"{_billions(trained)} parameters are trained, and the model has {_billions(shape.parameters)}",
            at / "model" / "trainable",
            "write how many of them are trained, or remove it: all are",
        )
    if model.parameters is None:
        target = f"job/{job.name}"
        count = shape.parameters
        context.derive(target, "model.parameters", f"{count:,}", "the sum of its layers' matrices")
        sized = model.model_copy(update={"parameters": float(count)})
        return job.model_copy(update={"model": sized})
    _compare(context, model, shape, at / "model")
    return job


def shape_of_model(context: Context, model: Model, at: Route) -> Shape | None:
    """The shape of a model; ``None`` where it has none, or a faulty one, which is reported once."""
    shapes = context.once(_shapes)
    if at not in shapes:
        shapes[at] = _shape(context, model, at)
    return shapes[at]


def _shapes(context: Context) -> dict[Route, Shape | None]:
    return {}


def _shape(context: Context, model: Model, at: Route) -> Shape | None:
    said = _said(model)
    read: dict[str, Any] = {}
    if model.config is not None:
        found = _of_file(context, model.config, at / "config")
        if found is None:
            return None
        read = {name: getattr(found, name) for name in (*_KEYS, "cross_layers")}
        if _contradicts(context, model.config, said, read, at / "shape"):
            return None
    sizes = {**read, **said}
    missing = [name for name in _NEEDED if name not in sizes]
    if missing:
        listed = ", ".join(f"`{name}`" for name in missing)
        context.fault(
            "RES372",
            f"the shape of the model has no {listed}",
            at / "shape",
            f"write {listed}",
            key=True,
        )
        return None
    sizes.setdefault("kv_heads", sizes["heads"])
    sizes.setdefault("head_size", sizes["hidden"] // sizes["heads"])
    return Shape(**sizes)


def _said(model: Model) -> dict[str, Any]:
    """What the spec itself says of the sizes, by the fields of a shape."""
    given = model.shape
    if given is None:
        return {}
    said = given.model_dump()
    said["tied"] = said.pop("tied_embeddings")
    return {name: value for name, value in said.items() if value is not None}


def _of_file(context: Context, path: str, at: Route) -> Shape | None:
    """The shape of a ``config.json``; its faults are reported at their lines."""
    text = context.texts.get(at)
    if text is None or not text.there:
        return None  # which is reported
    try:
        config = json.loads("\n".join(text.lines))
    except json.JSONDecodeError as fault:
        place = _line(at, fault.lineno - 1, len(text.lines))
        context.fault("RES370", f"`{path}` is not JSON: {fault}", place, _TAKE_IT)
        return None
    except (ValueError, RecursionError):
        context.fault("RES370", f"`{path}` is no JSON that can be read", at, _TAKE_IT)
        return None
    if not isinstance(config, dict):
        context.fault("RES370", f"`{path}` is no mapping", at, _TAKE_IT)
        return None
    try:
        return shape_of(config)
    except ConfigError as fault:
        place = _line(at, _line_of(text.lines, fault.key), len(text.lines))
        context.fault("RES371", f"`{path}`: {fault.message}", place, fault.help, source=SOURCE)
        return None


def _line(at: Route, number: int, count: int) -> Route:
    if 0 <= number < count:
        return at / number
    return at


def _line_of(lines: tuple[str, ...], key: str) -> int:
    """The line that has a key, from 0; -1 where none has."""
    for number, line in enumerate(lines):
        if f'"{key}"' in line:
            return number
    return -1


def _contradicts(
    context: Context, path: str, said: dict[str, Any], read: dict[str, Any], at: Route
) -> bool:
    """Whether the spec and the file give a size two values; each is reported."""
    differing = [name for name, value in said.items() if read[name] != value]
    for name in differing:
        key = _KEYS[name]
        context.fault(
            "RES373",
            f"`{key}` is `{_shown(said[name])}`, and `{path}` makes it `{_shown(read[name])}`",
            at / key,
            "remove it, or correct the file",
        )
    return bool(differing)


def _shown(value: object) -> str:
    return json.dumps(value)


def _compare(context: Context, model: Model, shape: Shape, at: Route) -> None:
    count = shape.parameters
    if abs(model.size - count) <= _TOLERANCE * count:
        return
    context.doubt(
        "RES374",
        f"the model has {_billions(model.size)} parameters, and its sizes make {_billions(count)}",
        at / "parameters",
        f"remove it, or write `{_billions(count)}`",
        source="Megatron-LM d98e8a64, megatron/training/theoretical_memory_usage.py",
    )


def _billions(count: float) -> str:
    return f"{count / 1e9:.3g}e9"
