// Requests about webhook endpoints, which all `svcctl webhooks` commands make to a gateway, and how answers are shown.
import type { WebhookView } from '@svc/core/webhooks/index.ts';
import type { Flag, Input, Result } from '../../command.ts';
import { call, gatewayFlags, readTarget } from '../../gateway-client.ts';

export type Endpoint = WebhookView & { readonly secret?: string };

/** The positional of a command about one endpoint. */
export const endpoint = [{ name: 'WEBHOOK', doc: 'id of an endpoint', required: true }] as const;

export const webhookFlags = gatewayFlags;
export const eventsFlag: Flag = {
  type: 'text',
  doc: 'event types with commas between, or * for all',
  value: 'TYPES',
  form: [/^(?:\*|[a-z_.]+(?:,[a-z_.]+)*)$/, 'event types with commas between, or *'],
};

/** The types that `--events` lists. */
export function eventsOf(input: Input): string[] | undefined {
  return input.find('events')?.split(',');
}

/** A request; `path` stands after `/v1/webhooks`. The value is what `show` makes of the answer, or its refusal. */
export async function askWebhooks<T extends object>(
  input: Input,
  request: { readonly method: string; readonly path: string; readonly body?: object },
  show: (value: T) => string,
): Promise<Result> {
  const { method, path } = request;
  const body = request.body === undefined ? null : JSON.stringify(request.body);
  const answer = await call(readTarget(input), { method, path: `/v1/webhooks${path}`, body });
  if (answer.ok) {
    const value = (typeof answer.value === 'object' ? answer.value : {}) as T;
    return { json: value, text: show(value) };
  }
  const { error } = (typeof answer.value === 'object' ? (answer.value ?? {}) : {}) as {
    error?: { message?: string };
  };
  const said = `${answer.status} ${error?.message ?? answer.text}`;
  return { json: { ok: false, status: answer.status, ...error }, text: said, ok: false };
}

/** The path of the endpoint that the command line names. */
export function pathOf(input: Input, rest = ''): string {
  return `/${encodeURIComponent(input.positionals[0] ?? '')}${rest}`;
}

/** What a person wants to know of an endpoint, on lines; a new secret is the last. */
export function endpointText(shown: Endpoint): string {
  const { id, url, description, events, status, disabled_reason, failing_since, secret } = shown;
  const { previous_secret_expires_at: both, secret_hint } = shown;
  const reason = disabled_reason === null ? '' : ` (${disabled_reason})`;
  const failing = failing_since === null ? '' : `, failing since ${failing_since}`;
  return [
    `${id}  ${url}${description === '' ? '' : `  ${description}`}`,
    `  ${status}${reason}${failing}`,
    `  events: ${events.join(', ')}`,
    `  signs with ${secret_hint}${both === null ? '' : `, and the secret before it until ${both}`}`,
    ...(secret === undefined ? [] : [`  secret, shown once: ${secret}`]),
  ].join('\n');
}
