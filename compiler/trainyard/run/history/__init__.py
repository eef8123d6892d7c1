"""Compares a plan with what was committed: what an edit means for a cluster that runs it.

The committed output is part of the input of a compilation: a TrainJob is immutable, a run outlives the words that
asked for it, and the API server refuses many edits for ever. ``hold`` compares the plan with the runs that were
submitted, and its objects with their committed files.
"""

from trainyard.run.history.hold import hold
from trainyard.run.history.runs import Run, submitted

__all__ = ["Run", "hold", "submitted"]
