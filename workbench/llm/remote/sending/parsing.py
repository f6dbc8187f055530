"""LiteLLM's functions that read replies, one for each protocol.

They expect what LiteLLM's `completion` knows of its call. They get stand-ins here: a log that keeps nothing, and no
parameters. `Reading` trusts a function where this makes no difference.
"""

import importlib
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

_CHATS = "litellm.litellm_core_utils.llm_response_utils.convert_dict_to_response"
_RESPONSES = "litellm.completion_extras.litellm_responses_transformation.transformation"

Parse = Callable[[dict[str, Any], Any], Any]  # the reply in a body and its response


def parser(path: str, model: str) -> Parse:
    """The function for the replies of a model to requests to a path."""
    found = next((parse for end, parse in PARSERS.items() if path.endswith(end)), _parse_chat)
    return partial(found, model)


def _parse_chat(_model: str, body: dict[str, Any], _response: Any) -> Any:
    parse = importlib.import_module(_CHATS).convert_to_model_response_object
    return parse(response_object=body, model_response_object=_litellm().ModelResponse())


def _parse_message(_model: str, body: dict[str, Any], response: Any) -> Any:
    litellm = _litellm()
    return litellm.AnthropicConfig().transform_parsed_response(
        completion_response=body, raw_response=response, model_response=litellm.ModelResponse()
    )


def _parse_generated(model: str, body: dict[str, Any], response: Any) -> Any:
    litellm = _litellm()
    return litellm.VertexGeminiConfig().transform_google_generate_content_to_openai_model_response(
        completion_response=body,
        model_response=litellm.ModelResponse(),
        model=model,
        logging_obj=_log(),
        raw_response=response,
    )


def _parse_response(model: str, _body: dict[str, Any], response: Any) -> Any:
    litellm, log = _litellm(), _log()
    found = litellm.OpenAIResponsesAPIConfig().transform_response_api_response(model, response, log)
    handler = importlib.import_module(_RESPONSES).LiteLLMResponsesTransformationHandler()
    return handler.transform_response(
        model=model,
        raw_response=found,
        model_response=litellm.ModelResponse(),
        logging_obj=log,
        request_data={},
        messages=[],
        optional_params={},
        litellm_params={},
        encoding=None,
    )


# By the end of the path: Anthropic's, Gemini's and OpenAI's Responses API. All others are like OpenAI's chat completions.
PARSERS = {
    "/messages": _parse_message,
    ":generateContent": _parse_generated,
    "/responses": _parse_response,
}


def _litellm() -> Any:
    return importlib.import_module("litellm")


def _log() -> Any:
    """In place of LiteLLM's record of a call."""
    return SimpleNamespace(optional_params={}, model_call_details={}, post_call=lambda **_: None)
