"""Split SQL into tokens as Spider's evaluation script does, and step through them."""

import re
from typing import NoReturn

# Spider splits SQL with NLTK's tokenizer for English prose. Brackets, `*` and most punctuation become tokens
# of their own; a comma only if no digit follows (English writes 1,000), a full stop only at the end of the
# text, and `=`, `+`, `/` never, which is why `a=1` is one unreadable word.
_TOKEN = re.compile(
    r"""(?:[^\s;@#$%&?!*()\[\]{}<>`\xab\xbb\u2012-\u2015\u2018\u2019\u201c-\u201e,:".-]++"""
    r"""|"[^"]*+"|[,:](?=\d)|\.(?![\])}>\s]*\Z)|-(?!-))+|--|\S"""
)


class UnreadableError(Exception):
    """The text is not a query of Spider's grammar."""


def split(sql: str) -> list[str]:
    """The tokens in lower case, quoted ones as they are; "" marks the end, so that no rule checks for it."""
    text = sql.replace("'", '"')
    if text.count('"') % 2:
        raise UnreadableError
    return [t if t[0] == '"' else t.lower() for t in _TOKEN.findall(text)] + [""]


class Tokens:
    """A position in a list of tokens; `at` is the index of the next token."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.at = 0

    def fail(self) -> NoReturn:
        raise UnreadableError

    def accept(self, token: str) -> bool:
        """Step over the token if it is the next one."""
        if self.tokens[self.at] == token:
            self.at += 1
            return True
        return False

    def expect(self, token: str) -> None:
        if not self.accept(token):
            self.fail()

    def accept_any(self, tokens: frozenset[str]) -> str:
        """The next token, stepped over, if it is one of these; else ""."""
        token = self.tokens[self.at]
        if token in tokens:
            self.at += 1
            return token
        return ""

    def word(self) -> str:
        """The next token, whatever it is, but not the end."""
        token = self.tokens[self.at]
        if not token:
            self.fail()
        self.at += 1
        return token

    def semicolons(self) -> None:
        while self.accept(";"):
            pass
