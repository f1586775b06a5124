// The most that a call can cost, before there is a caller, a policy or a balance: for estimates of many calls, and as the sum
// that is set aside for one of them.
import { type Catalog, type Endpoint, findModel } from '../../../catalog/index.ts';
import type { Environment, MicroUsd } from '../../../kernel/index.ts';
import { inputTokensBound, reserve } from '../../../pricing/index.ts';
import type { Dialect } from '../../canonical/contract.ts';
import { candidatesOf, hasCacheHints } from '../admit/draft.ts';
import { promptSize } from '../admit/prompt.ts';
import { searchUnitsOf } from '../admit/task.ts';

interface Asked {
  /** The parsed body, as callers send it. */
  readonly body: unknown;
  readonly environment: Environment;
  /** The only endpoint that may be tried; '': any of the model. */
  readonly endpoint_id: string;
}

function endpointsOf(catalog: Catalog, model: string, { environment, endpoint_id }: Asked): Endpoint[] {
  const all = findModel(catalog, model, environment)?.endpoints ?? [];
  // A provider key that is missing here may be there in the process that makes the call.
  return all.filter(({ id, status }) => status === 'active' && (endpoint_id === '' || id === endpoint_id));
}

/**
 * What the most expensive endpoint of the model would hold for the whole output that it may give; null where no endpoint
 * can be tried. @throws ServiceError what reading the body refuses.
 */
export function mostOfCall(catalog: Catalog, dialect: Dialect, asked: Asked): MicroUsd | null {
  const request = dialect.read(asked.body, {});
  const endpoints = endpointsOf(catalog, request.model, asked);
  if (endpoints.length === 0) return null;
  const max_tokens = request.generation.max_tokens ?? null;
  const able = endpoints.filter(({ max_output }) => max_tokens === null || max_tokens <= max_output);
  const wanted = reserve(able.length === 0 ? endpoints : able, {
    input_tokens_bound: inputTokensBound(promptSize(request, Buffer.from(JSON.stringify(asked.body)))),
    max_tokens,
    candidates: candidatesOf(request),
    // A hold in steps begins lower and ends here.
    upstream_stream: false,
    cache_hints: hasCacheHints(request),
    audio_output: request.output?.modalities?.includes('audio') ?? false,
    image_output: request.output?.modalities?.includes('image') ?? true,
    search_units: searchUnitsOf(request),
    available_micro_usd: null,
  });
  return wanted.status === 'ok' ? wanted.amount_micro_usd : null;
}
