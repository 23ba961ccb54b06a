"""Decodes bodies strictly as the contract describes. Litestar alone accepts "7" for 7, and names a missing field
`data`.
"""

import re
from typing import Any

import msgspec
from litestar import Request
from litestar.exceptions import ValidationException

from gpuaas.wire.common import EMAIL_PATTERN, NAME_PATTERN

WHERE = re.compile(r"(?P<what>.*?)(?: - at `\$\.?(?P<place>.*)`)?", re.DOTALL)
WORDS = {  # people should not have to read a pattern
    f"Expected `str` matching regex {NAME_PATTERN!r}": "lower case letters, digits and dashes, none at either end",
    f"Expected `str` matching regex {EMAIL_PATTERN!r}": "an e-mail address such as ada@example.com",
}
FIELD = re.compile(r"Object (missing required|contains unknown) field `(?P<name>.*)`", re.DOTALL)


class StrictRequest(Request[Any, Any, Any]):
    async def json(self) -> Any:
        wanted = self.route_handler.parsed_data_field
        if wanted is None:
            return await super().json()
        try:
            return msgspec.json.decode(await self.body(), type=wanted.annotation)
        except msgspec.ValidationError as error:
            raise refused(str(error)) from error
        except (msgspec.DecodeError, UnicodeDecodeError):
            return await super().json()  # not JSON: refused there


def refused(said: str) -> ValidationException:
    """Name the field by its path in the body, also a missing or an unknown field."""
    found = WHERE.fullmatch(said)
    what, place = (found["what"], found["place"] or "") if found else (said, "")
    what = WORDS.get(what, what)
    if named := FIELD.fullmatch(what):
        place = f"{place}.{named['name']}" if place else named["name"]
    return ValidationException(what, extra=[{"key": place or "body", "message": what}])
