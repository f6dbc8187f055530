"""Why a provider gave no reply: LiteLLM's exceptions, sorted by what the run should do.

The server's words count as much as type and status: providers say "out of credit", "wrong key" and
"no such model" under several statuses.
"""

import random
import re
import sys
import time
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any

import orjson

from workbench.errors import redact
from workbench.types import Fault

LONGEST = 60.0  # seconds: the longest pause between two attempts
# Errors that every further call would get, too: about accounts, keys, models and packages.
_ENDS = re.compile(
    r"(?i)insufficient[_ ](?:quota|balance|credit|funds)|credit balance is too low|your credit"
    r"|out of credits?|(?:requires more|used all available) credits|credit limit exceeded"
    r"|spending limit|payment required|unpaid invoice|arrearage|exceeded_current_quota"
    r"|billing_(?:hard_limit|not_active)|per ?day\b|\b[RT]PD\b"
    r"|account\b[^.]{0,80}(?:not active|deactivated|suspended|disabled)"
    r"|missing credentials|api_key client|api key not valid|invalid[_ ]api[_ ]key"
    r"|model_(?:not_found|not_available|decommissioned)|(?:invalid|unknown)[_ ]model\b"
    r"|LLM Provider NOT provided|\bmodels?\b.{0,120}?(?:not found|not exist|no longer available)"
    r"|not a valid model|No module named"
)
_FILTERED = re.compile(r"content_(?:filter|policy_violation)|content management policy")
_DELAY = re.compile(
    r'(?i)(?:"retryDelay": *"|(?:try again|retry) in )(?:(\d{1,6})m)?(\d{1,9}(?:\.\d*)?) ?(ms|s)'
)
_FATAL = {
    "AuthenticationError",
    "PermissionDeniedError",
    "NotFoundError",
    "PaymentRequiredError",
}
_SERVER = {
    "InternalServerError",
    "ServiceUnavailableError",
    "BadGatewayError",
    "APIConnectionError",
    "APIError",
}
_NO_CONNECTION = ("aiohttp.client_exceptions.ClientConnector", "httpcore.Connect")


class Refusal(Exception):  # noqa: N818  not an error of ours
    """Why a provider gave no reply.

    `fault` is its kind. `fatal` ends the run. `again` says that another attempt may succeed, after
    `wait` seconds if the provider said so. `paid` says that the provider may have charged for it.
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
        without_tags = re.sub(r"<[^>]*>", " ", redact(text))
        on_one_line = " ".join(without_tags.split())
        super().__init__(on_one_line[:2_000])  # a server may send a whole page
        self.fault = fault
        self.fatal = fatal
        self.again = again
        self.wait = wait
        self.paid = paid


def refusal(
    error: Exception, *, posted: bool, response: Any, host: str = ""
) -> Refusal:
    """Return the Refusal for an exception of `send`; one of no provider is raised again."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, TimeoutError):  # of the whole call, whatever has come
        return Refusal("timeout", "no reply in time", again=not posted, paid=posted)
    status = response.status_code if response else 0
    if status == 200:  # whatever was raised, the reply is paid
        unread = Refusal("malformed", f"the reply cannot be read: {error}", paid=True)
        return error_in(response) or unread
    if not type(error).__module__.startswith(("litellm", "openai", "httpx")):
        raise error
    if 300 <= status < 400:
        target = response.headers.get("location", "")
        text = f"the server redirects to {target}, and a key follows no redirect: give that address"
        return Refusal("rejected", text, fatal=True)
    cause = None if status else _no_connection(error)
    if cause:
        text = f"no connection to {host or 'its server'} ({cause})"
        return Refusal("connection", text, again=True)
    name = type(error).__name__
    text = _without_traceback(error)
    source = response or getattr(error, "response", None)
    wait = wait_in(getattr(source, "headers", None) or {}, text)
    if posted and not status and name in _SERVER:  # the connection was made, and lost
        return Refusal("connection", text, again=True, wait=wait, paid=True)
    return sort(name, status, text, wait)


