"""A Sigstore instance on loopback: identity tokens, a certificate authority with its certificate log, and a version 1
transparency log whose entries carry their time. Keys live in this process alone; made for tests of signing and of what
verification refuses.
"""

from __future__ import annotations

import base64
import hashlib
import json
import struct
import threading
import time
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import rfc8785
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID, ObjectIdentifier

ISSUER_V1 = ObjectIdentifier("1.3.6.1.4.1.57264.1.1")
ISSUER_V2 = ObjectIdentifier("1.3.6.1.4.1.57264.1.8")
SCT_LIST = ObjectIdentifier("1.3.6.1.4.1.11129.2.4.2")
_ECDSA = ec.ECDSA(SHA256())


def _b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _url64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _unurl64(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _spki(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def _key_id(key: ec.EllipticCurvePrivateKey) -> bytes:
    return hashlib.sha256(_spki(key)).digest()


def _utf8(text: str) -> bytes:
    data = text.encode()
    assert len(data) < 128
    return bytes([0x0C, len(data)]) + data


def _octets(data: bytes) -> bytes:
    head = bytes([len(data)]) if len(data) < 128 else bytes([0x81, len(data)])
    return b"\x04" + head + data


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=signs, content_commitment=False, key_encipherment=False, data_encipherment=False,
        key_agreement=False, key_cert_sign=not signs, crl_sign=not signs, encipher_only=False, decipher_only=False,
    )  # fmt: skip


class LocalSigstore:
    """One instance. `close()` ends its server."""

    def __init__(self) -> None:
        self.token_key, self.root_key, self.certificate_log_key, self.log_key = _key(), _key(), _key(), _key()
        self.started = datetime.now(UTC) - timedelta(hours=2)
        self.root = self._root_certificate()
        self.certificate_age = timedelta(0)
        """How long before now the next certificates were issued; they live ten minutes."""
        self.fault: str | None = None
        """Path at which the services answer with an error."""
        self._leaves: list[bytes] = []
        self._lock = threading.Lock()
        instance = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args: object) -> None:
                pass

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
                try:
                    status, answer = instance._answer(self.path, body, self.headers.get("Authorization", ""))
                except Exception as error:
                    status, answer = 400, {"message": f"{type(error).__name__}: {error}"}
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self.issuer = f"{self.url}/identity"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    # What a client is given

    def token(self, subject: str, issuer: str | None = None) -> str:
        """A signed identity token (ES256) of this instance's issuer."""
        now = int(time.time())
        claims = {"iss": issuer or self.issuer, "sub": subject, "aud": "sigstore", "iat": now, "exp": now + 300}
        head = _url64(json.dumps({"alg": "ES256", "typ": "JWT"}).encode())
        signed = f"{head}.{_url64(json.dumps(claims).encode())}"
        from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

        r, s = decode_dss_signature(self.token_key.sign(signed.encode(), _ECDSA))
        return f"{signed}.{_url64(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"

    def trusted_root(self) -> dict[str, Any]:
        """The trusted root: authority, certificate log and transparency log."""
        valid = {"validFor": {"start": self.started.strftime("%Y-%m-%dT%H:%M:%SZ")}}

        def log(key: ec.EllipticCurvePrivateKey, path: str) -> dict[str, Any]:
            public = {"rawBytes": _b64(_spki(key)), "keyDetails": "PKIX_ECDSA_P256_SHA_256", **valid}
            where = f"{self.url}{path}"
            return {
                "baseUrl": where,
                "hashAlgorithm": "SHA2_256",
                "publicKey": public,
                "logId": {"keyId": _b64(_key_id(key))},
            }

        authority = {
            "subject": {"organization": "local", "commonName": "authority"},
            "uri": self.url,
            "certChain": {"certificates": [{"rawBytes": _b64(self.root.public_bytes(Encoding.DER))}]},
            **valid,
        }
        return {
            "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
            "tlogs": [log(self.log_key, "")],
            "certificateAuthorities": [authority],
            "ctlogs": [log(self.certificate_log_key, "/certificates")],
            "timestampAuthorities": [],
        }

    def trust_config(self) -> dict[str, Any]:
        """What a signing client needs: the trusted root and where the services are."""
        start = {"start": self.started.strftime("%Y-%m-%dT%H:%M:%SZ")}
        service = {"url": self.url, "majorApiVersion": 1, "validFor": start, "operator": "local"}
        return {
            "mediaType": "application/vnd.dev.sigstore.clienttrustconfig.v0.1+json",
            "trustedRoot": self.trusted_root(),
            "signingConfig": {
                "mediaType": "application/vnd.dev.sigstore.signingconfig.v0.2+json",
                "caUrls": [service],
                "oidcUrls": [{**service, "url": self.issuer}],
                "rekorTlogUrls": [service],
                "tsaUrls": [],
                "rekorTlogConfig": {"selector": "ANY"},
                "tsaConfig": {"selector": "ANY"},
            },
        }

    def write(self, folder: Path) -> tuple[Path, Path]:
        """(trust configuration, trusted root) as files."""
        config, root = folder / "trust-config.json", folder / "trusted-root.json"
        config.write_text(json.dumps(self.trust_config()))
        root.write_text(json.dumps(self.trusted_root()))
        return config, root

    # The services

    def _answer(self, path: str, body: Any, authorization: str) -> tuple[int, Any]:
        if path == self.fault:
            return 503, {"message": "out of order"}
        if path == "/api/v2/signingCert":
            return 200, self._certify(body, authorization.removeprefix("Bearer "))
        if path == "/api/v1/log/entries":
            return 201, self._log(body)
        return 404, {}

    def _root_certificate(self) -> x509.Certificate:
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "local authority")])
        return (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(self.root_key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(self.started)
            .not_valid_after(self.started + timedelta(days=30))
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(_usage(signs=False), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self.root_key.public_key()), critical=False)
            .sign(self.root_key, SHA256())
        )

    def _claims(self, token: str) -> dict[str, Any]:
        head, claims, signature = token.split(".")
        raw = _unurl64(signature)
        der = encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
        self.token_key.public_key().verify(der, f"{head}.{claims}".encode(), _ECDSA)
        parsed: dict[str, Any] = json.loads(_unurl64(claims))
        assert parsed["aud"] == "sigstore"
        assert parsed["exp"] > time.time()
        return parsed

    def _certify(self, body: Any, token: str) -> dict[str, Any]:
        claims = self._claims(token)
        request = x509.load_pem_x509_csr(base64.b64decode(body["certificateSigningRequest"]))
        assert request.is_signature_valid
        subject, issuer = claims["sub"], claims["iss"]
        san = x509.RFC822Name(subject) if "@" in subject else x509.UniformResourceIdentifier(subject)
        begin = datetime.now(UTC).replace(microsecond=0) - self.certificate_age - timedelta(seconds=5)
        authority = self.root_key.public_key()
        draft = (
            x509.CertificateBuilder()
            .subject_name(x509.Name([]))
            .issuer_name(self.root.subject)
            .public_key(request.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(begin)
            .not_valid_after(begin + timedelta(minutes=10))
            .add_extension(_usage(signs=True), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CODE_SIGNING]), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(authority), critical=False)
            .add_extension(x509.SubjectAlternativeName([san]), critical=True)
            .add_extension(x509.UnrecognizedExtension(ISSUER_V1, issuer.encode()), critical=False)
            .add_extension(x509.UnrecognizedExtension(ISSUER_V2, _utf8(issuer)), critical=False)
        )
        plain = draft.sign(self.root_key, SHA256()).tbs_certificate_bytes
        promise = self._certificate_promise(plain)
        whole = draft.add_extension(x509.UnrecognizedExtension(SCT_LIST, promise), critical=False).sign(
            self.root_key, SHA256()
        )
        chain = [c.public_bytes(Encoding.PEM).decode() for c in (whole, self.root)]
        return {"signedCertificateEmbeddedSct": {"chain": {"certificates": chain}}}

    def _certificate_promise(self, plain: bytes) -> bytes:
        """RFC 6962: the certificate log's promise over the certificate without it, as the extension holds it."""
        moment = int(time.time() * 1000)
        entry = _key_id(self.root_key) + len(plain).to_bytes(3, "big") + plain
        signature = self.certificate_log_key.sign(b"\0\0" + struct.pack(">QH", moment, 1) + entry + b"\0\0", _ECDSA)
        sct = b"\0" + _key_id(self.certificate_log_key) + struct.pack(">QH", moment, 0)
        sct += b"\x04\x03" + struct.pack(">H", len(signature)) + signature
        inner = struct.pack(">H", len(sct)) + sct
        return _octets(struct.pack(">H", len(inner)) + inner)

    def _log(self, body: Any) -> dict[str, Any]:
        proposed = body["spec"]["proposedContent"]
        envelope = json.loads(proposed["envelope"])
        payload = base64.b64decode(envelope["payload"])
        rows = [
            {"signature": s["sig"], "verifier": v}
            for s, v in zip(envelope["signatures"], proposed["verifiers"], strict=True)
        ]
        spec = {
            "envelopeHash": {"algorithm": "sha256", "value": hashlib.sha256(proposed["envelope"].encode()).hexdigest()},
            "payloadHash": {"algorithm": "sha256", "value": hashlib.sha256(payload).hexdigest()},
            "signatures": rows,
        }
        entry = rfc8785.dumps({"apiVersion": "0.0.1", "kind": "dsse", "spec": spec})
        with self._lock:
            self._leaves.append(hashlib.sha256(b"\0" + entry).digest())
            leaves, index = list(self._leaves), len(self._leaves) - 1
        moment = int(time.time())
        promised = {
            "body": _b64(entry),
            "integratedTime": moment,
            "logID": _key_id(self.log_key).hex(),
            "logIndex": index,
        }
        root = _tree(leaves)
        note = f"local log\n{len(leaves)}\n{_b64(root)}\n"
        seal = _b64(_key_id(self.log_key)[:4] + self.log_key.sign(note.encode(), _ECDSA))
        proof = {
            "logIndex": index,
            "rootHash": root.hex(),
            "treeSize": len(leaves),
            "hashes": [h.hex() for h in _path(index, leaves)],
            "checkpoint": f"{note}\n\u2014 local-log {seal}\n",
        }
        promise = _b64(self.log_key.sign(rfc8785.dumps(promised), _ECDSA))
        return {
            leaves[index].hex(): {
                **promised,
                "verification": {"inclusionProof": proof, "signedEntryTimestamp": promise},
            }
        }


def _split(count: int) -> int:
    return 1 << (count - 1).bit_length() - 1


def _tree(leaves: list[bytes]) -> bytes:
    """RFC 6962 root of hashed leaves."""
    if len(leaves) == 1:
        return leaves[0]
    at = _split(len(leaves))
    return hashlib.sha256(b"\1" + _tree(leaves[:at]) + _tree(leaves[at:])).digest()


def _path(index: int, leaves: list[bytes]) -> list[bytes]:
    """RFC 6962 audit path, from the leaf up."""
    if len(leaves) == 1:
        return []
    at = _split(len(leaves))
    if index < at:
        return [*_path(index, leaves[:at]), _tree(leaves[at:])]
    return [*_path(index - at, leaves[at:]), _tree(leaves[:at])]
