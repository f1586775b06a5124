// What a surface passes to a call and what it gets back.
import type { Catalog, Endpoint, Provider } from '../../catalog/index.ts';
import type { Egress } from '../../egress/index.ts';
import type { Log, MicroUsd, RequestId } from '../../kernel/index.ts';
import type { Grant } from '../../keys/index.ts';
import type { Claim, Ledgers } from '../../ledger/index.ts';
import type { LimitSlot } from '../../limits/index.ts';
import type { PayloadLog } from '../../payloads/index.ts';
import type { PolicyCache } from '../../policies/index.ts';
import type { Cost, TokenRatio, Usage } from '../../pricing/index.ts';
import type { AffinityMemory, Decided, DrawnShadow, Health, RouteLeft } from '../../routing/index.ts';
import type { Adapter, Dialect, RawLane } from '../canonical/contract.ts';
import type { FaultClass, Generation, Stop, Warning } from '../canonical/types.ts';
import type { TokenCounter } from '../tokens/counter.ts';
import type { Credentials } from '../upstream/credentials.ts';
import type { Transport } from '../upstream/exchange.ts';
import type { InProcessUpstream } from '../upstream/in-process.ts';
import type { OwnKeyRing } from '../upstream/own-keys.ts';
import type { TopLevel } from '../wire/scan.ts';
import type { Clock } from './clock.ts';
import type { Ticker } from './ticker.ts';

/** One authenticated request as it arrived. */
export interface Incoming {
  readonly request_id: RequestId;
  readonly dialect: Dialect;
  readonly grant: Grant;
  readonly body: Buffer;
  /** The body is large or dense: it is read in slices, so that no other caller waits for it. */
  readonly in_slices: boolean;
  /** Members of all objects of the body, duplicates included, where they were counted as it came; else null. */
  readonly members: number | null;
  /** Where the members of the body itself are, where that was noted as it came; else null. */
  readonly top: TopLevel | null;
  /** Names are lower-case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /**
   * The API key as sent. It is part of the key that encrypts an idempotent answer, and is kept only until the end of
   * admission.
   */
  readonly secret: string;
  /** Path of the route, part of the idempotency scope. */
  readonly path: string;
  /** Network prefix of the caller (v4 /24, v6 /48), never the whole address. */
  readonly client_ip_prefix: string;
  /** What redaction did to the body; absent: nothing. */
  readonly redacted?: { readonly redactions: number; readonly unscanned: number };
  /**
   * The most that the call may be charged, whatever its provider reports; null: what is held, and more where balance and
   * budgets allow it.
   */
  readonly cost_cap_micro_usd?: MicroUsd | null;
  /** The call's place under the limits of key and plan; whatever ends the call gives it back. */
  readonly place: LimitSlot;
  /** Present: the request is a copy of one that was answered, for a shadow. */
  readonly shadow?: ShadowOf;
}

/** What a copy was made of, and for what. */
export interface ShadowOf {
  /** The call that was answered. */
  readonly of: RequestId;
  readonly drawn: DrawnShadow;
  readonly primary: {
    readonly endpoint_id: string;
    readonly cost_micro_usd: number;
    readonly ttft_ms: number | null;
    readonly stop: string;
  };
}

/** The request of a running call, kept to be copied; it must be told how the call ended. */
export interface KeptCopy {
  ended(record: CallRecord): void;
}

/** The shadows of a process (call/shadow/shadows.ts). */
export interface Shadows {
  /** Keeps the request of a call that was drawn; null: too much is kept or under way, or the day is used up. */
  keep(deps: CallDeps, incoming: Incoming, drawn: DrawnShadow): KeptCopy | null;
  /** Ends the copies under way, and makes no more. */
  stop(): void;
  /** Copies kept or under way. */
  readonly size: number;
  /** How often each outcome was. */
  readonly outcomes: ReadonlyMap<string, number>;
}

/** Where the answer is written. The gateway's is a Node response; nothing here depends on HTTP/1 or HTTP/2. */
export interface Sink {
  /** The caller has left; writes are dropped. */
  readonly gone: boolean;
  /** Status and flat header list; sent with the first bytes. */
  head(status: number, headers: string[]): void;
  /** False: wait for `onDrain`. */
  write(bytes: Buffer | string): boolean;
  end(bytes: Buffer | string, trailers?: readonly [string, string][]): void;
  /** Closes the connection without ending the answer. */
  destroy(): void;
  /** Set once by the call. */
  onDrain: (() => void) | null;
  onGone: (() => void) | null;
}

/** A call whose caller left, or its answer, which can continue for a caller that comes back. */
export interface Reattachable {
  /** Nobody is connected to it. */
  readonly waits: boolean;
  /** Its answer was sent whole, to a connection that may have been given up by then. */
  readonly delivered: boolean;
  reattach(sink: Sink): void;
}

/** The calls of a process that wait for their callers to come back (call/answer/drained.ts). */
export interface Drained {
  /** Keeps `call`, for which its caller may ask again. Of delivered answers only so many are kept. */
  add(incoming: Incoming, call: Reattachable): void;
  delete(call: Reattachable): void;
  /** A call of the key failed: for `awaited_ms` a retry may be that call's, and takes no connected one's place. */
  failed(key_id: string, awaited_ms: number): void;
  /** The call that `incoming` is a client's own retry of; null for any other request. The call is removed. */
  take(incoming: Incoming): Reattachable | null;
}

