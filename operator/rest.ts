// A client of the gateway's policy API. Answers, refusals and the lack of an answer are all returned as values. The token
// is sent in one header and nowhere else: no log line, status, event or error contains it, and no redirect is followed.
import type { ServiceMetrics } from './metrics.ts';
import type { RateGate } from './rate-gate.ts';
import { sha256Hex } from './system.ts';

const CALL_LIMIT_MS = 15_000;
/** More than a hundred versions of 64 KiB in JSON. */
const ANSWER_BYTES_MAX = 32 * 1024 * 1024;

export interface ServiceFault {
  /** HTTP status; 0 where there was no answer. */
  readonly status: number;
  readonly code: string;
  readonly message: string;
  /** Of `managed_elsewhere`: the manifest that rules the policy. */
  readonly managed_by: string | null;
  /** Of a limited key: when its next request is taken. */
  readonly retry_after_ms: number | null;
}

export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly fault: ServiceFault };

export interface VersionView {
  readonly version: number;
  readonly content_hash: string;
  /** The manifest that wrote it. */
  readonly managed_by: string | null;
  /** The manifest that rules the policy now. */
  readonly policy_managed_by: string | null;
  readonly scopes: readonly { readonly project_id: string | null }[];
}

export interface VerdictView {
  readonly valid: boolean;
  /** Of the first fault. */
  readonly path: string;
  readonly message: string;
  readonly faults: readonly { readonly code?: string }[];
  /** Worth knowing, though the policy stands. */
  readonly notices: readonly { readonly path: string; readonly message: string }[];
}

export interface Gateways {
  readonly applied: number;
  readonly total: number;
}

/** A policy, and where which of its versions rules. */
export interface FollowedPolicy {
  readonly name: string;
  readonly scopes: readonly {
    readonly project_id: string | null;
    readonly version: number;
    readonly gateways: Gateways;
  }[];
}

/** How an endpoint on trial does. */
export interface CanaryView {
  readonly version: number;
  readonly endpoint_id: string;
  readonly state: string;
  /** 0 once it was rolled back. */
  readonly percent: number;
  /** Null without calls. */
  readonly error_rate: number | null;
  readonly samples: number;
  readonly reason: string;
}

export interface Connection {
  readonly base_url: string;
  readonly token: string;
  /** `k8s/<cluster>/<namespace>/<name>` of the object that writes. */
  readonly manifest: string;
}

export interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

interface WriteInput {
  readonly name: string;
  /** Take the policy or scope from the younger manifest that holds it. */
  readonly take_over?: boolean;
}

export interface PolicyService {
  validate(name: string, yaml: string): Promise<Result<VerdictView>>;
  /** The newest 100 versions, newest first; null where there is no such policy. */
  versions(name: string): Promise<Result<readonly VersionView[] | null>>;
  gateways(name: string, version: number): Promise<Result<Gateways>>;
  /** Where which policy rules, and how the gateways follow it. */
  following(): Promise<Result<readonly FollowedPolicy[]>>;
  canaries(name: string): Promise<Result<readonly CanaryView[]>>;
  /** Stores `yaml` as the next version, `first` as the policy's first. */
  write(
    input: WriteInput & { readonly yaml: string; readonly first: boolean; readonly once: string },
  ): Promise<Result<VersionView>>;
  activate(input: WriteInput & ScopeInput & { readonly version: number }): Promise<Result<VersionView>>;
  deactivate(input: WriteInput & ScopeInput): Promise<Result<VersionView>>;
}

export interface ScopeInput {
  readonly project_id: string | null;
  /** Afterwards no manifest manages the policy. */
  readonly release?: boolean;
}

function silence(message: string): ServiceFault {
  return { status: 0, code: 'no_answer', message, managed_by: null, retry_after_ms: null };
}

