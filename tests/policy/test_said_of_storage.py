"""What rules about storage, secrets, access and ParallelCluster say, and where they say nothing, beside the examples of
their pages."""

from __future__ import annotations

import pytest

from tests.policy.manifests import POOL, pods, required
from tests.policy.saying import found, said

pytestmark = pytest.mark.needs("lint")

ZONE = "topology.kubernetes.io/zone"
JOB = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\n"
CLASS = "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\n"
FSX = "fsx.csi.aws.com"
SLOW = (
    "subnetId: subnet-0a1b2c3d4e5f60718, deploymentType: SCRATCH_2, fileSystemTypeVersion: '2.15'"
)
FAST = (
    "subnetId: subnet-0a1b2c3d4e5f60718, deploymentType: PERSISTENT_2, fileSystemTypeVersion: '2.15', "
    "perUnitStorageThroughput: '250', efaEnabled: 'true', metadataConfigurationMode: AUTOMATIC"
)


def template(kind: str, properties: str) -> str:
    """A template of CloudFormation with one resource."""
    return f"Resources:\n  Data:\n    Type: {kind}\n    Properties: {{{properties}}}\n"


def storage_class(parameters: str, provisioner: str = FSX, keys: str = "") -> str:
    """A StorageClass with these parameters."""
    return (
        "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: fast}\n"
        f"provisioner: {provisioner}\n{keys}parameters: {{{parameters}}}"
    )


def ebs(parameters: str, keys: str = "volumeBindingMode: WaitForFirstConsumer\n") -> str:
    """A StorageClass of EBS."""
    return storage_class(f'encrypted: "true", {parameters}', "ebs.csi.aws.com", keys)


def claim(size: str, mode: str = "ReadWriteMany", name: str = "fast") -> str:
    """A claim of so much of a StorageClass."""
    return (
        "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: team-a}\n"
        f"spec: {{accessModes: [{mode}], storageClassName: {name}, resources: {{requests: {{storage: {size}}}}}}}"
    )


MOUNTED = pods(
    "{spec: {volumes: [{name: data, persistentVolumeClaim: {claimName: data}}], "
    "containers: [{name: node, volumeMounts: [{name: data, mountPath: /data}]}]}}"
)


def volume(source: str) -> str:
    """A volume for the claim of a job that may run in two zones, without EFA."""
    none = "{vpc.amazonaws.com/efa: null, hugepages-2Mi: null}"
    return "\n---\n".join(
        [
            required(ZONE, "us-west-2a", "us-west-2b"),
            "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: data}\nspec: {capacity: {storage: 4800Gi}, "
            f"accessModes: [ReadWriteMany], claimRef: {{namespace: team-a, name: data}}, {source}}}",
            f"{JOB}spec: {{trainer: {{numNodes: 1, resourcesPerNode: {{requests: {none}, limits: {none}}}}}}}",
            MOUNTED,
        ]
    )


def application(source: str) -> str:
    """An Application of Argo CD beside a class whose file systems have no EFA."""
    return (
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: gpus, namespace: argocd}\n"
        f"spec: {{project: default, {source}}}\n---\n{storage_class(SLOW)}"
    )


def cluster(resource: str, region: str = "Region: ap-southeast-3\n") -> str:
    """A configuration of ParallelCluster with one compute resource."""
    return (
        f"{region}Scheduling:\n  Scheduler: slurm\n  SlurmQueues:\n    - Name: gpu\n      CapacityType: ONDEMAND\n"
        f"      ComputeResources: [{{Name: a, {resource}}}]\nHeadNode: {{InstanceType: m5.xlarge}}\n"
    )


def policy(name: str, keys: str, selector: str = "{}") -> str:
    """A NetworkPolicy."""
    return (
        f"apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {{name: {name}{keys}}}\n"
        f"spec: {{podSelector: {selector}, policyTypes: [Ingress], "
    )


def service(keys: str, annotations: str = "") -> str:
    """A Service with a load balancer, of a whole cluster."""
    return (
        "# a whole cluster\napiVersion: v1\nkind: Service\n"
        f"metadata: {{name: board, namespace: team-a, annotations: {{{annotations}}}}}\n"
        f"spec: {{type: LoadBalancer, {keys}selector: {{app: board}}, ports: [{{port: 80}}]}}"
    )


