"""Kinds of objects that run a job: Trainer's TrainJob, or one that needs no Trainer. One module each.

A module has one value ``KIND``. Only the kinds that a spec uses are imported.
"""
