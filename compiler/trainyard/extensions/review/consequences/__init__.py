"""What an edit means for a cluster that runs: two revisions compared by object and field, each with its consequence.

``Revision`` is one side: the files of a cluster's folder, and the lines of the spec behind them. ``edits`` finds what
differs, ``judging`` what that means, by the modules in ``judges``, and ``verdicts`` what Kueue decides otherwise.
Sources of facts stand in the modules; what no module knows is never called harmless.
"""

from trainyard.extensions.forecast.change import Action, Change, Consequence, Field, Place
from trainyard.extensions.review.consequences.compared import compared, in_order
from trainyard.extensions.review.edits.revision import Revision

__all__ = ["Action", "Change", "Consequence", "Field", "Place", "Revision", "compared", "in_order"]
