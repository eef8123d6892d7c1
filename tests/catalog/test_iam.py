"""IAM documents of Karpenter and the add-ons."""

from __future__ import annotations

import json

from trainyard.catalog import iam

POLICIES = iam.karpenter_policies(
    "aws",
    "us-west-2",
    "111122223333",
    "llm",
    "llm-interruptions",
    node_role="KarpenterNodeRole-llm",
)


def actions(document: iam.Document) -> set[str]:
    found: set[str] = set()
    for statement in document["Statement"]:
        each = statement["Action"]
        found |= {each} if isinstance(each, str) else set(each)
    return found


def test_policies_fit_into_iams_limit_at_the_longest_cluster_name() -> None:
    documents = iam.karpenter_policies(
        "aws-us-gov", "us-gov-west-1", "111122223333", "c" * 100, "q" * 80, node_role="r" * 64
    )
    assert len(documents) == 6
    # IAM quotas: characters of a managed policy, white space not counted.
    assert max(len(json.dumps(each, separators=(",", ":"))) for each in documents.values()) <= 6144


def test_nothing_is_left_unfilled_and_no_action_is_a_wildcard() -> None:
    for name, document in POLICIES.items():
        assert "${" not in json.dumps(document)
        assert name.endswith("-llm")
        assert not [action for action in actions(document) if "*" in action]


def test_names_in_keys_are_filled_too() -> None:
    text = json.dumps(POLICIES)
    assert "aws:ResourceTag/kubernetes.io/cluster/llm" in text
    assert "arn:aws:iam::111122223333:role/KarpenterNodeRole-llm" in text
    assert "arn:aws:sqs:us-west-2:111122223333:llm-interruptions" in text


def test_actions_that_eksctls_policy_lacks_are_there() -> None:
    every = set().union(*(actions(each) for each in POLICIES.values()))
    assert {
        "ec2:DescribePlacementGroups",
        "ec2:DescribeInstanceStatus",
        "ec2:DescribeCapacityReservations",
    } <= every


def test_cloudformation_references_pass_through() -> None:
    documents = iam.karpenter_policies(
        "aws", "us-west-2", "${AWS::AccountId}", "llm", "q", node_role="nodes"
    )
    assert "arn:aws:iam::${AWS::AccountId}:role/nodes" in json.dumps(documents)


def test_node_role_queue_and_rules() -> None:
    assert "arn:aws-cn:iam::aws:policy/AmazonEKSWorkerNodePolicy" in iam.node_role_policies(
        "aws-cn"
    )
    queue = iam.interruption_queue("aws", "us-west-2", "111122223333", "q")
    assert queue["policy"]["Statement"][0]["Resource"] == "arn:aws:sqs:us-west-2:111122223333:q"
    patterns = [kind for rule in iam.interruption_rules().values() for kind in rule["detail-type"]]
    assert "EC2 Spot Instance Interruption Warning" in patterns
    assert "EC2 Capacity Reservation Instance Interruption Warning" in patterns
    trust = iam.pod_identity_trust("arn:c", "kube-system", "karpenter")
    (statement,) = trust["Statement"]
    assert statement["Principal"] == {"Service": "pods.eks.amazonaws.com"}
    assert statement["Condition"]["StringEquals"] == {
        "aws:RequestTag/eks-cluster-arn": "arn:c",
        "aws:RequestTag/kubernetes-namespace": "kube-system",
        "aws:RequestTag/kubernetes-service-account": "karpenter",
    }


def test_documents_are_the_callers_own() -> None:
    iam.interruption_rules().clear()
    assert iam.interruption_rules()
