"""Facts about the devices that networks in integers run on, before there is any integer."""
