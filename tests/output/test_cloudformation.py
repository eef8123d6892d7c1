"""What CloudFormation, or the service of a resource, refuses in a template; and what it takes."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from trainyard.core.cloud.plan import (
    AccessPolicy,
    Bucket,
    EventRule,
    IamRole,
    MessageQueue,
    PlacementGroupStack,
    PodIdentityStack,
    SecurityGroupStack,
)
from trainyard.extensions.facts.derive_stacks import converted
from trainyard.language.places import SourceFile
from trainyard.language.source.manifests import parse_manifests
from trainyard.output import Artifact
from trainyard.verify.formats import Setting, lifted, verified
from trainyard.verify.formats.cloudformation.functions import TAGS, is_call
from trainyard.verify.formats.cloudformation.structure import structure, types
from trainyard.verify.formats.cloudformation.template import BY_FILE, BY_S3, faults, is_template

BASE = """
AWSTemplateFormatVersion: "2010-09-09"
Parameters: {Cluster: {Type: String}}
Conditions: {Named: !Not [!Equals [!Ref Cluster, ""]]}
Mappings: {Sizes: {small: {nodes: 1}}}
Resources:
  Queue:
    Type: AWS::SQS::Queue
    DeletionPolicy: Retain
    Properties: {QueueName: !Sub "Karpenter-${Cluster}", MessageRetentionPeriod: 300, SqsManagedSseEnabled: true}
  Role:
    Type: AWS::IAM::Role
    Condition: Named
    DependsOn: [Queue]
    Properties:
      RoleName: !Sub "node-${Cluster}"
      AssumeRolePolicyDocument:
        Version: "2012-10-17"
        Statement: [{Effect: Allow, Principal: {Service: ec2.amazonaws.com}, Action: sts:AssumeRole}]
      ManagedPolicyArns: [!Sub "arn:${AWS::Partition}:iam::aws:policy/AmazonEKS_CNI_Policy", !Ref Policy]
  Policy:
    Type: AWS::IAM::ManagedPolicy
    Properties:
      PolicyDocument:
        Version: "2012-10-17"
        Statement: [{Effect: Allow, Action: [sqs:SendMessage], Resource: !GetAtt Queue.Arn}]
