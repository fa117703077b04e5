"""Use cases of the service: plain functions over the ports, told who calls and what is asked."""
