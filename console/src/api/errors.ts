// Every way in which a request can go wrong, as one shape that a page can show: a code to look up, a sentence that
// says what to do, and the request id to quote.
import type { CombinedError } from '@urql/core';

export interface Fault {
  readonly code: string;
  readonly message: string;
  readonly request_id: string | null;
  /** Dotted path of the field that is at fault, as the API names it. */
  readonly field: string | null;
  /** No answer came at all. */
  readonly offline: boolean;
  /** Seconds after which the same request may succeed, where the API says so. */
  readonly retry_after_s: number | null;
  /** Guesses that are left of a code, where the API says so. */
  readonly attempts_left: number | null;
}

function fault(parts: Partial<Fault> & Pick<Fault, 'code' | 'message'>): Fault {
  const nothing = { request_id: null, field: null, retry_after_s: null, attempts_left: null };
  return { ...nothing, offline: false, ...parts };
}

/** What a form finds wrong by itself. */
export function faultOfForm(message: string): Fault {
  return fault({ code: 'invalid_request', message });
}

export const offlineFault = fault({
  code: 'offline',
  message: 'No answer from the server. Check the connection; what you see may be out of date.',
  offline: true,
});

interface Envelope {
  error?: {
    code?: string;
    message?: string;
    param?: string | null;
    request_id?: string;
    details?: { reason?: string; attempts_left?: number };
  };
}

/** The refusal in an answer of `/v1`. */
export async function faultOfResponse(response: Response): Promise<Fault> {
  const body = (await response.json().catch(() => ({}))) as Envelope;
  const { error } = body;
  const wait = Number(response.headers.get('retry-after'));
  return fault({
    code: error?.code ?? `http_${response.status}`,
    message: error?.message ?? 'The server answered in a way the console does not understand.',
    request_id: error?.request_id ?? response.headers.get('x-request-id'),
    field: error?.param ?? null,
    retry_after_s: Number.isFinite(wait) && wait > 0 ? wait : null,
    attempts_left: error?.details?.attempts_left ?? null,
  });
}

/** The fault of a failed GraphQL request: no network, an answer that is not GraphQL's, or a top-level error. */
export function faultOfQuery(error: CombinedError): Fault {
  const [first] = error.graphQLErrors;
  if (first !== undefined) {
    const { code, requestId, request_id } = first.extensions as Record<string, string | undefined>;
    const id = requestId ?? request_id ?? null;
    return fault({ code: code ?? 'internal', message: first.message, request_id: id });
  }
  const response = error.response as Response | undefined;
  if (response === undefined) return offlineFault;
  return fault({
    code: `http_${response.status}`,
    message: 'The server could not answer this. Nothing was changed.',
    request_id: response.headers?.get('x-request-id') ?? null,
  });
}

/** A refusal in the union that a mutation returns: the members of GraphQL's `UserError`. */
export interface UserError {
  readonly code: string;
  readonly message: string;
  readonly path?: readonly string[] | string | null;
  readonly requestId?: string | null;
}

/** A refusal that came as data. */
export function faultOfUserError(error: UserError): Fault {
  const { path } = error;
  return fault({
    code: error.code,
    message: error.message,
    request_id: error.requestId ?? null,
    field: typeof path === 'string' ? path : (path?.join('.') ?? null),
  });
}
