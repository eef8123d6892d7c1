"""The nodes that people log in to."""

from pydantic import Field

from trainyard.extensions.parallelcluster.settings.forms.own_scripts import CustomActions
from trainyard.language.models.aws import InstanceType, PublicCidr, SubnetId
from trainyard.language.models.base import SpecModel
from trainyard.language.models.types import GracetimePeriod


class LoginNodes(SpecModel):
    """A pool of login nodes (`LoginNodes`), behind one address of its own."""

    count: int = Field(
        ge=0,
        le=100,
        description="How many there are; with 0 their other keys can be changed.",
        examples=[2],
    )
    instance_type: InstanceType = Field(
        "m7i.xlarge",
        description="The EC2 instance type of each of them, without accelerators.",
        examples=["m7i.2xlarge"],
    )
    subnet: SubnetId | None = Field(
        None,
        description="The subnet of the login nodes, one of `network.existing`; derived: that of the head node.",
        examples=["subnet-0a1b2c3d4e5f60718"],
    )
    allowed_cidr: PublicCidr | None = Field(
        None,
        description="The address block that reaches their SSH port; derived: `ssh.allowedCidr`.",
        examples=["203.0.113.0/24"],
    )
    gracetime_period: GracetimePeriod | None = Field(
        None,
        description="How long people have to end their work when a login node goes, in whole minutes; derived: `10m`.",
        examples=["30m"],
    )
    custom_actions: CustomActions | None = Field(
        None,
        description="Scripts of one's own that each login node runs; unset: none.",
        examples=[{"onNodeConfigured": [{"script": "s3://scripts-111122223333/setup.sh"}]}],
    )