RESERVED = "CapacityReservationTarget: {CapacityReservationId: cr-0a1b2c3d4e5f60718}"
OPERATOR = (
    "repoURL: https://helm.ngc.nvidia.com/nvidia, chart: gpu-operator, "
    "helm: {valuesObject: {gds: {enabled: true}}}"
)
OTHER = (
    "{repoURL: https://helm.example, chart: other, helm: {valuesObject: {gds: {enabled: true}}}}"
)
SAID: dict[str, tuple[str, str, list[str]]] = {
    "a bucket whose name a parameter begins": (
        "ACC022",
        template("AWS::S3::Bucket", 'BucketName: !Sub "${Stage}-runs"'),
        [],
    ),
    "a bucket whose name is said": (
        "ACC022",
        template("AWS::S3::Bucket", "BucketName: stage-runs"),
        ["bucket `Data` is named `stage-runs`, which any account may have"],
    ),
    "more changes than a message names": (
        "ACC007",
        template(
            "AWS::IAM::ManagedPolicy",
            'PolicyDocument: {Version: "2012-10-17", Statement: [{Effect: Allow, Resource: "*", Action: '
            '["ec2:TerminateInstances", "ec2:RunInstances", "ec2:StopInstances", "ec2:CreateTags", "s3:PutObject"]}]}',
        ),
        [
            "`Data` allows `ec2:TerminateInstances`, `ec2:RunInstances`, `ec2:StopInstances` and 2 more on every "
            "resource"
        ],
    ),
    "a path that leads out of the folder that is allowed": (
        "RUN052",
        "# a whole cluster\n# params: {allowed: [/opt/profiler]}\n"
        + pods("{spec: {volumes: [{name: tools, hostPath: {path: /opt/profiler/../data}}]}}"),
        ["job `llama` mounts `/opt/profiler/../data` of its nodes"],
    ),
    "a path in the folder that is allowed": (
        "RUN052",
        "# a whole cluster\n# params: {allowed: [/opt/profiler]}\n"
        + pods("{spec: {volumes: [{name: tools, hostPath: {path: /opt/profiler/bin}}]}}"),
        [],
    ),
    "a batch script with a line before the program": (
        "RUN024",
        "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gpus-per-node=8\nmodule load cuda\nsrun torchrun train.py\n",
        [],
    ),
    "a batch script with a secret before the program": (
        "RUN024",
        "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gpus-per-node=8\n"
        "wandb login --api-key 0123456789abcdef0123\nsrun torchrun train.py\n",
        ["the script of job `0.sbatch` has the value of `--api-key` in git"],
    ),
    **{
        f"the option `{option}`": (
            "RUN024",
            f"jobs: [{{name: llama, command: [python, train.py, {option}, 0123456789abcdef0123]}}]",
            [f"the command of job `llama` has the value of `{option}` in git"] if is_key else [],
        )
        for option, is_key in (
            ("--wandb-key", True),
            ("--openai-key", True),
            ("--wandb-project", False),
            ("--sort-key", False),
            ("--hub-token", True),
        )
    },
    "a type of Capacity Blocks in a Region without a price of them": (
        "SLM003",
        cluster(f"InstanceType: p5.48xlarge, {RESERVED}", "Region: eu-central-2\n"),
        [],
    ),
    "a type of Capacity Blocks in a Region that is not said": (
        "SLM003",
        cluster(f"InstanceType: p5e.48xlarge, {RESERVED}", ""),
        [],
    ),
    "a type that a reservation says": ("SLM003", cluster(RESERVED), []),
    "a type of Capacity Blocks on demand": (
        "SLM003",
        cluster(f"InstanceType: p5e.48xlarge, {RESERVED}"),
        [
            "partition `gpu` takes its `p5e.48xlarge` of `cr-0a1b2c3d4e5f60718` as `ONDEMAND`, and in `ap-southeast-3` "
            "it has a price in Capacity Blocks alone"
        ],
    ),
    "EFA of a type that nobody knows": (
        "SLM002",
        cluster("InstanceType: p9.48xlarge, Efa: {Enabled: true}"),
        [],
    ),
    "another chart beside a class without EFA": ("RUN083", application(f"source: {OTHER}"), []),
    "the GPU Operator as the second source": (
        "RUN083",
        application(f"sources: [{OTHER}, {{{OPERATOR}}}]"),
        ["storage class `fast` makes file systems without EFA, and GPUDirect Storage is installed"],
    ),
    "GPUDirect Storage beside a class of others": (
        "RUN083",
        application(f"source: {{{OPERATOR}}}").replace(FSX, "scratch.example.com"),
        [],
    ),
    "volumes of one zone": (
        "PLC071",
        ebs(
            "type: gp3",
            f"allowedTopologies: [{{matchLabelExpressions: [{{key: {ZONE}, values: [us-west-2b]}}]}}]\n",
        ),
        [],
    ),
    "IOPS of a type that is not gp3": ("PLC070", ebs('type: io2, iops: "100000"'), []),
    "IOPS by size": ("PLC070", ebs('type: gp3, iopsPerGB: "50", iops: "100000"'), []),
    "IOPS that Flux fills in": (
        "PLC070",
        ebs('type: gp3, iops: "${IOPS}", throughput: "1000"'),
        [],
    ),
    "IOPS that a claim is too small for": (
        "PLC070",
        ebs('type: gp3, iops: "4000"') + "\n---\n" + claim("1Gi"),
        ["a volume of 1 GiB has at most 3000 IOPS, not 4000"],
    ),
    "IOPS of a class with a claim": (
        "PLC070",
        ebs('type: gp3, iops: "100000"') + "\n---\n" + claim("500Gi"),
        ["no volume of gp3 has 100000 IOPS"],
    ),
    "a file system of Windows": (
        "RUN081",
        template(
            "AWS::FSx::FileSystem",
            "FileSystemType: WINDOWS, StorageCapacity: 1200, SubnetIds: [a], LustreConfiguration: "
            "{DeploymentType: PERSISTENT_2, ImportPath: 's3://a'}",
        ),
        [],
    ),
    "a file system of a size that a parameter says": (
        "RUN081",
        template(
            "AWS::FSx::FileSystem",
            "FileSystemType: LUSTRE, StorageCapacity: !Ref Size, SubnetIds: [a], LustreConfiguration: "
            "{DeploymentType: PERSISTENT_2, PerUnitStorageThroughput: 250, EfaEnabled: true, "
            "MetadataConfiguration: {Mode: AUTOMATIC}}",
        ),
        [],
    ),
    "a volume of EFS, which is in all zones": (
        "PLC032",
        volume("csi: {driver: efs.csi.aws.com, volumeHandle: fs-0a1b2c3d4e5f60718}"),
        [],
    ),
    "a volume of Lustre without a zone": (
        "PLC032",
        volume(f"csi: {{driver: {FSX}, volumeHandle: fs-0a1b2c3d4e5f60718}}"),
        ["volume `data` says no zone, and job `llama` may run in `us-west-2a`, `us-west-2b`"],
    ),
    "a disk of a job whose nodes are elsewhere": (
        "RUN029",
        claim("500Gi", "ReadWriteOnce", "gp2")
        + "\n---\n"
        + MOUNTED
        + f"\n---\n{POOL}$patch: delete",
        [],
    ),
    "nodes of an image that is not said, beside EFA": (
        "RUN110",
        storage_class(FAST) + f"\n---\n{CLASS}spec: {{amiSelectorTerms: null}}",
        [],
    ),
    "nodes of an image of AWS, beside EFA of a template": (
        "RUN110",
        "{Resources: {Data: {Type: AWS::FSx::FileSystem, Properties: {FileSystemType: LUSTRE, StorageCapacity: 19200, "
        "LustreConfiguration: {DeploymentType: PERSISTENT_2, PerUnitStorageThroughput: 250, EfaEnabled: true}}}}}\n"
        "---\n"
        f"{CLASS}metadata: {{name: gpu}}\nspec: {{amiSelectorTerms: [{{alias: al2023@v20260714}}]}}",
        ["file system `Data` has EFA, and no node is made its client over EFA"],
    ),
    "nodes beside a file system without EFA": (
        "RUN110",
        "{Resources: {Data: {Type: AWS::FSx::FileSystem, Properties: {FileSystemType: LUSTRE, StorageCapacity: 1200, "
        "LustreConfiguration: {DeploymentType: SCRATCH_2}}}}}\n---\n"
        f"{CLASS}metadata: {{name: gpu}}\nspec: {{amiSelectorTerms: [{{alias: al2023@v20260714}}]}}",
        [],
    ),
    "an old Lustre that the nodes mount": (
        "RUN034",
        storage_class("subnetId: subnet-0a1b2c3d4e5f60718, deploymentType: SCRATCH_2")
        + f"\n---\n{CLASS}spec: {{amiSelectorTerms: [{{alias: al2@latest}}]}}",
        [],
    ),
    "EFA of a class that is scratch": (
        "RUN080",
        storage_class(SLOW + ", efaEnabled: 'true'") + "\n---\n" + claim("1200Gi"),
        ["a file system of storage class `fast` has EFA, and is SCRATCH_2"],
    ),
    "EFA of a size that does not fit, by a claim": (
        "RUN080",
        storage_class(FAST) + "\n---\n" + claim("4800Gi"),
        ["a file system of storage class `fast` has EFA at 250 MB/s for each TiB, and 4800 GiB"],
    ),
    "a policy that opens pods of no namespace": (
        "ACC046",
        policy("deny", "") + "}\n---\n" + policy("open", "") + "ingress: [{}]}",
        ["`open` lets everybody reach all pods of its namespace, although `deny` does not"],
    ),
    "a policy that opens some pods": (
        "ACC046",
        policy("deny", ", namespace: team-a")
        + "}\n---\n"
        + policy("open", ", namespace: team-a", "{matchLabels: {app: web}}")
        + "ingress: [{}]}",
        [],
    ),
    "a load balancer of a class that is internal by default": (
        "ACC052",
        service("loadBalancerClass: service.k8s.aws/nlb, "),
        [],
    ),
}


