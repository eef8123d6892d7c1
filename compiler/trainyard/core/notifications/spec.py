"""The spec of notifications: one key."""

from typing import Any, Self

from pydantic import model_validator

from trainyard.language.models.aws import KmsKey, TopicArn
from trainyard.language.models.base import SpecModel
from trainyard.language.models.checks import fault
from trainyard.language.models.choice import needed, one_of
from trainyard.language.models.field import Field
from trainyard.language.models.section import Section
from trainyard.language.models.types import Name, ObjectName, SecretKey, SlackChannel


class SecretValue(SpecModel):
    """A value that is in a Kubernetes Secret, and so not in git."""

    secret: ObjectName = Field(
        description="The name of the Secret: for alerts in `monitoring`, for Flux in `flux-system`.",
        examples=["alerts"],
        bound="a DNS subdomain of 253 characters at most",
        source="Kubernetes, object names",
        codes=("RES110",),
    )
    key: SecretKey = Field(
        description="The key of the Secret that has the value; Flux reads `address` alone.",
        examples=["address"],
        bound="letters, digits, `-`, `_`, `.`; `address` for Flux",
        source="apimachinery 0.35, IsConfigMapKey; notification-controller v1.9.3",
        codes=("RES110", "RES353"),
    )

    @model_validator(mode="before")
    @classmethod
    def _by_reference(cls, value: Any) -> Any:
        if isinstance(value, str):
            raise fault(
                "the value is written in clear text, and git keeps it",
                "replace it at its service, put the new one into a Secret, and write `{secret: NAME, key: KEY}`",
                source="Kubernetes, good practices for Secrets",
                secret=True,
            )
        return value


class Slack(SpecModel):
    """A channel of Slack, by an incoming webhook."""

    channel: SlackChannel = Field(
        description="The channel, in quotes: `#` begins a comment otherwise.",
        examples=["#gpu"],
        bound="a channel by name or id, 81 characters at most with `#`",
        source="Slack API, conversations.create name",
    )
    api_url: SecretValue = Field(
        description="The Secret with the URL of the incoming webhook.",
        examples=[{"secret": "alerts", "key": "address"}],
    )


class PagerDuty(SpecModel):
    """A service of PagerDuty, by its integration `Events API v2`."""

    routing_key: SecretValue = Field(
        description="The Secret with the integration key.",
        examples=[{"secret": "pager", "key": "routing-key"}],
    )


class Sns(SpecModel):
    """A topic of Amazon SNS that exists; Alertmanager publishes by a role of its own."""

    topic_arn: TopicArn = Field(
        description="The ARN of the topic; a topic of another account must allow the role.",
        examples=["arn:aws:sns:us-west-2:111122223333:gpu-alerts"],
        bound="the ARN of a topic in the cluster's partition",
        source="SNS API, CreateTopic Name; IAM user guide, ARNs",
        codes=("RES355", "RES359"),
    )
    kms_key: KmsKey | None = Field(
        None,
        description="The KMS key that encrypts the topic, which the role may then use; unset: none is.",
        examples=["arn:aws:kms:us-west-2:111122223333:key/0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"],
        bound="a key of KMS",
        source="KMS developer guide, key ARN",
        codes=("RES360",),
    )


class Webhook(SpecModel):
    """A service that takes alerts over HTTP, as JSON."""

    url: SecretValue = Field(
        description="The Secret with the URL.", examples=[{"secret": "hook", "key": "address"}]
    )


