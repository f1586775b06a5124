"""The official OpenAI client for Python. Arguments: base URL, key. Prints one JSON object."""

import json
import sys

import openai

base_url, key = sys.argv[1:3]
client = openai.OpenAI(base_url=f"{base_url}/v1", api_key=key, max_retries=0)
said = {}

whole = client.chat.completions.create(
    model="sandbox/echo", messages=[{"role": "user", "content": "rain on the river"}]
)
said["text"] = whole.choices[0].message.content
said["output_tokens"] = whole.usage.completion_tokens
said["cost"] = whole.model_extra["svc"]["cost"]["total_micro_usd"]
said["request_id_matches"] = whole._request_id == whole.id

streamed, cost = "", None
for chunk in client.chat.completions.create(
    model="sandbox/echo",
    messages=[{"role": "user", "content": "a stream of rain"}],
    stream=True,
    stream_options={"include_usage": True},
):
    if chunk.choices:
        streamed += chunk.choices[0].delta.content or ""
    if "svc" in (chunk.model_extra or {}):
        cost = chunk.model_extra["svc"]["cost"]["total_micro_usd"]
said["streamed"] = streamed
said["stream_cost"] = cost

tools = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
            },
        },
    }
]
called = client.chat.completions.create(
    model="sandbox/tools", messages=[{"role": "user", "content": "weather?"}], tools=tools
)
call = called.choices[0].message.tool_calls[0]
said["tool"] = call.function.name
said["tool_arguments"] = json.loads(call.function.arguments)

try:
    client.chat.completions.create(
        model="nobody/nothing", messages=[{"role": "user", "content": "x"}]
    )
except openai.NotFoundError as error:
    said["not_found_code"] = error.code

try:
    for _ in client.chat.completions.create(
        model="sandbox/error-mid", messages=[{"role": "user", "content": "x"}], stream=True
    ):
        pass
except openai.APIError as error:
    said["stream_error"] = error.code

said["models"] = "sandbox/echo" in [model.id for model in client.models.list()]
print(json.dumps(said))
