// Requests to providers in the form that libraries of OpenID Connect ask for, through the guarded client: organizations name
// the addresses.
import type { Egress, EgressResponse } from '../../egress/index.ts';
import { SsoFault } from './fault.ts';

const BYTES_MAX = 262_144;

function asResponse(answer: Extract<EgressResponse, { fault: null }>): Response {
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers))
    if (value !== undefined) headers.set(name, [value].flat().join(', '));
  const has_body = ![204, 205, 304].includes(answer.status);
  return new Response(has_body ? new Uint8Array(answer.body) : null, { status: answer.status, headers });
}

interface Request {
  readonly method: string;
  readonly headers: Headers | Record<string, string>;
  readonly body?: unknown;
}

/** A fetch of `egress`. It throws SsoFault unsafe_url, provider_unreachable, answer_invalid. */
export function guardedFetch(egress: Egress): (url: string, request: Request) => Promise<Response> {
  return async (url, { method, headers, body }) => {
    if ((await egress.refusalOf(url)) !== null) throw new SsoFault('unsafe_url');
    const answer = await egress.exchange({
      url,
      method: method === 'POST' ? 'POST' : 'GET',
      headers: Object.fromEntries(headers instanceof Headers ? headers : Object.entries(headers)),
      body: body === undefined || body === null ? null : String(body),
      connect_ms: 3_000,
      total_ms: 8_000,
      body_bytes_max: BYTES_MAX,
    });
    if (answer.fault !== null) throw new SsoFault('provider_unreachable');
    if (!answer.complete) throw new SsoFault('answer_invalid');
    return asResponse(answer);
  };
}
