"""LiteLLM as a client, over chat and messages. See loops.py."""

import json
import os

# Else it looks for prices on the internet while it starts.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
import litellm

from loops import DESCRIPTION, PROMPT, SCHEMA, Shell, leave_after_pieces, long_prompt, run

litellm.suppress_debug_info = True
FUNCTION = {"name": "shell", "description": DESCRIPTION, "parameters": SCHEMA}


def user(text):
    return [{"role": "user", "content": text}]


async def texts(stream):
    async for chunk in stream:
        if chunk.choices:
            yield chunk.choices[0].delta.content


def way(provider, path):
    async def drive(at):
        common = {
            "model": f"{provider}/{at['model']}",
            "api_base": f"{at['base_url']}{path}",
            "api_key": at["key"],
            "max_retries": 0,
        }
        shell, turns, thoughts = Shell(), user(PROMPT), 0
        tools = [{"type": "function", "function": FUNCTION}]
        while True:
            answer = await litellm.acompletion(messages=turns, tools=tools, **common)
            message = answer.choices[0].message
            thoughts += 1 if getattr(message, "reasoning_content", None) else 0
            turns.append(message.model_dump())
            if not message.tool_calls:
                break
            for call in message.tool_calls:
                said = shell.run(**json.loads(call.function.arguments))
                turns.append({"role": "tool", "tool_call_id": call.id, "content": said})
        stream = await litellm.acompletion(messages=user(long_prompt(at)), stream=True, **common)
        seen = await leave_after_pieces(texts(stream))
        await stream.aclose()
        return {"loop": shell.done and message.content != "", "thought": thoughts > 0, "seen": seen}

    return drive


run({"chat": way("openai", "/v1"), "messages": way("anthropic", "")})
