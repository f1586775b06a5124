// An operation is declared once; its REST route, its OpenAPI entry, the authorisation test and its GraphQL resolver
// come from the declaration. `run` reaches everything outside its input through its context.
import type { Static, TSchema } from 'typebox';
import type { ErrorCode } from '../errors.ts';
import type { Id, Kind, RequestId } from '../ids.ts';
import type { Log } from '../log.ts';

/** What a key may do. `manage:credits` includes `read:credits`; no other scope includes another. */
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
/** What a member of staff may do; `super` includes all. */
export const staffRoles = ['super', 'finance', 'support', 'catalog', 'compliance'] as const;
export type StaffRole = (typeof staffRoles)[number];

/** What members of a reseller may be given besides their role; its owners and admins may do all of it. */
export const resellerGrants = [
  'reseller.read',
  'reseller.write',
  'storefront.write',
  'reseller.campaigns',
  'reseller.support',
] as const;
export type ResellerGrant = (typeof resellerGrants)[number];

/** Who may call. An operation without an audience does not compile. */
export type Audience =
  | { readonly kind: 'public' }
  /** Any one of `scopes` is enough; `any` admits every valid key. `sandbox: false` refuses test keys. */
  | {
      readonly kind: 'key';
      readonly scopes: readonly [Scope, ...Scope[]] | 'any';
      /** People who may do it as well; `any` is everyone who is signed in. */
      readonly session?: readonly Role[] | 'any';
      /** `only` admits test keys alone (refilling the sandbox book). */
      readonly sandbox?: boolean | 'only';
      /** The key may also be sent as `x-api-key`; only on model routes. */
      readonly x_api_key?: true;
      /** A person must have proved who they are within the last 15 minutes; a key is its own proof. */
      readonly reauthenticated?: true;
      /** A person may do it while the organization is suspended, as they may read. */
      readonly while_suspended?: true;
      /** An owner may do it for 90 days after the organization was closed. */
      readonly while_closed?: true;
    }
  /**
   * People only: a key is refused with `session_required`. `any` is everyone who is signed in, member of an
   * organization or not.
   */
  | {
      readonly kind: 'session';
      readonly roles: readonly [Role, ...Role[]] | 'any';
      /** Only in a reseller, and there by who has this grant; `any`: whoever is of `roles`. */
      readonly reseller?: ResellerGrant | 'any';
      /** The person must have proved who they are within the last 15 minutes. */
      readonly reauthenticated?: true;
      /** Reachable by a session that still lacks the second factor its organization requires (`/v1/auth/*`). */
      readonly without_second_factor?: true;
      /** What staff who look at an organization may do besides reading what its viewers read. */
      readonly for_looks?: true;
      /** It may be done while the organization is suspended, as reading may. */
      readonly while_suspended?: true;
      /** An owner may do it for 90 days after the organization was closed. */
      readonly while_closed?: true;
    }
  /** A callback of a payment rail: the operation itself verifies the signature over the raw bytes. */
  | { readonly kind: 'signed' }
  /** The staff listener and `svcctl`. `any` is every role. */
  | { readonly kind: 'staff'; readonly roles: readonly [StaffRole, ...StaffRole[]] | 'any' };

