"""What is said of a specification, as said of its host: findings, conflicts, and its new layout."""
