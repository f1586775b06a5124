// Writes a canonical request as this family's body (docs/compatibility.md), as text so that schemas and arguments
// keep their bytes.

import type { EncodeOptions, Target, UpstreamRequest } from '../../../canonical/contract.ts';
import { splitSystem } from '../../../canonical/instructions.ts';
import { parameters, withCap } from '../../../canonical/parameters.ts';
import { outputPreferences } from '../../../canonical/preferences.ts';
import { applyRules, textsBelow } from '../../../canonical/rules.ts';
import type { CanonicalRequest, Tool } from '../../../canonical/types.ts';
import { isForeignSearch, runsSearch } from '../../../canonical/web-search.ts';
import { editsContext, listedBetas } from '../words/betas.ts';
import { searchTool } from '../words/search.ts';
import { capOf, planThinking } from '../words/thinking.ts';
import {
  BREAKPOINTS_MAX,
  type ContentContext,
  cacheControl,
  cacheControlObject,
  writeMessages,
  writeSystem,
} from './content.ts';
import { GENERATION, OUTPUT } from './parameters.ts';

const VERSION = '2023-06-01';

/** The version and the listed betas, as a flat list of headers. */
export function wireHeaders(request: CanonicalRequest, target: Target): string[] {
  const headers = ['anthropic-version', request.anthropic?.version ?? VERSION];
  const betas = listedBetas(request, target);
  if (betas.length > 0) headers.push('anthropic-beta', betas.join(','));
  for (const [name, value] of Object.entries(request.anthropic?.headers ?? {})) headers.push(name, value);
  return headers;
}

function breakpoints(request: CanonicalRequest): number {
  let n = request.cache?.hint === undefined ? 0 : 1;
  for (const tool of request.tools ?? []) if (tool.cache !== undefined) n++;
  for (const message of request.messages) {
    for (const part of message.content) {
      if (part.cache !== undefined) n++;
      if (part.type === 'tool_result') for (const inner of part.content) if (inner.cache !== undefined) n++;
    }
  }
  return n;
}

function objectSchema(tool: Tool): string {
  const schema = tool.schema ?? { properties: {} };
  return JSON.stringify(schema['type'] === undefined ? { type: 'object', ...schema } : schema);
}

function writeTool(tool: Tool, context: ContentContext): string | null {
  if (tool.kind === 'server') {
    if (tool.search !== undefined && isForeignSearch(tool, 'anthropic_messages')) {
      return runsSearch(context.target) ? JSON.stringify(searchTool(tool.search)) : null;
    }
    return JSON.stringify(tool.payload);
  }
  const description =
    tool.description === undefined ? '' : `,"description":${JSON.stringify(tool.description)}`;
  const schema =
    tool.kind === 'custom'
      ? '{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}'
      : objectSchema(tool);
  const strict = tool.strict === undefined ? '' : `,"strict":${tool.strict}`;
  let ext = '';
  if (context.own) {
    for (const [name, value] of Object.entries(tool.ext ?? {})) {
      ext += `,${JSON.stringify(name)}:${JSON.stringify(value)}`;
    }
  }
  return (
    `{"name":${JSON.stringify(tool.name)}${description},"input_schema":${schema}${strict}` +
    `${cacheControl(tool.cache, context)}${ext}}`
  );
}

// The family refuses a history with calls whose tools are not declared; with `none` they are declared and not called.
function calledTools(request: CanonicalRequest): Tool[] {
  const names = new Set<string>();
  for (const message of request.messages) {
    for (const part of message.content) if (part.type === 'tool_call') names.add(part.name);
  }
  return [...names].map((name) => ({ kind: 'function', name }));
}

function writeTools(request: CanonicalRequest, context: ContentContext, members: Map<string, string>): void {
  const choice = request.tool_choice;
  let tools = context.target.capabilities.tools ? (request.tools ?? []) : [];
  if (choice !== undefined && 'names' in choice && choice.names !== undefined) {
    const names = new Set(choice.names);
    tools = tools.filter((tool) => names.has(tool.name));
  }
  let texts = tools.map((tool) => writeTool(tool, context)).filter((text) => text !== null);
  if (texts.length === 0) {
    texts = calledTools(request)
      .map((tool) => writeTool(tool, context))
      .filter((text) => text !== null);
    if (texts.length === 0) return;
    members.set('tools', `[${texts.join(',')}]`);
    members.set('tool_choice', '{"type":"none"}');
    return;
  }
  members.set('tools', `[${texts.join(',')}]`);
  const serial = request.parallel_tools === false ? ',"disable_parallel_tool_use":true' : '';
  if (choice?.type === 'none') members.set('tool_choice', '{"type":"none"}');
  else if (choice?.type === 'tool') {
    members.set('tool_choice', `{"type":"tool","name":${JSON.stringify(choice.name)}${serial}}`);
  } else if (choice?.type === 'required') members.set('tool_choice', `{"type":"any"${serial}}`);
  else if (choice !== undefined || serial !== '') members.set('tool_choice', `{"type":"auto"${serial}}`);
}

