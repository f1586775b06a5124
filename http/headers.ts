// Headers that every answer has (docs/api.md#headers), and those of cross-origin requests.

/** The request id under three names, because the clients of each dialect read a different one. */
export function answerHeaders(request_id: string, is_https: boolean): Record<string, string> {
  return {
    'x-svc-request-id': request_id,
    'x-request-id': request_id,
    'request-id': request_id,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    ...(is_https ? { 'strict-transport-security': 'max-age=31536000; includeSubDomains' } : {}),
  };
}

const exposed = [
  'x-svc-request-id',
  'x-request-id',
  'request-id',
  'x-svc-provider',
  'x-svc-region',
  'x-svc-endpoint-id',
  'x-svc-attempts',
  'x-svc-cost-micro',
  'x-svc-model',
  'x-svc-cache',
  'x-svc-idempotent-replay',
  'x-svc-warnings',
  'x-svc-price-version',
  'x-svc-route-trace',
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
  'x-ratelimit-limit-tokens',
  'x-ratelimit-remaining-tokens',
  'x-ratelimit-reset-tokens',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'svc-version',
].join(', ');

/** For a request from another origin to a public, model or inference route: any origin, never with credentials. */
export const crossOriginHeaders: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': exposed,
};

/** For a request from a console page to a route that admits sessions: that origin, with its cookie. */
export function consoleHeaders(origin: string): Record<string, string> {
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': exposed,
    vary: 'origin',
  };
}

/** The headers that answer a console page's preflight. */
export function consolePreflightHeaders(origin: string, methods: readonly string[]): Record<string, string> {
  return {
    ...consoleHeaders(origin),
    'access-control-allow-methods': methods.join(', '),
    'access-control-allow-headers': 'authorization, content-type, idempotency-key, x-svc-csrf, x-svc-org',
    'access-control-max-age': '600',
  };
}

/** The headers that answer a preflight; `asked` are the headers that the browser wants to send. */
export function preflightHeaders(
  methods: readonly string[],
  asked: string | undefined,
): Record<string, string> {
  return {
    'access-control-allow-origin': '*',
    'access-control-allow-methods': methods.join(', '),
    // Any header is allowed: official clients send a dozen of their own, and only the allowed ones can carry a
    // credential of ours.
    'access-control-allow-headers':
      asked !== undefined && /^[\w\-, ]{1,2000}$/.test(asked)
        ? asked
        : 'authorization, content-type, x-api-key',
    'access-control-max-age': '600',
  };
}
