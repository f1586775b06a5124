// Exports of organizations as their owners make and download them.
import { expect } from 'vitest';
import type { Harness, Tenant } from '../registry/harness.ts';
import { unpack } from '../support/programs/unpack.ts';

type Call = Pick<Harness, 'call'>;

/** A session of a new owner. */
export async function ownerOf(
  world: Pick<Harness, 'makePerson' | 'signIn'>,
  tenant: Tenant,
): Promise<string> {
  return world.signIn(await world.makePerson(tenant, 'owner'));
}

/** Asks for an export. */
export function makeExport({ call }: Call, { org }: Pick<Tenant, 'org'>, key: string) {
  return call('POST', `/v1/orgs/${org.id}/export`, { key });
}

/** Makes an export and downloads it; the files by their path. */
export async function exportOf(world: Call, tenant: Tenant, owner: string): Promise<Map<string, Buffer>> {
  const made = await makeExport(world, tenant, owner);
  expect(made.statusCode, made.body).toBe(201);
  const got = await world.call('GET', (made.json() as { path: string }).path, { key: owner });
  expect([got.statusCode, got.headers['content-type']], got.body.slice(0, 300)).toEqual([
    200,
    'application/zip',
  ]);
  return unpack(got.rawPayload);
}

/** The lines of a file. */
export function linesOf(files: Map<string, Buffer>, name: string): Record<string, unknown>[] {
  return (files.get(`${name}.ndjson`)?.toString() ?? '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
