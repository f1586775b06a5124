"""The OpenAI client for Python before every family, sync and async, with its stream helper and parsers.

Argument: JSON {family: {base_url, key, text, tools, json}} and, as `embed`, a model of vectors. Prints what each said.
"""

import asyncio
import json
import sys

import openai
from pydantic import BaseModel


class River(BaseModel):
    name: str
    length_km: int


class GetWeather(BaseModel):
    """Weather of a city"""

    city: str


def ask(text):
    return [{"role": "user", "content": text}]


def sync(at):
    client = openai.OpenAI(base_url=f"{at['base_url']}/v1", api_key=at["key"], max_retries=0)
    said = {}
    with client.chat.completions.stream(model=at["text"], messages=ask("Say something.")) as stream:
        text, cost = "", None
        for event in stream:
            if event.type == "content.delta":
                text += event.delta
            # The helper keeps no unknown members of a chunk, but shows each chunk.
            if event.type == "chunk" and "svc" in (event.chunk.model_extra or {}):
                cost = event.chunk.model_extra["svc"]["cost"]
        final = stream.get_final_completion()
    said["stream"] = text == final.choices[0].message.content and "lorem" in text
    said["stream_cost"] = cost["total_micro_usd"] > 0
    parsed = client.chat.completions.parse(
        model=at["json"], messages=ask("Describe a river."), response_format=River
    )
    said["parsed"] = isinstance(parsed.choices[0].message.parsed, River)
    tools = [openai.pydantic_function_tool(GetWeather)]
    turns = ask("How is the weather?")
    first = client.chat.completions.parse(model=at["tools"], messages=turns, tools=tools).choices[0].message
    call = first.tool_calls[0]
    said["call"] = isinstance(call.function.parsed_arguments, GetWeather)
    result = {"role": "tool", "tool_call_id": call.id, "content": "rain"}
    last = client.chat.completions.create(
        model=at["tools"], messages=[*turns, first.to_dict(), result], tools=tools
    )
    said["answered"] = last.choices[0].finish_reason == "stop"
    with client.responses.stream(model=at["text"], input="Say something.") as stream:
        text = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
        said["response"] = stream.get_final_response().output_text == text and "lorem" in text
    counted = client.responses.input_tokens.count(model=at["text"], input="How many are these?")
    said["counted"] = counted.input_tokens > 0
    response = client.responses.parse(model=at["json"], input="Describe a river.", text_format=River)
    said["response_parsed"] = isinstance(response.output_parsed, River)
    return said


async def asynchronous(at):
    client = openai.AsyncOpenAI(base_url=f"{at['base_url']}/v1", api_key=at["key"], max_retries=0)
    whole, response = await asyncio.gather(
        client.chat.completions.create(model=at["text"], messages=ask("Say something.")),
        client.responses.create(model=at["text"], input="Say something."),
    )
    pieces = []
    async for chunk in await client.chat.completions.create(
        model=at["text"], messages=ask("Say something."), stream=True
    ):
        if chunk.choices:
            pieces.append(chunk.choices[0].delta.content or "")
    return {
        "whole": "lorem" in whole.choices[0].message.content,
        "response": "lorem" in response.output_text,
        "stream": "lorem" in "".join(pieces),
    }


async def every(families):
    said = await asyncio.gather(*(asynchronous(at) for at in families.values()))
    return dict(zip(families, said))


def vectors(at):
    client = openai.OpenAI(base_url=f"{at['base_url']}/v1", api_key=at["key"], max_retries=0)
    reply = client.embeddings.create(model=at["embed"], input=["green apple", "red car"])
    plain = client.embeddings.create(
        model=at["embed"], input=["green apple", "red car"], encoding_format="float"
    )
    near = all(abs(a - b) < 1e-5 for a, b in zip(reply.data[1].embedding, plain.data[1].embedding))
    return {"count": len(reply.data), "same": near, "tokens": reply.usage.prompt_tokens > 0}


asked = json.loads(sys.argv[1])
families = asked["families"]
print(
    json.dumps(
        {
            "sync": {name: sync(at) for name, at in families.items()},
            "async": asyncio.run(every(families)),
            "vectors": vectors({**families["openai"], "embed": asked["embed"]}),
        }
    )
)
