"""Phrases that `lint_prose` finds, and what to write instead."""
# ruff: noqa: E501 - a rule is easiest to read on one line

import re
from dataclasses import dataclass

FIRST_WORD = r"(?:^|(?<=[.:!?] )|(?<=\n\n))"


@dataclass(frozen=True)
class Rule:
    """A phrase, and what to write."""

    pattern: re.Pattern[str]
    instead: str


def rule(pattern: str, instead: str, *, exact_case: bool = False) -> Rule:
    return Rule(re.compile(pattern, re.MULTILINE | (0 if exact_case else re.IGNORECASE)), instead)


RULES = {
    # One word for one thing: docs/reference/glossary.md.
    "machine": rule(
        r"(?<!state )(?<!state-)(?<!virtual )(?<!finite )\bmachines?\b(?! ids?\b|-readable| language| learning|ctl)",
        "allocation for what a person gets, environment on a node, computer or node for hardware",
    ),
    "ssh-session": rule(r"\bSSH sessions?\b|\bsessions? over SSH\b|\bopen sessions\b", "connection; a session is a sign-in"),
    "terminal-session": rule(r"\bterminal sessions?\b", "terminal"),
    "door": rule(r"\b(?:front )?doors?\b|\bentrances?\b", "SSH gateway, API or endpoint"),
    "link-connection": rule(r"\bnode connections?\b|\bconnections? of (?:a |the )?nodes?\b", "link"),
    # Passive forms of have.
    "be-had": rule(r"\b(?:is|are|was|were|be|been|being) had\b", "is available, exists, returns"),
    # Sentences that hide their subject.
    "opener": rule(
        FIRST_WORD + r"(?:Who|Whoever|What|Whatever|Whichever) (?![^.!?\n]*\?)[^.!?\n]{4,}[^:\n]$|" + FIRST_WORD
        + r"(?:Who|Whoever|What|Whatever|Whichever) (?![^.!?\n]*\?)[^.!?\n]{4,}\.(?:\s|$)",
        "begin with the subject: requests, callers, the result",
        exact_case=True,
    ),
    "of-opener": rule(
        FIRST_WORD + r"Of (?:each|all|every|one|its|the|those|these|two|several|what|which|whom)\b",
        "begin with the subject",
        exact_case=True,
    ),
    "who-asks": rule(r"\b(?:who|whoever) (?:asks|acts|looks|waits|calls|comes|reads on|wants)\b", "the caller, the client, the request"),
    "what-is-left": rule(r"\bwhat (?:is|was) (?:left|wanted|meant|due|said|told|asked)\b", "name it: leftovers, the request, the reason"),
    "nothing-is-left": rule(r"\bnothing (?:of it |of them )?(?:is|was) left\b", "everything is removed"),
    "whom": rule(r"\b(?:as|by|to|of|for|with|from) whom\b", "name the person or program"),
    # Personification.
    "is-told": rule(
        r"\b(?:is|are|was|were|be|been|being) told\b|\btell(?:s|ing)? (?:its|nobody|nothing|everyone|everybody|whoever)\b|\btold (?:of|by|on)\b",
        "receives, reports, shows, logs",
    ),
    "speaks": rule(r"\b(?:speaks|spoke|hears|heard|believes|believed|remembers|forgets|forgot|forgotten|cares|dares|promises)\b", "says what the program does: stores, deletes, reads"),
    "knows-no": rule(r"\bknows? (?:no|nothing|nobody)\b", "does not depend on, has no access to, cannot"),
    "own-words": rule(r"\bown words?\b|\b(?:its|his|her|their|the node's) word\b|\bwords of\b", "message, output, text"),
    "stranger": rule(r"\bstrangers?\b|\bguests?\b(?!fs| kernel| with| tests?\b)", "unknown client, other tenant, other person"),
    "eyes": rule(r"\b(?:for|before|under) (?:our|your|its|their) eyes\b|\bneeds your eyes\b", "readable only by its owner"),
    # Archaisms and ornaments.
    "archaism": rule(
        r"\b(?:anew|lest|whence|thence|hence|thereof|therein|thereby|thereupon|herein|hereby|wherein|whereby|whereof|whilst|amid|amidst"
        r"|midst|unto|upon|nay|nought|naught|thus|henceforth|hitherto|afresh|alike|aught|betwixt|besides|whereas|heretofore|o'clock)\b",
        "use a plain word: again, otherwise, therefore, in, on, while",
    ),
    "for-ever": rule(r"\bfor ever\b|\bfor good\b|\bever after\b", "forever, permanently"),
    "is-no": rule(
        r"(?<!there )\b(?:is|are|was|were) no (?!longer\b|more\b|op\b)[a-z]+|\bare none\b|\bis none\b",
        "is not a",
    ),
    "goes-on": rule(r"\b(?:go|goes|going|went) on\b(?! the| an?\b)", "continues, runs"),
    "goes-round": rule(r"\b(?:go|goes|went|going) (?:round|around|astray|before|beyond)\b", "bypasses, precedes, exceeds"),
    "lies": rule(r"\b(?:lies|lay|lie) (?:in|on|at|before|below|beyond|beside|under|over|there|within|between)\b", "is"),
    "by-itself": rule(r"\bby (?:itself|themselves)\b|\bof itself\b", "automatically, alone"),
    "of-its-own": rule(r"\bof (?:its|their|our|one's|his|her) own\b", "own, separate"),
    "ones": rule(r"\bone's\b|\boneself\b|(?:^|[,;:.(] |\b(?:what|where|how|when|as|if) )one (?:can|may|must|has|knows|sees|finds|learns)\b", "you, or the person"),
    "neighbour-turns": rule(r"\bin (?:its|their) place\b|\bin the place of\b|\btakes? the place of\b", "instead of, replaces"),
    "as-soon": rule(r"\bno sooner\b|\bas good as\b|\bwell and good\b|\bso to speak\b|\bas it were\b", "leave it out"),
    "never-opener": rule(FIRST_WORD + r"(?:Never|Nor|Neither|Only then|Not until|Nowhere|Hardly) (?:is|are|was|were|does|do|did|can|may|has|have|will)\b", "subject before verb", exact_case=True),
    "let-in": rule(r"\b(?:let|lets|letting) (?:in|nobody|somebody|him|her|them|him in|her in)\b", "admit, accept"),
    "gets-in": rule(r"\b(?:get|gets|got|getting) in\b|\bway in\b", "log in, access"),
    "theatre": rule(r"\b(?:mortals?|portraits?|theatres?|town(?:s|speople)?|nursery|errands?|voices|sights)\b", "name it for what it is"),
}  # fmt: skip
