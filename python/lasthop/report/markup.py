"""Small pieces of HTML; all text is escaped."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_TOGETHER = re.compile(r"(?<=[\d\]]) (?=%|KB\b)|(?<=\bn) (?==)|(?<=\bn =) (?=\d)")


def unbroken(text: str) -> str:
    r"""Escaped text in which numbers are not separated from their units and names by a line break.

    >>> unbroken("mean, n = 10, 95 % interval")
    'mean, n\xa0=\xa010, 95\xa0% interval'
    """
    return _TOGETHER.sub("\u00a0", escape(text))


def coded(text: str) -> str:
    """Escaped text in which backticks mark code.

    >>> coded("`lasthop reproduce x` <runs>")
    '<code>lasthop reproduce x</code> &lt;runs&gt;'
    """
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """A list of numbers with their names."""
    entries = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in pairs)
    return f'<dl class="facts">{entries}</dl>'


def notices(texts: Iterable[str]) -> str:
    """Notices that a reader must see; backticks mark code."""
    return "".join(f'<p class="notice" role="note">{coded(text)}</p>' for text in texts)


def code(label: str, text: str) -> str:
    """Code with a copy button."""
    name = escape(label)
    return (
        f'<div class="code"><h3>{name}</h3><pre tabindex="0" role="region" aria-label="{name}">'
        f"{escape(text)}</pre>"
        f'<button type="button" class="copy" aria-label="Copy: {name}">Copy</button></div>'
    )


def badge_class(verdict: str) -> str:
    """The CSS class of a verdict.

    >>> badge_class("by reading")
    'verdict-by-reading'
    """
    return f"verdict-{verdict.replace(' ', '-')}"


def scrolling(label: str, table: str) -> str:
    """A table that scrolls horizontally if it is too wide, also by keyboard."""
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(label)}">{table}</div>'
