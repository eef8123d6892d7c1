"""What jobs will do: admission and time, simulated; failures; whether a job fits; what it costs."""

ASKS = ("failures", "report")
"""The modules that it asks of platforms and of other extensions, which import this one: nobody else imports them."""
