"""Launchers: how the processes of a job start and find each other. One folder each.

A launcher is a folder with ``spec.py``, how people write it, and ``resolve.py`` with one value ``LAUNCHER``; its key
stands in ``launchers/spec.py``. Only the launchers that a spec uses are imported.
"""