def _without_traceback(error: Exception) -> str:
    """Return the text of LiteLLM's exception, which may repeat its name and end in a traceback."""
    name = type(error).__name__
    text = str(error).partition("Traceback (")[0]
    return text.replace(f"{name}: {name}: ", f"{name}: ")


def _no_connection(error: BaseException) -> BaseException | None:
    """Return the exception behind this one that says that no connection was made."""
    cause: BaseException | None = error
    while cause:
        kind = type(cause)
        if f"{kind.__module__}.{kind.__name__}".startswith(_NO_CONNECTION):
            return cause
        cause = cause.__cause__ or cause.__context__
    return None


def sort(name: str, status: int, text: str, wait: float = 0.0) -> Refusal:
    """Return the Refusal for LiteLLM's exception of this name, a server's status and its words.

    LiteLLM's name counts beside the status: it knows more words of providers than we do.
    """
    may_be_filtered = status in {0, 400} and _FILTERED.search(text)
    if name == "ContentPolicyViolationError" or may_be_filtered:
        return Refusal("filtered", text)
    # Some say this of a limit on time, too, and then how long to wait.
    has_no_money = "exceeded your current quota" in text and not wait
    is_fatal = name in _FATAL or status in {401, 402, 403, 404}
    if is_fatal or has_no_money or _ENDS.search(text):
        return Refusal("rejected", text, fatal=True)
    if name == "RateLimitError" or status == 429:
        return Refusal("rate_limit", text, again=True, wait=wait)
    if name == "Timeout":
        return Refusal("timeout", text, paid=True)
    if status >= 500 or status in {408, 409, 425} or (not status and name in _SERVER):
        return Refusal("server", text, again=True, wait=wait)
    return Refusal("rejected", text)


def error_in(response: Any) -> Refusal | None:
    """Return the Refusal for an error object that a server sends with status 200."""
    body = None
    with suppress(ValueError, RuntimeError):  # no JSON, or not read to its end
        body = orjson.loads(response.content)
    return error_of(body)


def error_of(body: Any) -> Refusal | None:
    """Return the Refusal for an error object in a reply, in its place or in that of its answer."""
    error = _error_object(body) if isinstance(body, dict) else None
    if not error:
        return None
    code = error.get("code") if isinstance(error, dict) else None
    text = error if isinstance(error, str) else orjson.dumps(error).decode()
    return sort("", code if isinstance(code, int) else 500, text, wait_in({}, text))


def _error_object(body: dict[str, Any]) -> Any:
    choices = body.get("choices")
    if not choices:
        return body.get("error")
    first = choices[0] if isinstance(choices, list) else None
    return first.get("error") if isinstance(first, dict) else None


def wait_in(headers: Any, text: str) -> float:
    """Return the seconds that the provider asks to wait, in Retry-After or in its words; else 0."""
    header = str(headers.get("retry-after") or "")
    for read, source in ((float, header), (_until, header), (_delay, text)):
        with suppress(ValueError, OverflowError):
            return _capped(read(source))
    return 0.0


def _until(date: str) -> float:
    return parsedate_to_datetime(date).timestamp() - time.time()


def _delay(text: str) -> float:
    """Return the seconds of a text like "retry in 1m30s"; 0 if it has none."""
    delay = _DELAY.search(text)
    if not delay:
        return 0.0
    minutes, amount, unit = delay.groups()
    seconds = float(amount)
    if unit == "ms":
        seconds /= 1000
    return 60 * int(minutes or 0) + seconds


def _capped(wait: float) -> float:
    if wait > LONGEST:
        told = f"the server asks to wait {wait:,.0f} s; the next call waits {LONGEST:.0f} s"
        print(told, file=sys.stderr)
    return min(wait, LONGEST) if wait > 0 else 0.0  # it may be no number


def pause(attempt: int, wait: float) -> float:
    """Return the seconds before another attempt: those asked for, else doubling; with jitter."""
    return min(LONGEST, wait or 0.5 * 2.0**attempt) * random.uniform(1.0, 1.2)  # noqa: S311
