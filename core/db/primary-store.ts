// Whether a server may be written to. An address that follows the primary can lead to a standby for a moment, and a
// standby answers: with keys that were revoked since, with balances of before. libpq has `target_session_attrs` for that.
import type pg from 'pg';
import { isSpread } from './citus-store.ts';

/** The server is a standby, or was a primary until a moment ago: the same as one that is away (faults.ts). */
class StandbyError extends Error {
  readonly code = '25006';
  override readonly name = 'StandbyError';
}

/** A new connection that is not answered for three seconds leads nowhere. */
const QUESTION = {
  text: `select pg_is_in_recovery() as standby, current_setting('citus.version', true) is not null as citus`,
  query_timeout: 3_000,
};

/** Asks once, after the connection was opened; whether Citus is loaded. @throws StandbyError when the server is a standby. */
async function ask(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ standby: boolean; citus: boolean }>(QUESTION);
  if (rows[0]?.standby === true)
    throw new StandbyError('the address of the database leads to a standby, which cannot be written to');
  return rows[0]?.citus === true;
}

/** Asks once, after the connection was opened. @throws StandbyError when the server is a standby. */
export async function refuseStandby(client: pg.ClientBase): Promise<void> {
  await ask(client);
}

const to_spread = new WeakSet<pg.ClientBase>();

/** The same for the ledger of `schema`, of which it finds out whether a cluster has put it at one of its servers. */
export async function meetLedger(client: pg.ClientBase, schema: string): Promise<void> {
  if ((await ask(client)) && (await isSpread(client, schema))) to_spread.add(client);
}

/** Whether the ledger behind `client` is at one server of a cluster, as it was when the connection was opened. */
export function leadsToSpread(client: pg.ClientBase): boolean {
  return to_spread.has(client);
}

/** Whether `fault` says that the server behind a connection cannot be written to (any more): it must not be used again. */
export function isOfStandby(fault: unknown): boolean {
  return (fault as { code?: unknown } | null)?.code === '25006';
}
