"""OpenAI Agents SDK over each of OpenAI's dialects. See loops.py."""

from agents import Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, function_tool
from agents import set_tracing_disabled
from agents.items import ReasoningItem
from openai import AsyncOpenAI

from loops import DESCRIPTION, PROMPT, Shell, leave_after_pieces, long_prompt, run

# Else it sends what happened to its vendor.
set_tracing_disabled(True)


async def deltas(stream):
    async for event in stream.stream_events():
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
            yield event.data.delta


def way(model_class):
    async def drive(at):
        client = AsyncOpenAI(base_url=f"{at['base_url']}/v1", api_key=at["key"], max_retries=0)
        shell = Shell()

        @function_tool(name_override="shell", description_override=DESCRIPTION)
        def call(command: str) -> str:
            return shell.run(command)

        agent = Agent(name="Shell", model=model_class(at["model"], client), tools=[call])
        result = await Runner.run(agent, PROMPT)
        items = [item.raw_item for item in result.new_items if isinstance(item, ReasoningItem)]
        thoughts = [item for item in items if item.summary or item.content]
        stream = Runner.run_streamed(agent, long_prompt(at))
        seen = await leave_after_pieces(deltas(stream))
        stream.cancel()
        return {
            "loop": shell.done and result.final_output != "",
            "thought": len(thoughts) > 0,
            "seen": seen,
        }

    return drive


run({"chat": way(OpenAIChatCompletionsModel), "responses": way(OpenAIResponsesModel)})
