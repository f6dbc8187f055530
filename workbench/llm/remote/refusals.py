"""Why a provider gave no reply: LiteLLM's errors, sorted by what the run should do.

They are sorted by status, code and text, since LiteLLM reports a torn body and an HTML page as "internal
server error", and providers say "out of credit" and "no such model" under several statuses. Gemini says
"You exceeded your current quota" of a limit per minute, too: then it names a delay, and only a limit per day
or without a delay ends the run.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from workbench.errors import redact
from workbench.html.tree import visible
from workbench.types import Fault

# Texts of errors that every further call would get, too: about accounts, keys and models.
_ACCOUNT = re.compile(
    r"(?i)insufficient[_ ](?:quota|balance|credit|funds)|credit balance is too low|out of credits?"
    r"|(?:requires more|used all available) credits|credit limit exceeded|spending limit|payment required"
    r"|unpaid invoice|arrearage|exceeded_current_quota|billing_(?:hard_limit|not_active)"
    r"|account\b[^.]{0,80}(?:not active|deactivated|suspended|disabled)"
)
_KEY = re.compile(r"Missing credentials|api_key client|API key not valid")
_NO_KEY = re.compile(r"(?i)missing|no key|api_key client|not set\b|not provided")
_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_(?:KEY|TOKEN)\b")
_PROVIDER = "LLM Provider NOT provided"
_MODEL = re.compile(
    r"(?i)model_(?:not_found|not_available|decommissioned)|invalid_model|(?:invalid|unknown) model\b"
    r"|\bmodels?\b.{0,120}?(?:not found|not exist|no longer available)|not a valid model"
    r"|model identifier is invalid"
)
_FILTERED = re.compile(r"content_(?:filter|policy_violation)|content management policy")
_QUOTA = "exceeded your current quota"
_DAILY = re.compile(r"(?i)per ?day\b|PerDay|\b[RT]PD\b")
_DELAY = re.compile(
    r'(?i)(?:"retryDelay": *"|(?:try again|retry) in )(?:(\d{1,9})h ?)?(?:(\d{1,9})m ?)?(?:(\d{1,9}(?:\.\d*)?) ?(ms|s))?'
)


_LONGEST = 2_000  # characters of an error's text: a server may send a whole page


class Refusal(Exception):  # noqa: N818  not an error of ours
    """Why a provider gave no reply.

    `fault` is its kind. `fatal` ends the run. `again` says that another attempt may succeed, after `wait`
    seconds if the provider asked to wait.
    """

    def __init__(
        self,
        fault: Fault,
        text: str,
        *,
        fatal: bool = False,
        again: bool = False,
        wait: float = 0.0,
    ) -> None:
        plain = visible(redact(text))
        super().__init__(f"{plain[:_LONGEST]} ..." if len(plain) > _LONGEST else plain)
        self.fault = fault
        self.fatal = fatal
        self.again = again
        self.wait = wait


class UnknownModel(Refusal):
    """The provider has no model of that name, or there is no such provider."""

    def __init__(self, text: str) -> None:
        super().__init__("rejected", text, fatal=True)


class Gone(Refusal):
    """The provider does not have the batch or file, or has it no longer."""


def refusal(error: Exception) -> Refusal:
    """An exception of LiteLLM as a `Refusal`, by its status and its causes. Others are raised again."""
    chain = list(causes(error))
    names = " ".join(type(e).__name__ for e in chain)
    text = text_of(error)
    statuses = [s for e in chain if isinstance(s := getattr(e, "status_code", None), int)]
    # LiteLLM gives an error of Gemini the status 403 if a number in it has these digits; its cause has the server's.
    guessed = type(error).__name__ == "BadRequestError" and statuses[:1] == [403]
    status = next(iter(statuses[guessed:]), 0)
    searched = " ".join((text, *(str(getattr(e, "code", "")) for e in chain)))
    responses = (getattr(e, "response", None) for e in chain)
    headers = [getattr(response, "headers", None) or {} for response in responses]
    # LiteLLM reports a package that it lacks for a model as a failed connection.
    if missing := [e for e in chain if isinstance(e, ImportError) and str(e) in text]:
        lacks = f"LiteLLM lacks a package for this model ({missing[0]})"
        return Refusal("rejected", f"{lacks}: install it, or choose another model", fatal=True)
    if "ContentPolicyViolation" in names or (status == 400 and _FILTERED.search(searched)):
        return Refusal("filtered", text)
    if _PROVIDER in text:
        return UnknownModel("LiteLLM knows no such provider")
    if status in {400, 404, 422} and _MODEL.search(searched):
        return UnknownModel(text)
    if status in {401, 402, 403, 404} or _ACCOUNT.search(searched) or _KEY.search(searched):
        variable = _NO_KEY.search(text) and _VARIABLE.search(text)
        unset = variable and f"there is no key: set the environment variable {variable[0]}"
        return Refusal("rejected", unset or text, fatal=True)
    if status == 429:
        return throttled(text, headers) or Refusal("rejected", text, fatal=True)
    torn = any(isinstance(e, json.JSONDecodeError) for e in chain)
    if torn or "invalid response from LLM" in text:
        return Refusal("malformed", f"the reply is not JSON: {text}", again=True)
    if "Timeout" in names or status in {408, 504}:
        return Refusal("timeout", text, again=True)
    of_httpx = any(type(e).__module__.startswith(("httpx", "httpcore")) for e in chain)
    lost = of_httpx or any(isinstance(e, OSError) for e in chain)
    if lost and "HTTPStatusError" not in names:
        return Refusal("connection", text, again=True)
    if status >= 500 or status in {409, 425}:  # a conflict and "too early" are temporary, too
        return Refusal("server", text, again=True, wait=_wait(headers, text))
    if status:
        return Refusal("rejected", text)
    # An error in a body of status 200, with a word for its code.
    if type(error).__module__.startswith("litellm"):
        return Refusal("server", text, again=True)
    raise error


def throttled(text: str, headers: Iterable[Mapping[str, Any]]) -> Refusal | None:
    """The refusal of a 429 whose error has this text in LiteLLM's words; None if the text ends the run.

    `headers` has those of each response.
    """
    wait = _wait(headers, text)
    ends = any(pattern.search(text) for pattern in (_ACCOUNT, _KEY, _DAILY))
    if ends or (_QUOTA in text and not wait):
        return None
    return Refusal("rate_limit", text, again=True, wait=wait)


def text_of(error: Exception) -> str:
    """The error's text in one line, without LiteLLM's own prefixes and the traceback."""
    text = " ".join(str(error).removeprefix("litellm.").partition("Traceback (")[0].split())
    return re.sub(r"^(\w+): (?:\1: )+", r"\1: ", text).rstrip(".")


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error and its causes, the latest first."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _wait(headers: Iterable[Mapping[str, Any]], text: str) -> float:
    """The seconds that the provider asks to wait, in the header Retry-After of a response or in the text; else 0.

    Dates are ignored: the provider's clock may differ.
    """
    for response in headers:
        with suppress(ValueError):
            if (seconds := float(response.get("retry-after", 0))) > 0:
                return seconds
    if found := _DELAY.search(text):
        hours, minutes, amount, unit = found.groups()
        seconds = float(amount or 0) / (1000 if unit == "ms" else 1)
        return int(hours or 0) * 3600 + int(minutes or 0) * 60 + seconds
    return 0.0
