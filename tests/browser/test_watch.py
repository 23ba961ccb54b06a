"""The watch over every story sees what it is there for."""

import pytest

from tests.browser.conftest import Arrive

INLINE = "document.body.append(Object.assign(document.createElement('script'), { text: '1' }))"
PLANTED = {
    "thrown": "() => setTimeout(() => { throw new Error('planted') })",
    "printed": "() => console.error('planted')",
    "forbidden by the policy": f"() => {INLINE}",
    "not loaded": "() => { new Image().src = '/assets/planted.png'; }",
}


@pytest.mark.parametrize("what", PLANTED)
async def test_a_planted_complaint_is_heard(arrive: Arrive, what: str) -> None:
    ada = await arrive("ada")
    await ada.page.goto("/login")
    assert ada.watch.complaints == []
    heard = "pageerror" if what == "thrown" else "console"
    async with ada.page.expect_event(heard, lambda _: bool(ada.watch.complaints)):
        await ada.page.evaluate(PLANTED[what])
    assert len(ada.watch.complaints) == 1
    ada.watch.complaints.clear()  # it was ours
