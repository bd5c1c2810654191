"""The page of `lasthop studio` in a headless Chromium, for tests."""

from __future__ import annotations

import json
from typing import Any

import pytest

from browser import PROGRAM, Page
from lasthop.base import paths
from lasthop.report.simulator import MODULE

IS_BUILT = (paths.DATA / "web" / MODULE).is_file()
in_chromium = pytest.mark.skipif(PROGRAM is None or not IS_BUILT, reason="chromium or the module is missing")
READY = "!$('#run').disabled || $('#state').classList.contains('bad')"


def loaded(tab: Page, address: str) -> Page:
    # A page that differs in its fragment only would not be loaded again.
    tab.go("about:blank")
    tab.go(address)
    tab.until(READY)
    return tab


def fresh(tab: Page, address: str) -> Page:
    """The page as it is when it has been loaded, which takes less time where it is there already."""
    is_here = f"location.href === {json.dumps(address)} && typeof SETUP === 'object'"
    if not tab.do(is_here) or tab.problems:
        return loaded(tab, address)
    tab.do(
        "(async () => { stop();"
        "Object.assign(panels, { compared: null, point: 0, filter: '', since: undefined, layer: 'frames' });"
        "$('#replications').value = 5; useTheme('light'); panels.open('figures');"
        "$('#tour').hidden = true; $('#main').classList.remove('turning'); await take(SETUP); })()"
    )
    return tab


def press(tab: Page, selector: str) -> None:
    """Click where an element is."""
    tab.until(f"!!$('{selector}') && !$('{selector}').disabled")
    box = tab.do(
        f"(() => {{ const it = $('{selector}');"
        "it.scrollIntoView({ behavior: 'instant', block: 'center' });"
        "return JSON.parse(JSON.stringify(it.getBoundingClientRect())); })()"
    )
    tab.mouse(box["left"] + box["width"] / 2, box["top"] + box["height"] / 2, click=True)


def ran(tab: Page) -> None:
    """Run, and wait for all results."""
    tab.do("run()")
    assert tab.do("panels.hasRuns()")


def written(tab: Page, text: str) -> list[dict[str, Any]]:
    """Give the editor a text; its errors."""
    tab.do(f"(editor.text = {json.dumps(text)}, null)")
    return list(tab.do("check().then(() => state.faults)"))
