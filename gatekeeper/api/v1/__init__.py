"""Generated from proto/gatekeeper/api/v1 by deploy/proto/generate.py. Do not edit."""
