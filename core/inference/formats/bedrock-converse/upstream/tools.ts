// Tools and tool choice in Converse's `toolConfig`.
import type { Target } from '../../../canonical/contract.ts';
import type { CanonicalRequest, Tool, ToolChoice } from '../../../canonical/types.ts';
import { type ContentContext, cachePoint } from './content.ts';
import { makerOf } from './model.ts';

/** Whether the endpoint accepts `strict` on a tool. */
export function takesStrict(target: Target): boolean {
  return target.capabilities.parameters.includes('strict');
}

/**
 * Whether a history with calls keeps its tools declared although none may be called: otherwise the API refuses it.
 */
export function keepsTools(request: CanonicalRequest): boolean {
  return request.messages.some(({ content }) =>
    content.some((part) => part.type === 'tool_call' || part.type === 'tool_result'),
  );
}

function schemaOf(tool: Tool): string {
  if (tool.kind === 'custom') {
    return '{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}';
  }
  const schema = tool.schema ?? { properties: {} };
  return JSON.stringify(schema['type'] === undefined ? { type: 'object', ...schema } : schema);
}

function toolSpec(tool: Tool, target: Target): string | null {
  if (tool.kind === 'server') {
    return tool.family === 'bedrock_converse' ? JSON.stringify(tool.payload ?? null) : null;
  }
  const { description } = tool;
  const said =
    description === undefined || description === '' ? '' : `,"description":${JSON.stringify(description)}`;
  const strict = tool.strict !== undefined && takesStrict(target) ? `,"strict":${tool.strict}` : '';
  return `{"toolSpec":{"name":${JSON.stringify(tool.name)}${said},"inputSchema":{"json":${schemaOf(tool)}}${strict}}}`;
}

/** Tools that the history called and the request no longer declares. */
function calledTools(request: CanonicalRequest): Tool[] {
  const names = new Set<string>();
  for (const { content } of request.messages) {
    for (const part of content) if (part.type === 'tool_call') names.add(part.name);
  }
  return [...names].map((name) => ({ kind: 'function', name }));
}

function declared(request: CanonicalRequest, target: Target): readonly Tool[] {
  const choice = request.tool_choice;
  const tools = target.capabilities.tools ? (request.tools ?? []) : [];
  const names =
    choice !== undefined && 'names' in choice && choice.names !== undefined ? new Set(choice.names) : null;
  const wanted = names === null ? tools : tools.filter(({ name }) => names.has(name));
  if (choice?.type !== 'none' && wanted.length > 0) return wanted;
  if (!keepsTools(request)) return [];
  return wanted.length > 0 ? wanted : calledTools(request);
}

function choiceText(choice: ToolChoice | undefined): string {
  if (choice?.type === 'required') return '{"any":{}}';
  return choice?.type === 'tool' ? `{"tool":{"name":${JSON.stringify(choice.name)}}}` : '{"auto":{}}';
}

/** The choice in Anthropic's format, which can express the request for one call at a time. */
function serialChoice(choice: ToolChoice | undefined): string {
  const serial = `"disable_parallel_tool_use":true}`;
  if (choice?.type === 'tool') return `{"type":"tool","name":${JSON.stringify(choice.name)},${serial}`;
  return `{"type":"${choice?.type === 'required' ? 'any' : 'auto'}",${serial}`;
}

interface ToolTexts {
  /** JSON text of `toolConfig`, or null. */
  config: string | null;
  /** JSON text of the member `tool_choice` of `additionalModelRequestFields`, or null. */
  additional: string | null;
}

/** `toolConfig` of `request`, and the member that is sent beside it. */
export function writeTools(request: CanonicalRequest, context: ContentContext): ToolTexts {
  const { target } = context;
  const texts: string[] = [];
  for (const tool of declared(request, target)) {
    const spec = toolSpec(tool, target);
    if (spec === null) continue;
    texts.push(spec);
    const point = cachePoint(tool.cache, context);
    if (point !== null) texts.push(point);
  }
  if (texts.length === 0) return { config: null, additional: null };
  const choice = request.tool_choice;
  const chosen = choice === undefined || choice.type === 'none' ? '' : `,"toolChoice":${choiceText(choice)}`;
  const serial = request.parallel_tools === false && makerOf(target) === 'anthropic';
  return {
    config: `{"tools":[${texts.join(',')}]${chosen}}`,
    additional: serial ? serialChoice(choice) : null,
  };
}