function writeOutput(
  output: ReadonlyMap<string, unknown>,
  effort: string | null,
  members: Map<string, string>,
): void {
  const parts = effort === null ? [] : [`"effort":"${effort}"`];
  for (const [name, text] of textsBelow(output, 'output_config')) parts.push(`"${name}":${text}`);
  if (parts.length > 0) members.set('output_config', `{${parts.join(',')}}`);
}

function writeTier(request: CanonicalRequest, target: Target, members: Map<string, string>): void {
  if (request.dialect !== 'messages' || request.service_tier === undefined) return;
  if (request.service_tier === 'default') members.set('service_tier', '"standard_only"');
  else if (request.service_tier !== 'fast') members.set('service_tier', JSON.stringify(request.service_tier));
  else if (target.capabilities.parameters.includes('speed')) members.set('speed', '"fast"');
}

// Members of this dialect that the canonical form does not name. `output_config` was written from the canonical form,
// and an endpoint that cannot edit the conversation gets one that is already edited.
function writeOwn(request: CanonicalRequest, target: Target, members: Map<string, string>): void {
  for (const [name, value] of Object.entries(request.ext ?? {})) {
    if (name === 'context_management' && !editsContext(request, target)) continue;
    if (name !== 'output_config') members.set(name, JSON.stringify(value));
  }
}

/**
 * The request for `target`. When `options.max_tokens` is null the model's own maximum is sent, because this family
 * requires a value.
 */
export function encodeRequest(
  request: CanonicalRequest,
  target: Target,
  options: EncodeOptions,
): UpstreamRequest {
  const own = request.dialect === 'messages';
  const max_tokens = options.max_tokens ?? capOf(request, target);
  const skip_breakpoints = Math.max(0, breakpoints(request) - BREAKPOINTS_MAX);
  const context: ContentContext = { target, own, skip_breakpoints };
  const plan = planThinking(request, target, max_tokens);
  const facts = { target, own, thinks: plan.on };
  const sampling = applyRules(parameters, GENERATION, withCap(request.generation, max_tokens), facts).sent;
  const output = applyRules(outputPreferences, OUTPUT, request.output ?? {}, facts).sent;
  const members = new Map<string, string>([
    ['model', JSON.stringify(target.upstream_model)],
    ['max_tokens', String(max_tokens)],
    ['stream', String(options.stream)],
  ]);
  writeTools(request, context, members);
  const { system, rest } = splitSystem(request.messages);
  const blocks = writeSystem(system, context);
  const instruction = output.get('system');
  if (instruction !== undefined) blocks.push(`{"type":"text","text":${JSON.stringify(instruction)}}`);
  if (blocks.length > 0) members.set('system', `[${blocks.join(',')}]`);
  members.set('messages', `[${writeMessages(rest, context).join(',')}]`);
  if (request.cache?.hint !== undefined && target.capabilities.cache) {
    members.set('cache_control', cacheControlObject(request.cache.hint));
  }
  if (plan.thinking !== null) members.set('thinking', plan.thinking);
  writeOutput(output, plan.effort, members);
  for (const [name, value] of sampling) members.set(name, JSON.stringify(value));
  writeTier(request, target, members);
  if (options.user !== null) members.set('metadata', `{"user_id":${JSON.stringify(options.user)}}`);
  if (own) writeOwn(request, target, members);
  for (const [name, value] of Object.entries(options.extra)) members.set(name, JSON.stringify(value));
  const texts: string[] = [];
  for (const [name, text] of members) texts.push(`${JSON.stringify(name)}:${text}`);
  return {
    path: '/messages',
    headers: wireHeaders(request, target),
    body: Buffer.from(`{${texts.join(',')}}`),
  };
}