@pytest.mark.parametrize("title", SAID)
def test_it_is_said(title: str) -> None:
    code, text, messages = SAID[title]
    assert said(code, text) == messages


VOLUME = """apiVersion: v1
kind: PersistentVolume
metadata: {{name: data, annotations: {{trainyard.dev/lustre-version: '2.10'}}}}
spec: {{capacity: {{storage: 4800Gi}}, accessModes: [ReadWriteMany], claimRef: {{namespace: team-a, name: data}},
  csi: {{driver: fsx.csi.aws.com, {}volumeAttributes: {{{}}}}}}}"""


@pytest.mark.parametrize(
    ("handle", "attributes", "name"),
    [
        ("volumeHandle: fs-0a1b2c3d4e5f60718, ", "", "fs-0a1b2c3d4e5f60718"),
        (
            "volumeHandle: a, ",
            "dnsname: fs-0a1b2c3d4e5f60718.fsx.us-west-2.amazonaws.com",
            "fs-0a1b2c3d4e5f60718",
        ),
        ("volumeHandle: '${FILE_SYSTEM}', ", "", "data"),
        ("", "", "data"),
        ("volumeHandle: scratch, ", "", "scratch"),
    ],
)
def test_what_a_file_system_is_called(handle: str, attributes: str, name: str) -> None:
    """By its id, as far as the volume says it."""
    (only,) = found("RUN033", VOLUME.format(handle, attributes))
    assert only.message == f"file system `{name}` is Lustre `2.10`, which AL2023 nodes cannot mount"