class Receiver(SpecModel):
    """Where notifications go: exactly one of ``slack``, ``pagerDuty``, ``sns`` and ``webhook``."""

    model_config = one_of("slack", "pagerDuty", "sns", "webhook")

    name: Name = Field(
        description="The receiver's name, which the keys of `notifications` use.",
        examples=["chat"],
        bound="lowercase letters, digits, `-`; each once",
        source="Kubernetes, object names: Flux' objects have it",
        codes=("RES009", "RES351"),
    )
    slack: Slack | None = Field(
        None,
        description="A channel of Slack.",
        examples=[{"channel": "#gpu", "apiUrl": {"secret": "alerts", "key": "address"}}],
    )
    pager_duty: PagerDuty | None = Field(
        None,
        description="A service of PagerDuty.",
        examples=[{"routingKey": {"secret": "pager", "key": "routing-key"}}],
    )
    sns: Sns | None = Field(
        None,
        description="A topic of Amazon SNS.",
        examples=[{"topicArn": "arn:aws:sns:us-west-2:111122223333:gpu-alerts"}],
    )
    webhook: Webhook | None = Field(
        None,
        description="A service that takes JSON over HTTP.",
        examples=[{"url": {"secret": "hook", "key": "address"}}],
    )

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kinds = [self.slack, self.pager_duty, self.sns, self.webhook]
        if kinds.count(None) != len(kinds) - 1:
            raise fault(
                f"receiver `{self.name}` is not exactly one kind",
                "write one of `slack:`, `pagerDuty:`, `sns:` and `webhook:`",
            )
        return self

    @property
    def value(self) -> tuple[tuple[str, str], SecretValue] | None:
        """What it reads of a Secret, with the keys of the spec that lead to it; a topic needs none."""
        if self.slack is not None:
            return ("slack", "apiUrl"), self.slack.api_url
        if self.pager_duty is not None:
            return ("pagerDuty", "routingKey"), self.pager_duty.routing_key
        if self.webhook is not None:
            return ("webhook", "url"), self.webhook.url
        return None


class Notifications(SpecModel):
    """Receivers, and who gets what: alerts by severity and by the team that owns them, and failures of Flux."""

    model_config = needed(critical="default", teams="default", watchdog="default")

    receivers: list[Receiver] = Field(
        min_length=1,
        description="Where notifications can go.",
        examples=[
            [
                {
                    "name": "pager",
                    "pagerDuty": {"routingKey": {"secret": "pager", "key": "routing-key"}},
                }
            ]
        ],
    )
    default: Name | None = Field(
        None,
        description="The receiver of all alerts that `teams` sends to no other; unset: no alert is sent.",
        examples=["chat"],
        bound="a receiver of the spec; with `monitoring`",
        source="this language",
        codes=("RES350", "RES352"),
    )
    critical: Name | None = Field(
        None,
        description="A receiver that gets every alert of severity `critical` too; unset: none.",
        examples=["pager"],
        bound="a receiver of the spec; with `default`",
        source="this language",
        codes=("SPC005", "RES350"),
    )
    teams: dict[Name, Name] = Field(
        {},
        description="The receiver of the alerts about jobs of a team, by the team's namespace.",
        examples=[{"team-a": "chat-of-team-a"}],
        bound="namespaces of teams, each with a receiver of the spec; with `default`",
        source="this language",
        codes=("SPC005", "RES013", "RES350"),
    )
    watchdog: Name | None = Field(
        None,
        description="A receiver that raises an alarm when `Watchdog`, sent each five minutes, stays away; unset: none.",
        examples=["deadman"],
        bound="a receiver of the spec with `webhook` or `sns`; with `default`",
        source="this language",
        codes=("SPC005", "RES350", "RES354"),
    )
    flux: Name | None = Field(
        None,
        description="The receiver of Kustomizations and HelmReleases that fail, by Slack or webhook; unset: none.",
        examples=["chat"],
        bound="a receiver of the spec with `slack` or `webhook`",
        source="notification-controller v1.9.3, docs/spec/v1beta3/providers.md",
        codes=("RES350", "RES353"),
    )

    @model_validator(mode="after")
    def _something(self) -> Self:
        if self.default is not None:
            return self
        if self.critical or self.teams or self.watchdog:
            raise fault(
                "alerts are routed, and `default` does not say who gets those that no other key names",
                "write `default:` with the name of a receiver",
            )
        if self.flux is None:
            raise fault(
                "no receiver is used",
                "write `default:` with the receiver of alerts, or `flux:` with that of what Flux fails to apply",
            )
        return self


class NotificationsSection(Section):
    """Who is notified."""

    notifications: Notifications | None = Field(
        None,
        description="Who is sent which alert, and who hears that Flux failed; unset: nobody.",
        examples=[
            {
                "receivers": [
                    {
                        "name": "chat",
                        "slack": {
                            "channel": "#gpu",
                            "apiUrl": {"secret": "alerts", "key": "address"},
                        },
                    }
                ],
                "default": "chat",
            }
        ],
    )


SECTION = NotificationsSection