Outputs: {Arn: {Value: !GetAtt Role.Arn}, Nodes: {Value: !FindInMap [Sizes, small, nodes]}}
"""


def read(text: str) -> dict[str, Any]:
    documents, found = parse_manifests(SourceFile("t.yaml", text), TAGS)
    assert found == []
    body: dict[str, Any] = documents[0].root.to_python()
    return body


def laid(base: Any, over: Any) -> Any:
    """``over`` laid over ``base``; ``None`` removes a key."""
    if is_call(over) and "Condition" not in over:
        return over
    if not (isinstance(base, dict) and isinstance(over, dict)):
        return over
    merged = {**base}
    for key, value in over.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = laid(base.get(key), value)
    return merged


def found_in(change: str) -> list[tuple[str, str]]:
    """Codes and paths of the faults of the base with a change."""
    body = laid(read(BASE), read(change) if change else {})
    return [(each.code, "/".join(map(str, each.path))) for each in faults(body)]


def resource(name: str, properties: str) -> str:
    return f"Resources: {{{name}: {{Properties: {properties}}}}}"


def test_a_template_without_fault() -> None:
    assert found_in("") == []


@pytest.mark.parametrize(
    ("change", "code", "path"),
    [
        # sections and resources
        ("Resorces: {}", "SCH001", "Resorces"),
        ("Resources: {Queue: {Propertys: {}}}", "SCH001", "Resources/Queue/Propertys"),
        ("Resources: {Queue: {Type: null}}", "SCH003", "Resources/Queue/Type"),
        ("Resources: {Queue: {DeletionPolicy: Keep}}", "SCH004", "Resources/Queue/DeletionPolicy"),
        ("Resources: {my-queue: {Type: A::B::C}}", "NAM001", "Resources/my-queue"),
        ("Parameters: {Other: {Default: a}}", "SCH003", "Parameters/Other/Type"),
        ("Outputs: {Arn: {Value: null}}", "SCH003", "Outputs/Arn/Value"),
        ("Outputs: []", "SCH002", "Outputs"),
        # properties, by structure
        (
            resource("Queue", "{MesageRetentionPeriod: 300}"),
            "SCH001",
            "Resources/Queue/Properties/MesageRetentionPeriod",
        ),
        (resource("Queue", "{QueueUrl: a}"), "SCH001", "Resources/Queue/Properties/QueueUrl"),
        (
            resource("Queue", "{MessageRetentionPeriod: 30}"),
            "SCH005",
            "Resources/Queue/Properties/MessageRetentionPeriod",
        ),
        (
            resource("Queue", "{SqsManagedSseEnabled: maybe}"),
            "SCH002",
            "Resources/Queue/Properties/SqsManagedSseEnabled",
        ),
        (
            resource("Role", f"{{RoleName: {'a' * 65}}}"),
            "SCH005",
            "Resources/Role/Properties/RoleName",
        ),
        (resource("Role", "{RoleName: a b}"), "SCH006", "Resources/Role/Properties/RoleName"),
        (
            resource("Role", "{AssumeRolePolicyDocument: null}"),
            "SCH003",
            "Resources/Role/Properties/AssumeRolePolicyDocument",
        ),
        (
            resource("Role", "{ManagedPolicyArns: arn:aws:iam::aws:policy/A}"),
            "SCH002",
            "Resources/Role/Properties/ManagedPolicyArns",
        ),
        # the grammar of policies
        (
            resource("Policy", "{PolicyDocument: {Version: 2012-10-18}}"),
            "SCH004",
            "Resources/Policy/Properties/PolicyDocument/Version",
        ),
        (
            resource(
                "Policy", "{PolicyDocument: {Statement: [{Effect: Alow, Action: a, Resource: b}]}}"
            ),
            "SCH004",
            "Resources/Policy/Properties/PolicyDocument/Statement/0/Effect",
        ),
        (
            resource(
                "Policy", "{PolicyDocument: {Statement: [{Efect: Allow, Action: a, Resource: b}]}}"
            ),
            "SCH001",
            "Resources/Policy/Properties/PolicyDocument/Statement/0/Efect",
        ),
        (
            resource("Policy", "{PolicyDocument: {Statement: {Effect: Allow, Action: a}}}"),
            "SCH003",
            "Resources/Policy/Properties/PolicyDocument/Statement/Resource",
        ),
        (
            resource(
                "Policy",
                "{PolicyDocument: {Statement: [{Effect: Allow, Action: a, Resource: b, Principal: '*'}]}}",
            ),
            "SCH001",
            "Resources/Policy/Properties/PolicyDocument/Statement/0/Principal",
        ),
        (
            resource(
                "Role",
                "{AssumeRolePolicyDocument: {Statement: [{Effect: Allow, Action: a, Principal: {Aws: b}}]}}",
            ),
            "SCH001",
            "Resources/Role/Properties/AssumeRolePolicyDocument/Statement/0/Principal/Aws",
        ),
        (
            resource("Policy", "{PolicyDocument: '{'}"),
            "SCH002",
            "Resources/Policy/Properties/PolicyDocument",
        ),
        # references
        (
            resource("Queue", "{QueueName: !Ref Clustr}"),
            "REF001",
            "Resources/Queue/Properties/QueueName/Ref",
        ),
        (
            resource("Queue", '{QueueName: !Sub "a-${Clustr}"}'),
            "REF001",
            "Resources/Queue/Properties/QueueName/Fn::Sub",
        ),
        ("Outputs: {Arn: {Value: !GetAtt Queu.Arn}}", "REF001", "Outputs/Arn/Value/Fn::GetAtt"),
        (
            "Outputs: {Arn: {Value: {Fn::GetAtt: [Queue, Urn]}}}",
            "REF001",
            "Outputs/Arn/Value/Fn::GetAtt",
        ),
        ("Resources: {Role: {Condition: Namd}}", "REF001", "Resources/Role/Condition"),
        ("Resources: {Role: {DependsOn: Que}}", "REF001", "Resources/Role/DependsOn"),
        (
            "Outputs: {Nodes: {Value: !FindInMap [Size, small, nodes]}}",
            "REF001",
            "Outputs/Nodes/Value/Fn::FindInMap/0",
        ),
        ("Outputs: {Arn: {Value: !If [Namd, a, b]}}", "REF001", "Outputs/Arn/Value/Fn::If/0"),
        ("Resources: {Queue: {DependsOn: Role}}", "REF003", "Resources/Queue"),
        ("Resources: {Queue: 7}\nOutputs: {Arn: null}", "SCH002", "Resources/Queue"),
        ("Outputs: {Q: {Value: !Ref 'AWS::Regio'}}", "REF001", "Outputs/Q/Value/Ref"),
        (
            resource("Queue", '{QueueName: !Sub ["${a}-${Clustr}", {a: b}]}'),
            "REF001",
            "Resources/Queue/Properties/QueueName/Fn::Sub",
        ),
        ("Outputs: {Q: {Value: !Sub '${Queue.Urn}'}}", "REF001", "Outputs/Q/Value/Fn::Sub"),
        (
            "Outputs: {Q: {Value: {Fn::Transform: {Name: a}, Other: !Ref Clustr}}}",
            "REF001",
            "Outputs/Q/Value/Other/Ref",
        ),
        # a statement that says one thing in two ways, by a function as well
        (
            resource(
                "Policy",
                "{PolicyDocument: {Statement: [{Effect: Allow, Resource: '*', Action: a, NotAction: b}]}}",
            ),
            "SCH013",
            "Resources/Policy/Properties/PolicyDocument/Statement/0/NotAction",
        ),
        (
            resource(
                "Policy",
                "{PolicyDocument: {Statement: [{Effect: Allow, Resource: '*', Action: a, NotAction: !Ref Cluster}]}}",
            ),
            "SCH013",
            "Resources/Policy/Properties/PolicyDocument/Statement/0/NotAction",
        ),
        (
            resource(
                "Policy",
                "{PolicyDocument: {Statement: [{Effect: Allow, Resource: '*', Action: a}, a]}}",
            ),
            "SCH002",
            "Resources/Policy/Properties/PolicyDocument/Statement/1",
        ),
    ],
)
def test_what_is_refused(change: str, code: str, path: str) -> None:
    assert found_in(change) == [(code, path)]


@pytest.mark.parametrize(
    "change",
    [
        # scalars that CloudFormation converts
        resource("Queue", '{MessageRetentionPeriod: "300", SqsManagedSseEnabled: "true"}'),
        resource("Queue", "{QueueName: 12}"),
        # what a function fills in is unknown
        resource("Queue", "{MessageRetentionPeriod: !Ref Cluster}"),
        resource("Queue", "{Tags: !If [Named, [{Key: a, Value: b}], !Ref AWS::NoValue]}"),
        resource("Role", "{ManagedPolicyArns: !Split [',', !Ref Cluster]}"),
        resource("Role", "{AssumeRolePolicyDocument: !Ref Cluster}"),
        resource("Role", "{Policies: [!If [Named, {PolicyName: a}, !Ref AWS::NoValue]]}"),
        # names that `Fn::Sub` has itself, or that are no names
        resource("Queue", '{QueueName: !Sub ["${a}-${Cluster}", {a: b}]}'),
        resource("Queue", '{QueueName: !Sub "${!Literal}-$x"}'),
        # a type that is not known here may have anything
        "Resources: {Other: {Type: AWS::New::Thing, Properties: {A: 1}}}",
        "Resources: {Other: {Type: Custom::Thing, Version: '1.0', Properties: {ServiceToken: a}}}",
        "Outputs: {Arn: {Value: !GetAtt [Other, Any.Thing]}}\n"
        "Resources: {Other: {Type: Custom::Thing}}",
        # a transform may make what is not there
        "Transform: AWS::Serverless-2016-10-31\nOutputs: {Arn: {Value: !GetAtt FunctionRole.Arn}}",
        "Transform: [Macro]\nResources: {Queue: {Count: 3}}",
        "Resources: {'Fn::ForEach::Queues': [Name, [a], {}]}",
        "Outputs: {'Fn::ForEach::Names': [Name, [a], {}]}",
        "Resources: {Queue: {Fn::Transform: {Name: a}, Other: 1}}",
        # an attribute that is only known once it is filled in, and functions of functions
        "Outputs: {Q: {Value: {Fn::GetAtt: [Queue, '${Cluster}']}}}",
        "Outputs: {Q: {Value: {Fn::GetAtt: [!Ref Cluster, Arn]}}}",
        "Outputs: {Q: {Value: !If [!Ref Cluster, a, b]}}",
        "Outputs: {Q: {Value: !FindInMap [!Ref Cluster, a, b]}}",
        "Outputs: {Q: {Value: !Sub [!Ref Cluster, {a: b}]}}",
        # a policy as text, and a statement alone
        resource(
            "Policy",
            """{PolicyDocument: '{"Statement": {"Effect": "Allow", "Action": "a", "Resource": "*"}}'}""",
        ),
        resource(
            "Role",
            "{AssumeRolePolicyDocument: {Statement: [{Effect: Allow, Action: a, "
            "Principal: {Service: !Sub 'ec2.${AWS::URLSuffix}', AWS: [!Ref Cluster]}}]}}",
        ),
    ],
)
def test_what_is_taken(change: str) -> None:
    assert found_in(change) == []


def test_a_template_without_resources_has_no_purpose() -> None:
    found = faults({"AWSTemplateFormatVersion": "2010-09-09"})
    assert [(each.code, each.message) for each in found] == [("SCH003", "`Resources` is missing")]


def test_of_our_own_every_type_is_known() -> None:
    body = {"Resources": {"A": {"Type": "AWS::SQS::Queu"}, "B": 7}}
    found = faults(body, closed=True)
    assert [(each.code, each.path[1]) for each in found] == [("SCH010", "A"), ("SCH002", "B")]
    assert [each.code for each in faults(body)] == ["SCH002"]


def test_a_misspelt_name_is_reported_what_it_is_nearly() -> None:
    body = laid(read(BASE), read(resource("Queue", "{QueueNam: a}")))
    (fault,) = faults(body)
    assert (fault.help, fault.key) == ("did you mean `QueueName`?", True)
    body = laid(read(BASE), read("Outputs: {Arn: {Value: !Ref Quue}}"))
    assert [each.help for each in faults(body)] == ["did you mean `Queue`?"]


def test_a_template_has_at_most_as_many_bytes_as_are_taken() -> None:
    body = read(BASE)
    assert [each.code for each in faults(body, BY_FILE + 1)] == ["SCH005"]
    assert faults(body, BY_FILE) == []
    assert faults(body, BY_S3, BY_S3) == []
    long = laid(body, {"Description": "a" * BY_FILE})
    ours = Artifact(long, "bootstrap/stack.yaml", format="cloudformation")
    assert [each.code for each in verified([ours], Setting())] == ["SCH005"]
    assert verified([ours], Setting(closed=False)) == []  # it may lie in S3
    many = {f"Q{number}": {"Type": "AWS::SQS::Queue"} for number in range(501)}
    assert [each.code for each in faults({"Resources": many})] == ["SCH005"]


def test_a_type_of_our_own_has_a_structure() -> None:
    """Of a third party's nothing is said; of ours nothing would judge it."""
    body = {"Resources": {"Key": {"Type": "AWS::SNS::Topic", "Properties": {}}}}
    assert faults(body) == []
    assert [each.code for each in faults(body, closed=True)] == ["SCH010"]


