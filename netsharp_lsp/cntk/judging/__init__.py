"""What is wrong with runs, said of their files; knows no single rule and no editor."""
