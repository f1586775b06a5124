// What OpenAI refuses of a request for a response.

import type { JsonBody, WireError } from '../wire.ts';
import { contentOf, isSealed, itemsOf } from './responses.ts';

const KNOWN = new Set(
  (
    'background include input instructions max_output_tokens max_tool_calls metadata model moderation ' +
    'context_management conversation parallel_tool_calls previous_response_id prompt prompt_cache_key ' +
    'prompt_cache_options prompt_cache_retention reasoning safety_identifier service_tier store stream ' +
    'stream_options temperature text tool_choice tools top_logprobs top_p truncation user'
  ).split(' '),
);
const INCLUDABLE =
  /^(reasoning\.encrypted_content|message\.(output_text\.logprobs|input_image\.image_url)|\w+_call(_output)?\.[\w.]+)$/;
const INPUT_PARTS = ['input_text', 'input_image', 'input_file'];
const OUTPUT_PARTS = ['output_text', 'refusal'];
const CAP_MIN = 16;

/** The first fault of `body`, or null. */
export function checkResponse(body: JsonBody): WireError | null {
  for (const name of Object.keys(body)) {
    if (!KNOWN.has(name)) return invalid(`Unknown parameter: '${name}'.`, name, 'unknown_parameter');
  }
  if (typeof body['model'] !== 'string') return invalid('you must provide a model parameter', 'model');
  if (body['model'].startsWith('missing')) {
    const message = `The requested model '${body['model']}' does not exist.`;
    return { status: 400, message, code: 'model_not_found', param: 'model' };
  }
  return checkValues(body) ?? checkItems(body);
}

function checkValues(body: JsonBody): WireError | null {
  const { input, max_output_tokens: cap, include } = body;
  if (typeof input !== 'string' && !(Array.isArray(input) && input.length > 0)) {
    return invalid("Missing required parameter: 'input'.", 'input', 'missing_required_parameter');
  }
  if (typeof cap === 'number' && cap < CAP_MIN) {
    const message = `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= ${CAP_MIN}, but got ${cap} instead.`;
    return invalid(message, 'max_output_tokens', 'integer_below_min_value');
  }
  for (const [i, name] of ((include as unknown[] | undefined) ?? []).entries()) {
    if (typeof name !== 'string' || !INCLUDABLE.test(name))
      return invalid(`Invalid value: '${String(name)}'.`, `include[${i}]`, 'invalid_value');
  }
  for (const [i, tool] of ((body['tools'] as JsonBody[] | undefined) ?? []).entries()) {
    if (tool['type'] === 'function' && typeof tool['name'] !== 'string') {
      const param = `tools[${i}].name`;
      return invalid(`Missing required parameter: '${param}'.`, param, 'missing_required_parameter');
    }
  }
  return null;
}

function checkItems(body: JsonBody): WireError | null {
  const waiting = new Set<unknown>();
  const known = new Set<unknown>();
  for (const [i, item] of itemsOf(body).entries()) {
    const type = item['type'] ?? 'message';
    if (type === 'message') {
      const fault = checkMessage(item, `input[${i}]`);
      if (fault !== null) return fault;
    } else if (type === 'reasoning') {
      const fault = checkReasoning(item, body['store'] === false);
      if (fault !== null) return fault;
    } else if (type === 'function_call' || type === 'custom_tool_call') {
      waiting.add(item['call_id']);
      known.add(item['call_id']);
    } else if (type === 'function_call_output' || type === 'custom_tool_call_output') {
      if (!known.has(item['call_id'])) {
        const message = `No tool call found for function call output with call_id ${String(item['call_id'])}.`;
        return invalid(message, 'input');
      }
      waiting.delete(item['call_id']);
    }
  }
  const [open] = waiting;
  return open === undefined
    ? null
    : invalid(`No tool output found for function call ${String(open)}.`, 'input');
}

function checkMessage(item: JsonBody, path: string): WireError | null {
  const allowed = item['role'] === 'assistant' ? OUTPUT_PARTS : INPUT_PARTS;
  if (!['user', 'assistant', 'system', 'developer'].includes(String(item['role'])))
    return invalid(`Invalid value: '${String(item['role'])}'.`, `${path}.role`, 'invalid_value');
  if (typeof item['content'] === 'string') return null;
  for (const [j, { type }] of contentOf(item).entries()) {
    if (allowed.includes(String(type))) continue;
    const message = `Invalid value: '${String(type)}'. Supported values are: ${allowed.map((one) => `'${one}'`).join(', ')}.`;
    return invalid(message, `${path}.content[${j}]`, 'invalid_value');
  }
  return null;
}

function checkReasoning(item: JsonBody, stateless: boolean): WireError | null {
  const sealed = item['encrypted_content'];
  if (sealed === undefined || sealed === null) {
    if (!stateless) return null;
    const message = `Item with id '${String(item['id'])}' not found. Items are not persisted when \`store\` is set to false.`;
    return { status: 404, message, param: 'input' };
  }
  if (isSealed(sealed)) return null;
  const message = `The encrypted content for item ${String(item['id'])} could not be verified.`;
  return invalid(message, 'input', 'invalid_encrypted_content');
}

function invalid(message: string, param: string, code?: string): WireError {
  return { status: 400, message, param, ...(code !== undefined && { code }) };
}
