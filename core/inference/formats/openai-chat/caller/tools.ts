// Tools and tool choice of the chat dialect.
import type { JsonObject } from '../../../../kernel/index.ts';
import {
  fail,
  optionalArray,
  optionalBoolean,
  optionalChoice,
  optionalObject,
  optionalString,
  present,
  requireArray,
  requireObject,
  requireString,
} from '../../../caller/read.ts';
import type { Tool, ToolChoice } from '../../../canonical/types.ts';
import { readSearchOptions } from '../words/search.ts';
import { cacheOf } from './messages.ts';

/** Tools of `tools`, of the older `functions` and of `web_search_options`; undefined when none is there. @throws ServiceError */
export function readTools(body: JsonObject): Tool[] | undefined {
  const tools = optionalArray(body['tools'], 'tools')?.map((tool, i) => toolOf(tool, `tools[${i}]`));
  const functions = optionalArray(body['functions'], 'functions')?.map((tool, i) => {
    const path = `functions[${i}]`;
    return functionOf(requireObject(tool, path), path);
  });
  const search = readSearchOptions(body['web_search_options'], 'web_search_options');
  if (tools === undefined && functions === undefined && search === undefined) return undefined;
  return [...(tools ?? []), ...(functions ?? []), ...(search === undefined ? [] : [search])];
}

function toolOf(value: unknown, path: string): Tool {
  const item = requireObject(value, path);
  const type = requireString(item['type'], `${path}.type`);
  const cache = cacheOf(item, path);
  const tool = typedTool(type, item, path);
  if (cache !== undefined) tool.cache = cache;
  return tool;
}

function typedTool(type: string, item: JsonObject, path: string): Tool {
  if (type === 'function') {
    return functionOf(requireObject(item['function'], `${path}.function`), `${path}.function`);
  }
  // Hosted tools of a compatible server: kept in its own wire form, which no other server can use.
  if (type !== 'custom') return { kind: 'server', name: type, family: 'openai_chat', payload: item };
  const custom = requireObject(item['custom'], `${path}.custom`);
  const tool: Tool = { kind: 'custom', name: requireString(custom['name'], `${path}.custom.name`) };
  const description = optionalString(custom['description'], `${path}.custom.description`);
  const format = optionalObject(custom['format'], `${path}.custom.format`);
  if (description !== undefined) tool.description = description;
  if (format !== undefined) tool.format = format;
  return tool;
}

function functionOf(item: JsonObject, path: string): Tool {
  const tool: Tool = { kind: 'function', name: requireString(item['name'], `${path}.name`) };
  const description = optionalString(item['description'], `${path}.description`);
  const schema = optionalObject(item['parameters'], `${path}.parameters`);
  const strict = optionalBoolean(item['strict'], `${path}.strict`);
  if (description !== undefined) tool.description = description;
  if (schema !== undefined) tool.schema = schema;
  if (strict !== undefined) tool.strict = strict;
  return tool;
}

/** `tool_choice`, or the older `function_call`. @throws ServiceError */
export function readToolChoice(body: JsonObject): ToolChoice | undefined {
  const choice = body['tool_choice'];
  if (present(choice)) {
    return typeof choice === 'string'
      ? wordChoice(choice, 'tool_choice')
      : objectChoice(requireObject(choice, 'tool_choice'));
  }
  const legacy = body['function_call'];
  if (!present(legacy)) return undefined;
  if (typeof legacy === 'string') return wordChoice(legacy, 'function_call');
  const named = requireObject(legacy, 'function_call');
  return { type: 'tool', name: requireString(named['name'], 'function_call.name') };
}

export const CHOICES = ['auto', 'none', 'required'] as const;
export const ALLOWED_MODES = ['auto', 'required'] as const;

function wordChoice(word: string, path: string): ToolChoice {
  return { type: optionalChoice(word, path, CHOICES) ?? 'auto' };
}

function objectChoice(choice: JsonObject): ToolChoice {
  const type = requireString(choice['type'], 'tool_choice.type');
  if (type === 'allowed_tools') {
    const allowed = requireObject(choice['allowed_tools'], 'tool_choice.allowed_tools');
    const path = 'tool_choice.allowed_tools';
    const mode = optionalChoice(allowed['mode'], `${path}.mode`, ALLOWED_MODES) ?? 'auto';
    const names = requireArray(allowed['tools'], `${path}.tools`).map((tool, i) =>
      referenceName(requireObject(tool, `${path}.tools[${i}]`), `${path}.tools[${i}]`),
    );
    return { type: mode, names };
  }
  return { type: 'tool', name: referenceName(choice, 'tool_choice') };
}

/** The name in `{type, function: {name}}` or `{type, custom: {name}}`. */
function referenceName(reference: JsonObject, path: string): string {
  const type = requireString(reference['type'], `${path}.type`);
  if (type !== 'function' && type !== 'custom') {
    fail(`${path}.type`, `'${path}.type' must be function, custom or allowed_tools.`);
  }
  return requireString(requireObject(reference[type], `${path}.${type}`)['name'], `${path}.${type}.name`);
}
