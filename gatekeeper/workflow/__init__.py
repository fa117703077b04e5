"""The pipeline and its steps. Reaches the world only through `gatekeeper.domain.ports`."""
