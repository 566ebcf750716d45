"""The table of torch's rows for CNTK's operations, and those that know where sequences stand."""
