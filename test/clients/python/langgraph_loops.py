"""LangGraph with LangChain's models over each dialect. See loops.py."""

from langchain_anthropic import ChatAnthropic
from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from loops import DESCRIPTION, PROMPT, Shell, leave_after_pieces, long_prompt, run


def graph_of(model, tools):
    bound = model.bind_tools(tools)

    async def call(state):
        return {"messages": [await bound.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", call)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile()


def user(text):
    return {"messages": [("user", text)]}


async def texts(stream):
    async for chunk, _ in stream:
        yield chunk.text


def way(model_of):
    async def drive(at):
        shell = Shell()
        tool = StructuredTool.from_function(shell.run, name="shell", description=DESCRIPTION)
        graph = graph_of(model_of(at), [tool])
        messages = (await graph.ainvoke(user(PROMPT)))["messages"]
        thoughts = [
            block
            for message in messages
            for block in message.content_blocks
            if block["type"] == "reasoning" and block.get("reasoning")
        ]
        stream = graph.astream(user(long_prompt(at)), stream_mode="messages")
        # Not closed: LangGraph would wait for its node, which at times goes on reading although it is cancelled.
        seen = await leave_after_pieces(texts(stream))
        return {
            "loop": shell.done and messages[-1].text != "",
            "thought": len(thoughts) > 0,
            "seen": seen,
        }

    return drive


def openai(at, **more):
    base = {"base_url": f"{at['base_url']}/v1", "api_key": at["key"], "max_retries": 0}
    return ChatOpenAI(model=at["model"], **base, **more)


run(
    {
        "chat": way(openai),
        "responses": way(lambda at: openai(at, use_responses_api=True)),
        "messages": way(
            lambda at: ChatAnthropic(
                model=at["model"], base_url=at["base_url"], api_key=at["key"], max_retries=0
            )
        ),
    }
)
