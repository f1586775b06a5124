// Settings and role of one statement, without a session and without a round trip of their own.
//
// Behind a pooler in transaction mode (PgBouncer) every transaction may run on another connection of the server: what a
// session was told at its start or by SET is not there, and what is set stays behind for somebody else. So the role and
// the settings are set for the transaction alone, by a statement that is sent in front of the one that needs them; both
// go out before the protocol's Sync, which makes them one transaction, one round trip, and one for a pooler too.
import pg from 'pg';

/** What is set in front of a statement. */
export interface Scope {
  readonly text: string;
}

/** `settings` of PostgreSQL, and as `role` the role to act as, for the time of one transaction. */
export function scopeOf(settings: Readonly<Record<string, string>>): Scope {
  const calls = Object.entries(settings).map(
    ([name, value]) => `set_config(${pg.escapeLiteral(name)}, ${pg.escapeLiteral(value)}, true)`,
  );
  return { text: `select ${calls.join(', ')}` };
}

const NAME = 'svc.scope';

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
  readonly #scope: { readonly text: string; readonly name?: string };
  #entered = false;

  constructor(config: Config, scope: Scope, answer: Answer) {
    super(config, undefined, answer);
    this.#scope = config.name === undefined ? scope : { text: scope.text, name: NAME };
  }

  override prepare(wire: Wire): void {
    const { name, text } = this.#scope;
    if (name === undefined) wire.parse({ text });
    wire.bind(name === undefined ? { values: [] } : { statement: name, values: [] });
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

/** Connections that have the scope's statement prepared. One connection has one scope. */
const prepared = new WeakSet<pg.ClientBase>();

/**
 * Runs one statement as a transaction of its own in `scope`. One with a name is prepared, and the scope with it: the
 * first of a connection takes a round trip more.
 */
export async function queryIn(
  client: pg.ClientBase,
  scope: Scope,
  statement: pg.QueryConfig | pg.QueryArrayConfig,
): Promise<pg.QueryResult> {
  if (statement.name !== undefined && !prepared.has(client)) {
    await client.query({ name: NAME, text: scope.text });
    prepared.add(client);
  }
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
