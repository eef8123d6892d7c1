"""What the models of HyperPod's client say of a job, without AWS: run by the Python of ``make hyperpod``.

``python models.py JOB``: ``spec`` of the object in JOB, a file of JSON, as the models of sagemaker-hyperpod have it.
The package itself is not imported: it wants its whole command line.
"""

from __future__ import annotations

import json
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import sagemaker

JOB = json.loads(Path(sys.argv[1]).read_text())
PLACE = "hyperpod/training/config/hyperpod_pytorch_job_unified_config.py"
found = [Path(folder) / PLACE for folder in sagemaker.__path__]
module_spec = spec_from_file_location("models", next(file for file in found if file.exists()))
assert module_spec is not None
assert module_spec.loader is not None
models = module_from_spec(module_spec)
module_spec.loader.exec_module(models)


class Strict(models._HyperPodPytorchJob):  # type: ignore[name-defined,misc]
    """The client's own class forbids what it does not know (training/hyperpod_pytorch_job.py)."""

    model_config = {"extra": "forbid"}


read = Strict.model_validate(JOB["spec"], by_name=True)
sys.stdout.write(json.dumps(read.model_dump(mode="json", exclude_unset=True)))
