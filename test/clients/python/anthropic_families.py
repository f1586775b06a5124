"""The Anthropic client for Python before every family, sync and async, with its stream helper and tool runners.

Argument: JSON {"families": {family: {base_url, key, text, tools, json}}}. Prints what each said.
"""

import asyncio
import json
import sys

import anthropic
from pydantic import BaseModel


class River(BaseModel):
    name: str
    length_km: int


def ask(text):
    return [{"role": "user", "content": text}]


def text_of(message):
    return "".join(block.text for block in message.content if block.type == "text")


def sync(at):
    client = anthropic.Anthropic(base_url=at["base_url"], api_key=at["key"], max_retries=0)
    said = {}
    with client.messages.stream(
        model=at["text"], max_tokens=400, messages=ask("Say something.")
    ) as stream:
        text = "".join(stream.text_stream)
        final = stream.get_final_message()
    said["stream"] = text == text_of(final) and "lorem" in text
    said["usage"] = final.usage.output_tokens > 0
    counted = client.messages.count_tokens(model=at["text"], messages=ask("How many are these?"))
    said["counted"] = counted.input_tokens > 0
    parsed = client.messages.parse(
        model=at["json"], max_tokens=400, messages=ask("Describe a river."), output_format=River
    )
    said["parsed"] = isinstance(parsed.parsed_output, River)
    cities = []

    @anthropic.beta_tool
    def get_weather(city: str) -> str:
        """Weather of a city

        Args:
            city: Its name
        """
        cities.append(city)
        return f"rain in {city}"

    def runner(**more):
        return client.beta.messages.tool_runner(
            model=at["tools"],
            max_tokens=400,
            messages=ask("How is the weather?"),
            tools=[get_weather],
            **more,
        )

    said["runner"] = runner().until_done().stop_reason == "end_turn"
    for stream in runner(stream=True):
        last = stream.get_final_message()
    said["streaming_runner"] = last.stop_reason == "end_turn" and text_of(last) != ""
    said["ran"] = len(cities)
    return said


async def asynchronous(at):
    client = anthropic.AsyncAnthropic(base_url=at["base_url"], api_key=at["key"], max_retries=0)
    async with client.messages.stream(
        model=at["text"], max_tokens=400, messages=ask("Say something.")
    ) as stream:
        text = "".join([piece async for piece in stream.text_stream])
    cities = []

    @anthropic.beta_async_tool
    async def get_weather(city: str) -> str:
        """Weather of a city"""
        cities.append(city)
        return f"rain in {city}"

    runner = client.beta.messages.tool_runner(
        model=at["tools"], max_tokens=400, messages=ask("How is the weather?"), tools=[get_weather]
    )
    last = await runner.until_done()
    return {
        "stream": "lorem" in text,
        "runner": last.stop_reason == "end_turn" and len(cities) == 1,
    }


async def every(families):
    said = await asyncio.gather(*(asynchronous(at) for at in families.values()))
    return dict(zip(families, said))


families = json.loads(sys.argv[1])["families"]
print(
    json.dumps(
        {
            "sync": {name: sync(at) for name, at in families.items()},
            "async": asyncio.run(every(families)),
        }
    )
)