def test_each_file_system_is_reported_once() -> None:
    """Whatever volumes are before it, and whether they say where it is."""
    texts = [
        VOLUME.format(f"volumeHandle: fs-{number}, ", "").replace(
            "name: data,", f"name: data{index},"
        )
        for index, number in enumerate(
            ["0a1b2c3d4e5f60718", "0a1b2c3d4e5f60719", "0a1b2c3d4e5f60718"]
        )
    ]
    disk = VOLUME.format("volumeHandle: vol-0a1b2c3d4e5f60718, ", "").replace("fsx.csi", "ebs.csi")
    messages = said("RUN033", "\n---\n".join([disk, *texts]))
    assert [message.split("`")[1] for message in messages] == [
        "fs-0a1b2c3d4e5f60718",
        "fs-0a1b2c3d4e5f60719",
    ]


@pytest.mark.parametrize(
    ("iops", "place"),
    [
        ("4000", "@PersistentVolumeClaim/team-a/data.spec.resources.requests.storage"),
        ("100000", "@StorageClass/fast.parameters.iops"),
    ],
)
def test_a_volume_is_refused_at_its_class_or_its_claim(iops: str, place: str) -> None:
    text = ebs(f'type: gp3, iops: "{iops}"') + "\n---\n" + claim("1Gi")
    assert place in [str(each.at) for each in found("PLC070", text)]


def test_a_secret_that_begins_in_the_command() -> None:
    (only,) = found(
        "RUN024", "jobs: [{name: llama, command: [mlflow, run, --db-password], args: [hunter2]}]"
    )
    assert str(only.at).endswith("spec.trainer.command")
