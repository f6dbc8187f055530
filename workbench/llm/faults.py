"""Why a provider gave no reply: LiteLLM's exceptions, sorted by what the run should do.

They are sorted by type, and then by the words of the server: providers say "out of credit", "wrong key" and "no such
model" under several statuses. Gemini says "You exceeded your current quota" of a limit per minute, too: then it names a
delay, and only a limit per day or without a delay ends the run.
"""

import math
import random
import re
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

import orjson

from workbench.errors import redact
from workbench.types import Fault

LONGEST = 60.0  # seconds: the longest pause between two attempts
_TEXT = 2_000  # characters of an error's text: a server may send a whole page
# Texts of errors that every further call would get, too: about accounts, keys and models.
_ACCOUNT = re.compile(
    r"(?i)insufficient[_ ](?:quota|balance|credit|funds)|credit balance is too low|out of credits?"
    r"|(?:requires more|used all available) credits|credit limit exceeded|spending limit|payment required"
    r"|unpaid invoice|arrearage|exceeded_current_quota|billing_(?:hard_limit|not_active)|your credit"
    r"|account\b[^.]{0,80}(?:not active|deactivated|suspended|disabled)|per ?day\b|\b[RT]PD\b"
)
_KEY = re.compile(r"(?i)missing credentials|api_key client|api key not valid|invalid[_ ]api[_ ]key")
_MODEL = re.compile(
    r"(?i)model_(?:not_found|not_available|decommissioned)|(?:invalid|unknown)[_ ]model\b|LLM Provider NOT provided"
    r"|\bmodels?\b.{0,120}?(?:not found|not exist|no longer available)|not a valid model"
)
_FILTERED = re.compile(r"content_(?:filter|policy_violation)|content management policy")
_DELAY = re.compile(
    r'(?i)(?:"retryDelay": *"|(?:try again|retry) in )(?:(\d{1,6})m)?(\d{1,9}(?:\.\d*)?) ?(ms|s)'
)
_FATAL = {"AuthenticationError", "PermissionDeniedError", "NotFoundError", "PaymentRequiredError"}
_SERVER = {
    "InternalServerError", "ServiceUnavailableError", "BadGatewayError", "APIConnectionError", "APIError",
}  # fmt: skip


class Refusal(Exception):  # noqa: N818  not an error of ours
    """Why a provider gave no reply.

    `fault` is its kind. `fatal` ends the run. `again` says that another attempt may succeed, after `wait` seconds if
    the provider asked to wait. `paid` says that the provider may have charged for it.
    """

    def __init__(
        self,
        fault: Fault,
        text: str,
        *,
        fatal: bool = False,
        again: bool = False,
        wait: float = 0.0,
        paid: bool = False,
    ) -> None:
        plain = " ".join(re.sub(r"<[^>]*>", " ", redact(text)).split())
        super().__init__(f"{plain[:_TEXT]} ..." if len(plain) > _TEXT else plain)
        self.fault, self.fatal, self.again, self.wait, self.paid = fault, fatal, again, wait, paid


@dataclass(slots=True)
class Post:
    """What the hooks of the HTTP client have seen of one attempt: whether it was posted, and what came back."""

    posted: bool = False
    response: Any = None

    @property
    def status(self) -> int:
        return int(self.response.status_code) if self.response is not None else 0

    def body(self) -> bytes:
        """The bytes of the response as far as they were read."""
        with suppress(Exception):
            return bytes(self.response.content)
        return b""


def refusal(error: Exception, post: Post) -> Refusal:
    """An exception of `send` as a Refusal. One that is no provider's is raised again."""
    if isinstance(error, Refusal):
        return error
    name, module = type(error).__name__, type(error).__module__
    if not module.startswith(("litellm", "openai", "httpx")):
        raise error
    if post.status == 200:
        return error_in(post) or Refusal(
            "malformed", f"the reply cannot be read: {error}", paid=True
        )
    if 300 <= post.status < 400:
        where = post.response.headers.get("location", "")
        text = f"the server redirects to {where}: a key follows no redirect, so give that as the model's address"
        return Refusal("rejected", text, fatal=True)
    text = re.sub(
        r"^(\w+): (?:\1: )+",
        r"\1: ",
        str(error).removeprefix("litellm.").partition("Traceback (")[0],
    )
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    headers = post.response.headers if post.response is not None else headers
    return sort(name, post.status, text, wait_in(headers, text), post=post, error=error)


