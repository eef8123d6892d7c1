"""What the API server checks on core kinds beyond their OpenAPI definitions.

The definitions carry no enums, bounds or syntaxes, since the server checks core kinds in Go. These tables add those of
the fields that training manifests use. Source: k8s.io/kubernetes v1.36, pkg/apis/core/validation,
pkg/apis/{apps,autoscaling,batch,networking,policy,rbac,storage}/validation and the constants of k8s.io/api v0.36.
"""

from __future__ import annotations

from typing import Any

Raw = dict[str, Any]


def _or_unset(*values: str) -> Raw:
    """One of the values, or an empty text, which means that a field of Go that is no pointer is not set: it gets its
    default (pkg/apis/*/v1/defaults.go)."""
    return {"enum": [*values, ""]}


_PROTOCOLS = ["TCP", "UDP", "SCTP"]
_PORT = {"minimum": 1, "maximum": 65535}
_LABEL = {"syntax": "dns-label"}
_NATURAL = {"minimum": 0}
_POSITIVE = {"minimum": 1}
_NOT_EMPTY = {"minLength": 1}
_COUNT_OR_SHARE = {"minimum": 0, "pattern": "^[0-9]+%$"}
_ACCESS = {
    "minItems": 1,
    "items": {
        "type": "string",
        "enum": ["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"],
    },
}
_VOLUME_MODE = {"enum": ["Block", "Filesystem"]}
_LABELS = {
    "keySyntax": "label-key",
    "additionalProperties": {"type": "string", "syntax": "label-value"},
}
_NAMED: Raw = {
    "name": _LABEL,
    "imagePullPolicy": _or_unset("Always", "IfNotPresent", "Never"),
    "terminationMessagePolicy": _or_unset("File", "FallbackToLogsOnError"),
}
_POLICY_TYPES = {"items": {"type": "string", "enum": ["Ingress", "Egress"]}}
_RULE_PORT: Raw = {"protocol": {"enum": _PROTOCOLS}, "endPort": _PORT}

