"""One servicer a service of the API, thin: request to command, use case, record to answer."""
