"""What commands and server ask of CNTK: runs on a disk and what they say, as plain values."""
