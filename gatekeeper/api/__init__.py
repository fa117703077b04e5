"""The service: generated messages in v1, servicers beside it."""
