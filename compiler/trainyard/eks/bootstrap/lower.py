"""Lower: what people or CI run once, before Flux: IAM and queue, placement groups, the cluster, Flux itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from trainyard.catalog import iam
from trainyard.core.images.plan import MadeImage
from trainyard.eks.bootstrap.step import Step
from trainyard.eks.cluster.account import PoolNeeds, StorageNeeds
from trainyard.eks.cluster.plan import AccessEntry, Bootstrap, Cluster, PodIdentity
from trainyard.eks.jobs.plan import Operator
from trainyard.eks.network.plan import MadeNetwork
from trainyard.eks.nodes.plan import NodeGroup, NodePool
from trainyard.eks.secrets.plan import AwaitedSecret, SecretReader
from trainyard.eks.teams.people import short_name
from trainyard.eks.third_party_workloads.resources import job_resources
from trainyard.language.places import Route
from trainyard.output import Artifact
from trainyard.output.lowering.body import fields_given
from trainyard.output.lowering.templates import STACKS, pod_identity, role_policy, template
from trainyard.output.lowering.text import rendered
from trainyard.plan import Plan
from trainyard.plan.features import parts
from trainyard.plan.scheduling import POOL_LABEL

FOLDER = "bootstrap"


def lower(plan: Plan) -> Iterator[Artifact]:
    """The stack of the cluster and those of its parts; the README with the commands in order, and a page for each pool
    and storage. Each part has files of its own, so that branches that add parts never conflict."""
    boot = plan.one(Bootstrap)
    if boot is None:
        return
    yield _page("README.md", lambda: _readme(plan, boot), boot)
    at = boot.where("cluster")
    yield Artifact(stack(boot), f"{FOLDER}/stack.yaml", at, format="cloudformation")
    yield from stacks(boot)
    network = plan.one(MadeNetwork)
    yield from way_up_and_down(plan, boot)
    if boot.terraform is not None:
        yield _script("terraform", boot.where("terraform"), boot=boot)
    if _made(boot):
        yield _script("storage", boot.where("drivers"), boot=boot)
    if network is not None:
        yield _script("network", network.at, boot=boot, network=network)
    for pool in boot.needs.pools:
        yield _page(f"pools/{pool.pool}.md", _pool_page(plan, boot, pool), boot)
    for storage in boot.needs.storage:
        page = _storage_page(boot, storage)
        yield _page(f"storage/{storage.name}.md", page, boot)


def way_up_and_down(plan: Plan, boot: Bootstrap) -> Iterator[Artifact]:
    """``up.sh`` and ``down.sh``. They name no job, pool or storage, so they are the same in every branch."""
    for name in ("up", "down"):
        yield Artifact(
            path=f"bootstrap/{name}.sh",
            at=boot.where("cluster"),
            text=_text(plan, boot, name),
            format="shell",
        )


def _text(plan: Plan, boot: Bootstrap, name: str) -> Callable[[], str]:
    def text() -> str:
        return _rendered(
            f"{name}.sh.j2",
            boot=boot,
            cluster=plan.one(Cluster),
            network=plan.one(MadeNetwork),
            kinds=job_resources(each.name for each in plan.of(Operator)),
            awaited=_awaited(plan),
            steps=_steps(plan),
        )

    return text


def _steps(plan: Plan) -> list[Step]:
    """The steps that features add."""
    return [step for module in parts("steps") for step in module.steps(plan)]


def _awaited(plan: Plan) -> list[tuple[str, str, str]]:
    """Namespace, name and key of what receivers read of Secrets that nothing of the spec makes."""
    return sorted({(each.namespace, each.name, each.key) for each in plan.of(AwaitedSecret)})


def _page(name: str, text: Callable[[], str], boot: Bootstrap) -> Artifact:
    """A page. Its text is made when it is written: Jinja takes a tenth of the time of a check."""
    return Artifact(path=f"{FOLDER}/{name}", at=boot.at, text=text, format="markdown")


def _readme(plan: Plan, boot: Bootstrap) -> str:
    # A stack with a role of a name of its own needs another capability (CloudFormation API, CreateStack).
    named = plan.one(SecretReader) is not None
    return _rendered(
        "README.md.j2",
        boot=boot,
        cluster=plan.one(Cluster),
        named=named,
        made=_made(boot),
        network=plan.one(MadeNetwork),
        images=bool(plan.of(MadeImage)),
        groups=bool(plan.of(NodeGroup)),
    )


def _made(boot: Bootstrap) -> bool:
    """Whether any storage is made. Which ones is for the files of each: two that come never meet."""
    made = [storage.made for storage in boot.needs.storage]
    return any(storage is not None for storage in made)


def _script(name: str, at: Route, **values: Any) -> Artifact:
    """A script, whose text is made when it is written, as that of a page is."""
    return Artifact(
        path=f"{FOLDER}/{name}.sh",
        at=at,
        text=lambda: _rendered(f"{name}.sh.j2", **values),
        format="shell",
    )


def _pool_page(plan: Plan, boot: Bootstrap, pool: PoolNeeds) -> Callable[[], str]:
    groups = {group.pool: group for group in boot.placement_groups}
    return lambda: _rendered(
        "pool.md.j2",
        boot=boot,
        pool=pool,
        plan_pools=_node_pools(plan, pool.pool),
        group=groups.get(pool.pool),
        node_groups=_node_groups(plan, pool.pool),
    )


def _storage_page(boot: Bootstrap, storage: StorageNeeds) -> Callable[[], str]:
    return lambda: _rendered("storage.md.j2", boot=boot, storage=storage)


def _node_pools(plan: Plan, pool: str) -> list[str]:
    """The NodePools of a pool of the spec."""
    return [
        node_pool.name
        for node_pool in plan.of(NodePool)
        if pool in (node_pool.name, node_pool.labels.get(POOL_LABEL))
    ]


def _node_groups(plan: Plan, pool: str) -> list[str]:
    """The managed node groups of a pool of the spec."""
    return [group.name for group in plan.of(NodeGroup) if group.labels.get(POOL_LABEL) == pool]


def _rendered(name: str, **values: Any) -> str:
    return rendered("trainyard.eks.bootstrap", name, **values)


def stack(boot: Bootstrap) -> dict[str, Any]:
    """CloudFormation: Karpenter's roles, its interruption queue with its rules, the role of buckets. With EKS Auto Mode
    there is no controller of Karpenter, and no queue; a platform that has nodes of its own has their role too."""
    description = f"What cluster {boot.cluster} needs before it exists"
    node_trust = _trust(_EC2.get(boot.partition, "ec2.amazonaws.com"))
    of_buckets: dict[str, Any] = {}
    if boot.reads_buckets or not (boot.karpenter or boot.auto_mode):
        # A stack has a resource at least: where it would have none, this role is there, and has no rights.
        # What the policy of buckets is follows with each bucket, see ``_bucket``.
        of_buckets["BucketRole"] = _role(boot.bucket_role, boot.bucket_trust, [])
    if not boot.karpenter and not boot.auto_mode:
        return template(description, of_buckets)
    if boot.auto_mode:
        nodes = _role(boot.node_role, node_trust, list(boot.node_policies))
        return template(description, {"NodeRole": nodes, **of_buckets})
    names = boot.controller_policies
    policies = [{"Ref": f"{_logical(name)}Policy"} for name in names]
    queue = dict(boot.queue)
    queue_policy = queue.pop("policy")
    resources: dict[str, Any] = {
        "NodeRole": _role(boot.node_role, node_trust, list(boot.node_policies)),
        "ControllerRole": _role(boot.controller_role, boot.controller_trust, policies),
        "InterruptionQueue": {
            "Type": "AWS::SQS::Queue",
            "Properties": {"QueueName": boot.interruption_queue, **queue},
        },
        "InterruptionQueuePolicy": {
            "Type": "AWS::SQS::QueuePolicy",
            "Properties": {
                "Queues": [{"Ref": "InterruptionQueue"}],
                "PolicyDocument": queue_policy,
            },
        },
    }
    for name, document in boot.controller_policies.items():
        resources[f"{_logical(name)}Policy"] = {
            "Type": "AWS::IAM::ManagedPolicy",
            "Properties": {"PolicyDocument": document},
        }
    target = {
        "Id": "KarpenterInterruptionQueue",
        "Arn": {"Fn::GetAtt": ["InterruptionQueue", "Arn"]},
    }
    for name, pattern in boot.interruption_rules.items():
        resources[f"{_logical(name)}Rule"] = {
            "Type": "AWS::Events::Rule",
            "Properties": {"EventPattern": pattern, "Targets": [target]},
        }
    if boot.instance_profile:
        resources["InstanceProfile"] = {
            "Type": "AWS::IAM::InstanceProfile",
            "Properties": {
                "InstanceProfileName": boot.instance_profile,
                "Roles": [{"Ref": "NodeRole"}],
            },
        }
    return template(description, {**resources, **of_buckets})


def stacks(boot: Bootstrap) -> Iterator[Artifact]:
    """CloudFormation: a stack for each thing that comes and goes alone."""
    for storage in boot.needs.storage:
        if storage.bucket is not None:
            yield _part(
                f"bucket-{storage.name}",
                f"What pods may do in bucket {storage.bucket}",
                {"Policy": _bucket(boot, storage)},
                storage.at,
            )
    for driver in boot.drivers:
        resources = _driver(boot, driver)
        at = boot.where("drivers")
        yield _part(driver.service_account, "The rights of a driver", resources, at)
    for entry in boot.access:
        name = short_name(entry.principal)
        resources = {"Entry": _entry(boot, entry)}
        yield _part(f"principal-{name}", "Who may enter the cluster", resources, entry.at)


def _part(name: str, description: str, resources: Mapping[str, Any], at: Route) -> Artifact:
    path = f"{STACKS}/{name}.yaml"
    body = template(description, resources)
    return Artifact(body, path, at, format="cloudformation")


def _logical(name: str) -> str:
    """A name as a logical id of CloudFormation: letters and digits, each word with a capital."""
    words = name.replace("_", "-").split("-")
    for index, word in enumerate(words):
        if word.islower():
            words[index] = word.capitalize()
    return "".join(words)


_EC2 = {"aws-cn": "ec2.amazonaws.com.cn"}
"""EC2 as a principal (karpenter v1.14.1, CloudFormation template: `ec2.${AWS::URLSuffix}`)."""


def _trust(service: str) -> dict[str, Any]:
    statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    return {"Version": "2012-10-17", "Statement": [statement]}


def _role(name: str, trust: Any, policies: list[Any]) -> dict[str, Any]:
    return {
        "Type": "AWS::IAM::Role",
        "Properties": {
            "RoleName": name,
            "AssumeRolePolicyDocument": dict(trust),
            "ManagedPolicyArns": policies,
        },
    }


def _bucket(boot: Bootstrap, storage: StorageNeeds) -> dict[str, Any]:
    rights = _rights(boot, storage.bucket or "", read_only=storage.read_only)
    if storage.key is not None:
        # Mountpoint for Amazon S3 1.22, doc/CONFIGURATION.md: buckets encrypted with a KMS key.
        actions = ["kms:GenerateDataKey", "kms:Decrypt"]
        rights += [{"Effect": "Allow", "Action": actions, "Resource": storage.key}]
    return role_policy(f"bucket-{storage.name}", boot.bucket_role, rights)


def _rights(boot: Bootstrap, bucket: str, *, read_only: bool) -> list[dict[str, Any]]:
    """What Mountpoint does in a bucket (Mountpoint for Amazon S3 1.22, doc/CONFIGURATION.md, IAM permissions). Of a
    directory bucket it asks for a session, and no action of S3 counts."""
    if bucket.endswith("--x-s3"):
        owner = f"arn:{boot.partition}:s3express:{boot.region}:{boot.account}"
        arn = f"{owner}:bucket/{bucket}"
        session = fields_given(
            Effect="Allow",
            Action=["s3express:CreateSession"],
            Resource=arn,
            Condition={"StringEquals": {"s3express:SessionMode": "ReadOnly"}}
            if read_only
            else None,
        )
        return [session]
    arn = f"arn:{boot.partition}:s3:::{bucket}"
    writes = ["s3:PutObject", "s3:AbortMultipartUpload", "s3:DeleteObject"]
    return [
        {"Effect": "Allow", "Action": ["s3:ListBucket"], "Resource": arn},
        {
            "Effect": "Allow",
            "Action": ["s3:GetObject", *([] if read_only else writes)],
            "Resource": f"{arn}/*",
        },
    ]


def _driver(boot: Bootstrap, driver: PodIdentity) -> dict[str, Any]:
    """A role with its association, or the association with a role that another stack makes."""
    if driver.role_arn is not None:
        association = {
            "ClusterName": boot.cluster,
            "Namespace": driver.namespace,
            "ServiceAccount": driver.service_account,
            "RoleArn": driver.role_arn,
        }
        resource = {"Type": "AWS::EKS::PodIdentityAssociation", "Properties": association}
        return {"Association": resource}
    cluster = iam.cluster_arn(boot.partition, boot.region, boot.account, boot.cluster)
    account = (driver.namespace, driver.service_account)
    role = {
        "AssumeRolePolicyDocument": iam.pod_identity_trust(cluster, *account),
        "ManagedPolicyArns": list(driver.policy_arns),
    }
    return pod_identity(role, boot.cluster, driver.namespace, driver.service_account)


def _entry(boot: Bootstrap, entry: AccessEntry) -> dict[str, Any]:
    # AWS::EKS::AccessEntry (CloudFormation template reference).
    if entry.policy:
        policies = [{"PolicyArn": entry.policy, "AccessScope": {"Type": "cluster"}}]
    else:
        policies = []
    return {
        "Type": "AWS::EKS::AccessEntry",
        "Properties": fields_given(
            ClusterName=boot.cluster,
            PrincipalArn=entry.principal,
            Type=entry.type,
            KubernetesGroups=list(entry.groups),
            AccessPolicies=policies,
        ),
    }
