"""The spec of teams' namespaces."""

from typing import TYPE_CHECKING

from pydantic import Field

from trainyard.language.models.lazy import lazy_models
from trainyard.language.models.section import Section

if TYPE_CHECKING:
    from trainyard.core.teams.forms.namespace import Namespace
else:
    (Namespace,) = lazy_models("core.teams.forms.namespace", "Namespace")


class NamespacesSection(Section):
    """The namespaces of the teams."""

    namespaces: list[Namespace] = Field(
        [],
        description="The teams' namespaces; derived: those that queues name, or one namespace `training`.",
        examples=[[{"name": "team-a", "principals": ["arn:aws:iam::111122223333:role/team-a"]}]],
    )


SECTION = NamespacesSection
DOCUMENTS = {"TrainingNamespace": ("namespaces", Namespace)}
