"""What a user of a generated Python client writes: a streamed tool loop in each format, and management.

Compiled strictly against the models that openapi-python-client makes of the document, then run against a gateway. The
generator knows no streams, so their lines are read by the HTTP client below it and each event becomes its model.
"""

import json
import sys
from collections.abc import Iterator
from typing import Any, Protocol

from svc_client import AuthenticatedClient
from svc_client.api.inference import chat_completions_create, messages_create, responses_create, svc_generate
from svc_client.api.keys import keys_create, keys_get, keys_list, keys_revoke
from svc_client.api.limits import limits_get
from svc_client.api.projects import projects_list
from svc_client.models import (
    AssistantMessage,
    ChatCompletion,
    ChatCompletionChunk,
    ChatCompletionsBody,
    ChatFunction,
    ChatFunctionTool,
    ChatFunctionToolCall,
    ChatMessage,
    Environment,
    FunctionTool,
    GenerateAnswer,
    GenerateBody,
    GeneratePartDeltaEvent,
    GeneratePartStartEvent,
    KeyPage,
    KeysCreateBody,
    KeyWithSecret,
    Limits,
    MessagesAnswer,
    MessagesAnswerToolUse,
    MessagesBlockStartEvent,
    MessagesBody,
    MessagesMessage,
    MessagesTool,
    MessagesToolResultBlock,
    MessagesToolUseBlock,
    ProjectList,
    Refusal,
    ResponsesAnswer,
    ResponseItemDoneEvent,
    ResponsesBody,
    ResponsesFunctionCall,
    ResponsesFunctionCallOutput,
    ResponsesFunctionTool,
    ResponsesInputMessage,
    ToolCallPart,
    ToolMessage,
    UserMessage,
)

BASE_URL, KEY, MANAGEMENT_KEY = sys.argv[1:4]
MODEL = "sandbox/tools"
QUESTION = "The weather in Bengaluru?"
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
client = AuthenticatedClient(base_url=BASE_URL, token=KEY)
management = AuthenticatedClient(base_url=BASE_URL, token=MANAGEMENT_KEY)


class Body(Protocol):
    def to_dict(self) -> dict[str, Any]: ...


def events(path: str, body: Body) -> Iterator[dict[str, Any]]:
    """The events of a stream; the mark of OpenAI's end is none."""
    with client.get_httpx_client().stream("POST", path, json=body.to_dict()) as answer:
        for line in answer.iter_lines():
            if line.startswith("data: {"):
                yield json.loads(line[len("data: ") :])


