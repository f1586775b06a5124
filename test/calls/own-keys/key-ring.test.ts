// The key ring is rotated as docs/operate/key-ring.md says while a gateway works: nobody notices.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadRootKey, rootKeys } from '@svc/core/kernel/index.ts';
import { expect, test } from 'vitest';
import { runSvcctl } from '../../support/programs/svcctl.ts';
import type { Reply } from '../caller.ts';
import { bodyOf, eventually, type Org } from '../world.ts';
import { useOwnWorld } from './own-keys-world.ts';

const file = join(mkdtempSync(join(tmpdir(), 'svc-ring-')), 'keyring.json');
const world = useOwnWorld(undefined, { gateway: 'alone', env: { SVC_MASTER_KEY_FILE: file } });
const { bring, model, tailsAt } = world;

async function keyring(...args: string[]): Promise<Record<string, unknown>> {
  const env = {
    SVC_DATABASE_URL: world().database_url,
    SVC_MASTER_KEY_FILE: file,
    SVC_DATA_DIR: '/nonexistent',
  };
  const { code, out, err } = await runSvcctl(['keyring', ...args, '--json'], env);
  expect(code, err).toBe(0);
  return JSON.parse(out) as Record<string, unknown>;
}

/** A call, and the same once more when it is asked for: what is kept of the first is sealed. */
function repeatable(org: Org, id: string, key: string): () => Promise<Reply> {
  return () =>
    world().chat(org.live_key, bodyOf(id, `Say ${key}`), { headers: { 'idempotency-key': key } }).reply;
}

/** What the caller paid for, which a repeat gives once more. */
function boughtBy(reply: Reply): object {
  const { id, choices, svc } = JSON.parse(reply.text) as {
    id: string;
    choices: { message: { content: string } }[];
    svc: { request_id: string; cost: object };
  };
  return { id, content: choices[0]?.message.content, request_id: svc.request_id, cost: svc.cost };
}

test('rotated, and the former key removed, while calls go on: each is answered, and what was sealed before opens', async () => {
  const org = await world().org();
  const { id, upstream } = model('a');
  const own = await bring(org, 'own-a');
  const before = repeatable(org, id, 'before');
  const first = await before();
  expect(first.status).toBe(200);
  const [former] = rootKeys(loadRootKey(file));

  const answers: number[] = [];
  let over = false;
  const calls = (async () => {
    while (!over) answers.push((await repeatable(org, id, `call-${answers.length}`)()).status);
  })();
  const { name } = await keyring('add');
  await keyring('promote', name as string);
  const during = repeatable(org, id, 'during');
  const second = await during();
  await keyring('rotate');
  await keyring('remove', former.name);
  const gone = answers.length;
  // The gateway has followed the file to its last state before this ends.
  await eventually('calls after the removal', () => answers.length >= gone + 50, 60_000);
  over = true;
  await calls;
  expect(new Set(answers)).toEqual(new Set([200]));
  expect(new Set(tailsAt(upstream))).toEqual(new Set([own.tail]));

  for (const [again, was] of [
    [before, first],
    [during, second],
  ] as const) {
    const replay = await again();
    expect(replay).toMatchObject({ status: 200, headers: { 'x-svc-idempotent-replay': 'true' } });
    expect(boughtBy(replay)).toEqual(boughtBy(was));
  }
  // What came last is under the new key too, though the gateway was never restarted.
  expect(await keyring('status')).toMatchObject({ outdated: 0, keys: [{ name, is_current: true }] });
}, 120_000);
