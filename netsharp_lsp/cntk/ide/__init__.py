"""The editor features of CNTK's languages: one module for each, called by the snapshot."""
