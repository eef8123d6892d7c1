"""What aws-parallelcluster itself says of a configuration, without AWS: run by the Python of ``make pcluster``.

``python oracle.py TYPES`` reads lines of JSON, ``[configuration, region]``, and answers each with a line of what its
schema and its validators find, ``[[level, validator, message], …]``. Each is asked in a fork of this process: to load
the package takes longer. EC2 is answered from TYPES, a file of ``describe-instance-types`` by name; every subnet is in
zone ``a`` of the Region, and each reservation is a block of 64 p5e.48xlarge.
"""

from __future__ import annotations

import json
import os
import sys
import unittest.mock
from pathlib import Path
from typing import Any

import pcluster.validators.iam_validators as iam_validators
import yaml
from marshmallow import ValidationError
from pcluster import utils
from pcluster.aws.aws_api import AWSApi
from pcluster.aws.aws_resources import CapacityReservationInfo, ImageInfo, InstanceTypeInfo
from pcluster.schemas.cluster_schema import ClusterSchema
from pcluster.validators.common import ValidatorContext

KNOWN = json.loads(Path(sys.argv[1]).read_text())


class Ec2:
    """EC2 of a Region as the validators ask it; what is not here is answered by a mock."""

    def __init__(self, region: str) -> None:
        self.region = region

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
        return f"{self.region}a"

    def get_subnets_az_mapping(self, subnets: list[str]) -> dict[str, str]:
        return dict.fromkeys(subnets, f"{self.region}a")

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
                    "AvailabilityZone": f"{self.region}a",
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


def findings(configuration: str, region: str) -> list[tuple[str, str, str]]:
    api = unittest.mock.MagicMock()
    api.ec2 = Ec2(region)
    api.s3.get_bucket_region = lambda bucket: region
    AWSApi._instance = api
    AWSApi.instance = staticmethod(lambda: api)
    utils.retrieve_supported_regions.cache = [region]
    iam_validators.IamClient = lambda: unittest.mock.MagicMock()
    os.environ["AWS_DEFAULT_REGION"] = region
    try:
        cluster = ClusterSchema("lab").load(yaml.safe_load(configuration))
    except ValidationError as problem:
        return [("ERROR", "schema", json.dumps(problem.messages))]
    return [
        (result.level.name, result.validator_type, result.message)
        for result in cluster.validate(context=ValidatorContext())
    ]


def main() -> None:
    os.environ.update(AWS_ACCESS_KEY_ID="none", AWS_SECRET_ACCESS_KEY="none")
    for line in sys.stdin:
        if os.fork() == 0:
            sys.stdout.write(json.dumps(findings(*json.loads(line))) + "\n")
            sys.stdout.flush()
            os._exit(0)
        _, status = os.wait()
        assert status == 0, line


main()