def chat() -> str:
    tool = ChatFunctionTool.from_dict(
        {"type": "function", "function": ChatFunction.from_dict({"name": "get_weather", "parameters": SCHEMA}).to_dict()}
    )
    question = ChatMessage.from_dict({"role": "user", "content": QUESTION})
    body = ChatCompletionsBody(model=MODEL, messages=[question], tools=[tool], stream=True)
    calls: list[ChatFunctionToolCall] = []
    for event in events("/v1/chat/completions", body):
        for choice in ChatCompletionChunk.from_dict(event).choices:
            for delta in choice.delta.tool_calls or []:
                if delta.index == len(calls):
                    empty = {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
                    calls.append(ChatFunctionToolCall.from_dict(empty))
                call = calls[delta.index]
                call.id += delta.id or ""
                if delta.function:
                    call.function.name += delta.function.name or ""
                    call.function.arguments += delta.function.arguments or ""
    said = ChatMessage.from_dict({"role": "assistant", "content": None})
    said.tool_calls = [*calls]
    results = [
        ChatMessage.from_dict({"role": "tool", "tool_call_id": call.id, "content": "24 °C"}) for call in calls
    ]
    body = ChatCompletionsBody(model=MODEL, messages=[question, said, *results], tools=[tool])
    answer = chat_completions_create.sync(client=client, body=body)
    assert isinstance(answer, ChatCompletion)
    return f"{calls[0].function.name} {answer.choices[0].finish_reason}"


def messages() -> str:
    tool = MessagesTool.from_dict({"name": "get_weather", "input_schema": SCHEMA})
    question = MessagesMessage.from_dict({"role": "user", "content": QUESTION})
    body = MessagesBody(model=MODEL, max_tokens=200, messages=[question], tools=[tool], stream=True)
    call: MessagesAnswerToolUse | None = None
    arguments = ""
    for event in events("/v1/messages", body):
        if event["type"] == "content_block_start" and call is None:
            block = MessagesBlockStartEvent.from_dict(event).content_block
            if isinstance(block, MessagesAnswerToolUse):
                call = block
        if event["type"] == "content_block_delta" and event["index"] == 0:
            arguments += event["delta"].get("partial_json", "")
    assert call is not None
    used = MessagesToolUseBlock.from_dict(
        {"type": "tool_use", "id": call.id, "name": call.name, "input": json.loads(arguments or "{}")}
    )
    result = MessagesToolResultBlock(type_="tool_result", tool_use_id=call.id, content="24 °C")
    turns = [
        question,
        MessagesMessage.from_dict({"role": "assistant", "content": [used.to_dict()]}),
        MessagesMessage.from_dict({"role": "user", "content": [result.to_dict()]}),
    ]
    body = MessagesBody(model=MODEL, max_tokens=200, messages=turns, tools=[tool])
    answer = messages_create.sync(client=client, body=body)
    assert isinstance(answer, MessagesAnswer)
    return f"{call.name} {answer.stop_reason}"


def responses() -> str:
    tool = ResponsesFunctionTool.from_dict({"type": "function", "name": "get_weather", "parameters": SCHEMA})
    question = ResponsesInputMessage.from_dict({"role": "user", "content": QUESTION})
    body = ResponsesBody(model=MODEL, input_=[question], tools=[tool], stream=True)
    calls: list[ResponsesFunctionCall] = []
    for event in events("/v1/responses", body):
        if event["type"] == "response.output_item.done":
            item = ResponseItemDoneEvent.from_dict(event).item
            if isinstance(item, ResponsesFunctionCall):
                calls.append(item)
    results = [
        ResponsesFunctionCallOutput(type_="function_call_output", call_id=call.call_id, output="24 °C")
        for call in calls
    ]
    body = ResponsesBody(model=MODEL, input_=[question, *calls, *results], tools=[tool])
    answer = responses_create.sync(client=client, body=body)
    assert isinstance(answer, ResponsesAnswer)
    return f"{calls[0].name} {answer.status}"


def native() -> str:
    tool = FunctionTool.from_dict({"name": "get_weather", "schema": SCHEMA})
    question = UserMessage.from_dict({"role": "user", "content": QUESTION})
    body = GenerateBody(model=MODEL, messages=[question], tools=[tool], stream=True)
    calls: list[ToolCallPart] = []
    for event in events("/v1/svc/generate", body):
        if event["type"] == "part_start":
            content = GeneratePartStartEvent.from_dict(event).content
            if isinstance(content, ToolCallPart):
                calls.append(content)
        if event["type"] == "part_delta" and calls:
            calls[-1].arguments += GeneratePartDeltaEvent.from_dict(event).arguments or ""
    said = AssistantMessage.from_dict({"role": "assistant", "content": [call.to_dict() for call in calls]})
    results = [{"type": "tool_result", "tool_call_id": call.id, "content": "24 °C"} for call in calls]
    told = ToolMessage.from_dict({"role": "tool", "content": results})
    body = GenerateBody(model=MODEL, messages=[question, said, told], tools=[tool])
    answer = svc_generate.sync(client=client, body=body)
    assert isinstance(answer, GenerateAnswer)
    stop = answer.candidates[0].stop
    assert stop
    return f"{calls[0].name} {stop.reason}"


def manage() -> list[str]:
    projects = projects_list.sync(client=management)
    assert isinstance(projects, ProjectList)
    wanted = KeysCreateBody.from_dict(
        {"project_id": projects.data[0].id, "name": "generated", "scopes": ["inference"], "environment": "test"}
    )
    made = keys_create.sync(client=management, body=wanted)
    assert isinstance(made, KeyWithSecret)
    listed = keys_list.sync(client=management, limit=10, environment=Environment.TEST)
    assert isinstance(listed, KeyPage)
    revoked = keys_revoke.sync(made.id, client=management)
    assert revoked is not None and not isinstance(revoked, Refusal)
    limits = limits_get.sync(client=management)
    assert isinstance(limits, Limits)
    refused = keys_get.sync("key_none", client=management)
    assert isinstance(refused, Refusal)
    return [
        f"made {made.status}",
        f"listed {any(one.id == made.id for one in listed.data)}",
        f"revoked {revoked.status}",
        f"limits {type(limits.live).__name__}",
        f"refused {refused.error.code}",
    ]


print(
    json.dumps(
        {
            "chat": chat(),
            "messages": messages(),
            "responses": responses(),
            "native": native(),
            "managed": manage(),
        }
    )
)