def sort(
    name: str,
    status: int,
    text: str,
    wait: float = 0.0,
    *,
    post: Post | None = None,
    error: BaseException | None = None,
) -> Refusal:
    """The Refusal for LiteLLM's exception of this name, a server's status and its words."""
    if name == "ContentPolicyViolationError" or (status in {0, 400} and _FILTERED.search(text)):
        return Refusal("filtered", text)
    missing = _missing(error)
    if (
        name in _FATAL
        or status in {401, 402, 403, 404}
        or missing
        or any(p.search(text) for p in (_ACCOUNT, _KEY, _MODEL))
    ):
        lacks = f"LiteLLM lacks a package for this model ({missing}): install it, or choose another model"
        return Refusal("rejected", lacks if missing else text, fatal=True)
    if name == "RateLimitError" or status == 429:
        ends = "exceeded your current quota" in text and not wait
        return Refusal(
            "rejected" if ends else "rate_limit", text, fatal=ends, again=not ends, wait=wait
        )
    if name == "Timeout":
        return Refusal("timeout", text, paid=True)
    if status >= 500 or status in {408, 409, 425} or (status == 0 and name in _SERVER):
        lost = bool(post and post.posted and not status)
        connects = any(type(e).__name__.startswith("ClientConnector") for e in causes(error))
        return Refusal(
            "connection" if lost else "server",
            text,
            again=True,
            wait=wait,
            paid=lost and not connects,
        )
    return Refusal("rejected", text)


def error_in(post: Post) -> Refusal | None:
    """The error object in a body of status 200, which some servers send in place of a reply."""
    try:
        body = orjson.loads(post.body())
    except ValueError:
        return None
    found = body.get("error") if isinstance(body, dict) and not body.get("choices") else None
    if not found:
        return None
    details = found if isinstance(found, dict) else {"message": str(found)}
    code = details.get("code")
    status = code if isinstance(code, int) else 500
    text = f"{details.get('type') or ''} {code or ''} {details.get('message') or orjson.dumps(found).decode()}"
    return sort("", status, text.strip(), wait_in({}, text))


def wait_in(headers: Any, text: str) -> float:
    """The seconds that the provider asks to wait, in the header Retry-After or in its words; 0 if it does not."""
    given = str(headers.get("retry-after") or "")
    wait = 0.0
    try:
        wait = float(given)
    except ValueError:
        with suppress(ValueError, OverflowError):
            wait = parsedate_to_datetime(given).timestamp() - time.time()
    if not wait and (found := _DELAY.search(text)):
        minutes, amount, unit = found.groups()
        wait = 60 * int(minutes or 0) + float(amount) / (1000 if unit == "ms" else 1)
    if math.isnan(wait) or wait <= 0:
        return 0.0
    if wait > LONGEST:
        print(
            f"the server asks to wait {wait:,.0f} s; the next call waits {LONGEST:.0f} s",
            file=sys.stderr,
        )
    return min(wait, LONGEST)


def pause(attempt: int, wait: float) -> float:
    """Seconds before another attempt: those that the provider asked for, else doubling; with jitter."""
    return min(LONGEST, wait or 0.5 * 2.0**attempt) * random.uniform(1.0, 1.2)  # noqa: S311  no secret


def causes(error: BaseException | None) -> list[BaseException]:
    """The error and its causes, the latest first."""
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


def _missing(error: BaseException | None) -> str:
    """A package that LiteLLM lacks, which it reports as a failed connection."""
    return next(
        (str(e) for e in causes(error) if isinstance(e, ImportError) and str(e) in str(error)), ""
    )
