"""The policy engine in process: an OPA bundle evaluated by rego-cpp in a small worker process.

Nothing is imported here: a check starts the worker before it imports the engine around it.
"""
