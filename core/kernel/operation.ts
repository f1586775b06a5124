// An operation is declared once; routes, OpenAPI, authorisation walk and GraphQL resolvers come from the
// declaration. `run` gets everything that is not pure through its context.
import type { Static, TSchema } from 'typebox';
import type { ErrorCode } from './errors.ts';
import type { Id, Kind, RequestId } from './ids.ts';
import type { Log } from './log.ts';

/** What a key may do. `manage:credits` contains `read:credits`; no other containment. */
export const scopes = [
  'inference',
  'read:usage',
  'read:credits',
  'manage:credits',
  'manage:keys',
  'manage:policies',
] as const;
export type Scope = (typeof scopes)[number];
export type Role = 'owner' | 'admin' | 'developer' | 'billing' | 'viewer';
export type Environment = 'live' | 'test';
/** What a member of staff may do; `super` contains all. */
export const staffRoles = ['super', 'finance', 'support', 'catalog', 'compliance'] as const;
export type StaffRole = (typeof staffRoles)[number];

/** Who may call. An operation without an audience does not compile. */
export type Audience =
  | { readonly kind: 'public' }
  /** Any one of `scopes` is enough; `any` is every valid key. `sandbox: false` refuses test keys. */
  | {
      readonly kind: 'key';
      readonly scopes: readonly [Scope, ...Scope[]] | 'any';
      readonly session?: readonly Role[];
      /** `only` admits nothing but test keys (the sandbox book's refill). */
      readonly sandbox?: boolean | 'only';
      /** The key may also stand in `x-api-key`: model routes alone. */
      readonly x_api_key?: true;
    }
  /** People alone: a key is told `session_required`. `any` is whoever is signed in, a member or not yet. */
  | {
      readonly kind: 'session';
      readonly roles: readonly [Role, ...Role[]] | 'any';
      /** Needs a proof of the person not older than 15 minutes. */
      readonly reauthenticated?: true;
      /** Reachable with a session that still lacks the second factor its organisation asks for (`/v1/auth/*`). */
      readonly without_second_factor?: true;
    }
  /** A rail's callback: the operation itself verifies the signature over the raw bytes. */
  | { readonly kind: 'signed' }
  /** The staff listener and `svcctl`. `any` is every role. */
  | { readonly kind: 'staff'; readonly roles: readonly [StaffRole, ...StaffRole[]] | 'any' };

/** A verified API key as operations see it. */
export interface KeyCaller {
  readonly kind: 'key';
  readonly org_id: Id<'org'>;
  readonly project_id: Id<'project'>;
  readonly key_id: Id<'key'>;
  readonly environment: Environment;
  readonly scopes: readonly Scope[];
  /** When the key itself ends; a key cannot make one that lives longer. */
  readonly expires_at: Date | null;
}
/** A verified session. `org_id` and `role` are null until the user has entered an organisation. */
export interface SessionCaller {
  readonly kind: 'session';
  readonly session_id: Id<'session'>;
  /** SHA-256 of the token this request came with: a rotation replaces that one and no later one. */
  readonly token_hash: Uint8Array;
  readonly user_id: Id<'user'>;
  readonly email: string;
  readonly org_id: Id<'org'> | null;
  readonly role: Role | null;
  /** Whose rows are read: live unless `?environment=test` asks for the others. */
  readonly environment: Environment;
  readonly two_factor: boolean;
  /** When the person last proved who they are (sign-in or re-authentication). */
  readonly proved_at: Date;
  /**
   * Why this session may reach nothing but `/v1/auth/*`: its organisation admits no session from this address, asks
   * for a second factor that this one lacks, or is closed. Absent: nothing bars it.
   */
  readonly barred?: 'ip_not_allowed' | 'two_factor_required' | 'org_inactive';
}
/** A session inside an organisation. */
export type MemberCaller = SessionCaller & { readonly org_id: Id<'org'>; readonly role: Role };
export interface StaffCaller {
  readonly kind: 'staff';
  /** Who acts, for audit: an e-mail address, or `svcctl`. */
  readonly name: string;
  /** Null for `svcctl`, which holds the database itself. */
  readonly staff_id: Id<'staff'> | null;
  /** The session acted in; absent for `svcctl`. */
  readonly session_id?: Id<'session'>;
  readonly roles: readonly StaffRole[];
}
export type Caller = { readonly kind: 'public' } | KeyCaller | SessionCaller | StaffCaller;

