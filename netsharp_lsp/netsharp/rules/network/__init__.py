"""Rules on the network as a whole, and on the task and the data that it is meant for."""
