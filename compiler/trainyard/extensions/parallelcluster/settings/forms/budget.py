"""The budget of a cluster."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from trainyard.language.models.base import SpecModel
from trainyard.language.models.checks import matched
from trainyard.language.models.types import Distinct

_Email = Annotated[
    str,
    BeforeValidator(
        matched(r"[^@\s]+@[^@\s]+\.[^@\s]+", "an e-mail address", "platform@example.com")
    ),
]


class Budget(SpecModel):
    """A monthly budget (AWS::Budgets::Budget) over everything with the tag of the cluster."""

    monthly: int = Field(
        ge=1, le=1_000_000_000, description="The US dollars of a month.", examples=[500000]
    )
    emails: Annotated[list[_Email], Distinct] = Field(
        min_length=1,
        max_length=10,
        description="Who gets mail when 50, 80 and 100 percent are spent, and when a forecast says so.",
        examples=[["platform@example.com"]],
    )
