"""What aws-parallelcluster itself says of a configuration, without AWS: run by the Python of ``make pcluster``.

``python oracle.py CONFIGURATION REGION TYPES``: each finding of its schema and of its validators as a line of JSON,
``[level, validator, message]``. EC2 is answered from TYPES, a file of ``describe-instance-types`` by name; every
subnet is in zone ``a`` of the Region, and each reservation is a block of 64 p5e.48xlarge.
"""

from __future__ import annotations

import json
import os
import sys
import unittest.mock
from pathlib import Path
from typing import Any

CONFIGURATION, REGION, TYPES = sys.argv[1:4]
os.environ.update(AWS_ACCESS_KEY_ID="none", AWS_SECRET_ACCESS_KEY="none", AWS_DEFAULT_REGION=REGION)

import pcluster.validators.iam_validators as iam_validators  # noqa: E402
import yaml  # noqa: E402
from marshmallow import ValidationError  # noqa: E402
from pcluster import utils  # noqa: E402
from pcluster.aws.aws_api import AWSApi  # noqa: E402
from pcluster.aws.aws_resources import (  # noqa: E402
    CapacityReservationInfo,
    ImageInfo,
    InstanceTypeInfo,
)
from pcluster.schemas.cluster_schema import ClusterSchema  # noqa: E402
from pcluster.validators.common import ValidatorContext  # noqa: E402

KNOWN = json.loads(Path(TYPES).read_text())


class Ec2:
    """EC2 as the validators ask it; what is not here is answered by a mock."""

    def __getattr__(self, name: str) -> Any:
        return unittest.mock.MagicMock(name=name)

    def get_instance_type_info(self, name: str) -> InstanceTypeInfo:
        return InstanceTypeInfo(dict(KNOWN[name]))

    def list_instance_types(self) -> list[str]:
        return list(KNOWN)

    def get_supported_architectures(self, name: str) -> list[str]:
        architectures: list[str] = KNOWN[name]["ProcessorInfo"]["SupportedArchitectures"]
        return architectures

    def get_subnet_avail_zone(self, subnet: str) -> str:
        return f"{REGION}a"

    def get_subnets_az_mapping(self, subnets: list[str]) -> dict[str, str]:
        return dict.fromkeys(subnets, f"{REGION}a")

    def get_subnet_vpc(self, subnet: str) -> str:
        return "vpc-0a1b2c3d4e5f60718"

    def is_subnet_public(self, subnet: str) -> bool:
        return False

    def describe_image(self, ami_id: str) -> ImageInfo:
        return ImageInfo(
            {"BlockDeviceMappings": [{"Ebs": {"VolumeSize": 45}}], "Architecture": "x86_64"}
        )

    def get_official_image_id(self, *args: Any, **kwargs: Any) -> str:
        return "ami-0a1b2c3d4e5f60718"

    def describe_capacity_reservations(self, ids: list[str]) -> list[CapacityReservationInfo]:
        return [
            CapacityReservationInfo(
                {
                    "CapacityReservationId": id,
                    "InstanceType": "p5e.48xlarge",
                    "AvailabilityZone": f"{REGION}a",
                    "ReservationType": "capacity-block",
                    "TotalInstanceCount": 64,
                    "InstancePlatform": "Linux/UNIX",
                }
            )
            for id in ids
        ]

    def get_instance_type_and_reservation_type_from_capacity_reservation(
        self, id: str
    ) -> tuple[str, str]:
        return "p5e.48xlarge", "capacity-block"

    def describe_security_groups(self, groups: list[str]) -> list[dict[str, Any]]:
        rules = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]} for group in groups]
        return [
            {"GroupId": group, "IpPermissions": rules, "IpPermissionsEgress": rules}
            for group in groups
        ]

    def describe_key_pair(self, name: str) -> dict[str, Any]:
        return {"KeyPairs": [{"KeyType": "ed25519"}]}

    def run_instances(self, **kwargs: Any) -> None:
        return None


def findings() -> list[tuple[str, str, str]]:
    api = unittest.mock.MagicMock()
    api.ec2 = Ec2()
    api.s3.get_bucket_region = lambda bucket: REGION
    AWSApi._instance = api
    AWSApi.instance = staticmethod(lambda: api)
    utils.retrieve_supported_regions.cache = [REGION]
    iam_validators.IamClient = lambda: unittest.mock.MagicMock()
    try:
        cluster = ClusterSchema("lab").load(yaml.safe_load(Path(CONFIGURATION).read_text()))
    except ValidationError as problem:
        return [("ERROR", "schema", json.dumps(problem.messages))]
    return [
        (result.level.name, result.validator_type, result.message)
        for result in cluster.validate(context=ValidatorContext())
    ]


for finding in findings():
    sys.stdout.write(json.dumps(finding) + "\n")
