"""Two revisions of a cluster's files, thing by thing and field by field, and how the meaning of an edit is said."""
