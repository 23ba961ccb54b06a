"""Bad requests, each with what must come of it: a status, a code, and where there is one the field that is wrong.

`<noun>` stands for a thing of Ada's.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from tests.world import KEY, SLICE

ALLOCATIONS, KEYS, TOKENS, PROJECTS = "/allocations", "/ssh-keys", "/auth/tokens", "/projects"
IDEM = {"X-Idempotency-Key": "k"}
BLOB = KEY.split()[1]
RSA_1024 = (
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQC7"
    + "A" * 170
    + "AAAA="  # a modulus far below 3072 bits, or cut: refused either way
)


@dataclass(frozen=True, kw_only=True)
class Bad:
    says: str
    path: str
    body: bytes = b""
    method: str = "POST"
    status: int = 422
    code: str = "validation_error"
    wrong: str = ""  # the field its errors name
    headers: dict[str, str] = field(default_factory=dict)
    who: str = "ada"


def submit(says: str, wrong: str = "", **fields: Any) -> Bad:
    asked = {"sku": SLICE, "ssh_key_ids": ["<ssh_key>"], **fields}
    return Bad(says=says, path=ALLOCATIONS, body=json.dumps(asked).encode(), wrong=wrong, headers=IDEM)


def key(says: str, text: str, code: str = "ssh_key_invalid") -> Bad:
    body = json.dumps({"title": "k", "public_key": text}).encode()
    return Bad(says=says, path=KEYS, body=body, code=code, wrong="public_key")


def raw(says: str, body: bytes, **changes: Any) -> Bad:
    return Bad(**{"says": says, "path": ALLOCATIONS, "body": body, "headers": IDEM, **changes})


SUBMITS = [
    submit("unknown SKU", "sku", sku="no-such-sku"),
    submit("GPU count that is not sold", "gpu_count", gpu_count=3),
    submit("no GPU at all", "gpu_count", gpu_count=0),
    submit("more GPUs than an int holds", "gpu_count", gpu_count=2**63),
    submit("a number of forty digits", "gpu_count", gpu_count=10**40),
    submit("half a GPU", "gpu_count", gpu_count=0.5),
    submit("a GPU count in words", "gpu_count", gpu_count="one"),
    submit("a truth for a number", "gpu_count", gpu_count=True),
    submit("too many machines", "count", count=65),
    submit("unknown size", "size", size="no-such-size"),
    submit("huge name", "name", name="n" * 100_000),
    submit("name with a line break", "name", name="train\n"),
    submit("name in capitals", "name", name="Train"),
    submit("name that is a list", "name", name=["train"]),
    submit("empty SKU", "sku", sku=""),
    submit("huge SKU", "sku", sku="s" * 10_000),
    submit("huge region", "region", region="r" * 10_000),
    submit("no key", "ssh_key_ids", ssh_key_ids=[]),
    submit("a key that there is not", "ssh_key_ids", ssh_key_ids=["key_00000000000000000000000000"]),
    submit("too many keys", "ssh_key_ids", ssh_key_ids=["k"] * 21),
    submit("huge key id", "ssh_key_ids", ssh_key_ids=["k" * 10_000]),
    submit("a key that is a number", "ssh_key_ids", ssh_key_ids=[1]),
    submit("unknown field", "", gpus=1),
]
PUBLIC_KEYS = [
    key("no key at all", "hello"),
    key("only a type", "ssh-ed25519"),
    key("not base64", "ssh-ed25519 !!!!"),
    key("cut short", f"ssh-ed25519 {BLOB[:20]}"),
    key("another type inside", f"ssh-rsa {BLOB}"),
    key("options before it", f'command="rm -rf /",no-pty ssh-ed25519 {BLOB}'),
    key("two lines", f"{KEY}\nssh-ed25519 {BLOB}"),
    key("a line break in the comment", f"{KEY} me\nfrom=evil"),
    key("a carriage return inside", f"ssh-ed25519\r{BLOB}"),
    key("a certificate", f"ssh-ed25519-cert-v01@openssh.com {BLOB}"),
    key("a private key", "-----BEGIN OPENSSH PRIVATE KEY-----"),
    key("too few bits", RSA_1024),
    key("DSA", "ssh-dss AAAAB3NzaC1kc3MAAACBAP"),
    key("huge", "ssh-ed25519 " + "A" * 20_000, code="validation_error"),
    Bad(
        says="the same key twice",
        path=KEYS,
        body=json.dumps({"title": "k", "public_key": KEY}).encode(),
        status=409,
        code="conflict",
    ),
    Bad(says="huge title", path=KEYS, body=json.dumps({"title": "t" * 101, "public_key": KEY}).encode(), wrong="title"),
]
BODIES = [
    raw("broken JSON", b'{"sku": '),
    raw("no JSON", b"hello"),
    raw("no body", b""),
    raw("a list", b"[]"),
    raw("null", b"null"),
    raw("a string", b'"sku"'),
    raw("not a number", b'{"sku": NaN}'),
    raw("more after its end", b"{} {}"),
    raw("not UTF-8", b'{"sku": "\xff\xfe"}'),
    raw("half a surrogate pair", b'{"sku": "\\ud800"}'),
    raw("NUL escaped", b'{"sku": "a\\u0000b"}'),
    raw("NUL itself", b'{"sku": "a\x00b"}'),
    raw("a field twice", b'{"sku": "a", "sku": "b"}', wrong="sku"),
    raw("a hundred thousand deep", b"[" * 100_000),
    raw("a thousand deep, well formed", b'{"sku":' + b"[" * 1000 + b"]" * 1000 + b"}"),
    raw("seven hundred deep, well formed", b'{"sku":' + b"[" * 700 + b"]" * 700 + b"}"),
    raw("ten megabytes", b'{"sku": "' + b"a" * 10_000_000 + b'"}', status=413, code="body_too_large"),
    raw("one byte too many", b" " * ((1 << 20) + 1), status=413, code="body_too_large"),
]
HEADERS = [
    raw(
        "a form",
        b"sku=a",
        headers={**IDEM, "content-type": "application/x-www-form-urlencoded"},
        status=415,
        code="unsupported_media_type",
    ),
    raw("plain text", b"{}", headers={**IDEM, "content-type": "text/plain"}, status=415, code="unsupported_media_type"),
    raw("no kind named", b"{}", headers={**IDEM, "content-type": ""}, status=415, code="unsupported_media_type"),
    raw(
        "a kind like JSON's",
        b"{}",
        headers={**IDEM, "content-type": "application/jsonx"},
        status=415,
        code="unsupported_media_type",
    ),
    raw("no idempotency key", b'{"sku": "x", "ssh_key_ids": ["k"]}', headers={}, wrong="X-Idempotency-Key"),
    raw("an empty idempotency key", b"{}", headers={"X-Idempotency-Key": ""}, wrong="X-Idempotency-Key"),
    raw("a huge idempotency key", b"{}", headers={"X-Idempotency-Key": "k" * 5000}, wrong="X-Idempotency-Key"),
    raw("an idempotency key with a space", b"{}", headers={"X-Idempotency-Key": "a b"}, wrong="X-Idempotency-Key"),
    raw("a huge project header", b"{}", headers={**IDEM, "X-Project-ID": "p" * 5000}),
    Bad(
        says="a huge token",
        path="/me",
        method="GET",
        headers={"authorization": "Bearer " + "t" * 100_000},
        status=401,
        code="token_invalid",
    ),
    Bad(
        says="a token of another kind",
        path="/me",
        method="GET",
        headers={"authorization": "Basic YTpi"},
        status=401,
        code="token_missing",
    ),
    Bad(
        says="a rubbish cookie",
        path="/me",
        method="GET",
        headers={"authorization": "", "cookie": "\xff=;;;=\x01"},
        status=401,
        code="token_missing",
    ),
    Bad(
        says="a cookie without proof of our page",
        path="/auth/logout",
        headers={"authorization": "", "cookie": "gpuaas_session=x"},
        status=403,
        code="csrf_refused",
    ),
]
QUERIES = (
    [
        Bad(says=f"cursor {cursor!r}", path=f"/ssh-keys?cursor={cursor}", method="GET", wrong="cursor")
        for cursor in ("%%%", "!!!!", "AAAA", "gA==", "%F0%9F", "a" * 201, "w6k=")
    ]
    + [
        Bad(says=f"limit {limit}", path=f"/ssh-keys?limit={limit}", method="GET", wrong="limit")
        for limit in ("0", "201", "-1", "x", "1.5", str(2**70))
    ]
    + [
        Bad(
            says="an unknown status",
            path="/projects/<project>/allocations?status=dancing",
            method="GET",
            wrong="status",
        ),
        Bad(says="a huge name", path=f"/projects/<project>/allocations?name={'n' * 500}", method="GET", wrong="name"),
        Bad(says="NUL in a query", path="/operations?subject_id=a%00b", method="GET"),
        Bad(says="NUL in an address", path="/allocations/a%00b", method="GET"),
        Bad(says="an address that is not UTF-8", path="/allocations/%ff%fe", method="GET"),
        Bad(says="an endless address", path="/allocations/" + "a" * 5000, method="GET"),
        Bad(
            says="a long id with a key",
            path="/allocations/" + "é" * 400 + "/release",
            body=b"{}",
            headers=IDEM,
            status=404,
            code="allocation_not_found",
        ),
        Bad(
            says="a slot beyond all",
            path="/admin/nodes/n/slots/99999999999/approve",
            body=b"{}",
            who="operator",
            wrong="index",
        ),
        Bad(says="a slot below all", path="/admin/nodes/n/slots/-1/approve", body=b"{}", who="operator", wrong="index"),
        Bad(
            says="a slot in words",
            path="/admin/nodes/n/slots/one/approve",
            body=b"{}",
            who="operator",
            status=404,
            code="route_not_found",
        ),
    ]
)
OTHERS = [
    Bad(says="a token without scope", path=TOKENS, body=b'{"title": "t", "scopes": []}', wrong="scopes"),
    Bad(says="an unknown scope", path=TOKENS, body=b'{"title": "t", "scopes": ["all"]}', wrong="scopes"),
    Bad(
        says="a token for ever",
        path=TOKENS,
        body=b'{"title": "t", "scopes": ["read"], "expires_in_days": 366}',
        wrong="expires_in_days",
    ),
    Bad(
        says="a tenant that there is not",
        path=PROJECTS,
        body=b'{"slug": "p", "tenant_id": "ten_x"}',
        status=404,
        code="tenant_not_found",
    ),
    Bad(says="a slug with a line break", path=PROJECTS, body=b'{"slug": "p\\n"}', wrong="slug"),
    Bad(
        says="an address without an at",
        path="/auth/personal/signup",
        body=b'{"email": "me", "password": "correct horse battery"}',
        wrong="email",
    ),
    Bad(
        says="an e-mail with a line break",
        path="/auth/personal/signup",
        body=b'{"email": "me@x\\n", "password": "correct horse battery"}',
        wrong="email",
    ),
    Bad(
        says="a short password",
        path="/auth/personal/signup",
        body=b'{"email": "me@example.com", "password": "short"}',
        wrong="password",
    ),
    Bad(
        says="wrong credentials",
        path="/auth/personal/login",
        body=b'{"email": "a@b.c", "password": "x"}',
        status=401,
        code="credentials_invalid",
    ),
    Bad(
        says="an unknown SKU to explain",
        path="/placement/explain",
        body=b'{"sku": "nope"}',
        status=404,
        code="sku_not_found",
    ),
    Bad(
        says="a region with capitals",
        path="/admin/enrolment-tokens",
        body=b'{"node_name": "n", "region": "X"}',
        who="operator",
        wrong="region",
    ),
    Bad(
        says="a token of a year",
        path="/admin/enrolment-tokens",
        body=b'{"node_name": "n", "ttl_seconds": 31536000}',
        who="operator",
        wrong="ttl_seconds",
    ),
    Bad(
        says="break-glass without a reason",
        path="/admin/allocations/a/break-glass",
        body=b'{"reason": ""}',
        who="operator",
        wrong="reason",
    ),
    Bad(
        says="no reason",
        path="/admin/allocations/a/force-cleanup",
        body=b'{"runtime_verified_absent": true, "reason": ""}',
        who="operator",
        wrong="reason",
    ),
    Bad(
        says="a huge reason",
        path="/admin/nodes/n/drain",
        body=json.dumps({"reason": "r" * 501}).encode(),
        who="operator",
        wrong="reason",
    ),
    Bad(
        says="a huge reason for another key",
        path="/admin/nodes/n/rotate-key",
        body=json.dumps({"reason": "r" * 501}).encode(),
        who="operator",
        wrong="reason",
    ),
]
ALL = [*SUBMITS, *PUBLIC_KEYS, *BODIES, *HEADERS, *QUERIES, *OTHERS]
