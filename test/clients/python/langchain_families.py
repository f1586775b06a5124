"""LangChain for Python over each dialect, before every family.

Argument: JSON {"families": {family: {base_url, key, text, tools, json}}, "embed": model}. Prints what each said.
"""

import asyncio
import json
import sys

from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from pydantic import BaseModel


class River(BaseModel):
    """A river"""

    name: str
    length_km: int


@tool
def get_weather(city: str) -> str:
    """Weather of a city"""
    return f"rain in {city}"


def openai(at, model, **more):
    return ChatOpenAI(
        model=model,
        base_url=f"{at['base_url']}/v1",
        api_key=at["key"],
        max_retries=0,
        max_tokens=400,
        stream_usage=True,
        **more,
    )


dialects = {
    "chat": openai,
    "responses": lambda at, model: openai(at, model, use_responses_api=True),
    "messages": lambda at, model: ChatAnthropic(
        model=model, base_url=at["base_url"], api_key=at["key"], max_retries=0, max_tokens=400
    ),
}


def drive(at, model_of):
    said = {}
    turns = [HumanMessage("How is the weather?")]
    bound = model_of(at, at["tools"]).bind_tools([get_weather])
    first = bound.invoke(turns)
    call = first.tool_calls[0]
    said["call"] = call["name"] == "get_weather" and "city" in call["args"]
    turns += [first, ToolMessage(get_weather.invoke(call["args"]), tool_call_id=call["id"])]
    whole = None
    for chunk in bound.stream(turns):
        whole = chunk if whole is None else whole + chunk
    said["stream"] = whole.text != "" and whole.usage_metadata["output_tokens"] > 0
    structured = model_of(at, at["json"]).with_structured_output(River, method="json_schema")
    said["structured"] = isinstance(structured.invoke("Describe a river."), River)
    return said


async def later(families):
    asked = [
        model_of(at, at["text"]).ainvoke("Say something.")
        for at in families.values()
        for model_of in dialects.values()
    ]
    return ["lorem" in message.text for message in await asyncio.gather(*asked)]


asked = json.loads(sys.argv[1])
said = {
    name: {dialect: drive(at, model_of) for dialect, model_of in dialects.items()}
    for name, at in asked["families"].items()
}
at = asked["families"]["openai"]
# Else LangChain cuts texts into tokens, with a file from the internet.
plain = {"check_embedding_ctx_length": False, "base_url": f"{at['base_url']}/v1", "api_key": at["key"]}
vectors = OpenAIEmbeddings(model=asked["embed"], **plain)
print(
    json.dumps(
        {
            "said": said,
            "async": asyncio.run(later(asked["families"])),
            "vectors": len(vectors.embed_documents(["green apple", "red car"])),
        }
    )
)
