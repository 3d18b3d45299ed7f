"""From exported logs to a graded, checkable postmortem."""
