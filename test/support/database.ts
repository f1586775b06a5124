// Gives a test file a database of its own, cloned from the migrated template.
import { randomUUID } from 'node:crypto';
import { spreadLedger } from '@svc/core/db/index.ts';
import pg from 'pg';
import { inject } from 'vitest';
import { openClusterDatabase } from '../citus/cluster.ts';
import { cluster, sharded, usualLedgers } from './books.ts';
import { atFileEnd } from './ends.ts';

async function asAdmin(statement: string): Promise<void> {
  const url = new URL(inject('postgres'));
  url.pathname = '/postgres';
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** A database of the cluster with two ledgers, each at one of its servers. */
async function openInCluster(name: string): Promise<TestDatabase> {
  const database = await openClusterDatabase(name, new URL(inject('postgres')).pathname.slice(1));
  for (const { url } of usualLedgers(database.url)) await spreadLedger(url);
  return database;
}

/** A new migrated database; the caller drops it. */
export async function openTestDatabase(): Promise<TestDatabase> {
  const name = `t_${randomUUID().replaceAll('-', '').slice(0, 20)}`;
  if (cluster.length > 0) return openInCluster(name);
  // With three ledgers one has a database of its own (books.ts).
  const all = sharded ? ['', '_b'] : [''];
  for (const more of all) await asAdmin(`create database ${name}${more} template svc_template${more}`);
  const url = new URL(inject('postgres'));
  url.pathname = `/${name}`;
  const drop = async () => {
    for (const more of all) await asAdmin(`drop database if exists ${name}${more} with (force)`);
  };
  return { url: url.href, drop };
}

/** The URL of a new migrated database, which is dropped at the end of the file. */
export async function createTestDatabase(): Promise<string> {
  const { url, drop } = await openTestDatabase();
  atFileEnd(drop);
  return url;
}
