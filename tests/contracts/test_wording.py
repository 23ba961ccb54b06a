"""What is wrong with a field is said in words."""

import msgspec
import pytest

from gpuaas.api.bodies import refused
from gpuaas.wire.members import InviteMember
from gpuaas.wire.storage import CreateSnapshot


@pytest.mark.parametrize(
    ("wanted", "body", "words"),
    [
        (CreateSnapshot, b'{"name": "bad/name"}', "lower case letters, digits and dashes, none at either end"),
        (InviteMember, b'{"email": "nobody", "role": "member"}', "an e-mail address such as ada@example.com"),
    ],
)
def test_a_pattern_is_told_in_words(wanted: type[msgspec.Struct], body: bytes, words: str) -> None:
    with pytest.raises(msgspec.ValidationError) as error:
        msgspec.json.decode(body, type=wanted)
    assert refused(str(error.value)).detail == words
