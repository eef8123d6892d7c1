"""Secrets that are kept in AWS: what External Secrets gets, what it may read, and what jobs take of it."""

from __future__ import annotations

from typing import Any

from builders import body_of, plan_of, resolved, spec
from trainyard.eks.flux.plan import HelmRelease, Stage
from trainyard.eks.secrets.plan import ExternalSecret, SecretStore
from trainyard.lift import lift
from trainyard.output.manifest import Manifest, ObjectRef
from trainyard.run.lower import lower
from trainyard.run.passes import setting_of
from trainyard.verify import verify
from trainyard.verify.formats import objects

KEY = "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
TOKEN: dict[str, Any] = {
    "name": "hf-token",
    "namespaces": ["team-a", "team-b"],
    "secretsManager": {
        "existing": {"name": "team-a/hf-token"},
        "keys": {"token": "hf_token"},
        "refresh": "30m",
    },
}
LOGIN: dict[str, Any] = {
    "name": "login",
    "namespaces": ["team-a"],
    "type": "kubernetes.io/dockerconfigjson",
    "secretsManager": {
        "existing": {"name": "registry", "kmsKey": KEY},
        "keys": {".dockerconfigjson": ""},
    },
}
ALL: dict[str, Any] = {
    "name": "wandb",
    "namespaces": ["team-a"],
    "secretsManager": {"existing": {"name": "wandb"}},
}
JOB: dict[str, Any] = {
    "namespace": "team-a",
    "secretEnv": [
        {"env": "HF_TOKEN", "secret": "hf-token", "key": "token"},
        {"env": "WANDB_API_KEY", "secret": "wandb", "key": "anything"},
    ],
    "imagePullSecrets": ["login"],
}
QUEUES = [
    {"name": "research", "namespaces": ["team-a", "team-b"], "quota": [{"pool": "gpu", "nodes": 4}]}
]


def data(*secrets: dict[str, Any], **job: Any) -> dict[str, Any]:
    return spec(secrets=list(secrets), queues=QUEUES, job={**JOB, **job})


def stacks(*secrets: dict[str, Any]) -> dict[str, Any]:
    """The stacks of secrets, by name."""
    return {
        each.path.removeprefix("bootstrap/stacks/").removesuffix(".yaml"): each.body
        for each in lower(plan_of(data(*secrets)))
        if each.path.startswith("bootstrap/stacks/")
    }


def test_each_namespace_has_a_store_and_each_secret_an_object() -> None:
    plan = plan_of(data(TOKEN, LOGIN, ALL))
    assert [(each.namespace, each.name) for each in plan.of(SecretStore)] == [
        ("team-a", "secrets-manager"),
        ("team-b", "secrets-manager"),
    ]
    assert [(each.namespace, each.target) for each in plan.of(ExternalSecret)] == [
        ("team-a", "hf-token"),
        ("team-b", "hf-token"),
        ("team-a", "login"),
        ("team-a", "wandb"),
    ]


def test_what_is_written_says_what_the_plan_says() -> None:
    """Lifted by code that shares nothing with the renderer."""
    plan = plan_of(data(TOKEN, LOGIN, ALL))
    lifted = lift(objects(lower(plan)), closed=True)
    assert lifted.of(ExternalSecret) == plan.of(ExternalSecret)
    assert lifted.of(SecretStore) == plan.of(SecretStore)


def test_the_objects_fit_their_definitions_and_each_other() -> None:
    plan = plan_of(data(TOKEN, LOGIN, ALL))
    artifacts = list(lower(plan))
    setting = setting_of(plan, artifacts)
    assert verify(objects(artifacts), external=setting.external) == []
    body = body_of(objects(artifacts), "ExternalSecret", "login")
    assert body["spec"]["target"]["template"] == {"type": "kubernetes.io/dockerconfigjson"}
    assert body["spec"]["data"] == [
        {"secretKey": ".dockerconfigjson", "remoteRef": {"key": "registry"}}
    ]
    store = body_of(
        [
            Manifest(each.body)
            for each in objects(artifacts)
            if each.body["metadata"].get("namespace") != "team-b"
        ],
        "SecretStore",
    )
    assert store["spec"]["provider"] == {
        "aws": {"service": "SecretsManager", "region": "us-west-2"}
    }


