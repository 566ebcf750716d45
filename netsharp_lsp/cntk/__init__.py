"""The languages of CNTK: its configurations, and the networks that they hold or name."""
