from __future__ import annotations

from collections.abc import Iterator

from trainyard.catalog import type_regions
from trainyard.core.cloud.plan import LimitedResource
from trainyard.judge.model.worded import worded
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World


@rule("PLC106")
def resource_type_not_in_region(resource: LimitedResource, world: World) -> Iterator[Finding]:
    """A stack has a resource of a type that CloudFormation does not have in its Region.

    The stack fails, and everything else in it is rolled back (CloudFormation user guide, stack creation). Which Regions
    have a type is published with its schema, which cfn-lint has by Region. Of a template by others the Region is known
    where its subnets name zones, or its metadata has `Region`.

    ## Fails

        Metadata: {Region: ap-southeast-3}
        Resources:
          Costs:
            Type: AWS::Budgets::Budget
            Properties: {Budget: {BudgetType: COST, TimeUnit: MONTHLY, BudgetLimit: {Amount: 100, Unit: USD}}}

        Resources:
          Subnet:
            Type: AWS::EC2::Subnet
            Properties: {VpcId: vpc-0a1b2c3d4e5f60718, CidrBlock: 10.0.0.0/24, AvailabilityZone: us-west-1a}
          Panels:
            Type: AWS::Grafana::Workspace
            Properties: {AccountAccessType: CURRENT_ACCOUNT, AuthenticationProviders: [AWS_SSO],
              PermissionType: SERVICE_MANAGED}

    ## Passes

        Metadata: {Region: us-east-1}
        Resources:
          Costs:
            Type: AWS::Budgets::Budget
            Properties: {Budget: {BudgetType: COST, TimeUnit: MONTHLY, BudgetLimit: {Amount: 100, Unit: USD}}}
    """
    region = resource.region or world.region
    if region not in type_regions.without(resource.kind):
        return
    yield Finding(
        f"`{resource.logical}` is of type {resource.kind}, which `{region}` does not have",
        resource.at,
        label=type_regions.source(),
        help=worded(
            resource,
            "make it by a stack of its own in a Region that has it, or leave it out",
            f"leave it out, or make it in another Region: the service is not in {region}",
        ),
    )