def test_the_role_may_read_these_secrets_and_nothing_else() -> None:
    found = stacks(TOKEN, LOGIN)
    policies = {
        name: body["Resources"]["Policy"]["Properties"]
        for name, body in found.items()
        if name.startswith("secret-")
    }
    statements = {name: policy["PolicyDocument"]["Statement"] for name, policy in policies.items()}
    prefix = "arn:aws:secretsmanager:us-west-2:111122223333:secret:"
    read = ["secretsmanager:GetSecretValue", "secretsmanager:DescribeSecret"]
    of_token = {"Effect": "Allow", "Action": read, "Resource": f"{prefix}team-a/hf-token-??????"}
    of_login = {**of_token, "Resource": f"{prefix}registry-??????"}
    decrypt = {"Effect": "Allow", "Action": ["kms:Decrypt"], "Resource": KEY}
    assert statements == {"secret-hf-token": [of_token], "secret-login": [of_login, decrypt]}
    role = found["external-secrets"]["Resources"]["Role"]["Properties"]
    assert "ManagedPolicyArns" not in role
    names = {policy["RoleName"] for policy in policies.values()}
    assert names == {role["RoleName"]} == {"ExternalSecrets-lab"}


def test_another_secret_changes_no_file_of_the_first() -> None:
    one, two = stacks(TOKEN), stacks(TOKEN, LOGIN)
    assert {name: two[name] for name in one} == one
    assert two.keys() - one.keys() == {"secret-login"}


def test_nothing_waits_for_secrets() -> None:
    plan = plan_of(data(TOKEN, LOGIN, ALL))
    stages = {each.name: each for each in plan.of(Stage)}
    assert stages["trainyard-secrets"].depends_on == ("trainyard-platform",)
    assert not stages["trainyard-secrets"].wait
    assert all("trainyard-secrets" not in each.depends_on for each in stages.values())
    releases = [each.name for each in plan.of(HelmRelease)]
    assert "external-secrets" in releases


def test_what_is_made_here_need_not_exist() -> None:
    plan = plan_of(data(TOKEN, ALL, imagePullSecrets=["other"]))
    secrets = {ref[2:] for ref in plan.external if ref[1] == "Secret"}
    assert secrets == {("team-a", "other")}
    made = ObjectRef("v1", "Secret", "team-a", "hf-token")
    assert made in setting_of(plan).external


def test_a_cluster_without_secrets_has_none_of_it() -> None:
    plan = plan_of(spec())
    assert plan.of(ExternalSecret) == plan.of(SecretStore) == ()
    made = [each for each in lower(plan) if "secret" in each.path]
    # Those of the account by whose rights Flux would delete them.
    assert {each.ref.name for each in made} == {"trainyard-secrets"}


def test_a_stack_may_name_its_role() -> None:
    """CloudFormation refuses a stack with a role of a name of its own without CAPABILITY_NAMED_IAM."""
    plan = plan_of(data(TOKEN, ALL, LOGIN))
    (script,) = (each for each in lower(plan) if each.path == "bootstrap/up.sh")
    _, _, loop = script.content.partition("step_parts()")
    command, _, _ = loop.partition("done")
    assert "CAPABILITY_NAMED_IAM" in command


def test_the_key_of_a_variable_is_one_of_the_secret() -> None:
    wrong = [{"env": "HF_TOKEN", "secret": "hf-token", "key": "hf_token"}]
    _, found = resolved(data(TOKEN, secretEnv=wrong, imagePullSecrets=[]))
    assert [(each.code, str(each.at)) for each in found] == [
        ("RES110", "spec.jobs[0].secretEnv[0].key")
    ]
