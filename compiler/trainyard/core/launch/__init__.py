"""How machines start: nodes that platforms and formats share."""
