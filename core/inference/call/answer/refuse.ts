// A request that is refused before it is a call: nothing was read of its body, nothing held, nothing tried.
import { type RequestId, type ServiceError, ulidMs } from '../../../kernel/index.ts';
import type { KeyGrant } from '../../../keys/index.ts';
import type { Gauges } from '../../../limits/index.ts';
import type { Dialect } from '../../canonical/contract.ts';
import { endRecord, newRecord } from '../record.ts';
import type { CallDeps, Incoming, Sink } from '../types.ts';
import { sendError } from './reply.ts';

const NO_BODY = Buffer.alloc(0);

/** What is known of such a request. */
interface EarlyRequest {
  readonly request_id: RequestId;
  readonly dialect: Dialect;
  /** null: its key is unknown, or was not looked at. */
  readonly grant: KeyGrant | null;
  readonly headers: Incoming['headers'];
  readonly path: string;
  readonly client_ip_prefix: string;
  /** The connection ends with the answer. */
  readonly close: boolean;
  /** Its limits, where they were asked. */
  readonly gauges: Gauges | null;
}

/**
 * Answers `request` with `error` in the envelope of its dialect. A known key gets a request row, `rejected` with the
 * code and without attempts; an unknown one has none to get (docs/outcomes.md#refused-before-the-hold).
 */
export function refuseRequest(
  deps: Pick<CallDeps, 'record' | 'base_url' | 'clock'>,
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
  const incoming = { ...request, grant, body: NO_BODY, secret: '', place: null };
  const received_at_ms = ulidMs(request_id);
  const record = newRecord(incoming, received_at_ms);
  endRecord(record, error.code === 'internal' ? 'error' : 'rejected', status, error.code);
  record.duration_ms = record.gw_overhead_ms = Math.max(0, deps.clock.nowMs() - received_at_ms);
  deps.record(record);
}
