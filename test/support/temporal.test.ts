import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { expect, test } from 'vitest';
import { atFileEnd } from './ends.ts';
import { sharedTemporal, startTemporal, startTimeSkipping, type TemporalAddress } from './temporal.ts';

async function connect({ address, namespace }: TemporalAddress): Promise<Client> {
  const connection = await Connection.connect({ address });
  atFileEnd(() => connection.close());
  return new Client({ connection, namespace });
}

const start = (client: Client, workflowId: string) =>
  client.workflow.start('anything', { taskQueue: 'nobody-works-on-this', workflowId });

test('all who ask for the shared server get the same one, and it takes workflows', async () => {
  const [first, second] = await Promise.all([sharedTemporal(), sharedTemporal()]);
  expect(second).toEqual(first);
  const client = await connect(first);
  const handle = await start(client, 'support-shared');
  expect((await handle.describe()).status.name).toBe('RUNNING');
  expect((await fetch(first.ui_url)).status).toBe(200);
});

test('a server with a file knows after kill -9 and restart what it knew before', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-temporal-file-'));
  const temporal = await startTemporal({ db_file: join(dir, 'temporal.db') });
  atFileEnd(async () => {
    await temporal.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  await start(await connect(temporal), 'support-kept');
  await temporal.kill();
  await expect(fetch(temporal.ui_url)).rejects.toThrow();
  await temporal.restart();
  const client = await connect(temporal);
  expect((await client.workflow.getHandle('support-kept').describe()).status.name).toBe('RUNNING');
});

test('the time-skipping server lets a month pass at once', async () => {
  const environment = await startTimeSkipping();
  const before = await environment.currentTimeMs();
  await environment.sleep('30 days');
  expect((await environment.currentTimeMs()) - before).toBeGreaterThanOrEqual(30 * 86_400_000);
});
