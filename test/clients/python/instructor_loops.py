"""Instructor over OpenAI's and Anthropic's clients: it reads each turn's calls as objects that it has checked, and the
long answer as an object that fills. See loops.py."""

from collections.abc import Iterable

import instructor
from anthropic import AsyncAnthropic
from instructor import Mode
from openai import AsyncOpenAI
from pydantic import BaseModel, create_model

from loops import DESCRIPTION, PROMPT, leave_after_pieces, run
from loops import Shell as Commands

Shell = create_model("Shell", __doc__=DESCRIPTION, command=(str, ...))


class Story(BaseModel):
    tale: str


def user(text):
    return [{"role": "user", "content": text}]


def story(at):
    """Asks for an object of one long text, for which nobody here waits to the end."""
    text = '{"tale":"%s"}' % ("a" * 900)
    return user(f"sim: tools=0 text={text} chunks=900 chunk_ms=25 mark={at['mark']}; Tell me a story.")


def chat_turn(answer, result):
    message = answer.choices[0].message
    calls = [{"role": "tool", "tool_call_id": call.id, "content": result} for call in message.tool_calls]
    return [message.to_dict(), *calls]


def messages_turn(answer, result):
    uses = [block for block in answer.content if block.type == "tool_use"]
    results = [{"type": "tool_result", "tool_use_id": use.id, "content": result} for use in uses]
    return [
        {"role": "assistant", "content": [block.to_dict() for block in answer.content]},
        {"role": "user", "content": results},
    ]


def way(client_of, parallel, single, turn_of, **more):
    async def drive(at):
        client = client_of(at, parallel)
        answers = []
        client.on("completion:response", answers.append)
        commands, turns = Commands(), user(PROMPT)
        while len(commands.commands) < 3:
            calls = await client.create(
                model=at["model"], messages=turns, response_model=Iterable[Shell], max_retries=0, **more
            )
            for call in calls:
                said = commands.run(call.command)
            turns += turn_of(answers[-1], said)
        stream = client_of(at, single).create_partial(
            model=at["model"], messages=story(at), response_model=Story, max_retries=0, **more
        )
        seen = await leave_after_pieces(stream)
        await stream.aclose()
        return {"loop": commands.done, "thought": False, "seen": seen}

    return drive


def openai(at, mode):
    client = AsyncOpenAI(base_url=f"{at['base_url']}/v1", api_key=at["key"], max_retries=0)
    return instructor.from_openai(client, mode=mode)


def anthropic(at, mode):
    client = AsyncAnthropic(base_url=at["base_url"], api_key=at["key"], max_retries=0)
    return instructor.from_anthropic(client, mode=mode)


run(
    {
        "chat": way(openai, Mode.PARALLEL_TOOLS, Mode.JSON, chat_turn),
        "messages": way(
            anthropic, Mode.ANTHROPIC_PARALLEL_TOOLS, Mode.ANTHROPIC_JSON, messages_turn, max_tokens=4000
        ),
    }
)
