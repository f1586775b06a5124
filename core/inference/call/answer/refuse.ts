// A request that is refused before it becomes a call: its body was not read, nothing was held or tried.

import { type RequestId, type ServiceError, ulidMs } from '../../../kernel/index.ts';
import type { Grant } from '../../../keys/index.ts';
import type { Gauges } from '../../../limits/index.ts';
import type { Dialect } from '../../canonical/contract.ts';
import { endRecord, newRecord } from '../record.ts';
import type { CallDeps, Incoming, Sink } from '../types.ts';
import { awaitedMs } from './comeback.ts';
import { sendError } from './reply.ts';

const NO_BODY = Buffer.alloc(0);

/** What is known about such a request. */
interface EarlyRequest {
  readonly request_id: RequestId;
  readonly dialect: Dialect;
  /** Null: its key is unknown or was not looked up. */
  readonly grant: Grant | null;
  readonly headers: Incoming['headers'];
  readonly path: string;
  readonly client_ip_prefix: string;
  /** The connection is closed after the answer. */
  readonly close: boolean;
  /** Its limits, when they were asked for. */
  readonly gauges: Gauges | null;
}

/**
 * Answers `request` with `error` in the envelope of its dialect. For a known key a request row is written, `rejected`
 * with the code and without attempts; an unknown key has no row (docs/outcomes.md#refused-before-the-hold).
 */
export function refuseRequest(
  deps: Pick<CallDeps, 'record' | 'base_url' | 'clock' | 'drained'>,
  request: EarlyRequest,
  error: ServiceError,
  sink: Sink,
): void {
  const { request_id, dialect, grant, close } = request;
  const { gauges } = request;
  const { base_url } = deps;
  const facts = {
    ...{ request_id, base_url, close, gauges },
    ...{ attempts: 0, endpoint: null, cost_micro_usd: 0, trace: null },
  };
  const status = sendError(sink, dialect, error, facts);
  if (grant === null) return;
  deps.drained.failed(grant.key_id, awaitedMs(request.headers));
  const incoming = { ...request, grant, body: NO_BODY, secret: '', place: null };
  const received_at_ms = ulidMs(request_id);
  const record = newRecord(incoming, received_at_ms);
  endRecord(record, error.code === 'internal' ? 'error' : 'rejected', status, error.code);
  record.duration_ms = record.gw_overhead_ms = Math.max(0, deps.clock.nowMs() - received_at_ms);
  deps.record(record);
}
