"""Pydantic AI over each dialect. See loops.py."""

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, ThinkingPart
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from loops import DESCRIPTION, PROMPT, Shell, leave_after_pieces, long_prompt, run


def openai(at):
    return OpenAIProvider(base_url=f"{at['base_url']}/v1", api_key=at["key"])


def anthropic(at):
    return AnthropicProvider(base_url=at["base_url"], api_key=at["key"])


def way(model_of):
    async def drive(at):
        agent = Agent(model_of(at))
        shell = Shell()
        agent.tool_plain(shell.run, name="shell", description=DESCRIPTION)
        result = await agent.run(PROMPT)
        thoughts = [
            part
            for message in result.all_messages()
            if isinstance(message, ModelResponse)
            for part in message.parts
            if isinstance(part, ThinkingPart) and part.content
        ]
        async with agent.run_stream(long_prompt(at)) as stream:
            seen = await leave_after_pieces(stream.stream_text(delta=True, debounce_by=None))
        return {
            "loop": shell.done and result.output != "",
            "thought": len(thoughts) > 0,
            "seen": seen,
        }

    return drive


run(
    {
        "chat": way(lambda at: OpenAIChatModel(at["model"], provider=openai(at))),
        "responses": way(lambda at: OpenAIResponsesModel(at["model"], provider=openai(at))),
        "messages": way(lambda at: AnthropicModel(at["model"], provider=anthropic(at))),
    }
)
