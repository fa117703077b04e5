"""Keyless signing and its offline verification through Sigstore, always with a trust file that the operator names."""

from gatekeeper.adapters.sigstore_signer.signer import KeylessSettings, SigstoreSigner, keyless_verifier_id
from gatekeeper.adapters.sigstore_signer.verifier import verify_keyless

__all__ = ["KeylessSettings", "SigstoreSigner", "keyless_verifier_id", "verify_keyless"]
