// The receiver of docs/webhooks.md, run as it stands there.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { freePort } from '@svc/cli/tools/postgres.ts';
import { eventTypes } from '@svc/core/webhooks/events.ts';
import { expect, test } from 'vitest';
import { atFileEnd } from '../support/ends.ts';
import { endWithUs } from '../support/watch.ts';
import { startWorld } from './world.ts';

const text = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8');
const world = await startWorld();

async function runSnippet(secret: string): Promise<{ url: string; printed: () => string }> {
  const snippet = /```js\n([\s\S]*?)```/.exec(text)?.[1] ?? '';
  const port = await freePort();
  const env = { PATH: process.env['PATH'], WEBHOOK_SECRET: secret, PORT: String(port) };
  // Evaluated code finds packages from the working directory.
  const cwd = new URL('../../', import.meta.url).pathname;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', snippet], {
    ...{ env, cwd, stdio: ['ignore', 'pipe', 'inherit'] as const },
  });
  const ended = once(child, 'exit');
  endWithUs(child.pid as number, ended);
  atFileEnd(async () => {
    child.kill();
    await ended;
  });
  let printed = '';
  child.stdout.on('data', (part) => {
    printed += part;
  });
  const isUp = () =>
    new Promise<boolean>((done) => {
      const socket = createConnection(port, '127.0.0.1', () => {
        socket.destroy();
        done(true);
      });
      socket.on('error', () => done(false));
    });
  await expect.poll(isUp, { timeout: 10_000 }).toBe(true);
  return { url: `http://127.0.0.1:${port}/`, printed: () => printed };
}

test('the receiver of the documentation takes what we send and refuses what we did not', async () => {
  const tenant = await world.tenant('docs');
  const hook = await tenant.hook('http://127.0.0.1:65530/');
  const { url, printed } = await runSnippet(hook.secret);
  await tenant.run('webhooks.update', { id: hook.id, url });
  await tenant.tell('topup.completed', { credits_micro: 1, note: 'é\u2028' });
  await world.drain();
  const [delivery] = await tenant.log(hook.id);
  expect(delivery).toMatchObject({ status: 'delivered', response_code: 204 });
  await expect.poll(printed).toBe(`topup.completed ${delivery!.event_id}\n`);
  const forged = { 'webhook-id': 'evt_x', 'webhook-timestamp': '1795255201', 'webhook-signature': 'v1,AAAA' };
  expect(
    (await fetch(url, { method: 'POST', body: '{"type":"topup.completed"}', headers: forged })).status,
  ).toBe(400);
  expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(400);
});

test('every event that the documentation describes is in the catalog', () => {
  const section = text.slice(text.indexOf('\n## Events'), text.indexOf('\n## Addresses'));
  const described = [...section.matchAll(/^\| ((?:`[a-z_.]+`(?:, )?)+) \|/gm)].flatMap(([, names]) =>
    [...(names as string).matchAll(/`([a-z_.]+)`/g)].map(([, name]) => name as string),
  );
  expect(described.length).toBeGreaterThan(5);
  for (const name of described) expect([name, Object.hasOwn(eventTypes, name)]).toEqual([name, true]);
});
