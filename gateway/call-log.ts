// One log line per ended call. It holds ids, codes and numbers only, nothing that a caller or a provider wrote.
import type { AttemptRecord, CallRecord } from '@svc/core/inference/index.ts';
import type { Log } from '@svc/core/kernel/index.ts';

/** Where and how an attempt failed; `http_status` is 0 when no answer came. */
function failureOf({ endpoint, error_class, http_status }: AttemptRecord): object {
  return { endpoint_id: endpoint.id, provider: endpoint.provider, class: error_class, http_status };
}

/**
 * Writes the line of `record`: at `warn` when the call failed through no fault of its caller, otherwise at `info`. The name
 * of a model that is not in the catalog is the caller's own text and is left out.
 */
export function logCall(log: Log, record: CallRecord): void {
  const { grant, endpoint, usage, attempts } = record;
  const failed = attempts.filter(({ error_class }) => error_class !== '').map(failureOf);
  const fields = {
    request_id: record.request_id,
    org_id: grant.org_id,
    key_id: grant.key_id,
    dialect: record.dialect_in,
    model: endpoint?.model_id ?? null,
    provider: endpoint?.provider ?? null,
    status: record.status,
    http_status: record.http_status,
    ...(record.error_code === '' ? {} : { error_code: record.error_code }),
    ...(record.shadow === undefined ? {} : { shadow_of: record.shadow.of }),
    stream: record.stream,
    attempts: attempts.length,
    ...(failed.length === 0 ? {} : { failed }),
    duration_ms: record.duration_ms,
    ttft_ms: record.ttft_ms,
    input_tokens:
      usage === null ? 0 : usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens,
    output_tokens: usage?.output_tokens ?? 0,
    charged_micro_usd: record.charged_micro_usd,
  };
  if (record.status === 'error') log.warn(fields, 'call');
  else log.info(fields, 'call');
}
