// Names of spans, metrics and attributes: the OpenTelemetry semantic conventions for generative AI. They are still
// changing, so all names are taken from one version.
import type { Endpoint, Provider } from '@svc/core/catalog/index.ts';

/** Version of the semantic conventions that every name here is taken from. */
const SEMCONV_VERSION = '1.45.0';
export const SCHEMA_URL = `https://opentelemetry.io/schemas/${SEMCONV_VERSION}`;
/** Name of the instrumentation scope. */
export const SCOPE = 'svc.gateway';

export const attributes = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  request_model: 'gen_ai.request.model',
  request_stream: 'gen_ai.request.stream',
  max_tokens: 'gen_ai.request.max_tokens',
  temperature: 'gen_ai.request.temperature',
  top_p: 'gen_ai.request.top_p',
  top_k: 'gen_ai.request.top_k',
  frequency_penalty: 'gen_ai.request.frequency_penalty',
  presence_penalty: 'gen_ai.request.presence_penalty',
  seed: 'gen_ai.request.seed',
  candidates: 'gen_ai.request.choice.count',
  response_model: 'gen_ai.response.model',
  response_id: 'gen_ai.response.id',
  finish_reasons: 'gen_ai.response.finish_reasons',
  first_chunk: 'gen_ai.response.time_to_first_chunk',
  input_tokens: 'gen_ai.usage.input_tokens',
  output_tokens: 'gen_ai.usage.output_tokens',
  cache_read: 'gen_ai.usage.cache_read.input_tokens',
  cache_creation: 'gen_ai.usage.cache_creation.input_tokens',
  reasoning: 'gen_ai.usage.reasoning.output_tokens',
  token_type: 'gen_ai.token.type',
  error: 'error.type',
  address: 'server.address',
  port: 'server.port',
  http_status: 'http.response.status_code',
} as const;

export const metrics = {
  token_usage: 'gen_ai.client.token.usage',
  operation_duration: 'gen_ai.client.operation.duration',
  first_chunk: 'gen_ai.client.operation.time_to_first_chunk',
  request_duration: 'gen_ai.server.request.duration',
  first_token: 'gen_ai.server.time_to_first_token',
  per_output_token: 'gen_ai.server.time_per_output_token',
} as const;

/** Providers of the catalog that the conventions give another name. */
const byId: Readonly<Record<string, string>> = {
  google: 'gcp.gemini',
  mistral: 'mistral_ai',
  moonshot: 'moonshot_ai',
  xai: 'x_ai',
};

/** `gen_ai.provider.name` of `endpoint`: the conventions' name where they have one, otherwise the provider's id. */
export function providerOf(endpoint: Endpoint): string {
  return endpoint.wire.provider_name ?? byId[endpoint.provider] ?? endpoint.provider;
}

export interface Address {
  readonly [attributes.address]?: string;
  readonly [attributes.port]?: number;
}

/** Host and port of `provider`. The rest of its address may hold a secret and is left out. */
export function addressOf(provider: Provider | undefined): Address {
  const url = provider === undefined ? null : URL.parse(provider.base_url);
  if (url === null || url.hostname === '') return {};
  const usual = url.protocol === 'http:' ? 80 : 443;
  const port = url.port === '' ? usual : Number(url.port);
  return { [attributes.address]: url.hostname, [attributes.port]: port };
}
