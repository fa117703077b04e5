"""The only package that names concrete adapters, each inside its own factory function so that imports stay lazy."""
