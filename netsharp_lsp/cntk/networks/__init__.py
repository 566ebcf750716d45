"""Networks as CNTK builds them: nodes, their types and shapes; knows none of the languages."""
