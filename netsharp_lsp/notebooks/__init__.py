"""The display of a training in progress, and of texts and models in a notebook."""
