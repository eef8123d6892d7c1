"""What an edit means, for the people who review it: plan, report, consequences."""

NEEDS = ("forecast",)
