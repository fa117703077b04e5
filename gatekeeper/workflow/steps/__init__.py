"""The six steps of a verification, one module each."""
