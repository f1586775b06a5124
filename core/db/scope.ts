// Settings and role of one statement, without a session and without a round trip of their own.
//
// Behind a pooler in transaction mode (PgBouncer) every transaction may run on another connection of the server: what a
// session was told at its start or by SET is not there, and what is set stays behind for somebody else. So the role and
// the settings are set for the transaction alone, by a statement that is sent in front of the one that needs them; both
// go out before the protocol's Sync, which makes them one transaction, one round trip, and one for a pooler too.
import pg from 'pg';
import { sha256Hex } from '../kernel/index.ts';

/** What is set in front of a statement. */
export interface Scope {
  /** Under which the statement is prepared on a connection: the same name has the same text. */
  readonly name: string;
  readonly text: string;
  readonly values: readonly string[];
}

/** The call that sets `name` to the SQL expression `value` for one transaction. */
function setting(name: string, value: string): string {
  return `set_config(${pg.escapeLiteral(name)}, ${value}, true)`;
}

/** `settings` of PostgreSQL, and as `role` the role to act as, for the time of one transaction. */
export function scopeOf(settings: Readonly<Record<string, string>>): Scope {
  const calls = Object.entries(settings).map(([name, value]) => setting(name, pg.escapeLiteral(value)));
  const text = `select ${calls.join(', ')}`;
  // A connection may serve several scopes, and takes a statement by its name for what was prepared under it.
  return { name: `svc.scope.${sha256Hex(text).slice(0, 16)}`, text, values: [] };
}

/** Who sees the rows of one organization alone. */
const TENANT_ROLE = 'svc_tenant';

/** The scope in which the server itself keeps every row of another organization from a statement. */
export function tenantScope(org_id: string): Scope {
  const calls = [setting('role', pg.escapeLiteral(TENANT_ROLE)), setting('svc.org_id', '$1')];
  return { name: 'svc.tenant', text: `select ${calls.join(', ')}`, values: [org_id] };
}

/** The driver's connection as far as a query writes to it. */
interface Wire {
  parse(message: { readonly text: string; readonly name?: string }): void;
  bind(message: { readonly statement?: string; readonly values: readonly unknown[] }): void;
  execute(message: Record<string, never>): void;
}

/** What the driver calls on a query; its published types leave these out. */
interface DriverQuery extends pg.Submittable {
  prepare(wire: Wire): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, wire: Wire): void;
}

type Config = (pg.QueryConfig | pg.QueryArrayConfig) & { readonly queryMode: 'extended' };
type Answer = (error: Error | null, result: pg.QueryResult) => void;
const Query = pg.Query as unknown as new (config: Config, values: undefined, answer: Answer) => DriverQuery;

/** A query of the driver with a scope's statement in front; what that one answers is passed over. */
class ScopedQuery extends Query {
  readonly #scope: Scope;
  readonly #prepared: boolean;
  #entered = false;

  constructor(config: Config, scope: Scope, answer: Answer) {
    super(config, undefined, answer);
    this.#scope = scope;
    this.#prepared = config.name !== undefined;
  }

  override prepare(wire: Wire): void {
    const { name, text, values } = this.#scope;
    if (!this.#prepared) wire.parse({ text });
    wire.bind(this.#prepared ? { statement: name, values } : { values });
    wire.execute({});
    super.prepare(wire);
  }

  override handleDataRow(message: unknown): void {
    if (this.#entered) super.handleDataRow(message);
  }

  override handleCommandComplete(message: unknown, wire: Wire): void {
    if (this.#entered) super.handleCommandComplete(message, wire);
    this.#entered = true;
  }
}

/**
 * Runs one statement with nothing before it and without a plan that was kept: on these terms Citus runs a function as a whole at
 * the server that has the tables. It acts as the login.
 */
export function queryAlone(
  client: pg.ClientBase,
  { name: _, ...statement }: pg.QueryConfig | pg.QueryArrayConfig,
): Promise<pg.QueryResult> {
  return client.query(statement as pg.QueryConfig);
}

/** Names of the scopes' statements that a connection has prepared. */
const prepared = new WeakMap<pg.ClientBase, Set<string>>();

/** Prepares the statement of `scope` on `client`, once; it is parsed alone, so that no fault of another is taken for its own. */
async function prepareScope(client: pg.ClientBase, { name, text, values }: Scope): Promise<void> {
  const names = prepared.get(client) ?? new Set();
  if (names.has(name)) return;
  await client.query({ name, text, values: [...values] });
  prepared.set(client, names.add(name));
}

/**
 * Runs one statement in `scope`: as a transaction of its own, or as a part of the one that `client` has begun, where the
 * scope stays for what comes after. One with a name is prepared, and the scope with it: the first of a connection takes
 * a round trip more.
 */
export async function queryIn(
  client: pg.ClientBase,
  scope: Scope,
  statement: pg.QueryConfig | pg.QueryArrayConfig,
): Promise<pg.QueryResult> {
  if (statement.name !== undefined) await prepareScope(client, scope);
  return new Promise((resolve, reject) => {
    const answer: Answer = (error, result) => {
      if (error === null) return resolve(result);
      // Where the statement was asked for is of more use than where its answer was read.
      Error.captureStackTrace(error);
      reject(error);
    };
    client.query(new ScopedQuery({ ...statement, queryMode: 'extended' }, scope, answer));
  });
}
