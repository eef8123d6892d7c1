"""Resolution: spec and facts to a plan. Subjects do it; here is what they share."""
