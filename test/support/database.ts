// A database of its own for a test file, cloned from the migrated template.
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, inject } from 'vitest';

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

/** Creates a fresh migrated database, dropped after the file; returns its URL. */
export async function createTestDatabase(): Promise<string> {
  const name = `t_${randomUUID().replaceAll('-', '').slice(0, 20)}`;
  await asAdmin(`create database ${name} template svc_template`);
  afterAll(() => asAdmin(`drop database if exists ${name} with (force)`));
  const url = new URL(inject('postgres'));
  url.pathname = `/${name}`;
  return url.href;
}
