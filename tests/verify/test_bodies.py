"""One fault put into a sound object: that code at that path, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from trainyard.language.places import Route
from trainyard.verify import validate_body
from trainyard.verify.fault import Fault

from verify.conftest import (
    CLUSTER_QUEUE,
    DEPLOYMENT,
    HELM_RELEASE,
    JOB,
    KUSTOMIZATION,
    NODE_POOL,
    POD,
    RUNTIME,
    TRAIN_JOB,
    edited,
)

Edit = tuple[str, Any]
C = "spec/containers/0"
NO_AMOUNT = {"nvidia.com/gpu": None}
RG = "spec/resourceGroups/0"
RJ = "spec/template/spec/replicatedJobs/0"
PATCH = "spec/runtimePatches/0/trainingRuntimeSpec/template/spec/replicatedJobs/0"
TAS = f"{RJ}/template/spec/template/metadata/annotations/kueue.x-k8s.io|podset-"
TAS_PLACE = (
    "spec.template.spec.replicatedJobs[0].template.spec.template.metadata."
    'annotations["kueue.x-k8s.io/podset-'
)
NODE_CLASS_REF = "spec/template/spec/nodeClassRef"
MANY = [f"r{index}" for index in range(300)]
NODE_CLASS: dict[str, Any] = {
    "apiVersion": "karpenter.k8s.aws/v1",
    "kind": "EC2NodeClass",
    "metadata": {"name": "gpu"},
    "spec": {
        "role": "nodes",
        "amiSelectorTerms": [{"alias": "al2023@v20260801"}],
        "subnetSelectorTerms": [{"tags": {"a": "b"}}],
        "securityGroupSelectorTerms": [{"tags": {"a": "b"}}],
    },
}
AUTO_NODE_CLASS: dict[str, Any] = {
    "apiVersion": "eks.amazonaws.com/v1",
    "kind": "NodeClass",
    "metadata": {"name": "gpu"},
    "spec": {
        "role": "nodes",
        "subnetSelectorTerms": [{"tags": {"a": "b"}}],
        "securityGroupSelectorTerms": [{"tags": {"a": "b"}}],
    },
}
FIRST_CARD = {"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface"}
SECOND_CARD = {"networkCardIndex": 1, "deviceIndex": 0, "interfaceType": "efa-only"}
VOLUME: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "PersistentVolume",
    "metadata": {"name": "fsx"},
    "spec": {
        "capacity": {"storage": "1200Gi"},
        "accessModes": ["ReadWriteMany"],
        "persistentVolumeReclaimPolicy": "Retain",
        "csi": {
            "driver": "fsx.csi.aws.com",
            "volumeHandle": "fs-0",
            "volumeAttributes": {"dnsname": "fs-0.fsx.us-west-2.amazonaws.com"},
        },
    },
}
SECRET: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "s", "namespace": "team-a"},
    "data": {"token": "aGk="},
}
CONFIG: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "c", "namespace": "team-a"},
    "data": {"a.json": "{}"},
}
STATEFUL: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "StatefulSet",
    "metadata": {"name": "store", "namespace": "team-a"},
    "spec": {
        "serviceName": "store",
        "selector": {"matchLabels": {"app": "store"}},
        "template": {
            "metadata": {"labels": {"app": "store"}},
            "spec": {
                "containers": [
                    {
                        "name": "a",
                        "image": "registry.test/a:1",
                        "volumeMounts": [{"name": "data", "mountPath": "/data"}],
                    }
                ]
            },
        },
        "volumeClaimTemplates": [
            {
                "metadata": {"name": "data"},
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": "1Gi"}},
                },
            }
        ],
    },
}
SERVICE: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "store", "namespace": "team-a"},
    "spec": {
        "selector": {"app": "store"},
        "ports": [{"name": "a", "port": 80}, {"name": "b", "port": 81}],
    },
}
QUOTA: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "all", "namespace": "team-a"},
    "spec": {
        "hard": {
            "requests.cpu": 8,
            "requests.nvidia.com/gpu": 8,
            "count/jobs.batch": 4,
            "hugepages-2Mi": "4Gi",
        }
    },
}
LIMITS: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "LimitRange",
    "metadata": {"name": "all", "namespace": "team-a"},
    "spec": {
        "limits": [
            {
                "type": "Container",
                "min": {"cpu": "100m"},
                "defaultRequest": {"cpu": 1},
                "default": {"cpu": 1, "nvidia.com/gpu": 1},
                "max": {"cpu": 8},
            },
            {"type": "Pod", "max": {"memory": "64Gi"}},
            {"type": "PersistentVolumeClaim", "max": {"storage": "1Ti"}},
        ]
    },
}
NETWORK: dict[str, Any] = {
    "apiVersion": "networking.k8s.io/v1",
    "kind": "NetworkPolicy",
    "metadata": {"name": "own", "namespace": "team-a"},
    "spec": {
        "podSelector": {},
        "ingress": [{"from": [{"podSelector": {}}]}],
        "egress": [{"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}, {}],
    },
}
ROLE: dict[str, Any] = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "Role",
    "metadata": {"name": "readers", "namespace": "team-a"},
    "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
}
CLUSTER_ROLE: dict[str, Any] = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRole",
    "metadata": {"name": "readers"},
    "rules": [*ROLE["rules"], {"nonResourceURLs": ["/metrics"], "verbs": ["get"]}],
}
BINDING: dict[str, Any] = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {"name": "readers"},
    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
    "subjects": [{"kind": "ServiceAccount", "name": "train", "namespace": "team-a"}],
}
PRIORITY: dict[str, Any] = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "train"},
    "value": 1000,
}
CRON: dict[str, Any] = {
    "apiVersion": "batch/v1",
    "kind": "CronJob",
    "metadata": {"name": "nightly", "namespace": "team-a"},
    "spec": {"schedule": "0 3 * * *", "jobTemplate": {"spec": JOB["spec"]}},
}
JOB_SET: dict[str, Any] = {
    "apiVersion": "jobset.x-k8s.io/v1alpha2",
    "kind": "JobSet",
    "metadata": {"name": "set", "namespace": "team-a"},
    "spec": {
        "replicatedJobs": [
            {
                "name": "a",
                "replicas": 1,
                "template": {
                    "spec": {"template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}}
                },
            },
            {
                "name": "b",
                "replicas": 1,
                "template": {
                    "spec": {"template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}}
                },
            },
        ]
    },
}
CLUSTER_CONFIG: dict[str, Any] = {
    "apiVersion": "eksctl.io/v1alpha5",
    "kind": "ClusterConfig",
    "metadata": {"name": "seoul", "region": "ap-northeast-2", "version": "1.35"},
    "managedNodeGroups": [{"name": "system", "instanceType": "m7i.large", "desiredCapacity": 2}],
}
COHORT: dict[str, Any] = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "Cohort",
    "metadata": {"name": "all"},
    "spec": {"parentName": "top"},
}
CLAIM: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "fsx", "namespace": "team-a"},
    "spec": {
        "accessModes": ["ReadWriteMany"],
        "storageClassName": "",
        "resources": {"requests": {"storage": "1200Gi"}},
    },
}
DAEMON: dict[str, Any] = {**DEPLOYMENT, "kind": "DaemonSet"}
TOPOLOGY: dict[str, Any] = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "Topology",
    "metadata": {"name": "eks"},
    "spec": {
        "levels": [
            {"nodeLabel": "topology.k8s.aws/network-node-layer-1"},
            {"nodeLabel": "kubernetes.io/hostname"},
        ]
    },
}
FLAVOR = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "ResourceFlavor",
    "metadata": {"name": "p5"},
    "spec": {
        "nodeLabels": {"pool": "p5"},
        "topologyName": "eks",
        "nodeTaints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}],
        "tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}],
    },
}

GIT = {
    "apiVersion": "source.toolkit.fluxcd.io/v1",
    "kind": "GitRepository",
    "metadata": {"name": "fleet"},
    "spec": {"url": "https://github.com/acme/fleet", "interval": "1m"},
}
OCI_SOURCE = {
    "apiVersion": "source.toolkit.fluxcd.io/v1",
    "kind": "OCIRepository",
    "metadata": {"name": "kueue"},
    "spec": {"url": "oci://registry.k8s.io/kueue/charts/kueue", "interval": "1h"},
}


def _ranks() -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "pytorch", "image": "i"}]}}


def group_of(resources: list[str], *flavors: str) -> dict[str, Any]:
    """A resource group in which each flavor has one of each resource."""
    quotas = [{"name": name, "nominalQuota": 1} for name in resources]
    listed = [{"name": name, "resources": quotas} for name in flavors]
    return {"coveredResources": resources, "flavors": listed}


PYTORCH_JOB: dict[str, Any] = {
    "apiVersion": "kubeflow.org/v1",
    "kind": "PyTorchJob",
    "metadata": {"name": "train", "namespace": "team-a"},
    "spec": {
        "pytorchReplicaSpecs": {
            "Master": {"replicas": 1, "template": _ranks()},
            "Worker": {"replicas": 3, "template": _ranks()},
        }
    },
}
MPI_JOB: dict[str, Any] = {
    "apiVersion": "kubeflow.org/v2beta1",
    "kind": "MPIJob",
    "metadata": {"name": "train", "namespace": "team-a"},
    "spec": {
        "mpiReplicaSpecs": {
            "Launcher": {"replicas": 1, "template": _ranks()},
            "Worker": {"replicas": 3, "template": _ranks()},
        }
    },
}
RAY_JOB: dict[str, Any] = {
    "apiVersion": "ray.io/v1",
    "kind": "RayJob",
    "metadata": {
        "name": "train",
        "namespace": "team-a",
        "labels": {"kueue.x-k8s.io/queue-name": "research"},
    },
    "spec": {
        "entrypoint": "python train.py",
        "shutdownAfterJobFinishes": True,
        "backoffLimit": 2,
        "rayClusterSpec": {
            "headGroupSpec": {"template": _ranks()},
            "workerGroupSpecs": [
                {
                    "groupName": "gpu",
                    "replicas": 2,
                    "minReplicas": 2,
                    "maxReplicas": 2,
                    "template": _ranks(),
                }
            ],
        },
    },
}
RAY_CLUSTER: dict[str, Any] = {
    "apiVersion": "ray.io/v1",
    "kind": "RayCluster",
    "metadata": {"name": "shared", "namespace": "team-a"},
    "spec": RAY_JOB["spec"]["rayClusterSpec"],
}
RAY_SERVICE: dict[str, Any] = {
    "apiVersion": "ray.io/v1",
    "kind": "RayService",
    "metadata": {"name": "chat", "namespace": "team-a"},
    "spec": {"rayClusterConfig": RAY_JOB["spec"]["rayClusterSpec"]},
}
SOUND = {
    body["kind"]: body
    for body in (
        BINDING,
        CLUSTER_ROLE,
        LIMITS,
        NETWORK,
        QUOTA,
        ROLE,
        SERVICE,
        STATEFUL,
        CLUSTER_QUEUE,
        DEPLOYMENT,
        DAEMON,
        HELM_RELEASE,
        JOB,
        KUSTOMIZATION,
        NODE_POOL,
        POD,
        RUNTIME,
        TRAIN_JOB,
        NODE_CLASS,
        AUTO_NODE_CLASS,
        VOLUME,
        SECRET,
        CONFIG,
        PRIORITY,
        CRON,
        JOB_SET,
        PYTORCH_JOB,
        MPI_JOB,
        RAY_JOB,
        RAY_CLUSTER,
        RAY_SERVICE,
        CLUSTER_CONFIG,
        COHORT,
        CLAIM,
        TOPOLOGY,
        FLAVOR,
        GIT,
        OCI_SOURCE,
    )
}

CASES: list[tuple[str, list[Edit], str, str]] = [
    # what the webhook of the training operator refuses
    (
        "PyTorchJob",
        [("spec/pytorchReplicaSpecs/Master/replicas", 2)],
        "SCH011",
        "spec.pytorchReplicaSpecs.Master.replicas",
    ),
    (
        "PyTorchJob",
        [("spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/name", "main")],
        "SCH011",
        "spec.pytorchReplicaSpecs.Worker.template.spec.containers",
    ),
    # what the MPI operator does not run
    (
        "MPIJob",
        [("spec/mpiReplicaSpecs/Launcher/replicas", 2)],
        "SCH011",
        "spec.mpiReplicaSpecs.Launcher.replicas",
    ),
    ("MPIJob", [("spec/mpiReplicaSpecs/Launcher", None)], "SCH011", "spec.mpiReplicaSpecs"),
    # what KubeRay's operator does not run, and Kueue's webhook refuses
    (
        "RayJob",
        [("spec/shutdownAfterJobFinishes", False)],
        "SCH011",
        "spec.shutdownAfterJobFinishes",
    ),
    (
        "RayJob",
        [("spec/rayClusterSpec/enableInTreeAutoscaling", True)],
        "SCH011",
        "spec.rayClusterSpec.enableInTreeAutoscaling",
    ),
    (
        "RayJob",
        [("spec/clusterSelector", {"ray.io/cluster": "shared"}), ("spec/backoffLimit", 0)],
        "SCH011",
        "spec.clusterSelector",
    ),
    (
        "RayJob",
        [
            ("spec/clusterSelector", {"ray.io/cluster": "shared"}),
            ("spec/backoffLimit", 0),
            ("spec/rayClusterSpec", None),
        ],
        "SCH012",
        'metadata.labels["kueue.x-k8s.io/queue-name"]',
    ),
    ("RayJob", [("spec/rayClusterSpec", None)], "SCH011", "spec"),
    (
        "RayJob",
        [("spec/rayClusterSpec/workerGroupSpecs/0/groupName", "head")],
        "SCH011",
        "spec.rayClusterSpec.workerGroupSpecs[0].groupName",
    ),
    (
        "RayJob",
        [("spec/rayClusterSpec/workerGroupSpecs/0/minReplicas", 3)],
        "SCH011",
        "spec.rayClusterSpec.workerGroupSpecs[0].minReplicas",
    ),
    ("RayJob", [("spec/submissionMode", "InteractiveMode")], "SCH011", "spec.backoffLimit"),
    (
        "RayJob",
        [("spec/submissionMode", "SidecarMode"), ("spec/submitterConfig", {})],
        "SCH011",
        "spec.submitterConfig",
    ),
    ("RayJob", [("spec/submissionMode", "Interactive")], "SCH012", "spec.submissionMode"),
    (
        "RayJob",
        [("spec/submissionMode", "HTTPMode"), ("spec/submitterConfig", {})],
        "SCH012",
        "spec.submitterConfig",
    ),
    (
        "PersistentVolume",
        [("spec/csi/volumeAttributes", {"mountname": "a"})],
        "SCH012",
        "spec.csi.volumeAttributes",
    ),
    (
        "PersistentVolume",
        [
            ("spec/csi/driver", "s3.csi.aws.com"),
            ("spec/csi/volumeAttributes", {"bucketName": "s3://a"}),
        ],
        "SCH012",
        "spec.csi.volumeAttributes.bucketName",
    ),
    (
        "RayJob",
        [
            ("metadata/labels", None),
            ("spec/clusterSelector", {"ray.io/cluster": "shared"}),
            ("spec/backoffLimit", 0),
        ],
        "SCH012",
        "spec.rayClusterSpec",
    ),
    ("RayJob", [("spec/activeDeadlineSeconds", 0)], "SCH011", "spec.activeDeadlineSeconds"),
    (
        "RayCluster",
        [("spec/workerGroupSpecs/0/rayStartParams", {"num_gpus": "8"})],
        "SCH012",
        "spec.workerGroupSpecs[0].rayStartParams.num_gpus",
    ),
    (
        "RayCluster",
        [("spec/workerGroupSpecs/0/minReplicas", 3)],
        "SCH011",
        "spec.workerGroupSpecs[0].minReplicas",
    ),
    (
        "RayService",
        [("spec/rayClusterConfig/workerGroupSpecs/0/minReplicas", 3)],
        "SCH011",
        "spec.rayClusterConfig.workerGroupSpecs[0].minReplicas",
    ),
    ("RayJob", [("metadata/name", "1-train")], "NAM001", "metadata.name"),
    ("RayJob", [("metadata/name", "a" * 48)], "NAM002", "metadata.name"),
    # what eksctl refuses
    ("ClusterConfig", [("availabilityZones", ["a"])], "SCH011", "availabilityZones"),
    ("ClusterConfig", [("autoModeConfig", {"enabled": True})], "SCH011", "managedNodeGroups"),
    (
        "ClusterConfig",
        [("iam", {"serviceAccounts": [{"metadata": {"name": "a"}}]})],
        "SCH011",
        "iam.serviceAccounts",
    ),
    ("ClusterConfig", [("nodeGroups", [{"name": "system"}])], "SCH011", "nodeGroups[0].name"),
    (
        "ClusterConfig",
        [("managedNodeGroups/0/instanceTypes", ["m7i.large"])],
        "SCH011",
        "managedNodeGroups[0].instanceTypes",
    ),
    (
        "ClusterConfig",
        [("managedNodeGroups/0/placement", {"groupName": ""})],
        "SCH011",
        "managedNodeGroups[0].placement",
    ),
    (
        "ClusterConfig",
        [("managedNodeGroups/0/updateConfig", {})],
        "SCH011",
        "managedNodeGroups[0].updateConfig",
    ),
    (
        "ClusterConfig",
        [("managedNodeGroups/0/capacityReservation", {"capacityReservationPreference": "all"})],
        "SCH011",
        "managedNodeGroups[0].capacityReservation.capacityReservationPreference",
    ),
    # CEL rules in words
    ("ResourceFlavor", [("spec/nodeLabels", None)], "SCH008", "spec.topologyName"),
    (
        "ResourceFlavor",
        [("spec/nodeTaints/0/effect", "NoScedule")],
        "SCH008",
        "spec.nodeTaints[0].effect",
    ),
    (
        "ResourceFlavor",
        [("spec/tolerations/0/value", "yes")],
        "SCH008",
        "spec.tolerations[0].value",
    ),
    (
        "ResourceFlavor",
        [("spec/tolerations/0/operator", "Has")],
        "SCH008",
        "spec.tolerations[0].operator",
    ),
    (
        "ResourceFlavor",
        [("spec/tolerations/0/tolerationSeconds", 3)],
        "SCH008",
        "spec.tolerations[0].tolerationSeconds",
    ),
    ("GitRepository", [("spec/serviceAccountName", "reader")], "SCH008", "spec.serviceAccountName"),
    ("OCIRepository", [("spec/url", None)], "SCH008", "spec.url"),
    (
        "HelmRelease",
        [("spec/upgrade", {"strategy": {"name": "RemediateOnFailure", "retryInterval": "5m"}})],
        "SCH008",
        "spec.upgrade.strategy.retryInterval",
    ),
    (
        "ClusterTrainingRuntime",
        [
            (
                "spec/mlPolicy/torch",
                {"envInjection": {"targets": [{"jobName": "node", "containerNames": ["node"]}]}},
            )
        ],
        "SCH008",
        "spec.mlPolicy.torch.envInjection.targets[0].containerNames[0]",
    ),
    (
        "JobSet",
        [
            ("spec/replicatedJobs/1/dependsOn", [{"name": "a", "status": "Ready"}]),
            ("spec/startupPolicy", {"startupPolicyOrder": "InOrder"}),
        ],
        "SCH008",
        "spec.replicatedJobs[1].dependsOn",
    ),
    # structure
    ("NodePool", [("spec/tempate", {})], "SCH001", "spec.tempate"),
    ("NodePool", [("spec/weight", "10")], "SCH002", "spec.weight"),
    ("Kustomization", [("spec/interval", None)], "SCH003", "spec.interval"),
    ("Kustomization", [("spec/interval", "1d")], "SCH006", "spec.interval"),
    ("NodePool", [("metadata/label", {})], "SCH001", "metadata.label"),
    (
        "ClusterQueue",
        [(f"{RG}/flavors/0/resources/0/nominalQuota", 1.5)],
        "SCH002",
        "spec.resourceGroups[0].flavors[0].resources[0].nominalQuota",
    ),
    (
        "ClusterConfig",
        [("managedNodeGroups/0/instanceTypo", "x")],
        "SCH001",
        "managedNodeGroups[0].instanceTypo",
    ),
    (
        "ClusterConfig",
        [("managedNodeGroups/0/desiredCapacity", "2")],
        "SCH002",
        "managedNodeGroups[0].desiredCapacity",
    ),
    # what core definitions leave open
    ("Pod", [("spec/restartPolicy", "never")], "SCH004", "spec.restartPolicy"),
    ("Pod", [(f"{C}/imagePullPolicy", "Allways")], "SCH004", "spec.containers[0].imagePullPolicy"),
    (
        "Pod",
        [(f"{C}/ports/0/containerPort", 99999)],
        "SCH005",
        "spec.containers[0].ports[0].containerPort",
    ),
    (
        "Pod",
        [(f"{C}/resources/limits/memory", "lots")],
        "SCH006",
        "spec.containers[0].resources.limits.memory",
    ),
    ("Pod", [(f"{C}/name", "Node")], "NAM001", "spec.containers[0].name"),
    ("Pod", [(f"{C}/env/0/name", "A=B")], "NAM001", "spec.containers[0].env[0].name"),
    ("Pod", [(f"{C}/image", None)], "SCH003", "spec.containers[0].image"),
    ("Pod", [("spec/nodeSelector", {"pool": "a b"})], "NAM003", "spec.nodeSelector.pool"),
    (
        "Pod",
        [("spec/tolerations", [{"key": "k", "operator": "Is"}])],
        "SCH004",
        "spec.tolerations[0].operator",
    ),
    (
        "Pod",
        [("spec/volumes/0/emptyDir/medium", "Ram")],
        "SCH006",
        "spec.volumes[0].emptyDir.medium",
    ),
    (
        "Pod",
        [(f"{C}/env", [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}])],
        "SCH007",
        "spec.containers[0].env[1]",
    ),
    (
        "Pod",
        [(f"{C}/ports", [{"containerPort": 1}, {"containerPort": 1, "protocol": "TCP"}])],
        "SCH007",
        "spec.containers[0].ports[1]",
    ),
    ("PersistentVolume", [("spec/accessModes", ["ReadWriteAll"])], "SCH004", "spec.accessModes[0]"),
    ("CronJob", [("spec/schedule", "nightly")], "SCH006", "spec.schedule"),
    # names
    ("Pod", [("metadata/name", "A")], "NAM001", "metadata.name"),
    ("Pod", [("metadata/name", None)], "NAM006", "metadata.name"),
    ("Pod", [("metadata/name", "a" * 254)], "NAM002", "metadata.name"),
    ("Pod", [("metadata/namespace", "a.b")], "NAM001", "metadata.namespace"),
    ("Pod", [("metadata/labels", {"team": "research & infra"})], "NAM003", "metadata.labels.team"),
    ("Pod", [("metadata/labels", {"a/b/c": "x"})], "NAM003", 'metadata.labels["a/b/c"]'),
    (
        "Pod",
        [("metadata/annotations", {"cost centre": "x"})],
        "NAM004",
        'metadata.annotations["cost centre"]',
    ),
    ("NodePool", [("metadata/namespace", "team-a")], "NAM007", "metadata.namespace"),
    ("CronJob", [("metadata/name", "n" * 53)], "NAM002", "metadata.name"),
    ("TrainJob", [("metadata/name", "1st")], "NAM001", "metadata.name"),
    ("TrainJob", [("metadata/name", "a" * 49)], "NAM002", "metadata.name"),
    (
        "TrainJob",
        [("metadata/name", "a" * 47), ("spec/trainer/numNodes", 1000)],
        "NAM002",
        "metadata.name",
    ),
    ("HelmRelease", [("metadata/name", "k" * 54)], "NAM002", "metadata.name"),
    (
        "HelmRelease",
        [("metadata/name", "k" * 40), ("spec/targetNamespace", "a-long-namespace")],
        "NAM002",
        "metadata.name",
    ),
    ("JobSet", [("metadata/name", "s" * 53)], "NAM002", "metadata.name"),
    ("JobSet", [("metadata/name", "s" * 70)], "NAM002", "metadata.name"),
    ("TrainJob", [("metadata/name", "a" * 70)], "NAM002", "metadata.name"),
    ("Pod", [("metadata/namespace", "N" * 64)], "NAM001", "metadata.namespace"),
    (
        "Pod",
        [("metadata/labels", {f"{'p' * 254}/a": "x"})],
        "NAM003",
        f'metadata.labels["{"p" * 254}/a"]',
    ),
    # pods
    (
        "Pod",
        [(f"{C}/volumeMounts/0/name", "data")],
        "SCH011",
        "spec.containers[0].volumeMounts[0].name",
    ),
    (
        "Pod",
        [(f"{C}/resources/requests/memory", "2Ti")],
        "SCH011",
        "spec.containers[0].resources.requests.memory",
    ),
    (
        "Pod",
        [(f"{C}/resources/requests/nvidia.com|gpu", 4)],
        "SCH011",
        'spec.containers[0].resources.requests["nvidia.com/gpu"]',
    ),
    (
        "Pod",
        [(f"{C}/resources", {"requests": NO_AMOUNT, "limits": NO_AMOUNT})],
        "SCH011",
        'spec.containers[0].resources.requests["nvidia.com/gpu"]',
    ),
    (
        "Pod",
        [(f"{C}/resources/limits", {"memory": "1Ti"})],
        "SCH011",
        'spec.containers[0].resources.requests["nvidia.com/gpu"]',
    ),
    (
        "Pod",
        [(f"{C}/resources/limits/gpus", 8)],
        "SCH011",
        "spec.containers[0].resources.limits.gpus",
    ),
    (
        "Pod",
        [("spec/initContainers", [{"name": "node", "image": "i"}])],
        "SCH011",
        "spec.containers[0].name",
    ),
    (
        "Pod",
        [("spec/tolerations", [{"key": "k", "operator": "Exists", "value": "v"}])],
        "SCH011",
        "spec.tolerations[0].value",
    ),
    ("Pod", [("spec/tolerations", [{"value": "v"}])], "SCH011", "spec.tolerations[0]"),
    (
        "Job",
        [("spec/template/spec/restartPolicy", "Always")],
        "SCH011",
        "spec.template.spec.restartPolicy",
    ),
    (
        "Job",
        [("spec/template/spec/restartPolicy", None)],
        "SCH011",
        "spec.template.spec.restartPolicy",
    ),
    ("Job", [("spec/completionMode", "Indexed")], "SCH011", "spec.completions"),
    ("CronJob", [("spec/schedule", "CRON_TZ=UTC 0 3 * * *")], "SCH006", "spec.schedule"),
    (
        "Deployment",
        [("spec/template/metadata/labels/app", "e")],
        "SCH011",
        "spec.selector.matchLabels.app",
    ),
    (
        "DaemonSet",
        [("spec/template/spec/restartPolicy", "Never")],
        "SCH011",
        "spec.template.spec.restartPolicy",
    ),
    # Karpenter
    (
        "EC2NodeClass",
        [
            (
                "spec/capacityReservationSelectorTerms",
                [{"id": "cr-1", "tags": {"a": "b"}}, {"id": "cr-2"}],
            )
        ],
        "SCH011",
        "spec.capacityReservationSelectorTerms[0].tags",
    ),
    (
        "EC2NodeClass",
        [("spec/capacityReservationSelectorTerms", [{"ownerID": "111122223333"}, {"id": "cr-2"}])],
        "SCH011",
        "spec.capacityReservationSelectorTerms[0]",
    ),
    (
        "EC2NodeClass",
        [("spec/subnetSelectorTerms/0/id", "subnet-1")],
        "SCH011",
        "spec.subnetSelectorTerms[0].tags",
    ),
    (
        "EC2NodeClass",
        [("spec/kubelet", {"evictionSoft": {"memory.available": "5%"}})],
        "SCH008",
        "spec.kubelet.evictionSoft",
    ),
    (
        "NodePool",
        [("spec/template/spec/requirements/0/values", ["a b"])],
        "SCH011",
        "spec.template.spec.requirements[0].values[0]",
    ),
    (
        "NodePool",
        [("spec/template/spec/taints", [{"key": "k", "effect": "NoSchedule"}] * 2)],
        "SCH011",
        "spec.template.spec.taints[1]",
    ),
    ("NodeClass", [("spec/instanceProfile", "nodes")], "SCH011", "spec.instanceProfile"),
    (
        "NodeClass",
        [("spec/tags", {"eks.amazonaws.com/nodeclass": "a"})],
        "SCH011",
        'spec.tags["eks.amazonaws.com/nodeclass"]',
    ),
    (
        "NodeClass",
        [("spec/podSubnetSelectorTerms", [{"tags": {"a": "b"}}])],
        "SCH011",
        "spec.podSubnetSelectorTerms",
    ),
    (
        "NodeClass",
        [("spec/advancedNetworking", {"networkInterfaces": [SECOND_CARD]})],
        "SCH011",
        "spec.advancedNetworking.networkInterfaces",
    ),
    (
        "NodeClass",
        [
            (
                "spec/advancedNetworking",
                {"networkInterfaces": [{**FIRST_CARD, "interfaceType": "efa-only"}]},
            )
        ],
        "SCH011",
        "spec.advancedNetworking.networkInterfaces[0].interfaceType",
    ),
    (
        "NodeClass",
        [
            (
                "spec/advancedNetworking",
                {"networkInterfaces": [FIRST_CARD, {**SECOND_CARD, "secondaryIPv4PrefixCount": 1}]},
            )
        ],
        "SCH011",
        "spec.advancedNetworking.networkInterfaces[1].secondaryIPv4PrefixCount",
    ),
    (
        "NodeClass",
        [
            (
                "spec/advancedNetworking",
                {"associatePublicIPAddress": True, "networkInterfaces": [FIRST_CARD, SECOND_CARD]},
            )
        ],
        "SCH011",
        "spec.advancedNetworking.associatePublicIPAddress",
    ),
    # Kueue
    (
        "ClusterQueue",
        [(f"{RG}/coveredResources", ["nvidia.com/gpu", "cpu"])],
        "SCH011",
        "spec.resourceGroups[0].flavors[0].resources[0].name",
    ),
    (
        "ClusterQueue",
        [(f"{RG}/flavors/0/resources/0/nominalQuota", -1)],
        "SCH011",
        "spec.resourceGroups[0].flavors[0].resources[0].nominalQuota",
    ),
    (
        "ClusterQueue",
        [("spec/cohortName", "all"), (f"{RG}/flavors/0/resources/0/lendingLimit", 500)],
        "SCH011",
        "spec.resourceGroups[0].flavors[0].resources[0].lendingLimit",
    ),
    (
        "ClusterQueue",
        [(f"{RG}/flavors/0/resources/0/lendingLimit", 1)],
        "SCH011",
        "spec.resourceGroups[0].flavors[0].resources[0].lendingLimit",
    ),
    ("ClusterQueue", [("spec/namespaceSelector", None)], "SCH012", "spec.namespaceSelector"),
    ("Cohort", [("spec/parentName", "all")], "SCH011", "spec.parentName"),
    ("Topology", [("spec/levels/0/nodeLabel", "a b")], "SCH006", "spec.levels[0].nodeLabel"),
    # Trainer
    (
        "ClusterTrainingRuntime",
        [(f"{RJ}/replicas", 2)],
        "SCH011",
        "spec.template.spec.replicatedJobs[0].replicas",
    ),
    (
        "ClusterTrainingRuntime",
        [(f"{RJ}/template/spec/template/spec/containers/0/name", "main")],
        "SCH011",
        "spec.template.spec.replicatedJobs[0].template.spec.template.spec.containers[0].name",
    ),
    (
        "ClusterTrainingRuntime",
        [(f"{RJ}/template/metadata", None)],
        "SCH012",
        "spec.template.spec.replicatedJobs",
    ),
    (
        "ClusterTrainingRuntime",
        [(f"{RJ}/name", "worker")],
        "SCH012",
        "spec.template.spec.replicatedJobs[0].name",
    ),
    (
        "ClusterTrainingRuntime",
        [(f"{TAS}slice-size", "4")],
        "SCH011",
        'spec.template.spec.replicatedJobs[0].template.spec.template.metadata.annotations["kueue.x-k8s.io/podset-slice-size"]',
    ),
    (
        "ClusterTrainingRuntime",
        [(f"{TAS}required-topology", "a"), (f"{TAS}preferred-topology", "b")],
        "SCH011",
        'spec.template.spec.replicatedJobs[0].template.spec.template.metadata.annotations["kueue.x-k8s.io/podset-preferred-topology"]',
    ),
    (
        "TrainJob",
        [("spec/runtimePatches/0/manager", "compiler")],
        "SCH011",
        "spec.runtimePatches[0].manager",
    ),
    (
        "TrainJob",
        [(f"{PATCH}/template/spec/template/spec/containers/0/env", [{"name": "A"}])],
        "SCH011",
        "spec.runtimePatches[0].trainingRuntimeSpec.template.spec.replicatedJobs[0].template.spec.template.spec.containers[0].env",
    ),
    (
        "ClusterTrainingRuntime",
        [(f"{RJ}/template/spec/template/spec/nodeName", "ip-10-0-0-1")],
        "SCH012",
        "spec.template.spec.replicatedJobs[0].template.spec.template.spec.nodeName",
    ),
    # JobSet
    (
        "JobSet",
        [("spec/replicatedJobs/0/dependsOn", [{"name": "b", "status": "Ready"}])],
        "SCH011",
        "spec.replicatedJobs[0].dependsOn",
    ),
    (
        "JobSet",
        [("spec/replicatedJobs/1/dependsOn", [{"name": "c", "status": "Ready"}])],
        "SCH011",
        "spec.replicatedJobs[1].dependsOn[0].name",
    ),
    (
        "JobSet",
        [("spec/successPolicy", {"operator": "All", "targetReplicatedJobs": ["z"]})],
        "SCH011",
        "spec.successPolicy.targetReplicatedJobs[0]",
    ),
    (
        "JobSet",
        [("spec/coordinator", {"replicatedJob": "z"})],
        "SCH011",
        "spec.coordinator.replicatedJob",
    ),
    # Flux
    ("Kustomization", [("spec/kubeConfig", {})], "SCH008", "spec.kubeConfig"),
    ("Kustomization", [("spec/interval", "0s")], "SCH011", "spec.interval"),
    (
        "HelmRelease",
        [
            (
                "spec/chart",
                {"spec": {"chart": "k", "sourceRef": {"kind": "HelmRepository", "name": "k"}}},
            )
        ],
        "SCH008",
        "spec.chartRef",
    ),
    ("HelmRelease", [("spec/kubeConfig", {})], "SCH008", "spec.kubeConfig"),
    (
        "JobSet",
        [
            (
                "spec/replicatedJobs/0/template/spec/template/spec/tolerations",
                [{"key": "a", "operator": "Exist"}],
            )
        ],
        "SCH011",
        "spec.replicatedJobs[0].template.spec.template.spec.tolerations[0].operator",
    ),
    ("HelmRelease", [("spec/releaseName", "r" * 54)], "SCH005", "spec.releaseName"),
    # storage and data
    ("PersistentVolume", [("spec/nfs", {"server": "s", "path": "/"})], "SCH011", "spec"),
    (
        "PersistentVolumeClaim",
        [("spec/resources/requests", {})],
        "SCH011",
        "spec.resources.requests.storage",
    ),
    ("Secret", [("data/token", "not base64!")], "SCH011", "data.token"),
    ("Secret", [("data/token", "YWFh" * 349_526)], "SCH011", "data"),
    ("Secret", [("data", {}), ("stringData", {"a": "a" * 1_048_577})], "SCH011", "stringData"),
    ("ConfigMap", [("data/a b", "x")], "SCH011", 'data["a b"]'),
    ("ConfigMap", [("data/a.json", "x" * (1 << 20 | 1))], "SCH011", "data"),
    ("ClusterRoleBinding", [("subjects/0/namespace", None)], "SCH011", "subjects[0]"),
    ("ClusterRoleBinding", [("subjects/0/name", "")], "SCH005", "subjects[0].name"),
    ("ClusterRole", [("rules/0/apiGroups", None)], "SCH011", "rules[0]"),
    ("Role", [("rules/0/resources", [])], "SCH011", "rules[0]"),
    ("LimitRange", [("spec/limits/0/max", {"cpux": 1})], "SCH011", "spec.limits[0].max.cpux"),
    (
        "LimitRange",
        [("spec/limits/0/default", {"cpu": "100m"})],
        "SCH011",
        "spec.limits[0].defaultRequest.cpu",
    ),
    ("LimitRange", [("spec/limits/0/max", {"cpu": 0})], "SCH011", "spec.limits[0].default.cpu"),
    (
        "LimitRange",
        [("spec/limits/1/default", {"memory": "1Gi"})],
        "SCH011",
        "spec.limits[1].default",
    ),
    ("NetworkPolicy", [("spec/ingress/0/from/0", {})], "SCH011", "spec.ingress[0].from[0]"),
    ("NetworkPolicy", [("spec/egress/0/to/0", {})], "SCH011", "spec.egress[0].to[0]"),
    (
        "ResourceQuota",
        [("spec/hard", {"requests.cpux": 1})],
        "SCH011",
        'spec.hard["requests.cpux"]',
    ),
    ("ResourceQuota", [("spec/hard", {"pods": -1})], "SCH011", "spec.hard.pods"),
    ("Service", [("spec/ports", None)], "SCH011", "spec.ports"),
    ("Service", [("spec/ports/1/name", None)], "SCH011", "spec.ports[1]"),
    (
        "StatefulSet",
        [("spec/template/metadata/labels", {"app": "b"})],
        "SCH011",
        "spec.selector.matchLabels.app",
    ),
    (
        "StatefulSet",
        [("spec/volumeClaimTemplates", None)],
        "SCH011",
        "spec.template.spec.containers[0].volumeMounts[0].name",
    ),
    ("StatefulSet", [("spec/selector", {})], "SCH011", "spec.selector"),
    ("Deployment", [("spec/template/spec", None)], "SCH011", "spec.template.spec"),
    (
        "Deployment",
        [("spec/template/spec/containers", [])],
        "SCH005",
        "spec.template.spec.containers",
    ),
    ("Pod", [("spec/containers/0/image", "")], "SCH005", "spec.containers[0].image"),
    (
        "Pod",
        [("spec/containers/0/readinessProbe", {"periodSeconds": 5})],
        "SCH011",
        "spec.containers[0].readinessProbe",
    ),
    (
        "Pod",
        [("spec/containers/0/env", [{"name": "A", "valueFrom": {}}])],
        "SCH011",
        "spec.containers[0].env[0].valueFrom",
    ),
    (
        "Pod",
        [("spec/containers/0/envFrom", [{"prefix": "A"}])],
        "SCH011",
        "spec.containers[0].envFrom[0]",
    ),
    ("PriorityClass", [("metadata/name", "system-mine")], "SCH011", "metadata.name"),
    ("PriorityClass", [("value", 1_500_000_000)], "SCH011", "value"),
    # roles, names and pods of jobs of Kubeflow and Ray
    (
        "PyTorchJob",
        [("spec/pytorchReplicaSpecs/Chief", {"template": _ranks()})],
        "SCH011",
        "spec.pytorchReplicaSpecs.Chief",
    ),
    (
        "PyTorchJob",
        [("spec/elasticPolicy", {}), ("spec/pytorchReplicaSpecs/Worker", None)],
        "SCH011",
        "spec.elasticPolicy",
    ),
    (
        "PyTorchJob",
        [("spec/pytorchReplicaSpecs/Worker/replicas", 0)],
        "SCH011",
        "spec.pytorchReplicaSpecs.Worker.replicas",
    ),
    (
        "PyTorchJob",
        [("spec/pytorchReplicaSpecs/Worker/template/spec/restartPolicy", "Always")],
        "SCH012",
        "spec.pytorchReplicaSpecs.Worker.template.spec.restartPolicy",
    ),
    ("PyTorchJob", [("spec/pytorchReplicaSpecs", None)], "SCH003", "spec.pytorchReplicaSpecs"),
    ("PyTorchJob", [("metadata/name", "1-train")], "SCH011", "metadata.name"),
    ("PyTorchJob", [("metadata/name", "a" * 55)], "NAM002", "metadata.name"),
    ("PyTorchJob", [("metadata/name", "a" * 64)], "NAM002", "metadata.name"),
    ("MPIJob", [("spec/mpiReplicaSpecs", None)], "SCH003", "spec.mpiReplicaSpecs"),
    (
        "RayJob",
        [("spec/rayClusterSpec/workerGroupSpecs/0/template/spec/containers", [])],
        "SCH011",
        "spec.rayClusterSpec.workerGroupSpecs[0].template",
    ),
    # eksctl: what goes together
    (
        "ClusterConfig",
        [
            ("managedNodeGroups", None),
            ("autoModeConfig", {"enabled": True}),
            ("outpost", {"controlPlaneOutpostARN": "arn:aws:outposts:us-west-2:1:outpost/op-1"}),
        ],
        "SCH011",
        "autoModeConfig.enabled",
    ),
    (
        "ClusterConfig",
        [
            ("managedNodeGroups", None),
            ("autoModeConfig", {"enabled": True}),
            ("addons", [{"name": "coredns"}]),
        ],
        "SCH011",
        "addons[0].name",
    ),
    (
        "ClusterConfig",
        [
            ("availabilityZones", ["a", "b"]),
            ("vpc", {"subnets": {"private": {"a": {"id": "subnet-1"}}}}),
        ],
        "SCH011",
        "availabilityZones",
    ),
    (
        "ClusterConfig",
        [
            ("vpc", {"subnets": {"private": {"a": {"id": "subnet-1"}}}}),
            ("managedNodeGroups/0/subnets", ["a", "subnet-1", "subnet-of-others", "b"]),
        ],
        "SCH011",
        "managedNodeGroups[0].subnets[3]",
    ),
    (
        "ClusterConfig",
        [
            (
                "managedNodeGroups/0/capacityReservation",
                {
                    "capacityReservationPreference": "open",
                    "capacityReservationTarget": {"capacityReservationID": "cr-1"},
                },
            )
        ],
        "SCH011",
        "managedNodeGroups[0].capacityReservation.capacityReservationPreference",
    ),
    (
        "ClusterConfig",
        [
            (
                "managedNodeGroups/0/capacityReservation/capacityReservationTarget",
                {"capacityReservationID": "cr-1", "capacityReservationResourceGroupARN": "arn:x"},
            )
        ],
        "SCH011",
        "managedNodeGroups[0].capacityReservation.capacityReservationTarget",
    ),
    (
        "ClusterConfig",
        [("managedNodeGroups/0/instanceMarketOptions", {"marketType": "spot"})],
        "SCH011",
        "managedNodeGroups[0].instanceMarketOptions.marketType",
    ),
    # Karpenter
    (
        "EC2NodeClass",
        [("spec/amiSelectorTerms/0/name", "x")],
        "SCH008",
        "spec.amiSelectorTerms[0].name",
    ),
    (
        "EC2NodeClass",
        [("spec/kubelet", {"kubeReserved": {"memory": "1Gi", "cpu": "-1"}})],
        "SCH008",
        "spec.kubelet.kubeReserved.cpu",
    ),
    (
        "NodePool",
        [
            (f"{NODE_CLASS_REF}/group", "eks.amazonaws.com"),
            (f"{NODE_CLASS_REF}/kind", "NodeClass"),
            ("spec/template/spec/expireAfter", "a month"),
        ],
        "SCH006",
        "spec.template.spec.expireAfter",
    ),
    # Kueue
    (
        "ClusterQueue",
        [("spec/resourceGroups", [group_of(["cpu"], "a"), group_of(["cpu"], "b")])],
        "SCH011",
        "spec.resourceGroups[1].coveredResources[0]",
    ),
    (
        "ClusterQueue",
        [("spec/resourceGroups", [group_of(["cpu"], "a"), group_of(["memory"], "a")])],
        "SCH011",
        "spec.resourceGroups[1].flavors[0]",
    ),
    (
        "ClusterQueue",
        [("spec/resourceGroups", [group_of(MANY[:9], *MANY[:60])])],
        "SCH011",
        "spec.resourceGroups[0].flavors",
    ),
    (
        "ClusterQueue",
        [
            (
                "spec/resourceGroups",
                [group_of([f"a.b/{at}"], *MANY[at : at + 60]) for at in range(0, 300, 60)],
            )
        ],
        "SCH011",
        "spec.resourceGroups",
    ),
    (
        "ClusterQueue",
        [
            (
                "spec/admissionChecksStrategy",
                {"admissionChecks": [{"name": "x", "onFlavors": ["a100", "h100"]}]},
            )
        ],
        "SCH011",
        "spec.admissionChecksStrategy.admissionChecks[0].onFlavors[1]",
    ),
    (
        "ClusterTrainingRuntime",
        [(f"{TAS}required-topology", "a b")],
        "SCH011",
        f'{TAS_PLACE}required-topology"]',
    ),
    (
        "ClusterTrainingRuntime",
        [(f"{TAS}unconstrained-topology", "maybe")],
        "SCH011",
        f'{TAS_PLACE}unconstrained-topology"]',
    ),
    (
        "ClusterTrainingRuntime",
        [(f"{TAS}slice-required-topology", "kubernetes.io/hostname")],
        "SCH011",
        f'{TAS_PLACE}slice-required-topology"]',
    ),
    (
        "ClusterTrainingRuntime",
        [(f"{TAS}slice-required-topology", "x"), (f"{TAS}slice-size", "2")],
        "SCH011",
        f'{TAS_PLACE}slice-size"]',
    ),
    (
        "ClusterTrainingRuntime",
        [(f"{TAS}required-topology", "x"), (f"{TAS}group-name", "7")],
        "SCH011",
        f'{TAS_PLACE}group-name"]',
    ),
    ("ClusterTrainingRuntime", [(f"{TAS}group-name", "g")], "SCH011", f'{TAS_PLACE}group-name"]'),
    (
        "ClusterTrainingRuntime",
        [
            (f"{TAS}required-topology", "x"),
            (f"{TAS}group-name", "g"),
            (f"{TAS}slice-required-topology", "x"),
            (f"{TAS}slice-size", "1"),
        ],
        "SCH011",
        f'{TAS_PLACE}group-name"]',
    ),
    # pods
    (
        "Pod",
        [("spec/tolerations", [{"key": "k", "operator": "Exists", "tolerationSeconds": 3}])],
        "SCH011",
        "spec.tolerations[0].tolerationSeconds",
    ),
    (
        "Pod",
        [(f"{C}/volumeMounts", [{"name": "shm", "mountPath": "/a"}] * 2)],
        "SCH007",
        "spec.containers[0].volumeMounts[1]",
    ),
    (
        "Pod",
        [(f"{C}/resources/requests/memory", "-1Gi")],
        "SCH011",
        "spec.containers[0].resources.requests.memory",
    ),
    (
        "Pod",
        [(f"{C}/resources/limits", {"nvidia.com/gpu": "0.5"}), (f"{C}/resources/requests", {})],
        "SCH011",
        'spec.containers[0].resources.limits["nvidia.com/gpu"]',
    ),
    (
        "Job",
        [
            ("spec/podFailurePolicy", {"rules": []}),
            ("spec/template/spec/restartPolicy", "OnFailure"),
        ],
        "SCH011",
        "spec.podFailurePolicy",
    ),
    # Flux
    (
        "Kustomization",
        [
            ("spec/wait", True),
            ("spec/healthChecks", [{"apiVersion": "v1", "kind": "Pod", "name": "a"}]),
        ],
        "SCH012",
        "spec.healthChecks",
    ),
    ("HelmRelease", [("spec/releaseName", "Kueue")], "SCH011", "spec.releaseName"),
    (
        "NetworkPolicy",
        [("spec/egress/0/to/0/ipBlock/cidr", "10.0.0.0/33")],
        "SCH006",
        "spec.egress[0].to[0].ipBlock.cidr",
    ),
    (
        "NetworkPolicy",
        [("spec/egress/0/to/0/ipBlock/cidr", "10.0.0.1")],
        "SCH006",
        "spec.egress[0].to[0].ipBlock.cidr",
    ),
    ("Pod", [("metadata/labels", {"a" * 64: "x"})], "NAM003", f"metadata.labels.{'a' * 64}"),
    # storage and data
    ("PersistentVolume", [("spec/capacity", {})], "SCH011", "spec.capacity.storage"),
    ("ConfigMap", [("binaryData", {"a.json": "aGk="})], "SCH011", 'binaryData["a.json"]'),
    ("ConfigMap", [("data/a.json", "[" * 100_000)], "SCH012", 'data["a.json"]'),
    ("ConfigMap", [("data", None), ("binaryData", {"a": "A" * 1_398_104})], "SCH011", "binaryData"),
    ("PriorityClass", [("metadata/name", "system-node-critical")], "SCH011", "metadata.name"),
]

# What stands near something that is refused, and is right.
RIGHT: list[tuple[str, list[Edit]]] = [
    ("PyTorchJob", [("metadata/name", None), ("metadata/generateName", "train-")]),
    ("PyTorchJob", [("metadata/name", "a" * 54)]),
    ("PyTorchJob", [("spec/elasticPolicy", {}), ("spec/pytorchReplicaSpecs/Master", None)]),
    # training-operator v1.9.4 has no webhook for its own MPIJob
    ("MPIJob", [("apiVersion", "kubeflow.org/v1"), ("spec/mpiReplicaSpecs/Launcher/replicas", 2)]),
    ("RayJob", [("metadata/labels", None), ("spec/shutdownAfterJobFinishes", False)]),
    ("RayJob", [("spec/rayClusterSpec/workerGroupSpecs/0/minReplicas", None)]),
    (
        "ClusterConfig",
        [
            ("managedNodeGroups", None),
            ("autoModeConfig", {"enabled": True}),
            ("remoteNetworkConfig", {"iam": {}, "remoteNodeNetworks": [{"cidrs": ["10.0.0.0/8"]}]}),
            ("addons", [{"name": "coredns"}]),
        ],
    ),
    (
        "ClusterTrainingRuntime",
        [
            (
                "spec/mlPolicy/torch",
                {"envInjection": {"targets": [{"jobName": "node", "containerNames": ["side"]}]}},
            )
        ],
    ),
    (
        "ClusterTrainingRuntime",
        [
            (f"{TAS}required-topology", "x"),
            (f"{TAS}slice-required-topology", "x"),
            (f"{TAS}slice-size", "1"),
        ],
    ),
    (
        "ClusterQueue",
        [
            (
                "spec/admissionChecksStrategy",
                {"admissionChecks": [{"name": "x", "onFlavors": ["a100"]}, {"name": "y"}]},
            )
        ],
    ),
    (
        "Pod",
        [
            (
                "spec/tolerations",
                [{"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 3}],
            )
        ],
    ),
    ("Pod", [("spec/tolerations", [{"key": "", "operator": "Exists"}])]),
    ("Pod", [("metadata/labels", {"a" * 63: "x", "a.b/" + "a" * 63: "x"})]),
    ("ConfigMap", [("data", None), ("binaryData", {"a": "A" * 1_398_102 + "=="})]),
    ("PriorityClass", [("metadata/name", "system-node-critical"), ("value", 2_000_001_000)]),
]


@pytest.mark.parametrize("body", SOUND.values(), ids=SOUND)
def test_a_sound_object_has_no_fault(body: dict[str, Any]) -> None:
    assert validate_body(body) == []


@pytest.mark.parametrize(("kind", "edits"), RIGHT, ids=[kind for kind, _ in RIGHT])
def test_what_is_right_has_no_fault(kind: str, edits: list[Edit]) -> None:
    assert validate_body(edited(SOUND[kind], *edits)) == []


def test_a_source_has_an_account_where_its_provider_knows_one() -> None:
    account = ("spec/serviceAccountName", "reader")
    assert validate_body(edited(GIT, ("spec/provider", "aws"), account)) == []
    (fault,) = validate_body(edited(GIT, account))
    assert fault.message == "its provider has no service account"


def faults_of(kind: str, edits: list[Edit]) -> list[Fault]:
    """What is found in a sound object with some edits; ``|`` in a value is ``/``."""
    given = [
        (where, value.replace("|", "/") if isinstance(value, str) else value)
        for where, value in edits
    ]
    return validate_body(edited(SOUND[kind], *given))


@pytest.mark.parametrize(
    ("kind", "edits", "code", "path"),
    CASES,
    ids=[f"{kind}-{path[-40:]}" for kind, _, _, path in CASES],
)
def test_one_fault_is_reported_once_at_its_place(
    kind: str, edits: list[Edit], code: str, path: str
) -> None:
    faults = faults_of(kind, edits)
    got = [(fault.code, str(Route(fault.path))) for fault in faults]
    assert got[:1] == [(code, path)]
    assert {one for one, _ in got} == {code}
    for fault in faults:
        assert fault.message[0] == "`" or not fault.message[0].isupper()
        assert not fault.message.endswith(".")


@pytest.mark.parametrize(
    ("container", "help"),
    [
        ("node", "write it in `spec.trainer.env`"),
        ("model-initializer", "write it in `spec.initializer.model.env`"),
        ("dataset-initializer", "write it in `spec.initializer.dataset.env`"),
    ],
)
def test_variables_of_a_container_of_trainer_stand_elsewhere(container: str, help: str) -> None:
    patched = [{"name": container, "env": [{"name": "A", "value": "1"}]}]
    body = edited(TRAIN_JOB, (f"{PATCH}/template/spec/template/spec/containers", patched))
    assert [fault.help for fault in validate_body(body)] == [help]


def test_unknown_fields_get_the_nearest_name() -> None:
    (fault,) = validate_body(edited(NODE_POOL, ("spec/disruptoin", {})))
    assert (fault.message, fault.help, fault.key) == (
        "unknown field `disruptoin` in `spec`",
        "did you mean `disruption`?",
        True,
    )


TOLERATED = {"key": "gpu", "operator": "Exists", "value": "yes"}


@pytest.mark.parametrize(
    ("body", "edits"),
    [
        (
            SOUND["RayJob"],
            [("spec/submissionMode", "SidecarMode"), ("spec/submitterConfig", {"backoffLimit": 1})],
        ),
        (POD, [("spec/tolerations", [TOLERATED])]),
    ],
)
def test_a_key_that_has_no_place_is_marked_itself(body: Any, edits: list[Any]) -> None:
    """What stands behind it may be many lines."""
    (fault,) = validate_body(edited(body, *edits))
    assert fault.key is True


def test_an_unquoted_number_is_reported_with_the_way_to_write_it() -> None:
    (fault,) = validate_body(edited(POD, (f"{C}/env/0/value", 8)))
    assert (fault.message, fault.help) == (
        "an integer where a string is expected",
        'write it in quotes: `"8"`',
    )


def test_all_faults_are_reported_at_once() -> None:
    body = edited(POD, ("spec/restartPolicy", "never"), (f"{C}/imag", "x"), ("metadata/name", "A"))
    assert sorted(fault.code for fault in validate_body(body)) == ["NAM001", "SCH001", "SCH004"]


def test_nulls_are_absent_as_they_are_for_the_server() -> None:
    body = edited(POD)
    body["spec"]["hostname"] = None
    body["spec"]["nothingLikeIt"] = None
    assert validate_body(body) == []
    body["spec"]["containers"] = None
    assert [(fault.code, fault.path) for fault in validate_body(body)] == [
        ("SCH003", ("spec", "containers"))
    ]


def test_a_secrets_value_is_never_shown() -> None:
    (fault,) = validate_body(edited(SECRET, ("data/token", "hunter2!")))
    assert "hunter2" not in fault.message + fault.help


@pytest.mark.parametrize(
    "body",
    [{}, {"kind": "Pod"}, {"apiVersion": 1, "kind": "Pod"}, {"apiVersion": "v1", "kind": ["x"]}],
)
def test_a_body_without_a_kind(body: dict[str, Any]) -> None:
    assert [fault.code for fault in validate_body(body)] == ["SCH003"]


@pytest.mark.parametrize(
    "metadata", [None, [], "x", {"name": 3}, {"name": None}, {}, {"name": ["x"]}]
)
def test_odd_metadata(metadata: Any) -> None:
    assert validate_body({**POD, "metadata": metadata})


def test_a_kind_without_schema() -> None:
    body = {"apiVersion": "kueue.x-k8s.io/v1", "kind": "ClusterQueue", "metadata": {"name": "a"}}
    (fault,) = validate_body(body)
    assert (fault.code, fault.help) == ("SCH010", "did you mean `kueue.x-k8s.io/v1beta2`?")
    assert validate_body(body, closed=False) == []


def test_what_stands_in_an_unknown_field_is_not_judged() -> None:
    """A job of Trainer 2.1 with a field of 2.2: the field is the fault, not what is missing in it."""
    mixed = edited(
        TRAIN_JOB,
        ("spec/runtimePatches", [{"trainingRuntimeSpec": {}}]),
        ("spec/trainer/numProcPerNode", "auto"),
    )
    assert [(each.code, each.path) for each in validate_body(mixed)] == [
        ("SCH001", ("spec", "runtimePatches"))
    ]


def test_annotations_have_256_kib_together() -> None:
    annotations = {f"a.test/{index}": "x" * 1000 for index in range(262)}
    body = edited(POD, ("metadata/annotations", annotations))
    (fault,) = validate_body(body)
    assert (fault.code, fault.path) == ("SCH011", ("metadata", "annotations"))
    assert "262,144" in fault.message
    less = dict(list(annotations.items())[:250])
    assert validate_body(edited(POD, ("metadata/annotations", less))) == []


@pytest.mark.parametrize(
    ("field", "value", "most"), [("stringData", "x" * 1000, 1048), ("data", "eHh4" * 250, 1398)]
)
def test_a_secret_holds_1_mib(field: str, value: str, most: int) -> None:
    body: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "a"},
        field: {f"k{index}": value for index in range(most)},
    }
    assert validate_body(body) == []
    body[field]["one-more"] = value * 3
    (fault,) = validate_body(body)
    assert (fault.code, fault.path) == ("SCH011", (field,))
    assert "1048576" in fault.message
    sops = {**body, "sops": {"mac": "x"}}
    assert [each for each in validate_body(sops) if "1048576" in each.message] == []
