"""Pure functions from evidence to findings. Checks do not know each other; `workflow.steps.decide` lists them."""
