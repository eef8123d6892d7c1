"""The stack of an image: its repository, and the project that builds it.

Source: CloudFormation template reference; ECR user guide, LifecyclePolicies and image-push-iam; CodeBuild user guide,
setting-up-service-role, build-spec-ref and build-env-ref-available.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from shlex import quote
from typing import Any

from trainyard.core.images.plan import MadeImage, Project, Workflow
from trainyard.extensions.images.built.plan import MadeCache
from trainyard.output import Artifact
from trainyard.output.artifact import Places
from trainyard.output.lowering.body import fields_given
from trainyard.output.lowering.templates import KEPT, STACKS, inline_policy, tag_list, template

_ENVIRONMENTS = {
    "amd64": ("LINUX_CONTAINER", "aws/codebuild/amazonlinux-x86_64-standard:5.0"),
    "arm64": ("ARM_CONTAINER", "aws/codebuild/amazonlinux-aarch64-standard:3.0"),
}
_PULL = ("ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer")
_PUSH = (
    *_PULL,
    "ecr:CompleteLayerUpload",
    "ecr:DescribeImages",
    "ecr:InitiateLayerUpload",
    "ecr:PutImage",
    "ecr:UploadLayerPart",
)
_LOG_DAYS = 90
_GITHUB = "token.actions.githubusercontent.com"


def image_stack(made: MadeImage) -> Artifact:
    """A repository whose tags never move, and what builds into it."""
    resources: dict[str, Any] = {
        "Repository": {"Type": "AWS::ECR::Repository", **KEPT, "Properties": _repository(made)},
        "Role": {"Type": "AWS::IAM::Role", "Properties": _role(made)},
    }
    build = made.project
    if isinstance(build, Project):
        resources["Logs"] = {
            "Type": "AWS::Logs::LogGroup",
            "Properties": {"RetentionInDays": _LOG_DAYS},
        }
        resources["Project"] = {
            "Type": "AWS::CodeBuild::Project",
            "Properties": _project(made, build),
        }
    body = template(
        f"Image {made.name} of cluster {made.cluster}",
        resources,
        # The script reads these.
        Metadata={
            "Repository": made.repository,
            "Dockerfile": made.dockerfile,
            "Lock": made.lock,
            "Build": "codeBuild" if isinstance(build, Project) else "githubActions",
        },
    )
    repository = ("Resources", "Repository", "Properties")
    project = ("Resources", "Project", "Properties")
    origins: Places = {
        (*repository, "RepositoryName"): made.where("repository"),
        (*repository, "LifecyclePolicy"): made.where("keep"),
        (*repository, "EncryptionConfiguration"): made.where("key"),
        project: made.where("project"),
        (*project, "Environment", "Type"): made.where("arch"),
    }
    path = f"{STACKS}/{made.stack}.yaml"
    return Artifact(body, path, made.at, origins, format="cloudformation")


def cache_stack(made: MadeCache) -> Artifact:
    """AWS::ECR::PullThroughCacheRule."""
    rule = fields_given(
        EcrRepositoryPrefix=made.prefix,
        UpstreamRegistry=made.upstream,
        UpstreamRegistryUrl=made.url,
        CredentialArn=made.secret,
    )
    resources = {"Rule": {"Type": "AWS::ECR::PullThroughCacheRule", "Properties": rule}}
    body = template(f"What cluster {made.cluster} keeps of {made.url} in ECR", resources)
    at = ("Resources", "Rule", "Properties")
    origins: Places = {
        (*at, "EcrRepositoryPrefix"): made.where("prefix"),
        (*at, "UpstreamRegistryUrl"): made.where("upstream"),
        (*at, "CredentialArn"): made.where("secret"),
    }
    path = f"{STACKS}/cache-{made.name}.yaml"
    return Artifact(body, path, made.at, origins, format="cloudformation")


def _repository(made: MadeImage) -> dict[str, Any]:
    # AWS::ECR::Repository. A key is given once and for all.
    encryption = {"EncryptionType": "AES256"}
    if made.key is not None:
        encryption = {"EncryptionType": "KMS", "KmsKey": made.key}
    return fields_given(
        RepositoryName=made.repository,
        ImageTagMutability="IMMUTABLE",
        ImageScanningConfiguration={"ScanOnPush": True},
        EncryptionConfiguration=encryption,
        LifecyclePolicy={"LifecyclePolicyText": _lifecycle(made)},
        Tags=tag_list(made.tags),
    )


def _lifecycle(made: MadeImage) -> str:
    rule = {
        "rulePriority": 1,
        "description": f"the last {made.keep} builds",
        "selection": {
            "tagStatus": "any",
            "countType": "imageCountMoreThan",
            "countNumber": made.keep,
        },
        "action": {"type": "expire"},
    }
    return json.dumps({"rules": [rule]})


def _role(made: MadeImage) -> dict[str, Any]:
    policy = inline_policy("build", list(_statements(made)))
    name = None
    if isinstance(made.project, Workflow):
        name = made.project.role.rpartition("/")[2]  # which the workflow has
    return fields_given(
        RoleName=name,
        AssumeRolePolicyDocument={"Version": "2012-10-17", "Statement": [_trust(made)]},
        Policies=[policy],
        Tags=tag_list(made.tags),
    )


def _trust(made: MadeImage) -> dict[str, Any]:
    build = made.project
    if isinstance(build, Project):
        return {
            "Effect": "Allow",
            "Principal": {"Service": "codebuild.amazonaws.com"},
            "Action": "sts:AssumeRole",
            # IAM user guide, confused deputy: nobody else's project becomes it.
            "Condition": {"StringEquals": {"aws:SourceAccount": made.account}},
        }
    # GitHub documentation, OpenID Connect in Amazon Web Services: any branch of this one repository.
    provider = f"arn:{made.partition}:iam::{made.account}:oidc-provider/{_GITHUB}"
    return {
        "Effect": "Allow",
        "Principal": {"Federated": provider},
        "Action": "sts:AssumeRoleWithWebIdentity",
        "Condition": {
            "StringEquals": {f"{_GITHUB}:aud": "sts.amazonaws.com"},
            "StringLike": {f"{_GITHUB}:sub": f"repo:{build.repository}:ref:refs/heads/*"},
        },
    }


def _statements(made: MadeImage) -> Iterator[dict[str, Any]]:
    project = made.project
    if isinstance(project, Project):
        logs = {"Fn::GetAtt": ["Logs", "Arn"]}
        yield _allow(("logs:CreateLogStream", "logs:PutLogEvents"), logs)
    # It is for the whole registry, and cannot be limited (service authorization reference, ECR).
    yield _allow(("ecr:GetAuthorizationToken",), "*")
    yield _allow(_PUSH, {"Fn::GetAtt": ["Repository", "Arn"]})
    if project.pulled is not None:
        # ECR user guide, pull-through-cache-iam: the first pull makes the repository, and fills it.
        fills = ("ecr:BatchImportUpstreamImage", "ecr:CreateRepository")
        actions: tuple[str, ...] = _PULL
        if project.cached:
            actions = (*_PULL, *fills)
        yield _allow(actions, project.pulled)
    if isinstance(project, Project) and project.connection is not None:
        prefix = project.connection.split(":")[2]
        names = ("GetConnection", "GetConnectionToken", "UseConnection")
        allowed = tuple(f"{prefix}:{name}" for name in names)
        yield _allow(allowed, project.connection)


def _allow(actions: tuple[str, ...], resource: Any) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": list(actions), "Resource": resource}


def _project(made: MadeImage, project: Project) -> dict[str, Any]:
    # AWS::CodeBuild::Project.
    kind, image = _ENVIRONMENTS[made.arch]
    auth = None
    if project.connection is not None:
        auth = {"Type": "CODECONNECTIONS", "Resource": project.connection}
    source = fields_given(
        Type=project.kind,
        Location=project.repository,
        Auth=auth,
        BuildSpec=_buildspec(made, project),
    )
    return fields_given(
        Name=f"trainyard-{made.cluster}-{made.stack}",
        Description=f"Builds image {made.name} of cluster {made.cluster}",
        ServiceRole={"Fn::GetAtt": ["Role", "Arn"]},
        Artifacts={"Type": "NO_ARTIFACTS"},
        Source=source,
        Environment={
            "Type": kind,
            "ComputeType": project.compute,
            "Image": image,
            "PrivilegedMode": True,  # builds with Docker need it
        },
        LogsConfig={"CloudWatchLogs": {"Status": "ENABLED", "GroupName": {"Ref": "Logs"}}},
        TimeoutInMinutes=project.minutes,
        Tags=tag_list(made.tags),
    )


def _buildspec(made: MadeImage, project: Project) -> str:
    """What a build does. A commit that was built is not built again: its tag is there, and never moves."""
    tag = f"{made.uri}:$CODEBUILD_RESOLVED_SOURCE_VERSION"
    logins = [_login(made.region, made.registry)]
    registry = project.registry
    if registry is not None and registry != made.registry:
        logins.append(_login(registry.split(".")[3], registry))
    there = (
        f"aws ecr describe-images --region {made.region} --repository-name {made.repository} "
        "--image-ids imageTag=$CODEBUILD_RESOLVED_SOURCE_VERSION"
    )
    platform = f"linux/{made.arch}"
    file = quote(made.dockerfile)
    build = f"docker build --platform {platform} --file {file} --tag {tag} ."
    spec = {
        "version": 0.2,
        "phases": {
            "pre_build": {"commands": logins},
            "build": {"commands": [f"{there} || {{ {build} && docker push {tag}; }}"]},
        },
    }
    return json.dumps(spec, indent=1)  # which is YAML too


def _login(region: str, registry: str) -> str:
    return (
        f"aws ecr get-login-password --region {region} | "
        f"docker login --username AWS --password-stdin {registry}"
    )
