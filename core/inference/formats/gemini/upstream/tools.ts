// Tools and tool choice.
import type { Target } from '../../../canonical/contract.ts';
import type { CanonicalRequest, Tool } from '../../../canonical/types.ts';
import { runsSearch } from '../../../canonical/web-search.ts';

/** Whether the endpoint runs this server tool of the family, whose payload is `{"googleSearch":{}}` and the like. */
export function runsTool(tool: Tool, request: CanonicalRequest, target: Target): boolean {
  // Models of this family search the web or call functions, not both.
  if (tool.search !== undefined) return runsSearch(target) && !hasFunctions(request);
  if (tool.family !== 'gemini' || tool.payload === undefined) return false;
  const listed = target.capabilities.server_tools;
  return listed.includes('*') || listed.includes(tool.name);
}

/** Whether there is a tool that the caller runs. */
export function hasFunctions({ tools = [] }: CanonicalRequest): boolean {
  return tools.some(({ kind }) => kind !== 'server');
}

function declaration(tool: Tool): string {
  const about = tool.description === undefined ? '' : `,"description":${JSON.stringify(tool.description)}`;
  let schema = '';
  if (tool.kind === 'custom') {
    schema = '{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}';
  } else if (tool.schema !== undefined) schema = JSON.stringify(tool.schema);
  const parameters = schema === '' ? '' : `,"parametersJsonSchema":${schema}`;
  return `{"name":${JSON.stringify(tool.name)}${about}${parameters}}`;
}

function declared(request: CanonicalRequest): Tool[] {
  const tools = (request.tools ?? []).filter(({ kind }) => kind !== 'server');
  const choice = request.tool_choice;
  if (choice === undefined || choice.type === 'tool' || choice.names === undefined) return tools;
  const names = new Set(choice.names);
  return tools.filter(({ name }) => names.has(name));
}

/** Whether the provider makes every call match its schema, as it always does when a call is forced. */
export function keepsStrict(request: CanonicalRequest): boolean {
  const choice = request.tool_choice?.type ?? 'auto';
  return choice !== 'auto' || declared(request).every(({ strict }) => strict === true);
}

function modeOf(request: CanonicalRequest, tools: readonly Tool[]): string {
  const choice = request.tool_choice;
  if (choice?.type === 'tool') {
    return `{"mode":"ANY","allowedFunctionNames":[${JSON.stringify(choice.name)}]}`;
  }
  if (choice?.type === 'required') return '{"mode":"ANY"}';
  if (choice?.type === 'none') return '{"mode":"NONE"}';
  if (tools.every(({ strict }) => strict === true)) return '{"mode":"VALIDATED"}';
  return choice === undefined ? '' : '{"mode":"AUTO"}';
}

/** Writes `tools` and `toolConfig` into `members`. */
export function writeTools(request: CanonicalRequest, target: Target, members: Map<string, string>): void {
  if (!target.capabilities.tools) return;
  const functions = declared(request);
  const texts: string[] = [];
  if (functions.length > 0) texts.push(`{"functionDeclarations":[${functions.map(declaration).join(',')}]}`);
  for (const tool of request.tools ?? []) {
    if (tool.kind !== 'server' || !runsTool(tool, request, target)) continue;
    texts.push(tool.search === undefined ? JSON.stringify(tool.payload) : '{"googleSearch":{}}');
  }
  if (texts.length === 0) return;
  members.set('tools', `[${texts.join(',')}]`);
  const mode = functions.length === 0 ? '' : modeOf(request, functions);
  if (mode !== '') members.set('toolConfig', `{"functionCallingConfig":${mode}}`);
}
