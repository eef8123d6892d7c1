"""Rules without Python: a file of YAML in ``policies/``, with a JSON Schema or as a ValidatingAdmissionPolicy."""
