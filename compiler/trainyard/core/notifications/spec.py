"""The spec of notifications: one key."""

from typing import TYPE_CHECKING

from pydantic import Field

from trainyard.language.models.lazy import lazy_models
from trainyard.language.models.section import Section

if TYPE_CHECKING:
    from trainyard.core.notifications.forms.notifications import Notifications
else:
    (Notifications,) = lazy_models("core.notifications.forms.notifications", "Notifications")


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