/** A verified API key, as operations see it. */
export interface KeyCaller {
  readonly kind: 'key';
  readonly org_id: Id<'org'>;
  readonly project_id: Id<'project'>;
  readonly key_id: Id<'key'>;
  readonly environment: Environment;
  readonly scopes: readonly Scope[];
  /** When the key expires; a key cannot create one that lives longer. */
  readonly expires_at: Date | null;
  /** What its organization pays above catalog prices as a reseller's customer; absent: it is nobody's. */
  readonly tier_bps?: number;
  /** The person that the key's rights of management are bound to, with their present role; absent: a service key. */
  readonly maker?: { readonly user_id: Id<'user'>; readonly role: Role | null };
}
/** A verified session. `org_id` and `role` are null until the user has entered an organization. */
export interface SessionCaller {
  readonly kind: 'session';
  readonly session_id: Id<'session'>;
  /** SHA-256 of the token that this request carried: a rotation replaces this token and no later one. */
  readonly token_hash: Uint8Array;
  readonly user_id: Id<'user'>;
  readonly email: string;
  readonly org_id: Id<'org'> | null;
  readonly role: Role | null;
  /** The environment whose rows are read: live, unless `?environment=test` asks for the other. */
  readonly environment: Environment;
  readonly two_factor: boolean;
  /** What the organization pays above catalog prices as a reseller's customer; absent: it is nobody's. */
  readonly tier_bps?: number;
  /** What the person may do in the reseller that the session is in; absent: the organization is no reseller. */
  readonly reseller_grants?: readonly ResellerGrant[];
  /** The organization whose identity provider made the session, which then acts there alone. */
  readonly sso_org_id?: Id<'org'>;
  /** When the person last proved who they are (sign-in or re-authentication). */
  readonly proved_at: Date;
  /**
   * Why this session can reach nothing but `/v1/auth/*`: its organization does not admit sessions from this address,
   * requires a second factor that the session lacks, or is closed. Absent when nothing bars it.
   */
  readonly barred?: 'ip_not_allowed' | 'two_factor_required' | 'org_closed';
  /** A member of staff looks at the organization: reads what a viewer reads, and nothing else. */
  readonly looking?: {
    readonly staff_id: Id<'staff'>;
    readonly reason: string;
    readonly expires_at: Date;
  };
  /**
   * Its organization is suspended, and why: the session reads, and changes nothing. `org_closed`: its owner reads what was paid
   * and spent, and nothing else.
   */
  readonly suspended?: 'org_inactive' | 'payment_hold' | 'org_closed';
}
/** A session inside an organization. */
export type MemberCaller = SessionCaller & { readonly org_id: Id<'org'>; readonly role: Role };
export interface StaffCaller {
  readonly kind: 'staff';
  /** Who acts, for the audit log: an e-mail address, or `svcctl`. */
  readonly name: string;
  /** Null for `svcctl`, which has direct access to the database. */
  readonly staff_id: Id<'staff'> | null;
  /** The staff session; absent for `svcctl`. */
  readonly session_id?: Id<'session'>;
  readonly roles: readonly StaffRole[];
}
/** The directory of an organization, by one of its tokens. */
export interface ScimCaller {
  readonly kind: 'scim';
  readonly org_id: Id<'org'>;
  readonly token_id: Id<'scim_token'>;
  /** The end of the token, by which people tell it from others. */
  readonly hint: string;
}
export type Caller = { readonly kind: 'public' } | KeyCaller | SessionCaller | StaffCaller | ScimCaller;

/** One prepared statement; `name` identifies it in metrics and logs. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  readonly values?: readonly unknown[];
  /** It is one call of a function, which a cluster may run where the tables are, if nothing else is in its transaction. */
  readonly alone?: true;
}
export interface Db {
  query<Row>(statement: Statement): Promise<{ rows: Row[]; rowCount: number }>;
}

/** The ledgers of the installation. Each is a shard: a database with a schema in it. */
export interface Shards {
  /** All shards that the configuration lists; `main` is in the product's own database. */
  readonly names: readonly string[];
  /** The shards that take the books of new organizations. */
  readonly open: readonly string[];
  /** The connections of a shard. @throws Error when the configuration does not list `name`. */
  at(name: string): Db;
}

/**
 * Parts of the process that operations may use. Each concept adds its own by declaration merging, so that the kernel
 * knows none of them.
 */
// biome-ignore lint/suspicious/noEmptyInterface: filled by the concepts
export interface Services {}

export interface Context {
  readonly request_id: RequestId;
  readonly caller: Caller;
  /**
   * Where the caller acts for an organization, rows of others are kept from it by the server itself (row-level
   * security): a statement that forgets to name its organization finds nothing more.
   */
  readonly db: Db;
  /**
   * The same context, whose `db` reaches every organization: for what is between organizations (a gift, an invitation, the
   * memberships of a person).
   */
  readonly acrossOrgs: Context;
  /**
   * A write to a shard is never part of `transaction`: the transaction stores a task, which is done after the commit
   * (core/ledger/tasks).
   */
  readonly shards: Shards;
  readonly log: Log;
  readonly services: Services;
  /**
   * Names the request under its `Idempotency-Key`, the same whenever it is sent again: for operations that go on with what an
   * earlier process has begun. Absent: it was sent without one.
   */
  readonly once?: string;
  /** Network address of the caller; null where there is none (`svcctl`, workflows). */
  readonly client_ip: string | null;
  now(): Date;
  newId<K extends Kind>(kind: K): Id<K>;
  /** Runs `work` in one transaction; inside, `context.db` is that transaction. A throw rolls back. */
  transaction<T>(work: (context: Context) => Promise<T>): Promise<T>;
  /**
   * Runs `effect` once the outermost transaction has committed, or at once outside a transaction. Its context is
   * outside any transaction. The promise of the transaction resolves when `effect` has finished.
   */
  afterCommit(effect: (context: Context) => void | Promise<void>): void | Promise<void>;
  /** Sets a header of the answer (`x-svc-analytics-lag-s`). Does nothing where there is no HTTP answer. */
  header(name: string, value: string): void;
  /** A header of the request (`name` in lower case); null when it is absent or there is no HTTP request. */
  requestHeader(name: string): string | null;
}

