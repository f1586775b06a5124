"""The official Anthropic client for Python. Arguments: base URL, key. Prints one JSON object."""

import json
import sys

import anthropic

base_url, key = sys.argv[1:3]
client = anthropic.Anthropic(base_url=base_url, api_key=key, max_retries=0)
said = {}

whole = client.messages.create(
    model="sandbox/echo", max_tokens=100, messages=[{"role": "user", "content": "rain on the river"}]
)
said["text"] = whole.content[0].text
said["output_tokens"] = whole.usage.output_tokens
said["cost"] = whole.model_extra["svc"]["cost"]["total_micro_usd"]
said["request_id_matches"] = whole._request_id == whole.id

with client.messages.stream(
    model="sandbox/echo", max_tokens=100, messages=[{"role": "user", "content": "a stream of rain"}]
) as stream:
    said["streamed"] = "".join(stream.text_stream)
    final = stream.get_final_message()
said["stop_reason"] = final.stop_reason
said["final_has_svc"] = "svc" in (final.model_extra or {})

tools = [
    {
        "name": "get_weather",
        "input_schema": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    }
]
called = client.messages.create(
    model="sandbox/tools", max_tokens=200, messages=[{"role": "user", "content": "weather?"}], tools=tools
)
use = next(block for block in called.content if block.type == "tool_use")
said["tool"] = use.name
said["tool_arguments"] = use.input

try:
    client.messages.create(
        model="nobody/nothing", max_tokens=10, messages=[{"role": "user", "content": "x"}]
    )
except anthropic.NotFoundError as error:
    said["not_found_type"] = error.body["error"]["type"]

try:
    with client.messages.stream(
        model="sandbox/error-mid", max_tokens=100, messages=[{"role": "user", "content": "x"}]
    ) as stream:
        stream.until_done()
except anthropic.APIError as error:
    said["stream_error"] = True

said["models"] = "sandbox/echo" in [model.id for model in client.models.list(limit=1000)]
print(json.dumps(said))