type CallStatus = 'ok' | 'error' | 'cancelled' | 'rejected';
export type AttemptOutcome = 'ok' | 'error' | 'timeout' | 'cancelled' | 'hedge_lost';

export interface AttemptRecord {
  /** The clock of its call. */
  readonly clock: Clock;
  attempt: number;
  endpoint: Endpoint;
  started_at_ms: number;
  started: number;
  outcome: AttemptOutcome | null;
  http_status: number;
  error_class: FaultClass | 'client_gone' | 'gateway_lost' | 'gateway_defect' | '';
  /** The provider's id of its answer; null while it has none, and of providers that give none. */
  upstream_id: string | null;
  ttft_ms: number | null;
  duration_ms: number | null;
  output_tokens: number;
}

/** Parameters of generation whose values are numbers. */
type AskedNumbers = Readonly<
  Pick<
    Generation,
    | 'max_tokens'
    | 'temperature'
    | 'top_p'
    | 'top_k'
    | 'frequency_penalty'
    | 'presence_penalty'
    | 'seed'
    | 'candidates'
  >
>;

/** Everything that a request row is made of; never content. */
export interface CallRecord {
  readonly request_id: RequestId;
  readonly grant: Grant;
  readonly dialect_in: string;
  /** The kind of operation, as named in OpenTelemetry's conventions. */
  readonly operation: string;
  readonly received_at_ms: number;
  /** The caller's own span (W3C Trace Context) as sent; '' when there is none. */
  readonly traceparent: string;
  /** Null: refused before it had a place under the limits. */
  readonly place: LimitSlot | null;
  status: CallStatus;
  http_status: number;
  error_code: string;
  model: string;
  endpoint: Endpoint | null;
  stop: Stop | null;
  usage: Usage | null;
  cost: Cost | null;
  charged_micro_usd: number;
  stream: boolean;
  /** Numbers that the caller asked for, as sent; texts among the parameters are content. */
  asked: AskedNumbers;
  zdr: boolean;
  /** Its content was passed to the log. */
  logged: boolean;
  app: string;
  user_hash: string;
  session_id: string;
  tags: Record<string, string>;
  user_agent: string;
  client_ip_prefix: string;
  bytes_in: number;
  bytes_out: number;
  tool_calls: number;
  has_images: boolean;
  has_tools: boolean;
  has_schema: boolean;
  ttft_ms: number | null;
  upstream_ttft_ms: number | null;
  duration_ms: number;
  gw_overhead_ms: number;
  /** The routing decision; null when the call was refused before it. */
  decided: Decided | null;
  /** The call is a copy for a shadow. */
  readonly shadow?: ShadowOf;
  /** The caller left, and did not come back. */
  left: RouteLeft | null;
  insured: boolean;
  warnings: Warning[];
  /** Those of `warnings` that say what the request loses on the endpoint of the current attempt. */
  lost?: readonly Warning[];
  attempts: AttemptRecord[];
}

/** What a call needs from its process; one object per process. */
export interface CallDeps {
  /** Public address of the gateway; errors link to their documentation below it. */
  readonly base_url: string;
  readonly ledgers: Ledgers;
  readonly transport: Transport;
  /** The sandbox's provider inside this process, with the same interface as an HTTP exchange. */
  readonly sandbox: InProcessUpstream;
  readonly credentials: Credentials;
  /** Callers' own provider keys. */
  readonly own_keys: OwnKeyRing;
  readonly ticker: Ticker;
  readonly clock: Clock;
  readonly health: Health;
  /** The endpoints that last answered related calls. */
  readonly affinity: AffinityMemory;
  /** How tokens of an endpoint are counted. */
  ratioOf(endpoint_id: string): TokenRatio;
  /** Counts tokens in a worker. */
  readonly tokens: TokenCounter;
  readonly log: Log;
  /** The guarded HTTP client for media that callers name by address. */
  readonly egress: Egress;
  readonly adapters: ReadonlyMap<string, Adapter>;
  /** By `dialect family`. */
  readonly raw_lanes: ReadonlyMap<string, RawLane>;
  /** Answers whose caller left, kept for its retry. */
  readonly drained: Drained;
  readonly shadows: Shadows;
  /** Idempotency claims of a shard after their hold (core/ledger). */
  claims(shard: string): {
    find(scope: string, key_hash: Buffer): Promise<Claim | null>;
    store(args: {
      request_id: RequestId;
      http_status: number;
      sealed_answer: Buffer | null;
    }): Promise<boolean>;
  };
  readonly policies: Pick<PolicyCache, 'policiesOf'>;
  /** Content of calls whose organization stores it. */
  readonly payloads: Pick<PayloadLog, 'open'>;
  catalog(): Catalog;
  provider(endpoint: Endpoint): Provider;
  record(record: CallRecord): void;
  /** The answer of `request_id` was sent again: its row counts that (docs/outcomes.md#replay). */
  replayed(request_id: RequestId): void;
}
