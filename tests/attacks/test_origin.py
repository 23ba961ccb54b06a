"""SEC15: a page counts as ours by scheme, host and port, not by host alone."""

from typing import Any, cast

import pytest

from gpuaas.api.edge import is_own_origin

HERE = "gpu.example.com"


@pytest.mark.parametrize(
    ("origin", "scheme", "public_url", "is_own"),
    [
        ("https://gpu.example.com", "https", "https://gpu.example.com", True),
        ("https://gpu.example.com", "http", "https://gpu.example.com", True),  # TLS ends at a proxy
        ("http://gpu.example.com", "http", "https://gpu.example.com", False),  # the old code accepted this one
        ("http://gpu.example.com", "http", "http://127.0.0.1:8080", True),
        ("https://gpu.example.com", "http", "http://127.0.0.1:8080", False),  # and this one
        ("http://gpu.example.com", "ws", "http://127.0.0.1:8080", True),
        ("https://gpu.example.com", "wss", "http://127.0.0.1:8080", True),
        ("https://gpu.example.com", "ws", "http://127.0.0.1:8080", False),
        ("http://127.0.0.1:8080", "http", "http://127.0.0.1:8080", True),
        ("null", "http", "http://127.0.0.1:8080", False),
        ("", "http", "", False),
    ],
)
def test_an_origin_is_ours_only_with_its_scheme(origin: str, scheme: str, public_url: str, *, is_own: bool) -> None:
    assert is_own_origin(origin, cast("Any", {"scheme": scheme}), HERE, public_url) is is_own