def test_three_resources_that_wait_for_each_other() -> None:
    body = read(
        "Resources:\n"
        "  A: {Type: Custom::A, Properties: {x: !Ref B}}\n"
        "  B: {Type: Custom::A, Properties: {x: !GetAtt C.Y}}\n"
        "  C: {Type: Custom::A, DependsOn: A}\n"
        "  D: {Type: Custom::A, DependsOn: A}\n"
    )
    (fault,) = faults(body)
    assert fault.message == "resources wait for each other: `A` → `B` → `C` → `A`"


def test_what_is_filled_in() -> None:
    """A transform may have keys beside it; a condition of a policy is none of a template."""
    assert is_call({"Fn::Transform": {"Name": "AWS::Include"}, "Name": "a"})
    assert is_call({"Ref": "A"})
    assert is_call({"Condition": "InChina"})
    for value in (
        {"Condition": {"StringEquals": {}}},
        {"Ref": "A", "Name": "a"},
        {},
        "Ref",
        ["Ref"],
    ):
        assert not is_call(value), value


@pytest.mark.parametrize(
    ("body", "known"),
    [
        ({"AWSTemplateFormatVersion": "2010-09-09"}, True),
        ({"Resources": {"A": {"Type": "AWS::SQS::Queue"}}}, True),
        ({"Resources": {"A": {"Type": "Custom::Thing"}}}, True),
        ({"Resources": {"A": {"Type": "queue"}}}, False),
        ({"Resources": ["a"]}, False),
        ({"apiVersion": "v1", "Resources": {"A": {"Type": "AWS::A::B"}}}, False),
        ({}, False),
        (None, False),
    ],
)
def test_what_a_template_is_known_by(body: Any, known: bool) -> None:
    assert is_template(body) is known


