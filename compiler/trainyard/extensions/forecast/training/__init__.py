"""The arithmetic of training a transformer: memory of an accelerator, operations, time of a step.

Pure functions of numbers. Nothing here knows a spec, a platform or the catalog. docs/model-fit.md has the formulas,
their sources, and how far they are from published measurements.
"""
