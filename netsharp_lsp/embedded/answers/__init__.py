"""Results for a specification, translated to its host: findings, conflicts, and its new layout."""
