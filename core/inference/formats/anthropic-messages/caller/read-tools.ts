// Reads tools, tool choice, reasoning and output preferences of a messages request.
import type { JsonObject } from '../../../../kernel/index.ts';
import {
  fail,
  optionalArray,
  optionalBoolean,
  optionalChoice,
  optionalNumber,
  optionalObject,
  optionalString,
  requireObject,
  requireString,
} from '../../../caller/read.ts';
import type {
  CanonicalRequest,
  OutputPreferences,
  ReasoningPreferences,
  Tool,
} from '../../../canonical/types.ts';
import { readSearchTool } from '../words/search.ts';
import { type BlockReading, extOf, readCacheControl } from './read-blocks.ts';

/** Toolsets that the caller runs itself. */
const CALLERS_OWN = /^(?:bash|text_editor|memory|computer|browser)_/;

function readTool(value: unknown, param: string, reading: BlockReading): Tool {
  const tool = requireObject(value, param);
  const type = optionalString(tool['type'], `${param}.type`) ?? 'custom';
  const cache = readCacheControl(tool['cache_control'], `${param}.cache_control`, reading);
  if (type !== 'custom') {
    const name = optionalString(tool['name'], `${param}.name`) ?? type;
    const search = readSearchTool(tool, param);
    return {
      ...{ kind: 'server', name, family: 'anthropic_messages', payload: tool },
      ...(search === undefined ? {} : { search }),
      ...(CALLERS_OWN.test(type) ? { by_caller: true as const } : {}),
      ...cache,
    };
  }
  const description = optionalString(tool['description'], `${param}.description`);
  const strict = optionalBoolean(tool['strict'], `${param}.strict`);
  return {
    kind: 'function',
    name: requireString(tool['name'], `${param}.name`, { max: 128 }),
    schema: requireObject(tool['input_schema'], `${param}.input_schema`),
    ...(description === undefined ? {} : { description }),
    ...(strict === undefined ? {} : { strict }),
    ...cache,
    ...extOf(tool, ['type', 'name', 'description', 'input_schema', 'strict', 'cache_control']),
  };
}

/** The tools of `body`; {} when there are none. */
export function readTools(body: JsonObject, reading: BlockReading): Pick<CanonicalRequest, 'tools'> {
  const tools = optionalArray(body['tools'], 'tools');
  if (tools === undefined || tools.length === 0) return {};
  return { tools: tools.map((tool, i) => readTool(tool, `tools[${i}]`, reading)) };
}

/** `tool_choice`, with `parallel_tools` false when parallel calls are switched off. */
export function readToolChoice(body: JsonObject): Pick<CanonicalRequest, 'tool_choice' | 'parallel_tools'> {
  const choice = optionalObject(body['tool_choice'], 'tool_choice');
  if (choice === undefined) return {};
  const serial = optionalBoolean(
    choice['disable_parallel_tool_use'],
    'tool_choice.disable_parallel_tool_use',
  );
  const parallel = serial === true ? { parallel_tools: false } : {};
  switch (choice['type']) {
    case 'auto':
    case 'none':
      return { tool_choice: { type: choice['type'] }, ...parallel };
    case 'any':
      return { tool_choice: { type: 'required' }, ...parallel };
    case 'tool':
      return {
        tool_choice: { type: 'tool', name: requireString(choice['name'], 'tool_choice.name') },
        ...parallel,
      };
    default:
      return fail('tool_choice.type', "'tool_choice.type' must be one of auto, any, tool, none.");
  }
}

const MODES = {
  enabled: 'enabled',
  adaptive: 'adaptive',
  disabled: 'off',
  between_tools: 'between_tools',
} as const;

/** `thinking` and `output_config.effort` combined; {} when neither is given. */
export function readReasoning(body: JsonObject, config: JsonObject): Pick<CanonicalRequest, 'reasoning'> {
  const preferences: ReasoningPreferences = {};
  const thinking = optionalObject(body['thinking'], 'thinking');
  if (thinking !== undefined) {
    const type = optionalChoice(
      thinking['type'],
      'thinking.type',
      Object.keys(MODES) as (keyof typeof MODES)[],
    );
    preferences.mode = MODES[type ?? fail('thinking.type', "'thinking.type' is required.")];
    const budget = optionalNumber(thinking['budget_tokens'], 'thinking.budget_tokens', {
      min: 1,
      integer: true,
    });
    if (budget !== undefined) preferences.max_tokens = budget;
    else if (type === 'enabled') fail('thinking.budget_tokens', "'thinking.budget_tokens' is required.");
    const display = optionalChoice(thinking['display'], 'thinking.display', [
      'summarized',
      'omitted',
    ] as const);
    if (display !== undefined) preferences.display = display === 'summarized' ? 'summary' : 'omitted';
  }
  const effort = optionalChoice(config['effort'], 'output_config.effort', [
    'low',
    'medium',
    'high',
    'xhigh',
    'max',
  ] as const);
  if (effort !== undefined) preferences.effort = effort;
  return Object.keys(preferences).length > 0 ? { reasoning: preferences } : {};
}

/** The requested output format; beta clients call it `output_format`. */
export function readOutput(body: JsonObject, config: JsonObject): { output?: OutputPreferences } {
  const older = optionalObject(body['output_format'], 'output_format');
  const format = optionalObject(config['format'], 'output_config.format') ?? older;
  if (format === undefined) return {};
  const param = format === older ? 'output_format' : 'output_config.format';
  if (format['type'] !== 'json_schema') fail(`${param}.type`, `'${param}.type' must be json_schema.`);
  return {
    output: { format: { type: 'json_schema', schema: requireObject(format['schema'], `${param}.schema`) } },
  };
}
