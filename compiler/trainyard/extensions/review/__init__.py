"""What an edit means: plan, report and consequences, for the people who review it."""

NEEDS = ("forecast",)