# --- reading


def cloud(text: str) -> list[Any]:
    artifact = Artifact(read(text), "t.yaml", format="cloudformation")
    return list(lifted([artifact], closed=False).items)


def test_resources_are_read_with_their_places() -> None:
    found = {type(each): each for each in cloud(BASE)}
    queue, role = found[MessageQueue], found[IamRole]
    assert (queue.name, queue.managed_encryption, queue.retention) == (
        "Karpenter-${Cluster}",
        True,
        300,
    )
    where = queue.where("managed_encryption")
    assert str(where) == "@Template/t.yaml.Resources.Queue.Properties.SqsManagedSseEnabled"
    assert role.managed == ("arn:${AWS::Partition}:iam::aws:policy/AmazonEKS_CNI_Policy", "Policy")
    (statement,) = role.trust.statements
    assert dict(statement.principals) == {"Service": ("ec2.amazonaws.com",)}
    policy = found[AccessPolicy]
    assert (policy.what, policy.statements[0].actions) == ("managed", ("sqs:SendMessage",))
    assert policy.statements[0].resources == ("",)  # a function gives it
    assert "resources" in policy.statements[0].unread


def test_policies_that_attach_themselves_are_their_roles() -> None:
    body = laid(
        read(BASE),
        read(
            "Resources:\n"
            "  More: {Type: AWS::IAM::ManagedPolicy, Properties: {Roles: [!Ref Role], "
            "PolicyDocument: {Statement: []}}}\n"
            "  Part: {Type: AWS::IAM::RolePolicy, Properties: {RoleName: !Ref Role, PolicyName: p, "
            "PolicyDocument: {Statement: []}}}\n"
            "  Old: {Type: AWS::IAM::Policy, Properties: {Roles: [other], PolicyName: o, "
            "PolicyDocument: {Statement: []}}}\n"
        ),
    )
    artifact = Artifact(body, "t.yaml", format="cloudformation")
    nodes = lifted([artifact], closed=False).items
    (role,) = (each for each in nodes if isinstance(each, IamRole))
    assert role.managed[1:] == ("Policy", "More")
    assert [each.name for each in role.inline] == ["p"]


