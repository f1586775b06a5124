// `svcctl webhooks` against a gateway: an endpoint from its making to its end.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { startWorld } from '../../../test/graphql/world.ts';
import { runSvcctl } from '../../../test/support/programs/svcctl.ts';
import { startReceiver, withStatus } from '../../../test/webhooks/receiver.ts';

const { harness, gateway } = await startWorld();
const receiver = await startReceiver();
const folder = mkdtempSync(join(tmpdir(), 'svc-webhooks-'));
let base = '';
beforeAll(async () => {
  base = await gateway.listen({ host: '127.0.0.1', port: 0 });
});

const webhooks = (...words: string[]) =>
  runSvcctl(['webhooks', ...words, '--base-url', base, '--key', harness.a.key], { SVC_DATA_DIR: folder });

test('an endpoint is made, tried, changed, switched off and on, rotated, looked at and deleted', async () => {
  expect((await webhooks('list')).out.trim()).toBe('There is no endpoint.');
  const made = await webhooks('create', '--url', receiver.url, '--events', 'topup.completed,key.revoked');
  expect([made.code, made.out]).toEqual([0, expect.stringMatching(/secret, shown once: whsec_\S+\n$/)]);
  const id = made.out.split(' ')[0] as string;
  const [, secret = ''] = /(whsec_\S{32})\n$/.exec(made.out) ?? [];

  const tried = await webhooks('test', id);
  expect([tried.code, tried.out]).toEqual([0, expect.stringContaining('delivered 204')]);
  expect(receiver.verified(secret).map(({ type }) => type)).toEqual(['test.ping']);
  receiver.answer(withStatus(500));
  const failed = await webhooks('test', id, '--json');
  expect([failed.code, JSON.parse(failed.out)]).toMatchObject([1, { status: 'failed', response_code: 500 }]);
  receiver.answer(withStatus(204));

  const off = await webhooks('update', id, '--status', 'disabled', '--events', '*');
  expect(off.out).toContain('disabled (manual)');
  const { id: delivery } = JSON.parse(failed.out) as { id: number };
  const refused = await webhooks('redeliver', id, String(delivery));
  expect([refused.code, refused.out + refused.err]).toEqual([1, expect.stringContaining('409')]);
  expect((await webhooks('update', id, '--status', 'active')).out).toMatch(/ {2}active\n {2}events: \*/);
  const again = await webhooks('redeliver', id, String(delivery));
  expect([again.code, again.out]).toEqual([0, expect.stringContaining('test.ping  queued  attempts 0')]);

  const rotated = await webhooks('rotate', id);
  expect(rotated.out).toMatch(/and the secret before it until .*\n {2}secret, shown once: whsec_/);
  expect(rotated.out).not.toContain(secret);
  expect((await webhooks('list')).out).not.toContain('shown once');

  const log = await webhooks('deliveries', id, '--status', 'failed');
  expect(log.out.trim().split('\n')).toEqual([
    expect.stringMatching(/test\.ping {2}failed 500 {2}attempts 1$/),
  ]);
  const one = await webhooks('deliveries', id, String(delivery));
  expect(one.out).toContain('"message":"ping"');
  const page = await webhooks('deliveries', id, '--limit', '1');
  const cursor = /--cursor (\S+)/.exec(page.out)?.[1] as string;
  expect((await webhooks('deliveries', id, '--cursor', cursor)).out.trim().split('\n')).toHaveLength(2);

  expect((await webhooks('delete', id)).out.trim()).toBe(`${id} is deleted`);
  expect((await webhooks('test', id)).code).toBe(1);
});

test('events are listed; a command line that says too little or nonsense is a matter of usage', async () => {
  expect((await webhooks('events')).out).toMatch(/^topup\.completed +A top-up was paid and booked\.$/m);
  expect((await webhooks('create')).code).toBe(2);
  expect((await webhooks('create', '--url', receiver.url, '--events', 'a b')).code).toBe(2);
  expect((await webhooks('update', 'wh_01KACZ3V8S6T5R4Q3P2N1M0K9J')).code).toBe(2);
  const unknown = await webhooks('create', '--url', receiver.url, '--events', 'topup.done');
  expect([unknown.code, unknown.out + unknown.err]).toEqual([1, expect.stringContaining('no such event')]);
});
