"""The cluster itself, as people write it for AWS ParallelCluster."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator

from trainyard.core.pools.spec import Volume
from trainyard.language.diagnostics.words import kind_of
from trainyard.language.models.aws import (
    InstanceType,
    PolicyArn,
    PublicCidr,
    SecurityGroupId,
    SubnetId,
)
from trainyard.language.models.base import SpecModel
from trainyard.language.models.checks import fault, matched
from trainyard.language.models.field import Field
from trainyard.language.models.section import Section
from trainyard.language.models.types import (
    BootstrapTime,
    ContainerPath,
    Distinct,
    GracetimePeriod,
    IdleTime,
    Line,
    Name,
    Whole,
)
from trainyard.language.places import Route

_Uri = Annotated[
    str,
    BeforeValidator(
        matched(
            r"[a-z0-9][a-z0-9.-]*(:([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?",
            "a database's host, and its port after `:`",
            "db.example.com:3306",
        )
    ),
]
_SecretArn = Annotated[
    str,
    BeforeValidator(
        matched(
            r"arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:[A-Za-z0-9/_+=.@-]+",
            "the ARN of a secret of Secrets Manager",
            "arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm-AbCdEf",
        )
    ),
]
_DatabaseName = Annotated[
    str,
    BeforeValidator(
        matched(
            r"[0-9a-z_]{1,64}",
            "the name of a database, of lower case letters, digits and `_`",
            "research_slurm",
        )
    ),
]


class Accounting(SpecModel):
    """The MySQL database that Slurm's accounting uses (aws-parallelcluster 3.16.1, SlurmSettings.Database)."""

    uri: _Uri = Field(
        description="The host of a MySQL server that the head node reaches, and its port after `:`.",
        examples=["slurm-db.cluster-abc.us-west-2.rds.amazonaws.com:3306"],
        bound="a host, and a port from 1 to 65535 after `:`",
        source="aws-parallelcluster 3.16.1, DatabaseSchema",
        codes=("SPC005",),
    )
    user_name: Line = Field(
        description="The user of the database.",
        examples=["slurm"],
        bound="a text of one line",
        source="aws-parallelcluster 3.16.1, DatabaseSchema",
    )
    password_secret_arn: _SecretArn = Field(
        description="The ARN of the secret of Secrets Manager with the user's password, as plain text.",
        examples=["arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm-AbCdEf"],
        bound="the ARN of a secret of Secrets Manager, of the Region of the cluster",
        source="aws-parallelcluster 3.16.1, DatabaseSchema",
        codes=("SPC005", "RES456"),
    )
    database_name: _DatabaseName | None = Field(
        None,
        description="The name of the database; unset: ParallelCluster derives it from the cluster's name.",
        examples=["research_slurm"],
        bound="1 to 64 of `a-z0-9_`",
        source="aws-parallelcluster 3.16.1, DatabaseSchema",
        codes=("SPC005",),
    )


_Email = Annotated[
    str,
    BeforeValidator(
        matched(r"[^@\s]+@[^@\s]+\.[^@\s]+", "an e-mail address", "platform@example.com")
    ),
]


class Budget(SpecModel):
    """A monthly budget (AWS::Budgets::Budget) over everything with the tag of the cluster."""

    monthly: int = Field(
        ge=1,
        le=1_000_000_000,
        description="The US dollars of a month.",
        examples=[500000],
        bound="1 to 1,000,000,000 US dollars",
        source="AWS::Budgets::Budget, BudgetLimit",
    )
    emails: Annotated[list[_Email], Distinct] = Field(
        min_length=1,
        max_length=10,
        description="Who gets mail when 50, 80 and 100 percent are spent, and when a forecast says so.",
        examples=[["platform@example.com"]],
        bound="1 to 10 addresses, each once",
        source="AWS::Budgets::Budget, Subscribers: 10 addresses at most",
        codes=("SPC005",),
    )


# aws-parallelcluster 3.16.1, UrlValidator: an object of S3, or a page that anybody may get.
_Script = Annotated[
    str,
    BeforeValidator(
        matched(
            r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]/[^\s]+|https://[^\s/]+/[^\s]+",
            "the place of a script, as `s3://` or `https://`",
            "s3://scripts-111122223333/setup.sh",
            longest=2048,
        )
    ),
]


class OwnScript(SpecModel):
    """A script that nodes run as root."""

    script: _Script = Field(
        description="Where it is: an object of a bucket that nodes may read, or a page that anybody may get.",
        examples=["s3://scripts-111122223333/setup.sh"],
        bound="an object of S3, or a page of HTTPS",
        source="aws-parallelcluster 3.16.1, UrlValidator",
        codes=("SPC005",),
    )
    args: list[Line] = Field(
        [],
        description="Its arguments.",
        examples=[["--metrics"]],
        bound="texts of one line",
        source="aws-parallelcluster 3.16.1, CustomActionScriptSchemaBase",
    )


