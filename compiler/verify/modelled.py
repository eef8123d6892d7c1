"""A kind whose CustomResourceDefinition is not published, as the models of its own client define it.

HyperPodPyTorchJob of HyperPod's training operator: the operator is an add-on without source, and `hyp` of PyPI
`sagemaker-hyperpod` 3.12.0 sends what its models hold (sagemaker/hyperpod/training/config/
hyperpod_pytorch_job_unified_config.py, which forbids unknown fields below ``spec``; hyperpod_pytorch_job.py has group,
version and plural). Its pod templates are those of Kubernetes. What the models do not bound is not bounded here.
"""

from __future__ import annotations

from typing import Any

Raw = dict[str, Any]

PROJECT, RELEASE = "sagemaker-hyperpod", "v3.12.0"
SOURCE = (
    "PyPI sagemaker-hyperpod 3.12.0, "
    "sagemaker/hyperpod/training/config/hyperpod_pytorch_job_unified_config.py"
)

_TEXT: Raw = {"type": "string"}
_NUMBER: Raw = {"type": "integer"}


def _object(*required: str, **properties: Raw) -> Raw:
    schema: Raw = {"type": "object", "properties": properties}
    if required:
        schema["required"] = list(required)
    return schema


def _numbers(*names: str) -> dict[str, Raw]:
    return dict.fromkeys(names, _NUMBER)


_LOG_RULE = _object(
    *("name", "logPattern"),
    name=_TEXT,
    logPattern=_TEXT,
    operator=_TEXT,
    stopPattern=_TEXT,
    **_numbers(
        "expectedRecurringFrequencyInSeconds",
        "expectedStartCutOffInSeconds",
        "metricEvaluationDataPoints",
        "metricThreshold",
    ),
)
_RESTART_POLICY = _object(
    "evalPeriodSeconds",
    **_numbers(
        "evalPeriodSeconds",
        "maxFullJobRestarts",
        "numRestartBeforeFullJobRestart",
        "maxNumRepeatOffendersToAvoid",
        "scaleUpSnoozeTimeInSeconds",
    ),
)
_RUN_POLICY = _object(
    cleanPodPolicy=_TEXT,
    suspend={"type": "boolean"},
    workloadMode=_TEXT,
    logMonitoringConfiguration={"type": "array", "items": _LOG_RULE},
    restartPolicy=_RESTART_POLICY,
    **_numbers(
        "activeDeadlineSeconds",
        "faultDeadlineSeconds",
        "jobMaxRetryCount",
        "startupDeadlineSeconds",
        "ttlSecondsAfterFinished",
    ),
)
_ELASTIC_POLICY = _object(
    replicaDiscreteValues={"type": "array", "items": _NUMBER},
    **_numbers(
        "minReplicas",
        "maxReplicas",
        "replicaIncrementStep",
        "scalingTimeoutInSeconds",
        "gracefulShutdownTimeoutInSeconds",
        "faultyScaleDownTimeoutInSeconds",
    ),
)


def hyperpod_job(template: Raw) -> Raw:
    """The definition of HyperPodPyTorchJob; ``template`` is that of pods."""
    replica = _object(
        "name", name=_TEXT, template=template, **_numbers("replicas", "maxReplicas", "spares")
    )
    spec = _object(
        nprocPerNode=_TEXT,
        replicaSpecs={"type": "array", "items": replica},
        runPolicy=_RUN_POLICY,
        elasticPolicy=_ELASTIC_POLICY,
    )
    return {
        "kind": "CustomResourceDefinition",
        "spec": {
            "group": "sagemaker.amazonaws.com",
            "names": {"kind": "HyperPodPyTorchJob"},
            "scope": "Namespaced",
            "versions": [
                {
                    "name": "v1",
                    "schema": {"openAPIV3Schema": _object(metadata={}, spec=spec)},
                    "subresources": {"status": {}},
                }
            ],
        },
    }