/** One prepared statement; `name` is its label in metrics and logs. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  readonly values?: readonly unknown[];
}
export interface Db {
  query<Row>(statement: Statement): Promise<{ rows: Row[]; rowCount: number }>;
}

/** The ledgers of the installation, each one in a schema of its own. */
export interface Shards {
  /** All that the configuration lists; `main` is in the product's own database. */
  readonly names: readonly string[];
  /** Those that take the books of new organisations. */
  readonly open: readonly string[];
  /** Its connections. @throws Error on a name that the configuration does not list. */
  at(name: string): Db;
}

/**
 * Process-wide parts that operations may ask for. Each concept adds its own by declaration merging, so that
 * the kernel knows none of them.
 */
// biome-ignore lint/suspicious/noEmptyInterface: filled by the concepts
export interface Services {}

export interface Context {
  readonly request_id: RequestId;
  readonly caller: Caller;
  readonly db: Db;
  /** Never part of `transaction`: what moves there is ordered here and done after the commit (core/ledger/tasks). */
  readonly shards: Shards;
  readonly log: Log;
  readonly services: Services;
  /** Network address of the caller, null where there is none (`svcctl`, workflows). */
  readonly client_ip: string | null;
  now(): Date;
  newId<K extends Kind>(kind: K): Id<K>;
  /** Runs `work` in one transaction; inside, `context.db` is that transaction. A throw rolls back. */
  transaction<T>(work: (context: Context) => Promise<T>): Promise<T>;
  /**
   * Runs `effect` once the outermost transaction has committed (at once outside one), with a context outside any; the
   * transaction's promise resolves when it has ended.
   */
  afterCommit(effect: (context: Context) => void | Promise<void>): void | Promise<void>;
  /** Sets a header of the answer (`x-svc-analytics-lag-s`). No effect where the surface has none. */
  header(name: string, value: string): void;
  /** A header of the request (lower-case `name`), null when absent or where the surface has none. */
  requestHeader(name: string): string | null;
}

/** An answer that is a file instead of JSON (`format=csv`); `run` may return it in place of its output. */
export class FileAnswer {
  readonly content_type: string;
  readonly filename: string;
  readonly body: string;

  constructor(file: { content_type: string; filename: string; body: string }) {
    this.content_type = file.content_type;
    this.filename = file.filename;
    this.body = file.body;
  }
}

export interface Operation<I extends TSchema = TSchema, O extends TSchema = TSchema> {
  /** Dotted name, `keys.rotate`: audit action and OpenAPI operationId. */
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Path with `:param` segments. */
  readonly path: string;
  readonly summary: string;
  readonly audience: Audience;
  /** Path, query and body members in one object; names do not clash. */
  readonly input: I;
  readonly output: O;
  /** Refusals beyond the common ones (400, 401, 403, 404, 429, 500). */
  readonly errors: readonly ErrorCode[];
  readonly status?: 200 | 201 | 204;
  /** `Idempotency-Key` is stored for 24 h: POSTs that make or move money or secrets. */
  readonly idempotent?: true;
  /**
   * Asks an outside party between transactions of its own, so `runOnce` puts none around it: what it wrote before a
   * refusal stays. Running it again under the same `Idempotency-Key` must do no harm.
   */
  readonly own_transactions?: true;
  /** Browsers of any origin may call, without credentials. */
  readonly cross_origin?: true;
  /** Second media type of the answer beside JSON, given as a `FileAnswer`. */
  readonly produces?: 'text/csv';
  /** One documented body of a request; a test checks it against `input`. */
  readonly request?: Partial<Static<I>>;
  /** One documented answer; the OpenAPI document shows it and a test checks it against `output`. */
  readonly example?: Static<O>;
  /** GET and DELETE: members not in the path are in the query string; else they are the body. */
  run(context: Context, input: Static<I>): Promise<Static<O> | FileAnswer>;
}

/** Declares an operation; only gives `run` its types. */
export function operation<I extends TSchema, O extends TSchema>(
  declaration: Operation<I, O>,
): Operation<I, O> {
  return declaration;
}

/** Who acts for an organisation: a key, or a session inside it. @throws Error (a defect) for anyone else. */
export function orgCaller(context: Context): KeyCaller | MemberCaller {
  const { caller } = context;
  if (caller.kind === 'key') return caller;
  if (caller.kind === 'session' && caller.org_id !== null && caller.role !== null) {
    return caller as MemberCaller;
  }
  throw new Error('operation reached without an organisation');
}