# definition name without its package -> field -> what is added
FIELDS: dict[str, dict[str, Raw]] = {
    "core.v1.Container": {**_NAMED, "image": _NOT_EMPTY},
    "core.v1.VolumeMount": {
        "mountPath": _NOT_EMPTY,
        "mountPropagation": {"enum": ["None", "HostToContainer", "Bidirectional"]},
    },
    "core.v1.HTTPGetAction": {"scheme": _or_unset("HTTP", "HTTPS")},
    "core.v1.EnvVar": {"name": {"syntax": "env-name"}},
    "core.v1.ContainerPort": {
        "containerPort": _PORT,
        "hostPort": {"minimum": 0, "maximum": 65535},
        "protocol": _or_unset(*_PROTOCOLS),
        "name": {"syntax": "port-name?"},
    },
    "core.v1.PodSpec": {
        "containers": {"minItems": 1},
        "restartPolicy": _or_unset("Always", "OnFailure", "Never"),
        "dnsPolicy": _or_unset("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"),
        "preemptionPolicy": {"enum": ["PreemptLowerPriority", "Never"]},
        "terminationGracePeriodSeconds": _NATURAL,
        "activeDeadlineSeconds": _POSITIVE,
        "nodeSelector": _LABELS,
        "serviceAccountName": {"syntax": "dns-subdomain?"},
        "hostname": {"syntax": "dns-label?"},
        "subdomain": {"syntax": "dns-label?"},
    },
    "core.v1.Volume": {"name": _LABEL},
    "core.v1.EmptyDirVolumeSource": {
        "medium": {"pattern": r"^(Memory|HugePages(-[0-9]+[KMG]i)?)?$"}
    },
    "core.v1.HostPathVolumeSource": {
        "type": {
            "enum": [
                "",
                "DirectoryOrCreate",
                "Directory",
                "FileOrCreate",
                "File",
                "Socket",
                "CharDevice",
                "BlockDevice",
            ]
        }
    },
    "core.v1.Toleration": {
        "operator": {"enum": ["", "Exists", "Equal", "Lt", "Gt"]},
        "effect": {"enum": ["", "NoSchedule", "PreferNoSchedule", "NoExecute"]},
        "key": {"syntax": "toleration-key"},
    },
    "core.v1.Taint": {
        "effect": {"enum": ["NoSchedule", "PreferNoSchedule", "NoExecute"]},
        "key": {"syntax": "label-key"},
    },
    "core.v1.NodeSelectorRequirement": {
        "operator": {"enum": ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]},
        "key": {"syntax": "label-key"},
    },
    "meta.v1.LabelSelectorRequirement": {
        "operator": {"enum": ["In", "NotIn", "Exists", "DoesNotExist"]},
        "key": {"syntax": "label-key"},
    },
    "meta.v1.LabelSelector": {"matchLabels": _LABELS},
    "core.v1.PreferredSchedulingTerm": {"weight": {"minimum": 1, "maximum": 100}},
    "core.v1.WeightedPodAffinityTerm": {"weight": {"minimum": 1, "maximum": 100}},
    "core.v1.TopologySpreadConstraint": {
        "maxSkew": _POSITIVE,
        "whenUnsatisfiable": {"enum": ["DoNotSchedule", "ScheduleAnyway"]},
    },
    "core.v1.ServicePort": {"port": _PORT, "protocol": _or_unset(*_PROTOCOLS)},
    "core.v1.ServiceSpec": {
        "type": _or_unset("ClusterIP", "NodePort", "LoadBalancer", "ExternalName"),
        "selector": _LABELS,
        "sessionAffinity": _or_unset("ClientIP", "None"),
        "internalTrafficPolicy": {"enum": ["Cluster", "Local"]},
        "externalTrafficPolicy": _or_unset("Cluster", "Local"),
    },
    "core.v1.PersistentVolumeSpec": {
        "accessModes": _ACCESS,
        "volumeMode": _VOLUME_MODE,
        "persistentVolumeReclaimPolicy": _or_unset("Retain", "Delete", "Recycle"),
    },
    "core.v1.PersistentVolumeClaimSpec": {"accessModes": _ACCESS, "volumeMode": _VOLUME_MODE},
    "core.v1.LimitRangeItem": {"type": {"enum": ["Pod", "Container", "PersistentVolumeClaim"]}},
    "core.v1.ScopedResourceSelectorRequirement": {
        "operator": {"enum": ["In", "NotIn", "Exists", "DoesNotExist"]},
        "scopeName": {
            "enum": [
                "Terminating",
                "NotTerminating",
                "BestEffort",
                "NotBestEffort",
                "PriorityClass",
                "CrossNamespacePodAffinity",
                "VolumeAttributesClass",
            ]
        },
    },
    "core.v1.Probe": {
        "failureThreshold": _NATURAL,
        "successThreshold": _NATURAL,
        "periodSeconds": _NATURAL,
        "timeoutSeconds": _NATURAL,
        "initialDelaySeconds": _NATURAL,
    },
    "core.v1.SeccompProfile": {"type": {"enum": ["Localhost", "RuntimeDefault", "Unconfined"]}},
    "storage.v1.StorageClass": {
        "provisioner": _NOT_EMPTY,
        "reclaimPolicy": _or_unset("Retain", "Delete"),
        "volumeBindingMode": {"enum": ["Immediate", "WaitForFirstConsumer"]},
    },
    "storage.v1.CSIDriverSpec": {
        "fsGroupPolicy": {"enum": ["ReadWriteOnceWithFSType", "File", "None"]},
        "volumeLifecycleModes": {"items": {"type": "string", "enum": ["Persistent", "Ephemeral"]}},
    },
    "scheduling.v1.PriorityClass": {
        "preemptionPolicy": {"enum": ["PreemptLowerPriority", "Never"]},
        "value": {"maximum": 2000001000},
    },
    "networking.v1.NetworkPolicySpec": {"policyTypes": _POLICY_TYPES},
    "networking.v1.NetworkPolicyPort": _RULE_PORT,
    "networking.v1.IPBlock": {"cidr": {"syntax": "cidr"}},
    "networking.v1.HTTPIngressRuleValue": {"paths": {"minItems": 1}},
    "networking.v1.HTTPIngressPath": {
        "pathType": {"enum": ["Exact", "Prefix", "ImplementationSpecific"]}
    },
    "networking.v1.IngressServiceBackend": {"name": _NOT_EMPTY},
    "networking.v1.ServiceBackendPort": {"number": {"minimum": 0, "maximum": 65535}},
    # No replicas are allowed behind the feature gate HPAScaleToZero, which cannot be seen here.
    "autoscaling.v2.HorizontalPodAutoscalerSpec": {
        "minReplicas": _NATURAL,
        "maxReplicas": _POSITIVE,
    },
    "autoscaling.v2.CrossVersionObjectReference": {"kind": _NOT_EMPTY, "name": _NOT_EMPTY},
    "autoscaling.v2.MetricSpec": {
        "type": {"enum": ["Object", "Pods", "Resource", "ContainerResource", "External"]}
    },
    "autoscaling.v2.MetricTarget": {
        "type": {"enum": ["Utilization", "Value", "AverageValue"]},
        "averageUtilization": _POSITIVE,
    },
    "autoscaling.v2.HPAScalingRules": {
        "selectPolicy": {"enum": ["Max", "Min", "Disabled"]},
        "stabilizationWindowSeconds": {"minimum": 0, "maximum": 3600},
    },
    "autoscaling.v2.HPAScalingPolicy": {
        "type": {"enum": ["Pods", "Percent"]},
        "value": _POSITIVE,
        "periodSeconds": {"minimum": 1, "maximum": 1800},
    },
    "rbac.v1.RoleRef": {
        # An empty one gets the default (pkg/apis/rbac/v1/defaults.go).
        "apiGroup": {"enum": ["rbac.authorization.k8s.io", ""]},
        "kind": {"enum": ["Role", "ClusterRole"]},
        "name": _NOT_EMPTY,
    },
    "rbac.v1.Subject": {"kind": {"enum": ["ServiceAccount", "User", "Group"]}, "name": _NOT_EMPTY},
    "rbac.v1.PolicyRule": {"verbs": {"minItems": 1}},
    "apps.v1.DeploymentSpec": {"replicas": _NATURAL, "minReadySeconds": _NATURAL},
    "apps.v1.DeploymentStrategy": {"type": _or_unset("Recreate", "RollingUpdate")},
    "apps.v1.DaemonSetUpdateStrategy": {"type": _or_unset("RollingUpdate", "OnDelete")},
    "batch.v1.JobSpec": {
        "parallelism": _NATURAL,
        "completions": _NATURAL,
        "backoffLimit": _NATURAL,
        "activeDeadlineSeconds": _NATURAL,
        "ttlSecondsAfterFinished": _NATURAL,
        "completionMode": {"enum": ["NonIndexed", "Indexed"]},
        "podReplacementPolicy": {"enum": ["TerminatingOrFailed", "Failed"]},
    },
    "batch.v1.PodFailurePolicyRule": {
        "action": {"enum": ["FailJob", "FailIndex", "Ignore", "Count"]}
    },
    "batch.v1.PodFailurePolicyOnExitCodesRequirement": {
        "operator": {"enum": ["In", "NotIn"]},
        "values": {"minItems": 1, "maxItems": 255},
    },
    "batch.v1.CronJobSpec": {
        "concurrencyPolicy": _or_unset("Allow", "Forbid", "Replace"),
        "schedule": {"syntax": "cron"},
        "successfulJobsHistoryLimit": _NATURAL,
        "failedJobsHistoryLimit": _NATURAL,
    },
    "policy.v1.PodDisruptionBudgetSpec": {
        "minAvailable": _COUNT_OR_SHARE,
        "maxUnavailable": _COUNT_OR_SHARE,
        "unhealthyPodEvictionPolicy": {"enum": ["IfHealthyBudget", "AlwaysAllow"]},
    },
}

# fields that the definitions leave optional and the server requires
REQUIRED: dict[str, list[str]] = {
    "core.v1.Pod": ["spec"],
    "apps.v1.DaemonSet": ["spec"],
    "apps.v1.Deployment": ["spec"],
    "apps.v1.ReplicaSet": ["spec"],
    "apps.v1.StatefulSet": ["spec"],
    "batch.v1.CronJob": ["spec"],
    "batch.v1.Job": ["spec"],
    "core.v1.Container": ["image"],
    "core.v1.PersistentVolumeClaimSpec": ["accessModes", "resources"],
    "core.v1.PersistentVolumeSpec": ["accessModes", "capacity"],
}

# a port of a container is keyed by its protocol too, which defaults to TCP (core/v1 defaults.go)
DEFAULTS: dict[str, dict[str, Any]] = {
    "core.v1.ContainerPort": {"protocol": "TCP"},
    "core.v1.ServicePort": {"protocol": "TCP"},
}
