// The admin program itself: both listeners and the metrics, up and down again.
import { freePort } from '@svc/cli/tools/postgres.ts';
import { expect, test } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { atFileEnd } from '../support/ends.ts';
import { startGatewayProcess } from '../support/gateway.ts';

const ENTRY = new URL('../../admin-graphql/main.ts', import.meta.url).pathname;

test('the program answers on both listeners, tells its health, and ends on SIGTERM with code 0', async () => {
  const database_url = await createTestDatabase();
  const [port, staff_port, metrics_port] = [await freePort(), await freePort(), await freePort()];
  const program = await startGatewayProcess({
    database_url,
    entry: ENTRY,
    port,
    env: {
      SVC_PORT: '8080',
      SVC_ADMIN_PORT: String(port),
      SVC_STAFF_PORT: String(staff_port),
      SVC_METRICS_PORT: String(metrics_port),
    },
  });
  atFileEnd(() => program.kill());
  for (const at of [port, staff_port]) {
    const health = await fetch(`http://127.0.0.1:${at}/healthz`);
    expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }]);
    const ready = await fetch(`http://127.0.0.1:${at}/readyz`);
    expect(await ready.json()).toMatchObject({ status: 'ready', missing: [] });
    const ask = await fetch(`http://127.0.0.1:${at}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"query":"{__typename}"}',
    });
    expect(ask.status).toBe(401);
  }
  const metrics = await fetch(`http://127.0.0.1:${metrics_port}/metrics`);
  expect(await metrics.text()).toContain('svc_streams_open{program="admin"} 0');
  expect(await program.stop()).toBe(0);
});
