"""The guarded client connects to the number that was checked, and asks the host by its own name and certificate."""

import ipaddress
import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from providers.http.guarded_http import OutboundError, open_stream, send_request

PEM = serialization.Encoding.PEM


def certificate(folder: Path, name: str) -> Path:
    """A file with a key and a certificate that is its own authority, for a host's name or number."""
    key = ec.generate_private_key(ec.SECP256R1())
    whose = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    try:
        alternative: x509.GeneralName = x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        alternative = x509.DNSName(name)
    builder = x509.CertificateBuilder(whose, whose, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    made = builder.add_extension(x509.SubjectAlternativeName([alternative]), critical=False).sign(
        key, hashes.SHA256()
    )
    secret = key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path = folder / f"{name}.pem"
    path.write_bytes(secret + made.public_bytes(PEM))
    return path


class Teller(BaseHTTPRequestHandler):
    """Keeps by which names it was asked."""

    asked: ClassVar[list[str | None]] = []

    def do_POST(self) -> None:
        self.asked.append(self.headers["Host"])
        self.send_response(201)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def do_GET(self) -> None:
        self.send_response(302)
        self.send_header("Location", f"http://{self.headers['Host']}/")
        self.end_headers()

    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing."""


@pytest.fixture
def push_service(tmp_path: Path, settings: Any) -> Iterator[tuple[str, Path]]:
    """The address of an encrypted service called push.example.org on this machine, and its certificate."""
    path = certificate(tmp_path, "push.example.org")
    server = HTTPServer(("127.0.0.1", 0), Teller)
    Teller.asked.clear()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    context.sni_callback = lambda wire, name, _context: Teller.asked.append(name)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    here = f":{server.server_port}"
    settings.OUTBOUND_ALLOWED = {f"push.example.org{here}", f"other.example.org{here}", f"127.0.0.1{here}"}
    yield f"https://push.example.org{here}/", path
    server.shutdown()
    server.server_close()


def here(host: str, port: int) -> list[str]:
    return ["127.0.0.1"]


def test_the_host_is_asked_by_its_name_at_the_number_that_was_checked(
    push_service: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, trusted = push_service
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    answer = send_request("POST", url, resolve=here)
    assert (answer.status, answer.body) == (201, b"ok")
    assert Teller.asked == ["push.example.org", url.split("/")[2]]


@pytest.mark.parametrize("name", ["other.example.org", "127.0.0.1"])
def test_a_certificate_for_another_name_is_refused(
    push_service: tuple[str, Path], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    url, trusted = push_service
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    with pytest.raises(OutboundError) as failed:
        send_request("POST", url.replace("push.example.org", name), resolve=here)
    assert (failed.value.code, str(failed.value)) == ("unreachable", "SSLCertVerificationError")


def test_a_certificate_that_nobody_vouches_for_is_refused(push_service: tuple[str, Path]) -> None:
    with pytest.raises(OutboundError) as failed:
        send_request("POST", push_service[0], resolve=here)
    assert str(failed.value) == "SSLCertVerificationError"


def test_no_proxy_of_the_environment_stands_between(
    push_service: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, trusted = push_service
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    assert send_request("POST", url, resolve=here).status == 201


def test_a_redirect_that_gives_encryption_up_is_refused(
    push_service: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, trusted = push_service
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    with pytest.raises(OutboundError) as refused, open_stream(url, resolve=here):
        raise AssertionError
    assert (refused.value.code, "encryption" in str(refused.value)) == ("redirect", True)
