// The script of a model named `agent…`, for coding agents: it runs one command in the agent's own shell, then two at once,
// and then says something. How far it is follows from the tool results in the conversation.
import { type Asked, exampleOf, type SimTool } from './content.ts';

const SHELL = /^(?:bash|shell|shell_command|exec_command|run_shell_command|execute_command|run_commands)$/i;
const COMMAND = /^(?:command|cmd|commands)$/;

/** The commands of each step, by how many results there are. */
const STEPS: Readonly<Record<number, readonly string[]>> = {
  0: ['echo one > one.txt'],
  1: ['echo two > two.txt', 'echo three > three.txt'],
};

/** Whether `model` follows the script; at Bedrock its maker stands before the name. */
export function isAgent(model: string): boolean {
  return /^(?:[\w.]+\.)?agent-/.test(model);
}

/** A value of the command's own type: a text, or a list that a shell runs. */
function commandAs(name: string, schema: unknown, command: string): unknown {
  const type = (schema as { type?: unknown } | undefined)?.type;
  if (type !== 'array') return command;
  return name === 'commands' ? [command] : ['bash', '-lc', command];
}

/** Arguments with only what the tool requires: what is optional may be a time limit of some milliseconds. */
function argumentsFor(tool: SimTool, command: string): Record<string, unknown> {
  const { properties = {}, required = [] } = tool.schema as {
    properties?: Record<string, unknown>;
    required?: string[];
  };
  const named = Object.entries(properties).filter(([name]) => required.includes(name) || COMMAND.test(name));
  return Object.fromEntries(
    named.map(([name, schema]) => [
      name,
      COMMAND.test(name) ? commandAs(name, schema, command) : exampleOf(schema),
    ]),
  );
}

/** The calls that the script makes now; none where the agent offers no shell. */
export function agentCalls({ tools, results }: Asked): { tool: SimTool; text: string }[] {
  const shell = tools.find(({ name }) => SHELL.test(name));
  if (shell === undefined) return [];
  return (STEPS[results] ?? []).map((command) => ({
    tool: shell,
    text: JSON.stringify(argumentsFor(shell, command)),
  }));
}
