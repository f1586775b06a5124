// What rows say of canaries: on which side a call was, and whether the first attempt there failed. Only a first attempt
// was chosen by chance; what comes after a failure was not.
import type { RequestRow } from '../types.ts';

interface Sample {
  readonly request_id: string;
  readonly name: string;
  readonly version: number;
  readonly endpoint_id: string;
  readonly is_canary: boolean;
  readonly failed: boolean;
}

/**
 * The sample of a row; null where it is none: no canary, no attempt, an attempt elsewhere than its side asks, or one
 * that its caller ended. Faults of the request itself count, since chance gives both sides as many of them.
 */
function sampleOf({ request_id, route_trace, attempt_rows: [first] }: RequestRow): Sample | null {
  if (route_trace?.canary === undefined || route_trace.version === null || first === undefined) return null;
  const { endpoint_id, arm } = route_trace.canary;
  const is_canary = arm === 'canary';
  if ((first.endpoint_id === endpoint_id) !== is_canary) return null;
  if (first.outcome === 'cancelled' || first.outcome === 'hedge_lost') return null;
  const failed = first.outcome !== 'ok';
  const { policy: name, version } = route_trace;
  return { request_id, name, version, endpoint_id, is_canary, failed };
}

/** The samples of a batch as columns, in the order of `analytics.insert_rows_and_samples`; null where it has none. */
export function sampleColumns(batch: readonly RequestRow[]): readonly unknown[][] | null {
  const samples = batch.map(sampleOf).filter((sample) => sample !== null);
  if (samples.length === 0) return null;
  return [
    samples.map(({ request_id }) => request_id),
    samples.map(({ name }) => name),
    samples.map(({ version }) => version),
    samples.map(({ endpoint_id }) => endpoint_id),
    samples.map(({ is_canary }) => is_canary),
    samples.map(({ failed }) => failed),
  ];
}