async function readBounded(reply: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of reply.body ?? []) {
    bytes += piece.byteLength;
    if (bytes > ANSWER_BYTES_MAX) throw new Error(`more than ${ANSWER_BYTES_MAX} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function refusal(reply: Response, body: Record<string, unknown> | null): ServiceFault {
  const error = (body?.['error'] ?? {}) as {
    code?: unknown;
    message?: unknown;
    details?: { managed_by?: unknown };
  };
  const wait_ms = Number(reply.headers.get('retry-after-ms') ?? 1_000);
  const { managed_by } = error.details ?? {};
  return {
    status: reply.status,
    code: typeof error.code === 'string' ? error.code : `status_${reply.status}`,
    message: typeof error.message === 'string' ? error.message : `status ${reply.status}`,
    managed_by: typeof managed_by === 'string' ? managed_by : null,
    retry_after_ms: reply.status === 429 ? Math.max(wait_ms, 50) || 1_000 : null,
  };
}

async function ask(
  { base_url, token, manifest }: Connection,
  { method, path, body, headers = {} }: Call,
): Promise<Result<unknown>> {
  try {
    const reply = await fetch(`${base_url}${path}`, {
      method,
      redirect: 'error',
      signal: AbortSignal.timeout(CALL_LIMIT_MS),
      headers: {
        authorization: `Bearer ${token}`,
        'user-agent': 'svc-operator',
        'x-svc-managed-by': manifest,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const json = parsed(await readBounded(reply));
    if (!reply.ok) return { ok: false, fault: refusal(reply, json) };
    if (reply.status === 204) return { ok: true, value: {} };
    if (json === null) return { ok: false, fault: silence(`${base_url} does not answer in JSON`) };
    return { ok: true, value: json };
  } catch (error) {
    const { message, cause } = error as Error;
    const why = cause instanceof Error && cause.message !== '' ? cause.message : message;
    return { ok: false, fault: silence(`${base_url} does not answer: ${why}`) };
  }
}

/** How often one call may meet a limit before its object is put off to a later look. */
const TURNS_MAX = 20;

function limited(retry_after_ms: number): ServiceFault {
  const message = "the service limits the requests of the key; it goes on when the key's turn comes";
  return { status: 429, code: 'rate_limit_exceeded', message, managed_by: null, retry_after_ms };
}

interface ServiceParts {
  readonly metrics: ServiceMetrics;
  readonly gate: RateGate;
  isWanted(): boolean;
}

/** Calls the service with the limits of its key: a call waits for its turn and, when refused for its rate, tries again. */
export function callerOf(connection: Connection, { metrics, gate, isWanted }: ServiceParts) {
  const key = sha256Hex(`${connection.base_url} ${connection.token}`);
  return async <T>(name: string, input: Call): Promise<Result<T>> => {
    for (let turn = 1; ; turn++) {
      const wait_ms = await gate.pass(key, isWanted);
      if (wait_ms !== null) return { ok: false, fault: limited(wait_ms) };
      const answer = await ask(connection, input);
      metrics.called(name, answer.ok ? 'ok' : answer.fault.code);
      if (answer.ok || answer.fault.retry_after_ms === null) return answer as Result<T>;
      gate.close(key, answer.fault.retry_after_ms);
      if (turn === TURNS_MAX) return { ok: false, fault: limited(answer.fault.retry_after_ms) };
    }
  };
}

/** The policy service at `connection`, on behalf of one object; a call of a limited key waits while `isWanted`. */
export function openService(connection: Connection, parts: ServiceParts): PolicyService {
  const call = callerOf(connection, parts);
  const at = (name: string, rest: string) => `/v1/policies/${encodeURIComponent(name)}${rest}`;
  const over = (take_over: boolean | undefined) => (take_over === true ? { 'x-svc-take-over': '1' } : {});
  const released = (release: boolean | undefined) => (release === true ? { 'x-svc-release': '1' } : {});
  return {
    validate: (name, yaml) =>
      call('validate', { method: 'POST', path: '/v1/policies/validate', body: { name, yaml } }),
    async versions(name) {
      const answer = await call<{ data: readonly VersionView[] }>('versions', {
        method: 'GET',
        path: at(name, '/versions'),
      });
      if (answer.ok) return { ok: true, value: answer.value.data };
      return answer.fault.code === 'not_found' ? { ok: true, value: null } : answer;
    },
    async gateways(name, version) {
      const answer = await call<{ gateways: Gateways }>('gateways', {
        method: 'GET',
        path: at(name, `/versions/${version}`),
      });
      return answer.ok ? { ok: true, value: answer.value.gateways } : answer;
    },
    async following() {
      const answer = await call<{ data: readonly FollowedPolicy[] }>('following', {
        method: 'GET',
        path: '/v1/policies',
      });
      return answer.ok ? { ok: true, value: answer.value.data } : answer;
    },
    async canaries(name) {
      const answer = await call<{ data: readonly CanaryView[] }>('canaries', {
        method: 'GET',
        path: at(name, '/canaries'),
      });
      return answer.ok ? { ok: true, value: answer.value.data } : answer;
    },
    write: ({ name, yaml, first, once, take_over }) =>
      call('write', {
        method: 'POST',
        path: first ? '/v1/policies' : at(name, '/versions'),
        body: first ? { name, yaml } : { yaml },
        headers: { 'idempotency-key': once, ...over(take_over) },
      }),
    activate: ({ name, version, project_id, release, take_over }) =>
      call('activate', {
        method: 'POST',
        path: at(name, '/activate'),
        body: { version, scope: { project_id } },
        headers: { ...over(take_over), ...released(release) },
      }),
    deactivate: ({ name, project_id, release, take_over }) =>
      call('deactivate', {
        method: 'POST',
        path: at(name, '/deactivate'),
        body: { scope: { project_id } },
        headers: { ...over(take_over), ...released(release) },
      }),
  };
}
