"""What people see of a training while it goes on, and of texts and models in a notebook."""
