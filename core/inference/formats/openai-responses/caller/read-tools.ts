// Tools and tool choice of the responses dialect: the flat form.
import type { JsonObject } from '../../../../kernel/index.ts';
import {
  optionalArray,
  optionalBoolean,
  optionalChoice,
  optionalObject,
  optionalString,
  present,
  requireArray,
  requireObject,
  requireString,
  restOf,
} from '../../../caller/read.ts';
import type { Namespaces } from '../../../canonical/tools/namespaces.ts';
import type { Tool, ToolChoice } from '../../../canonical/types.ts';
import { readSearchTool } from '../words/search.ts';
import { FAMILY } from './read-content.ts';

const FUNCTION = new Set(['type', 'name', 'description', 'parameters', 'strict']);
const CUSTOM = new Set(['type', 'name', 'description', 'format']);

/** OpenAI's tools that the caller runs itself. */
const CALLERS_OWN: ReadonlySet<string> = new Set(['local_shell', 'apply_patch']);

/**
 * Tools of the request, undefined when there is no list; those in a namespace become functions, which are noted in
 * `spaces`. @throws ServiceError invalid_request with `tools[i].…`.
 */
export function readTools(body: JsonObject, spaces: Namespaces): Tool[] | undefined {
  const list = optionalArray(body['tools'], 'tools')?.map((value, i) => requireObject(value, `tools[${i}]`));
  if (list === undefined) return undefined;
  for (const { type, name } of list) if (type === 'function' && typeof name === 'string') spaces.take(name);
  const moved = list.some(({ type }) => type === 'namespace');
  return list.flatMap((item, i) => {
    const path = `tools[${i}]`;
    const type = requireString(item['type'], `${path}.type`);
    if (type !== 'namespace')
      return [moved ? { ...toolOf(item, type, path), path } : toolOf(item, type, path)];
    const namespace = requireString(item['name'], `${path}.name`);
    return requireArray(item['tools'], `${path}.tools`).map((value, j) => {
      const at = `${path}.tools[${j}]`;
      const inner = requireObject(value, at);
      const tool = toolOf(inner, requireString(inner['type'], `${at}.type`), at);
      return { ...tool, path: at, name: spaces.add({ namespace, name: tool.name }) };
    });
  });
}

function toolOf(item: JsonObject, type: string, path: string): Tool {
  if (type === 'function') return functionOf(item, path);
  if (type === 'custom') return customOf(item, path);
  // Hosted tools, and those of OpenAI's that the caller runs: of use only where an endpoint lists them.
  const search = readSearchTool(item, path);
  return {
    ...{ kind: 'server', name: type, family: FAMILY, payload: item },
    ...(search === undefined ? {} : { search }),
    ...(CALLERS_OWN.has(type) ? { by_caller: true as const } : {}),
  };
}

function functionOf(item: JsonObject, path: string): Tool {
  const tool: Tool = { kind: 'function', name: requireString(item['name'], `${path}.name`) };
  const description = optionalString(item['description'], `${path}.description`);
  const schema = optionalObject(item['parameters'], `${path}.parameters`);
  const strict = optionalBoolean(item['strict'], `${path}.strict`);
  if (description !== undefined) tool.description = description;
  if (schema !== undefined) tool.schema = schema;
  if (strict !== undefined) tool.strict = strict;
  return { ...tool, ...restOf(item, FUNCTION) };
}

function customOf(item: JsonObject, path: string): Tool {
  const tool: Tool = { kind: 'custom', name: requireString(item['name'], `${path}.name`) };
  const description = optionalString(item['description'], `${path}.description`);
  const format = optionalObject(item['format'], `${path}.format`);
  if (description !== undefined) tool.description = description;
  if (format !== undefined) tool.format = format;
  return { ...tool, ...restOf(item, CUSTOM) };
}

/** `tool_choice`; a hosted tool is chosen by its type. @throws ServiceError invalid_request */
export function readToolChoice(body: JsonObject, spaces: Namespaces): ToolChoice | undefined {
  const choice = body['tool_choice'];
  if (!present(choice)) return undefined;
  if (typeof choice === 'string') {
    return { type: optionalChoice(choice, 'tool_choice', ['auto', 'none', 'required'] as const) ?? 'auto' };
  }
  const object = requireObject(choice, 'tool_choice');
  if (object['type'] !== 'allowed_tools')
    return { type: 'tool', name: chosen(object, 'tool_choice', spaces) };
  const mode = optionalChoice(object['mode'], 'tool_choice.mode', ['auto', 'required'] as const) ?? 'auto';
  const names = requireArray(object['tools'], 'tool_choice.tools').map((tool, i) =>
    chosen(requireObject(tool, `tool_choice.tools[${i}]`), `tool_choice.tools[${i}]`, spaces),
  );
  return { type: mode, names };
}

function chosen(reference: JsonObject, path: string, spaces: Namespaces): string {
  const type = requireString(reference['type'], `${path}.type`);
  if (type !== 'function' && type !== 'custom') return type;
  return spaces.nameOf(requireString(reference['name'], `${path}.name`), reference['namespace']);
}
