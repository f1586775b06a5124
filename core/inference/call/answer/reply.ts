// How an answer or a refusal is sent: headers (docs/api.md#headers) as one flat list, the cheapest form for
// `writeHead`, and the dialect's own error body (docs/errors.md).
import type { Endpoint } from '../../../catalog/index.ts';
import type { ServiceError } from '../../../kernel/index.ts';
import type { Gauges } from '../../../limits/index.ts';
import type { Dialect } from '../../canonical/contract.ts';
import type { Cost, ErrorPlace, Usage, Warning } from '../../canonical/types.ts';
import type { Sink } from '../types.ts';

interface HeadFacts {
  readonly request_id: string;
  readonly svc_version: string;
  readonly model: string;
  readonly provider: string;
  readonly region: string;
  readonly endpoint_id: string;
  readonly attempts: number;
  readonly price_version: string;
  /** Only when the caller sent `x-svc-debug: 1`. */
  readonly trace: string | null;
  readonly warnings: readonly Warning[];
  /** Milliseconds from the first byte of the request to these headers. */
  readonly processing_ms: number;
  readonly org_id: string;
  readonly dialect: Dialect;
  readonly gauges: Gauges | null;
}

/** Appends to `headers` those that every answer has when the call reached a provider, and returns the same list. */
export function replyHeaders(facts: HeadFacts, headers: string[] = []): string[] {
  const { request_id: id } = facts;
  headers.push('x-svc-request-id', id, 'x-request-id', id, 'request-id', id);
  headers.push('x-svc-provider', facts.provider, 'x-svc-region', facts.region);
  headers.push('x-svc-endpoint-id', facts.endpoint_id, 'x-svc-attempts', String(facts.attempts));
  headers.push('x-svc-model', facts.model, 'x-svc-price-version', facts.price_version);
  headers.push('svc-version', facts.svc_version, 'x-content-type-options', 'nosniff');
  headers.push('openai-processing-ms', String(Math.round(facts.processing_ms)));
  const { organization_header } = facts.dialect;
  if (organization_header !== null) headers.push(organization_header, facts.org_id);
  if (facts.gauges !== null) facts.dialect.addLimits(headers, facts.gauges);
  if (facts.warnings.length > 0) headers.push('x-svc-warnings', warningCodes(facts.warnings));
  if (facts.trace !== null) headers.push('x-svc-route-trace', facts.trace);
  return headers;
}

/** The distinct warning codes, separated by commas. */
function warningCodes(warnings: readonly Warning[]): string {
  return [...new Set(warnings.map((warning) => warning.code))].join(',');
}

export interface ErrorFacts extends ErrorPlace {
  readonly attempts: number;
  /** Endpoint of the last attempt; null when there was none. */
  readonly endpoint: Endpoint | null;
  readonly cost_micro_usd: number;
  readonly trace: string | null;
  /** The connection is closed after this answer: the rest of the request's body is not read. */
  readonly close?: boolean;
  readonly gauges: Gauges | null;
}

function retryAfter(error: ServiceError): string[] {
  const waits = error.retry && (error.status === 503 || error.status === 429);
  const ms = error.retry_after_ms ?? (waits ? 1_000 : null);
  return ms === null ? [] : ['retry-after', String(Math.ceil(ms / 1_000)), 'retry-after-ms', String(ms)];
}

/** Sends `error` whole, in the dialect's envelope; returns the status sent. */
export function sendError(sink: Sink, dialect: Dialect, error: ServiceError, facts: ErrorFacts): number {
  const body = JSON.stringify(dialect.error(error, facts));
  const { request_id: id, endpoint } = facts;
  const status = dialect.status(error);
  const headers = [
    ...['content-type', 'application/json', 'content-length', String(Buffer.byteLength(body))],
    ...['x-svc-request-id', id, 'x-request-id', id, 'request-id', id],
    ...['x-svc-attempts', String(facts.attempts), 'x-svc-cost-micro', String(facts.cost_micro_usd)],
    ...(endpoint === null ? [] : ['x-svc-provider', endpoint.provider, 'x-svc-region', endpoint.region]),
    ...(endpoint === null ? [] : ['x-svc-endpoint-id', endpoint.id]),
    ...(facts.trace === null ? [] : ['x-svc-route-trace', facts.trace]),
    ...['x-should-retry', String(error.retry), ...retryAfter(error)],
    ...['cache-control', 'no-store', 'x-content-type-options', 'nosniff'],
    ...(facts.close === true ? ['connection', 'close'] : []),
  ];
  if (facts.gauges !== null) dialect.addLimits(headers, facts.gauges);
  sink.head(status, headers);
  sink.end(body);
  return status;
}

/** Usage of a call that produced nothing. */
export function emptyUsage(): Usage {
  return {
    input_tokens: 0,
    output_tokens: 0,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
    source: 'estimate',
  };
}

/** Cost of a call that is not charged. */
export function noCost(endpoint: Endpoint | null): Cost {
  return { total_micro_usd: 0, lines: [], price_version: endpoint?.price.id ?? '' };
}