class CustomActions(SpecModel):
    """Scripts of one's own (`CustomActions`); each runs after those that Trainyard needs."""

    on_node_start: list[OwnScript] = Field(
        [],
        max_length=9,
        description="What runs before anything of a node is set up.",
        examples=[[{"script": "s3://scripts-111122223333/early.sh"}]],
    )
    on_node_configured: list[OwnScript] = Field(
        [],
        max_length=9,
        description="What runs once a node is set up, before it takes jobs.",
        examples=[[{"script": "s3://scripts-111122223333/setup.sh", "args": ["--metrics"]}]],
    )


class ComputeNodes(SpecModel):
    """What all compute nodes have."""

    custom_actions: CustomActions = Field(
        description="Scripts of one's own that each compute node runs.",
        examples=[{"onNodeConfigured": [{"script": "s3://scripts-111122223333/setup.sh"}]}],
    )


class LoginNodes(SpecModel):
    """A pool of login nodes (`LoginNodes`), behind one address of its own."""

    count: int = Field(
        ge=0,
        le=100,
        description="How many there are; with 0 their other keys can be changed.",
        examples=[2],
        bound="0 to 100; ParallelCluster itself names no largest number",
        source="aws-parallelcluster 3.16.1, LoginNodesPoolSchema.Count",
    )
    instance_type: InstanceType = Field(
        "m7i.xlarge",
        description="The EC2 instance type of each of them, without accelerators.",
        examples=["m7i.2xlarge"],
        bound="a type of the catalog, of the architecture of the head node",
        source="aws-parallelcluster 3.16.1, BaseClusterConfig.login_nodes_ami",
        codes=("RES005", "RES315"),
    )
    subnet: SubnetId | None = Field(
        None,
        description="The subnet of the login nodes, one of `network.existing`; derived: that of the head node.",
        examples=["subnet-0a1b2c3d4e5f60718"],
        bound="a subnet of `network.existing`",
        source="aws-parallelcluster 3.16.1, LoginNodesNetworkingSchema.SubnetIds",
        codes=("RES316",),
    )
    allowed_cidr: PublicCidr | None = Field(
        None,
        description="The address block that reaches their SSH port; derived: `ssh.allowedCidr`.",
        examples=["203.0.113.0/24"],
        bound="an IPv4 block of the internet; unset: that of `ssh`",
        source="aws-parallelcluster 3.16.1, LoginNodesSshSchema.AllowedIps",
    )
    gracetime_period: GracetimePeriod | None = Field(
        None,
        description="How long people have to end their work when a login node goes, in whole minutes; derived: `10m`.",
        examples=["30m"],
        bound="3m to 120m, whole minutes",
        source="aws-parallelcluster 3.16.1, LoginNodesPoolSchema.GracetimePeriod",
    )
    custom_actions: CustomActions | None = Field(
        None,
        description="Scripts of one's own that each login node runs; unset: none.",
        examples=[{"onNodeConfigured": [{"script": "s3://scripts-111122223333/setup.sh"}]}],
    )


class Timeouts(SpecModel):
    """How long nodes may take to be set up (`DevSettings.Timeouts`)."""

    head_node_bootstrap: BootstrapTime | None = Field(
        None,
        description="How long the head node may take, scripts of one's own too, in whole minutes; unset: 35m.",
        examples=["1h"],
        bound="1m to 1440m, whole minutes",
        source="aws-parallelcluster 3.16.1, TimeoutsSchema",
    )
    compute_node_bootstrap: BootstrapTime | None = Field(
        None,
        description="How long a compute node may take before it is replaced, in whole minutes; unset: 35m.",
        examples=["45m"],
        bound="1m to 1440m, whole minutes",
        source="aws-parallelcluster 3.16.1, TimeoutsSchema",
    )


# aws-parallelcluster 3.16.1, ImageSchema.Os; Rocky Linux has no image of AWS (OsCustomAmiValidator).
Os = Literal["alinux2023", "ubuntu2204", "ubuntu2404", "rhel8", "rhel9"]
# aws-parallelcluster 3.16.1, CloudWatchLogsSchema.RetentionInDays, without 0, which is for ever.
Retention = Literal[
    1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1827, 3653
]  # fmt: skip


