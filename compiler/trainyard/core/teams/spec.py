"""The spec of teams' namespaces."""

from pydantic import Field

from trainyard.core.teams.forms.namespace import Namespace
from trainyard.language.models.section import Section


class NamespacesSection(Section):
    """The namespaces of the teams."""

    namespaces: list[Namespace] = Field(
        [],
        description="The teams' namespaces; derived: those that queues name, or one namespace `training`.",
        examples=[[{"name": "team-a", "principals": ["arn:aws:iam::111122223333:role/team-a"]}]],
    )


SECTION = NamespacesSection
DOCUMENTS = {"TrainingNamespace": ("namespaces", Namespace)}
