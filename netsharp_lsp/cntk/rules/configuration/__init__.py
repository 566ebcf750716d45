"""Rules on configurations as texts and as values; what a key is for is not known here."""
