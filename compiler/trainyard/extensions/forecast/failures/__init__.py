"""What becomes of each job when something fails: who notices, who acts, how long it takes, and what is lost.

Each platform has a module ``failures`` with its walk through the failures; what all of them share is here. All times
are seconds of the job, on all of its nodes.
"""
