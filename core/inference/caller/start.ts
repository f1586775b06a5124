// Reads what all dialects have in common in a body, before a dialect reads its own fields.
import { isObject, type JsonObject, ServiceError } from '../../kernel/index.ts';
import type { SvcOptions, Warning } from '../canonical/types.ts';
import { optionalBoolean, present, requireString, unsupported } from './read.ts';
import { type Headers, readSvc } from './svc.ts';

/** Routing fields of other gateways. Accepting them silently would ignore a routing or privacy preference. */
const ELSEWHERE = [
  ['models', 'use svc.route.fallback_models'],
  ['provider', 'use svc.route.providers and svc.route.require'],
  ['plugins', 'use the tools of the model'],
  // Providers bill each source that such a search reads.
  ['search_parameters', 'use the tools of the model'],
  ['transforms', 'the gateway never shortens a prompt'],
  ['route', 'use svc.route.fallbacks'],
] as const;

export interface Start {
  readonly body: JsonObject;
  readonly model: string;
  readonly stream: boolean;
  readonly svc: SvcOptions;
  /** The dialect adds to it while it reads. */
  readonly warnings: Warning[];
}

/**
 * Reads our options, model and stream from an object that has no fields of other gateways; `metadataOf` reads
 * metadata in dialects that have it. @throws ServiceError invalid_request or unsupported_parameter with `param`.
 */
export function readStart(
  value: unknown,
  headers: Headers,
  metadataOf?: (body: JsonObject) => Record<string, string> | undefined,
): Start {
  if (!isObject(value)) throw new ServiceError('invalid_request', 'The body must be a JSON object.');
  for (const [name, advice] of ELSEWHERE) {
    if (present(value[name])) unsupported(name, `'${name}' is not a field of this service; ${advice}.`);
  }
  return {
    body: value,
    model: requireString(value['model'], 'model'),
    stream: optionalBoolean(value['stream'], 'stream') ?? false,
    svc: readSvc(value, headers, metadataOf?.(value)),
    warnings: [],
  };
}
