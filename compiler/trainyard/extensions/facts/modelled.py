"""A kind whose CustomResourceDefinition is not published, as the models of its own client define it.

HyperPodPyTorchJob of HyperPod's training operator: the operator is an add-on without source, and `hyp` of PyPI
`sagemaker-hyperpod` 3.12.0 sends what its models hold (sagemaker/hyperpod/training/config/
hyperpod_pytorch_job_unified_config.py, which forbids unknown fields below ``spec``; hyperpod_pytorch_job.py has group,
version and plural). Its pod templates are those of Kubernetes. What the models do not bound is not bounded here.
"""

from __future__ import annotations

from trainyard.extensions.facts.documented import (
    FLAG,
    TEXT,
    Raw,
    definition,
    list_schema,
    object_schema,
)

PROJECT, RELEASE = "sagemaker-hyperpod", "v3.12.0"
SOURCE = (
    "PyPI sagemaker-hyperpod 3.12.0, "
    "sagemaker/hyperpod/training/config/hyperpod_pytorch_job_unified_config.py"
)

_NUMBER: Raw = {"type": "integer"}


def _numbers(*names: str) -> dict[str, Raw]:
    return dict.fromkeys(names, _NUMBER)


_LOG_RULE = object_schema(
    ("name", "logPattern"),
    name=TEXT,
    logPattern=TEXT,
    operator=TEXT,
    stopPattern=TEXT,
    **_numbers(
        "expectedRecurringFrequencyInSeconds",
        "expectedStartCutOffInSeconds",
        "metricEvaluationDataPoints",
        "metricThreshold",
    ),
)
_RESTART_POLICY = object_schema(
    ("evalPeriodSeconds",),
    **_numbers(
        "evalPeriodSeconds",
        "maxFullJobRestarts",
        "numRestartBeforeFullJobRestart",
        "maxNumRepeatOffendersToAvoid",
        "scaleUpSnoozeTimeInSeconds",
    ),
)
_RUN_POLICY = object_schema(
    cleanPodPolicy=TEXT,
    suspend=FLAG,
    workloadMode=TEXT,
    logMonitoringConfiguration=list_schema(_LOG_RULE),
    restartPolicy=_RESTART_POLICY,
    **_numbers(
        "activeDeadlineSeconds",
        "faultDeadlineSeconds",
        "jobMaxRetryCount",
        "startupDeadlineSeconds",
        "ttlSecondsAfterFinished",
    ),
)
_ELASTIC_POLICY = object_schema(
    replicaDiscreteValues=list_schema(_NUMBER),
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
    replica = object_schema(
        ("name",), name=TEXT, template=template, **_numbers("replicas", "maxReplicas", "spares")
    )
    spec = object_schema(
        nprocPerNode=TEXT,
        replicaSpecs=list_schema(replica),
        runPolicy=_RUN_POLICY,
        elasticPolicy=_ELASTIC_POLICY,
    )
    return definition("sagemaker.amazonaws.com", "HyperPodPyTorchJob", "Namespaced", spec)
