// Sends a stored answer again (docs/idempotency.md#calls): same id, usage, cost and warnings, in the form that the
// new request asks for.

import { unfoldAnswer } from '../../canonical/assemble.ts';
import type { Dialect } from '../../canonical/contract.ts';
import type { Replayed } from '../admit/admit.ts';
import { leavePlace } from '../record.ts';
import type { CallRecord, Sink } from '../types.ts';
import { replyHeaders } from './reply.ts';

/** Sends `replayed` as a stream or whole, as the new request asks; marked with `x-svc-idempotent-replay: true`. */
export function sendReplay(sink: Sink, dialect: Dialect, replayed: Replayed, record: CallRecord): void {
  leavePlace(record);
  const { stored, stream, include_usage, id } = replayed;
  const { answer, end } = stored;
  const meta = { ...stored.meta, include_usage };
  const cost = String(end.cost.total_micro_usd);
  const headers = [
    ...replyHeaders({
      request_id: id,
      svc_version: record.grant.svc_version,
      model: meta.model,
      provider: meta.provider,
      region: stored.region,
      endpoint_id: meta.endpoint_id,
      attempts: stored.attempts,
      price_version: end.cost.price_version,
      trace: null,
      warnings: end.warnings,
      processing_ms: 0,
      org_id: record.grant.org_id,
      dialect,
      gauges: record.place?.gauges ?? null,
    }),
    ...['x-svc-idempotent-replay', 'true', 'cache-control', 'no-store'],
  ];
  if (!stream) {
    const body = Buffer.from(dialect.write(answer, meta, end));
    const length = String(body.length);
    sink.head(200, [
      'content-type',
      'application/json',
      'content-length',
      length,
      'x-svc-cost-micro',
      cost,
      ...headers,
    ]);
    return sink.end(body);
  }
  const writer = dialect.writer(meta);
  sink.head(200, [
    'content-type',
    'text/event-stream; charset=utf-8',
    'trailer',
    'x-svc-cost-micro',
    ...headers,
  ]);
  let text = '';
  for (const event of unfoldAnswer(answer)) text += writer.write(event);
  sink.write(text);
  sink.end(writer.end(end), [['x-svc-cost-micro', cost]]);
}