class HeadNode(SpecModel):
    """The node that runs Slurm's controller and people log in to; it is always on."""

    instance_type: InstanceType = Field(
        "m7i.2xlarge",
        description="The EC2 instance type of the head node, without accelerators.",
        examples=["m7i.2xlarge"],
        bound="a type of the catalog, of the architecture of the pools, with memory for their number of nodes",
        source="aws-parallelcluster 3.16.1, HeadNodeMemorySizeValidator",
        codes=("RES005", "RES315"),
    )
    subnet: SubnetId | None = Field(
        None,
        description="The subnet of the head node, one of `network.existing`; derived: the first private one.",
        examples=["subnet-0a1b2c3d4e5f60718"],
        bound="a subnet of `network.existing`",
        source="aws-parallelcluster 3.16.1, HeadNodeNetworkingSchema",
        codes=("RES316",),
    )
    root_volume: Volume | None = Field(
        None,
        description="Its root volume (gp3), which has `/home` of every node; derived: `200Gi`.",
        examples=[{"size": "500Gi", "iops": 10000}],
    )
    security_groups: Annotated[list[SecurityGroupId], Distinct] = Field(
        [],
        description="Security groups of the head node alone, beside those of all nodes.",
        examples=[["sg-0a1b2c3d4e5f60718"]],
        bound="ids of security groups, each once",
        source="EC2 API, CreateSecurityGroup",
    )
    custom_actions: CustomActions | None = Field(
        None,
        description="Scripts of one's own that the head node runs; unset: none.",
        examples=[{"onNodeConfigured": [{"script": "s3://scripts-111122223333/head.sh"}]}],
    )


class Ssh(SpecModel):
    """How people log in to the head node by SSH."""

    key_name: Line | None = Field(
        None,
        description="The name of the EC2 key pair of the first user; unset: people log in by Session Manager alone.",
        examples=["research"],
        bound="a text of one line: a key pair of the Region",
        source="EC2 API, CreateKeyPair",
    )
    allowed_cidr: PublicCidr | None = Field(
        None,
        description="The address block that reaches the SSH port; derived: `127.0.0.1/32`, which is nobody.",
        examples=["203.0.113.0/24"],
        bound="an IPv4 block of the internet; unset: nobody",
        source="aws-parallelcluster 3.16.1, HeadNodeSshSchema.AllowedIps",
    )


# aws-parallelcluster 3.16.1, validators/slurm_settings_validator.py: SLURM_SETTINGS_DENY_LIST.
_DENIED = {
    "Epilog",
    "GresTypes",
    "LaunchParameters",
    "Prolog",
    "ReconfigFlags",
    "ResumeFailProgram",
    "ResumeProgram",
    "ResumeTimeout",
    "SlurmctldHost",
    "SlurmctldLogFile",
    "SlurmctldParameters",
    "SlurmdLogFile",
    "SlurmUser",
    "SuspendExcNodes",
    "SuspendProgram",
    "SuspendTime",
    "TaskPlugin",
    "TreeWidth",
}
_line = matched(r"[^\x00\r\n]*", "a text of one line", "YES", longest=32768, empty=True)
_INSTEAD = {"suspendtime": "`scaledownIdletime` of the platform"}


def _allowed(settings: dict[str, Any]) -> dict[str, Any]:
    denied = {name.lower() for name in _DENIED}
    for name in settings:
        if name.lower() not in denied:
            continue
        instead = _INSTEAD.get(name.lower())
        raise fault(
            f"ParallelCluster sets `{name}` itself, and refuses it here",
            f"write {instead} instead" if instead else "remove it",
            name,
            source="aws-parallelcluster 3.16.1, SLURM_SETTINGS_DENY_LIST",
        )
    return settings


