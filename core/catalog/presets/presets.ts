// Presets: what is known of the usual OpenAI-compatible servers, so that a file names one word instead of an address
// and a list of quirks. Each is configuration only; every part can be overridden in the file. What the flags mean
// stands with the adapter (core/inference/formats/openai-chat/words/fields.ts) and in docs/providers.md.
import type { FileProvider } from '../file-schema.ts';
import type { CancelBilling } from '../kinds.ts';
import type { PresetName } from './names.ts';

export interface Preset {
  readonly name: string;
  readonly kind: string;
  readonly base_url: string;
  /** Variable with the key; absent: a server of one's own, called without. */
  readonly api_key_env?: string;
  readonly cancel_billing: CancelBilling;
  readonly flags: readonly string[];
  /** Members of its answers that no caller gets. */
  readonly hide?: readonly string[];
  /** Wire parameters beyond the common ones that all its endpoints take. */
  readonly parameters: readonly string[];
}

/** Servers that know nothing of OpenAI's accounts: no end user, no cache key, no younger names. */
const LOCAL = ['no_developer_role', 'no_user_field', 'no_cache_key'];

export const presets: { readonly [N in PresetName]: Preset } = {
  vllm: {
    name: 'vLLM',
    kind: 'openai',
    base_url: 'http://localhost:8000/v1',
    cancel_billing: 'stops_all',
    flags: [...LOCAL, 'reasoning_in', 'completions_path'],
    parameters: ['top_k', 'min_p', 'repetition_penalty'],
  },
  ollama: {
    name: 'Ollama',
    kind: 'openai',
    base_url: 'http://localhost:11434/v1',
    cancel_billing: 'stops_all',
    flags: [...LOCAL, 'max_tokens_only'],
    parameters: [],
  },
  llamacpp: {
    name: 'llama.cpp',
    kind: 'openai',
    base_url: 'http://localhost:8080/v1',
    cancel_billing: 'stops_all',
    // Of several answers at once it reports the usage of one.
    flags: [...LOCAL, 'max_tokens_only', 'completions_path', 'usage_of_one_choice'],
    hide: ['timings'],
    parameters: ['top_k', 'min_p'],
  },
  tgi: {
    name: 'Text Generation Inference',
    kind: 'openai',
    base_url: 'http://localhost:3000/v1',
    cancel_billing: 'stops_all',
    flags: [...LOCAL, 'max_tokens_only'],
    parameters: [],
  },
  lmstudio: {
    name: 'LM Studio',
    kind: 'openai',
    base_url: 'http://localhost:1234/v1',
    cancel_billing: 'stops_all',
    flags: [...LOCAL, 'max_tokens_only'],
    parameters: ['top_k'],
  },
  groq: {
    name: 'Groq',
    kind: 'openai',
    base_url: 'https://api.groq.com/openai/v1',
    api_key_env: 'GROQ_API_KEY',
    cancel_billing: 'bills_full',
    // Unknown members are refused by name, reasoning sent back among them.
    flags: ['no_developer_role', 'user_field', 'no_cache_key', 'no_reasoning_in'],
    parameters: [],
  },
  together: {
    name: 'Together AI',
    kind: 'openai',
    base_url: 'https://api.together.xyz/v1',
    api_key_env: 'TOGETHER_API_KEY',
    cancel_billing: 'stops',
    flags: ['no_developer_role', 'no_user_field', 'no_cache_key', 'max_tokens_only', 'completions_path'],
    parameters: ['top_k', 'min_p', 'repetition_penalty'],
  },
  fireworks: {
    name: 'Fireworks AI',
    kind: 'openai',
    base_url: 'https://api.fireworks.ai/inference/v1',
    api_key_env: 'FIREWORKS_API_KEY',
    cancel_billing: 'stops',
    flags: ['no_developer_role', 'user_field', 'no_cache_key', 'max_tokens_only', 'completions_path'],
    parameters: ['top_k', 'min_p', 'repetition_penalty'],
  },
  deepseek: {
    name: 'DeepSeek',
    kind: 'openai',
    base_url: 'https://api.deepseek.com/v1',
    api_key_env: 'DEEPSEEK_API_KEY',
    cancel_billing: 'stops',
    flags: ['no_developer_role', 'no_user_field', 'no_cache_key', 'max_tokens_only'],
    parameters: [],
  },
  mistral: {
    name: 'Mistral',
    kind: 'openai',
    base_url: 'https://api.mistral.ai/v1',
    api_key_env: 'MISTRAL_API_KEY',
    cancel_billing: 'bills_full',
    // Every member that its schema does not name is refused.
    flags: [
      'no_developer_role',
      'no_user_field',
      'no_cache_key',
      'max_tokens_only',
      'no_stream_options',
      'no_message_names',
      'no_reasoning_in',
      'random_seed',
      'tool_id_9',
    ],
    parameters: [],
  },
  xai: {
    name: 'xAI',
    kind: 'openai',
    base_url: 'https://api.x.ai/v1',
    api_key_env: 'XAI_API_KEY',
    cancel_billing: 'stops',
    flags: ['no_developer_role', 'user_field', 'no_cache_key', 'reasoning_outside_completion'],
    parameters: [],
  },
  openrouter: {
    name: 'OpenRouter',
    kind: 'openai',
    base_url: 'https://openrouter.ai/api/v1',
    api_key_env: 'OPENROUTER_API_KEY',
    cancel_billing: 'unknown',
    flags: ['user_field', 'no_cache_key', 'reasoning_object', 'reasoning_in'],
    parameters: ['top_k', 'min_p', 'top_a', 'repetition_penalty', 'cache_control'],
  },
};

/** A provider of a file with what its preset fills in. */
export type WholeProvider = FileProvider &
  Required<Pick<FileProvider, 'name' | 'kind' | 'base_url'>> & {
    /** Wire parameters that all its endpoints take. */
    readonly parameters: readonly string[];
  };

const REQUIRED = ['name', 'kind', 'base_url'] as const;

/** `file` with what its preset fills in, or the names of what neither has. */
export function withPreset(file: FileProvider): WholeProvider | { readonly missing: readonly string[] } {
  const preset = file.preset === undefined ? null : presets[file.preset];
  const { parameters = [], ...filled } = preset ?? {};
  const whole = { ...filled, flags: [...(preset?.flags ?? [])], ...file, parameters };
  const missing = REQUIRED.filter((key) => whole[key] === undefined);
  if (missing.length > 0) return { missing };
  // A file that says where the keys are says all of it.
  if (file.api_key_file !== undefined && file.api_key_env === undefined) delete whole.api_key_env;
  return whole as WholeProvider;
}

/** Flags of an endpoint: its provider's and its own; `-name` takes one of the provider's away. */
export function flagsOf(provider: readonly string[], endpoint: readonly string[]): string[] {
  const away = new Set(endpoint.filter((flag) => flag.startsWith('-')).map((flag) => flag.slice(1)));
  const own = endpoint.filter((flag) => !flag.startsWith('-'));
  return [...new Set([...provider.filter((flag) => !away.has(flag)), ...own])];
}