POLICY = "{Statement: [{Effect: Allow, Action: a, Resource: b}]}"


@pytest.mark.parametrize(
    ("document", "read"), [(POLICY, True), ("'{'", False), ("'[]'", False), ("!Ref P", False)]
)
def test_a_policy_that_is_not_known_is_none_of_its_role(document: str, read: bool) -> None:
    found = cloud(
        "Resources: {R: {Type: AWS::IAM::Role, Properties: "
        f"{{Policies: [{{PolicyName: a, PolicyDocument: {document}}}, "
        f"{{PolicyName: b, PolicyDocument: {POLICY}}}]}}}}}}"
    )
    (role,) = (each for each in found if isinstance(each, IamRole))
    assert [each.name for each in role.inline] == (["a", "b"] if read else ["b"])


def test_a_policy_that_a_role_names_as_well_is_attached_once() -> None:
    found = cloud(
        "Resources:\n"
        "  R: {Type: AWS::IAM::Role, Properties: {ManagedPolicyArns: [!Ref M]}}\n"
        f"  M: {{Type: AWS::IAM::ManagedPolicy, Properties: {{Roles: [!Ref R], PolicyDocument: {POLICY}}}}}\n"
    )
    (role,) = (each for each in found if isinstance(each, IamRole))
    assert role.managed == ("M",)


@pytest.mark.parametrize(
    ("inside", "alone", "unread"),
    [
        ("[{IpProtocol: tcp, FromPort: 1, ToPort: 2}]", "{IpProtocol: '-1'}", False),
        ("!Ref P", "{IpProtocol: '-1'}", True),
        ("[!Ref P]", "{IpProtocol: '-1'}", True),
        ("[{IpProtocol: tcp, FromPort: !Ref P, ToPort: 2}]", "{IpProtocol: '-1'}", True),
        ("[]", "{IpProtocol: !Ref P}", True),
    ],
)
def test_rules_that_a_function_gives_are_unread(inside: str, alone: str, unread: bool) -> None:
    (group,) = cloud(
        "Resources:\n"
        f"  G: {{Type: AWS::EC2::SecurityGroup, Properties: {{SecurityGroupIngress: {inside}}}}}\n"
        "  I:\n    Type: AWS::EC2::SecurityGroupIngress\n"
        f"    Properties: {{GroupId: !Ref G, {alone.strip('{}')}}}\n"
    )
    assert isinstance(group, SecurityGroupStack)
    assert ("rules" in group.unread) is unread