def _parameter(value: Any) -> str | int:
    """A value of ``slurm.conf``, which has one line for each parameter."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _line(value)
    quoted = "write it as text"
    if isinstance(value, bool | float):
        quoted = f'quote it: `"{str(value).lower()}"`'
    raise fault(
        f"a parameter of `slurm.conf` is text or a whole number, not {kind_of(value)}", quoted
    )


Parameter = Annotated[str | int, BeforeValidator(_parameter)]


class ParallelCluster(SpecModel):
    """What only AWS ParallelCluster has."""

    os: Os = Field(
        "alinux2023",
        description="The operating system of all nodes, in an image of AWS.",
        examples=["ubuntu2204"],
        bound="`alinux2023`, `ubuntu2204`, `ubuntu2404`, `rhel8`, `rhel9`",
        source="aws-parallelcluster 3.16.1, constants.py SUPPORTED_OSES",
    )
    head_node: HeadNode = Field(
        HeadNode.model_construct(),
        description="The node that runs Slurm's controller; it is always on.",
        examples=[{"instanceType": "m7i.4xlarge"}],
    )
    login_nodes: LoginNodes | None = Field(
        None,
        description="Nodes that people log in to, beside the head node; unset: they log in to the head node.",
        examples=[{"count": 2, "allowedCidr": "203.0.113.0/24"}],
    )
    compute_nodes: ComputeNodes | None = Field(
        None,
        description="What all compute nodes have; unset: what Trainyard needs alone.",
        examples=[
            {
                "customActions": {
                    "onNodeConfigured": [{"script": "s3://scripts-111122223333/setup.sh"}]
                }
            }
        ],
    )
    ssh: Ssh = Field(
        Ssh.model_construct(),
        description="The key and the addresses by which people log in to the head node by SSH.",
        examples=[{"keyName": "research", "allowedCidr": "203.0.113.0/24"}],
    )
    scaledown_idletime: IdleTime | None = Field(
        None,
        description="How long a node stays when it has no job (`ScaledownIdletime`), in whole minutes; derived: `15m`.",
        examples=["30m"],
        bound="0s to 720h",
        source="aws-parallelcluster 3.16.1, SlurmSettingsSchema.ScaledownIdletime",
    )
    accounting: Accounting | None = Field(
        None,
        description="The database of Slurm's accounting, by which queues lend each other nodes and jobs have "
        "priorities; unset: there is none, and each queue has nodes of its own.",
        examples=[
            {
                "uri": "slurm-db.cluster-abc.us-west-2.rds.amazonaws.com:3306",
                "userName": "slurm",
                "passwordSecretArn": "arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm-AbCdEf",
            }
        ],
    )
    log_retention_days: Annotated[Retention, Whole] = Field(
        180,
        description="For how many days CloudWatch keeps the logs of the nodes.",
        examples=[30],
        bound="a number of days that CloudWatch Logs takes",
        source="aws-parallelcluster 3.16.1, CloudWatchLogsSchema.RetentionInDays",
    )
    detailed_monitoring: bool = Field(
        False,
        description="Whether EC2 reports the metrics of nodes every minute, which is paid for; its own every five.",
        examples=[True],
        bound="`true`, `false`",
        source="aws-parallelcluster 3.16.1, MonitoringSchema",
    )
    policies: Annotated[list[PolicyArn], Distinct] = Field(
        [],
        description="IAM policies of the head node and the compute nodes, beside those that are derived.",
        examples=[["arn:aws:iam::111122223333:policy/datasets"]],
        bound="ARNs of policies of AWS or of the account, each once",
        source="aws-parallelcluster 3.16.1, AdditionalIamPolicySchema; IAM service model",
    )
    mount_dirs: dict[Name, ContainerPath] = Field(
        {},
        description="Where all nodes mount a storage, by its name; derived: `/fsx/NAME`.",
        examples=[{"checkpoints": "/fsx2"}],
        bound="absolute paths outside of the system's folders, by the name of a storage that nodes mount",
        source="aws-parallelcluster 3.16.1, SharedStorageMountDirValidator",
        codes=("RES422", "SCH011"),
    )
    timeouts: Timeouts | None = Field(
        None,
        description="How long nodes may take to be set up; unset: 35 minutes.",
        examples=[{"computeNodeBootstrap": "45m"}],
    )
    custom_slurm_settings: Annotated[dict[str, Parameter], AfterValidator(_allowed)] = Field(
        {},
        description="Parameters of `slurm.conf` that nothing else here has a key for.",
        examples=[{"MaxArraySize": 10001}],
        bound="parameters of `slurm.conf`, but those that ParallelCluster sets",
        source="aws-parallelcluster 3.16.1, SLURM_SETTINGS_DENY_LIST",
        codes=("SPC005",),
    )
    budget: Budget | None = Field(
        None,
        description="The budget of the cluster, by its tag; unset: nobody hears what it costs.",
        examples=[{"monthly": 500000, "emails": ["platform@example.com"]}],
    )


class Platform(SpecModel):
    """What the cluster runs on: the key says it, and holds what only it has."""

    parallel_cluster: ParallelCluster = Field(
        description="AWS ParallelCluster, with Slurm.",
        examples=[{"headNode": {"instanceType": "m7i.4xlarge"}}],
    )


class ClusterSection(Section):
    """The platform."""

    platform: Platform = Field(
        description="What the cluster runs on: `parallelCluster`, with what only it has.",
        examples=[{"parallelCluster": {"headNode": {"instanceType": "m7i.4xlarge"}}}],
    )

    @property
    def own(self) -> ParallelCluster:
        """What only AWS ParallelCluster has."""
        return self.platform.parallel_cluster


SECTION = ClusterSection
AT = Route(("spec", "platform", "parallelCluster"))
