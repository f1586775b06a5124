"""What every framework is asked for, before every family: a loop in which the model calls a shell three times, two of
them at once, and an answer that is left in its middle.

A script is given the JSON {family: {"base_url", "key", "model", "mark"}} and prints, by family, what it saw.
"""

import asyncio
import json
import os
import sys

PROMPT = "Write the three files with your shell."
COMMANDS = ["echo one > one.txt", "echo two > two.txt", "echo three > three.txt"]
DESCRIPTION = "Run a command in a shell"
SCHEMA = {
    "type": "object",
    "properties": {"command": {"type": "string"}},
    "required": ["command"],
    "additionalProperties": False,
}
# Pieces of the long answer that are read before it is left.
PIECES = 5


def long_prompt(at):
    """Asks for an answer without calls that takes far longer than anybody here waits."""
    return f"sim: tools=0 tokens=4000 chunks=4000 chunk_ms=25 mark={at['mark']}; Tell me a story."


class Shell:
    """Keeps the commands that the model wanted run."""

    def __init__(self):
        self.commands = []

    def run(self, command):
        self.commands.append(command)
        return "done"

    @property
    def done(self):
        return sorted(self.commands) == sorted(COMMANDS) and self.commands[0] == COMMANDS[0]


async def leave_after_pieces(stream):
    """Reads some pieces of `stream`, which it closes by leaving it; how many came."""
    seen = 0
    async for piece in stream:
        seen += 1 if piece else 0
        if seen == PIECES:
            break
    return seen


def run(ways):
    """Drives each way (name: function of a place) before every family and prints what it said."""
    families = json.loads(sys.argv[1])

    async def every(way):
        said = await asyncio.gather(*(way(at) for at in families.values()))
        return dict(zip(families, said))

    async def all_ways():
        print(json.dumps({name: await every(way) for name, way in ways.items()}), flush=True)
        # What a framework still reads although it was left ends with the program.
        os._exit(0)

    asyncio.run(all_ways())