def test_white_space_does_not_count_and_what_is_unknown_counts_nothing() -> None:
    def size(document: str) -> int:
        text = (
            "Resources: {P: {Type: AWS::IAM::ManagedPolicy, Properties: "
            f"{{PolicyDocument: {document}}}}}}}"
        )
        (policy,) = cloud(text)
        return int(policy.characters)

    assert size("{Id: a}") == len('{"Id":"a"}')
    assert size('{Id: "a b  c"}') == len('{"Id":"abc"}')
    assert size("""'{ "Id" : "a" }'""") == len('{"Id":"a"}')
    assert size('{Id: !Sub "a${B}c"}') == len('{"Id":"ac"}')
    assert size("{Id: !Ref B}") == len('{"Id":""}')


def test_the_other_resources() -> None:
    found = cloud(
        "Resources:\n"
        "  B: {Type: AWS::S3::Bucket, Properties: {PublicAccessBlockConfiguration: "
        "{BlockPublicAcls: 'false', BlockPublicPolicy: !Ref P}}}\n"
        "  R: {Type: AWS::Events::Rule, Properties: {EventPattern: {detail-type: [a]}, "
        "Targets: [{Id: x, Arn: !GetAtt Q.Arn}]}}\n"
        "  G: {Type: AWS::EC2::PlacementGroup, Properties: {Strategy: cluster}}\n"
        "  I: {Type: AWS::EKS::PodIdentityAssociation, Properties: {ClusterName: c, Namespace: team, "
        "ServiceAccount: s, RoleArn: !GetAtt Role.Arn}}\n"
        "  L: {Type: AWS::Lambda::Function}\n"
    )
    bucket, rule, group, identity = found
    assert isinstance(bucket, Bucket)
    assert dict(bucket.public_access) == {"BlockPublicAcls": False}
    assert isinstance(rule, EventRule)
    assert (rule.detail_types, rule.targets) == (("a",), ("Q",))
    assert isinstance(group, PlacementGroupStack)
    assert group.strategy == "cluster"
    assert isinstance(identity, PodIdentityStack)
    assert (identity.namespace, identity.role) == ("team", "Role")


# --- structures


def test_structures_are_known_by_type_and_read_when_needed() -> None:
    assert "AWS::IAM::Role" in types()
    assert structure("AWS::Lambda::Function") is None
    role = structure("AWS::IAM::Role")
    assert role is not None
    assert {"Arn", "RoleId"} <= set(role.attributes)
    assert "Arn" not in role.properties.names  # CloudFormation alone sets it


def test_a_schema_is_converted_without_what_cannot_be_said() -> None:
    schema = {
        "type": "object",
        "properties": {
            "A": {"type": "string", "pattern": "^(?=b)", "maxLength": 3},
            "B": {"type": "array", "uniqueItems": True, "items": {"$ref": "#/d/Tag"}},
            "C": {"type": ["object", "string"]},
            "D": {"$ref": "#/d/Self"},
        },
    }
    definitions = {
        "Tag": {"type": "string", "pattern": "^a"},
        "Self": {"type": "object", "properties": {"s": {"$ref": "#/d/Self"}}},
    }
    made = converted(schema, definitions)["properties"]
    assert made["A"] == {"type": "string", "maxLength": 3}
    assert made["B"]["list"] == "set"
    assert made["B"]["items"] == {"type": "string", "pattern": "^a"}
    assert made["C"]["any"] is True
    assert made["D"]["properties"]["s"] == {"any": True}


# --- anything

JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["Ref", "Fn::Sub", "Fn::GetAtt", "Fn::If", "Type", "Statement", "Effect"]
            )
            | st.text(max_size=5),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path]
    if isinstance(value, dict):
        for key, item in value.items():
            found += places(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += places(item, (*path, index))
    return found


@pytest.mark.slow
@given(st.data())
def test_no_template_is_too_strange_to_be_judged(data: st.DataObject) -> None:
    body = copy.deepcopy(read(BASE))
    path = data.draw(st.sampled_from(places(body)[1:]))
    target: Any = body
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = data.draw(JUNK)
    artifact = Artifact(body, "t.yaml", format="cloudformation")
    found = verified([artifact], Setting(closed=False))
    assert all(each.message and each.at for each in found)
    lifted([artifact], closed=False)
    yaml.safe_dump(body)
