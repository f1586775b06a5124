// Reads the body of POST /v1/completions into the canonical request: each prompt becomes a user message. Nothing is
// refused here because only some endpoints can do it; their adapters report what they would lose.
import type { JsonObject } from '../../../../kernel/index.ts';
import { compact } from '../../../../kernel/index.ts';
import { readParameters } from '../../../caller/parameters.ts';
import {
  fail,
  optionalBoolean,
  optionalNumber,
  optionalObject,
  optionalString,
  present,
  restOf,
  stringMap,
  unsupported,
} from '../../../caller/read.ts';
import { readStart } from '../../../caller/start.ts';
import { type Headers, METADATA_LIMITS } from '../../../caller/svc.ts';
import type { CanonicalRequest, CompletionPreferences } from '../../../canonical/types.ts';
import { userOf } from '../../openai-chat/caller/read.ts';
import { parameterMembers, READINGS } from './parameters.ts';
import { PROMPTS_MAX, type Prompts, readPrompts } from './prompt.ts';

const NAMED = new Set([
  ...Object.keys(parameterMembers),
  ...['model', 'prompt', 'stream', 'stream_options', 'suffix', 'echo', 'best_of', 'logprobs'],
  ...['prompt_cache_key', 'service_tier', 'user', 'safety_identifier', 'metadata', 'store', 'svc'],
]);

/** Fields of the chat dialect that have a meaning; dropping one would change what is asked. */
const OF_CHAT = [
  ...['messages', 'input', 'tools', 'tool_choice', 'functions', 'function_call', 'response_format'],
  ...['modalities', 'audio'],
] as const;

/** OpenAI's limits. */
export const BEST_OF_MAX = 20;
export const LOGPROBS_MAX = 20;

/** @throws ServiceError invalid_request or unsupported_parameter with `param` */
export function readCompletions(value: unknown, headers: Headers): CanonicalRequest {
  const start = readStart(value, headers, (body) => stringMap(body['metadata'], 'metadata', METADATA_LIMITS));
  const { body, model, stream, svc, warnings } = start;
  for (const name of OF_CHAT) {
    if (present(body[name])) unsupported(name, `'${name}' belongs to POST /v1/chat/completions.`);
  }
  const prompts = readPrompts(body['prompt']);
  const generation = readParameters(READINGS, body);
  if (optionalBoolean(body['store'], 'store') === true) {
    const message = 'Answers are never stored at the provider.';
    warnings.push({ code: 'store_ignored', param: 'store', message });
  }
  const options = optionalObject(body['stream_options'], 'stream_options');
  const key = optionalString(body['prompt_cache_key'], 'prompt_cache_key');
  return {
    model,
    messages: prompts.messages,
    ...compact({
      cache: key === undefined ? undefined : { key },
      service_tier: optionalString(body['service_tier'], 'service_tier'),
      user: userOf(body),
      completion: readPreferences(body, prompts, generation.candidates ?? 1),
    }),
    ...restOf(body, NAMED),
    continues: true,
    generation,
    stream,
    include_usage: optionalBoolean(options?.['include_usage'], 'stream_options.include_usage') ?? false,
    svc,
    dialect: 'completions',
    warnings,
  };
}

function readPreferences(body: JsonObject, prompts: Prompts, n: number): CompletionPreferences | undefined {
  const suffix = optionalString(body['suffix'], 'suffix') ?? '';
  const echo = optionalBoolean(body['echo'], 'echo') ?? false;
  const best_of =
    optionalNumber(body['best_of'], 'best_of', { min: 1, max: BEST_OF_MAX, integer: true }) ?? 1;
  if (present(body['best_of']) && best_of < n) fail('best_of', "'best_of' must be at least 'n'.");
  const logprobs = readLogprobs(body['logprobs']);
  const count = prompts.messages.length;
  if (count * n > PROMPTS_MAX) {
    fail('n', `A call has at most ${PROMPTS_MAX} choices; ${count} prompts with 'n' ${n} have ${count * n}.`);
  }
  const asks = Object.entries({ suffix: suffix !== '', echo, best_of: best_of > 1, logprobs });
  const preferences: CompletionPreferences = {
    prompts: count,
    tokens: prompts.tokens,
    asks: asks.flatMap(([name, asked]) => (asked ? [name] : [])),
    best_of,
  };
  if (count === 1 && prompts.tokens === 0 && preferences.asks.length === 0) return undefined;
  if (echo) preferences.echo = prompts.bytes;
  return preferences;
}

/** A count; some compatible servers also accept a switch. */
function readLogprobs(value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  return optionalNumber(value, 'logprobs', { min: 0, max: LOGPROBS_MAX, integer: true }) !== undefined;
}
