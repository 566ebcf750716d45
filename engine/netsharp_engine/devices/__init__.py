"""What is true of devices that networks in integers run on, before there is any integer."""
