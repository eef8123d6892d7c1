"""What an edit means: plan, report and consequences, for the people who review it."""

ASKS = ("consequences",)
"""The modules that it asks of other extensions, which import this one: nobody else imports them."""
NEEDS = ("forecast",)
