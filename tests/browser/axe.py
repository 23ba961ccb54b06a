"""axe-core on what is shown, in both colours."""

from pathlib import Path
from typing import Any

from playwright.async_api import BrowserContext, Page

AXE = Path(__file__).parent.parent.parent / "console" / "node_modules" / "axe-core" / "axe.min.js"
LOOK = "(rules) => axe.run(document, { resultTypes: ['violations'], ...(rules && { runOnly: rules }) })"
BY_COLOUR = ("color-contrast", "link-in-text-block")  # what another colour scheme can change


async def bring(context: BrowserContext) -> None:
    """Into every page, past its content security policy, as an extension would be."""
    assert AXE.exists(), "axe-core is not here: tools/console.sh test"
    await context.add_init_script(path=AXE)


async def violations(page: Page, *rules: str) -> list[str]:
    """Each as one line: the rule, what is wrong, and where. Without `rules` all of them are checked."""
    found: dict[str, Any] = await page.evaluate(LOOK, list(rules) or None)
    return [
        f"{each['id']}: {each['help']}: {node['html'][:200]}" for each in found["violations"] for node in each["nodes"]
    ]
