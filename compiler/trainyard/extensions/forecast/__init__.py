"""What jobs will do: admission and time, simulated; failures; whether a job fits."""
