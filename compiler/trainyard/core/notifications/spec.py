"""The spec of notifications: one key."""

from pydantic import Field

from trainyard.core.notifications.forms.notifications import Notifications
from trainyard.language.models.section import Section


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
