"""Specs and manifests with something wrong in them, by the hundred thousand: nothing may crash, and nothing may hang.

``python -m tests.mutated --inputs 300000 --seed 1`` makes each input from one of the repository (``seeds``), changes
its values or its text (``mutations``) and passes it through `check` or `lint` in this process (``judging``). What
fails is kept as a file. Files in ``kept/`` failed once, and every run of the tests judges them again.
"""
