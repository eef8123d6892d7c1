"""What helps people write: a first spec by questions, the format of specs, completion in shells, the JSON Schema for
editors."""
