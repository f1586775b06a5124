// The addresses of an installation's database: one that may lead through a pooler in transaction mode, and one that
// does not, for what needs a session: LISTEN, the leader's lock, migrations.
import type { Config } from '../kernel/index.ts';
import { ledgerSchemaOf, withLedgerSchema } from './shard.ts';

const PARAMETER = 'prepared_statements';

/**
 * Whether statements are prepared under names at `url`: unless it has the parameter `prepared_statements=false`, as
 * PgBouncer before 1.21 needs it in transaction mode. @throws Error on another value.
 */
export function isPrepared(url: string): boolean {
  const value = new URL(url).searchParams.get(PARAMETER) ?? 'true';
  if (value !== 'true' && value !== 'false')
    throw new Error(`${PARAMETER} is neither true nor false: ${value}`);
  return value === 'true';
}

export interface DatabaseAddresses {
  readonly url: string;
  /** The same database, without a pooler. */
  readonly direct_url: string;
}

/**
 * Completes what is configured. Who names a direct address has a pooler at the other one: there nothing is prepared
 * under a name unless the address says so.
 */
export function databaseAddresses(url: string, direct: string | null): DatabaseAddresses {
  if (direct === null) return { url, direct_url: url };
  const pooled = new URL(url);
  if (!pooled.searchParams.has(PARAMETER)) pooled.searchParams.set(PARAMETER, 'false');
  return { url: pooled.href, direct_url: withLedgerSchema(direct, ledgerSchemaOf(url)) };
}

/** Those of `config`; null where no database is named. */
export function configuredDatabase(
  config: Pick<Config, 'database_url' | 'database_direct_url'>,
): DatabaseAddresses | null {
  const { database_url: url, database_direct_url: direct } = config;
  return url === null ? null : databaseAddresses(url, direct);
}