/** An answer that is a file instead of JSON (`format=csv`, a PDF, a text); `run` may return it instead of its output. */
export class FileAnswer {
  readonly content_type: string;
  readonly filename: string;
  /** Pieces are sent as they come, and no faster than they are read. */
  readonly body: string | Buffer | AsyncIterable<string | Uint8Array>;
  /** Shown where it is asked for, not saved: an image. */
  readonly inline: boolean;
  /** Of an answer that stands for a refusal; absent: 200. */
  readonly status: 404 | undefined;

  constructor(file: {
    content_type: string;
    filename: string;
    body: string | Buffer | AsyncIterable<string | Uint8Array>;
    inline?: true;
    status?: 404;
  }) {
    this.content_type = file.content_type;
    this.filename = file.filename;
    this.body = file.body;
    this.inline = file.inline ?? false;
    this.status = file.status;
  }
}

/** An answer of server-sent events, which goes on until its reader leaves or `signal` says so. */
export class EventAnswer extends FileAnswer {
  /** The text of the events, as it goes over the wire; asked for more when the reader has taken the last. */
  readonly open: (signal: AbortSignal) => AsyncIterable<string>;

  constructor(open: (signal: AbortSignal) => AsyncIterable<string>) {
    super({ content_type: 'text/event-stream; charset=utf-8', filename: '', body: '' });
    this.open = open;
  }
}

export interface Operation<I extends TSchema = TSchema, O extends TSchema = TSchema> {
  /** Dotted name, `keys.rotate`: the action in the audit log and the operationId in OpenAPI. */
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Path with `:param` segments. */
  readonly path: string;
  readonly summary: string;
  readonly audience: Audience;
  /** Members of path, query and body in one object; their names do not clash. */
  readonly input: I;
  readonly output: O;
  /** Refusals beyond those that every operation may return (400, 401, 403, 404, 429, 500). */
  readonly errors: readonly ErrorCode[];
  readonly status?: 200 | 201 | 204;
  /** Whether an answer is that of an earlier call, which is 200 where a new one is 201. */
  isReplay?(output: Static<O>): boolean;
  /**
   * The answer is stored for 24 h under the caller's `Idempotency-Key`. For POSTs that create or move money or
   * secrets.
   */
  readonly idempotent?: true;
  /**
   * The operation calls an outside party between transactions of its own, so `runOnce` does not put a transaction
   * around it, and what it wrote before a refusal stays. Running it again under the same `Idempotency-Key` must be
   * harmless.
   */
  readonly own_transactions?: true;
  /**
   * Why it reaches across organizations where the caller acts for one: it is about a person, who may be a member of
   * several. Absent: rows of other organizations are kept from it (`Context.db`).
   */
  readonly across_orgs?: string;
  /** Of a body that may be larger than others: its size, and how many members and items it may have. */
  readonly body_limit?: { readonly bytes: number; readonly items: number };
  /** A read sends the `ETag` of what it shows, and a write honours `If-Match` (`version.ts`). */
  readonly versioned?: true;
  /** Browser pages of any origin may call it, without credentials. */
  readonly cross_origin?: true;
  /** What a trusted proxy asks for itself, for no client of its own, is not counted: strangers make it ask. */
  readonly asked_by_proxies?: true;
  /**
   * Clients may keep the answer for `max_age_seconds`, a minute unless given, and ask for it again with its `ETag`. `private`: it
   * depends on who asks, so that nothing between keeps it.
   */
  readonly cached?: { readonly scope: 'public' | 'private'; readonly max_age_seconds?: number };
  /** A media type of the answer, returned as a `FileAnswer`: CSV beside JSON, a PDF or a text always; events always. */
  readonly produces?:
    | 'text/csv'
    | 'application/pdf'
    | 'application/zip'
    | 'text/markdown'
    | 'application/x-ndjson'
    | 'image/svg+xml'
    | 'image/*'
    | 'text/event-stream';
  /** A text is also answered as this where the request asks for it. */
  readonly also_produces?: 'text/csv' | 'application/pdf';
  /** An example of the request body, shown in OpenAPI; a test checks it against `input`. */
  readonly request?: Partial<Static<I>>;
  /** An example of the answer, shown in OpenAPI; a test checks it against `output`. */
  readonly example?: Static<O>;
  /** For GET and DELETE, members that are not in the path come from the query string; otherwise from the body. */
  run(context: Context, input: Static<I>): Promise<Static<O> | FileAnswer>;
}

/** Declares an operation. The function only infers the types of `run`. */
export function operation<I extends TSchema, O extends TSchema>(
  declaration: Operation<I, O>,
): Operation<I, O> {
  return declaration;
}

/** The key or session that acts for an organization. @throws Error (a defect) for any other caller. */
export function orgCaller(context: Context): KeyCaller | MemberCaller {
  const { caller } = context;
  if (caller.kind === 'key') return caller;
  if (caller.kind === 'session' && caller.org_id !== null && caller.role !== null) {
    return caller as MemberCaller;
  }
  throw new Error('operation reached without an organization');
}
