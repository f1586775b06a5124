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
import type { Tool, ToolChoice } from '../../../canonical/types.ts';
import { readSearchTool } from '../words/search.ts';
import { FAMILY } from './read-content.ts';

const FUNCTION = new Set(['type', 'name', 'description', 'parameters', 'strict']);
const CUSTOM = new Set(['type', 'name', 'description', 'format']);

/** Tools of the request, undefined when there is no list. @throws ServiceError invalid_request with `tools[i].…`. */
export function readTools(body: JsonObject): Tool[] | undefined {
  return optionalArray(body['tools'], 'tools')?.map((value, i) => {
    const path = `tools[${i}]`;
    const item = requireObject(value, path);
    const type = requireString(item['type'], `${path}.type`);
    if (type === 'function') return functionOf(item, path);
    if (type === 'custom') return customOf(item, path);
    // Hosted tools, and tools of OpenAI that the caller runs: useful only when an endpoint lists them.
    const search = readSearchTool(item, path);
    const tool: Tool = { kind: 'server', name: type, family: FAMILY, payload: item };
    return search === undefined ? tool : { ...tool, search };
  });
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
export function readToolChoice(body: JsonObject): ToolChoice | undefined {
  const choice = body['tool_choice'];
  if (!present(choice)) return undefined;
  if (typeof choice === 'string') {
    return { type: optionalChoice(choice, 'tool_choice', ['auto', 'none', 'required'] as const) ?? 'auto' };
  }
  const object = requireObject(choice, 'tool_choice');
  if (object['type'] !== 'allowed_tools') return { type: 'tool', name: chosen(object, 'tool_choice') };
  const mode = optionalChoice(object['mode'], 'tool_choice.mode', ['auto', 'required'] as const) ?? 'auto';
  const names = requireArray(object['tools'], 'tool_choice.tools').map((tool, i) =>
    chosen(requireObject(tool, `tool_choice.tools[${i}]`), `tool_choice.tools[${i}]`),
  );
  return { type: mode, names };
}

function chosen(reference: JsonObject, path: string): string {
  const type = requireString(reference['type'], `${path}.type`);
  return type === 'function' || type === 'custom' ? requireString(reference['name'], `${path}.name`) : type;
}
