// What a surface hands to a call and what it gets back.
import type { Catalog, Endpoint, Provider } from '../../catalog/index.ts';
import type { Egress } from '../../egress/index.ts';
import type { Log, RequestId } from '../../kernel/index.ts';
import type { KeyGrant } from '../../keys/index.ts';
import type { Claim, Ledgers } from '../../ledger/index.ts';
import type { LimitSlot } from '../../limits/index.ts';
import type { PayloadLog } from '../../payloads/index.ts';
import type { PolicyCache } from '../../policies/index.ts';
import type { Cost, TokenRatio, Usage } from '../../pricing/index.ts';
import type { AffinityMemory, Decided, Health } from '../../routing/index.ts';
import type { Adapter, Dialect, RawLane } from '../canonical/contract.ts';
import type { FaultClass, Stop, Warning } from '../canonical/types.ts';
import type { SandboxUpstream } from '../formats/sandbox/upstream/index.ts';
import type { TokenCounter } from '../tokens/counter.ts';
import type { Credentials } from '../upstream/credentials.ts';
import type { Transport } from '../upstream/exchange.ts';
import type { OwnKeyRing } from '../upstream/own-keys.ts';
import type { Clock } from './clock.ts';
import type { Ticker } from './ticker.ts';

/** One request as it came in, already authenticated. */
export interface Incoming {
  readonly request_id: RequestId;
  readonly dialect: Dialect;
  readonly grant: KeyGrant;
  readonly body: Buffer;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The API key as sent; part of the key that seals an idempotent answer, kept no longer than admission. */
  readonly secret: string;
  /** Path of the route, part of the idempotency scope. */
  readonly path: string;
  /** Network prefix of the caller (v4 /24, v6 /48), never the whole address. */
  readonly client_ip_prefix: string;
  /** What redaction did to the body; absent: nothing. */
  readonly redacted?: { readonly redactions: number; readonly unscanned: number };
  /** Its place under the limits of key and plan; given back by whoever ends the call. */
  readonly place: LimitSlot;
}

/** Where the answer goes. The gateway's is a Node response; nothing here knows of HTTP/1 or HTTP/2. */
export interface Sink {
  /** The caller has left; writes are dropped. */
  readonly gone: boolean;
  /** Status and flat header list; sent with the first bytes. */
  head(status: number, headers: string[]): void;
  /** false: wait for `drain`. */
  write(bytes: Buffer | string): boolean;
  end(bytes: Buffer | string, trailers?: readonly [string, string][]): void;
  /** Closes the connection without an end. */
  destroy(): void;
  /** Set once by the call. */
  onDrain: (() => void) | null;
  onGone: (() => void) | null;
}

/** A left call, or its answer, that can go on for a caller that has come back. */
export interface Reattachable {
  reattach(sink: Sink): void;
}

/** What waits in a process for a caller's return (call/answer/drained.ts). */
export interface Drained {
  /** Remembers `call`, whose caller left, until it ends. */
  add(incoming: Incoming, call: Reattachable): void;
  delete(call: Reattachable): void;
  /** The call that `incoming` is a client's own retry of; null for any other request. It is forgotten here. */
  take(incoming: Incoming): Reattachable | null;
}

type CallStatus = 'ok' | 'error' | 'cancelled' | 'rejected';
export type AttemptOutcome = 'ok' | 'error' | 'timeout' | 'cancelled' | 'hedge_lost';

export interface AttemptRecord {
  /** It is timed by the clock of its call. */
  readonly clock: Clock;
  attempt: number;
  endpoint: Endpoint;
  started_at_ms: number;
  started: number;
  outcome: AttemptOutcome | null;
  http_status: number;
  error_class: FaultClass | 'client_gone' | 'gateway_lost' | 'gateway_defect' | '';
  ttft_ms: number | null;
  duration_ms: number | null;
  output_tokens: number;
}

/** Everything a request row is made of; content never is. */
export interface CallRecord {
  readonly request_id: RequestId;
  readonly grant: KeyGrant;
  readonly dialect_in: string;
  /** What it was, in the words of OpenTelemetry's conventions. */
  readonly operation: string;
  readonly received_at_ms: number;
  /** The caller's own span (W3C Trace Context), as sent; '' where there is none. */
  readonly traceparent: string;
  /** null: refused before it had a place under the limits. */
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
  zdr: boolean;
  /** Its content was handed to the log. */
  logged: boolean;
  app: string;
  user_hash: string;
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
  /** What was decided of the route; null where the call was refused before that. */
  decided: Decided | null;
  insured: boolean;
  warnings: Warning[];
  /** Those of `warnings` that tell what the endpoint of the present attempt cannot take. */
  lost?: readonly Warning[];
  attempts: AttemptRecord[];
}

/** The parts a call needs; one object per process. */
export interface CallDeps {
  /** Public address of the gateway: errors name the page of their code below it. */
  readonly base_url: string;
  readonly ledgers: Ledgers;
  readonly transport: Transport;
  /** The in-process upstream of the sandbox, behind the same exchange as HTTP. */
  readonly sandbox: SandboxUpstream;
  readonly credentials: Credentials;
  /** Callers' own keys at providers. */
  readonly own_keys: OwnKeyRing;
  readonly ticker: Ticker;
  readonly clock: Clock;
  readonly health: Health;
  /** Where calls that belong together were answered last. */
  readonly affinity: AffinityMemory;
  /** Measured bytes per token of an endpoint. */
  ratioOf(endpoint_id: string): TokenRatio;
  /** Counts tokens beside the calls. */
  readonly tokens: TokenCounter;
  readonly log: Log;
  /** The guarded way to media that callers name by address. */
  readonly egress: Egress;
  readonly adapters: ReadonlyMap<string, Adapter>;
  /** By `dialect family`. */
  readonly raw_lanes: ReadonlyMap<string, RawLane>;
  /** Whole answers whose caller left, for its retry. */
  readonly drained: Drained;
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
  /** Content of calls whose organisation keeps it. */
  readonly payloads: Pick<PayloadLog, 'open'>;
  catalog(): Catalog;
  provider(endpoint: Endpoint): Provider;
  record(record: CallRecord): void;
  /** The answer of `request_id` was given again: its row counts it (docs/outcomes.md#replay). */
  replayed(request_id: RequestId): void;
}
