"""One technology each, named <technology>_<role>.py. Only `gatekeeper.wiring` imports them."""
