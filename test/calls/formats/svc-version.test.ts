// Dates of the native dialect: replies that never change, pins of keys, unknown dates.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { svcVersions } from '@svc/core/keys/index.ts';
import { describe, expect, test } from 'vitest';
import { errorOf, type Json, open, type Reply } from '../caller.ts';
import { idOf, useWorld } from '../world.ts';

const world = useWorld({ models: {} });

const paths = { native: '/v1/svc/generate' } as const;

function post(key: string, path: string, body: object, headers: Record<string, string> = {}) {
  return open(world().gateway.base_url, {
    path,
    body: JSON.stringify(body),
    headers: { authorization: `Bearer ${key}`, ...headers },
  });
}

describe('svc-version', () => {
  const folder = new URL('./golden/', import.meta.url);
  /** What differs from run to run, each replaced by a fixed word. */
  const settled = (text: string, reply: Reply) =>
    text
      .replaceAll(idOf(reply), 'REQUEST')
      .replaceAll(reply.headers['x-svc-endpoint-id'] ?? '-', 'ENDPOINT')
      .replaceAll(reply.headers['x-svc-price-version'] ?? '-', 'PRICE')
      .replaceAll(/"created":\d+/g, '"created":0')
      .replaceAll(/"timing":\{[^}]*\}/g, '"timing":{}');
  const body = (stream: boolean) => ({
    model: 'sandbox/reasoning',
    messages: [{ role: 'user', content: 'Say "é" and stop.' }],
    generation: { max_tokens: 40, top_k: 5 },
    route: { require: { regions: ['local-1'] } },
    stream,
  });

  test.each(svcVersions)('%s has a golden reply, whole and streamed', async (date) => {
    const org = await world().org();
    for (const stream of [false, true]) {
      const reply = await post(org.live_key, paths.native, body(stream), { 'svc-version': date }).reply;
      expect([reply.status, reply.headers['svc-version']]).toEqual([200, date]);
      const file = new URL(`native-${date}.${stream ? 'sse' : 'json'}`, folder);
      const text = settled(reply.text, reply);
      // UPDATE_FIXTURES=1 writes a missing one; a date's reply never changes once it is out.
      if (process.env['UPDATE_FIXTURES'] === '1' && !existsSync(file)) {
        mkdirSync(folder, { recursive: true });
        writeFileSync(file, text);
      }
      expect(text).toBe(readFileSync(file, 'utf8'));
    }
  });

  test('every golden reply is of a known date', () => {
    const dates = readdirSync(folder).map((name) => /^native-(.*)\.(?:json|sse)$/.exec(name)?.[1]);
    expect(new Set(dates)).toEqual(new Set(svcVersions));
  });

  test("a key's pin counts without the header, the header before it, and no other date is known", async () => {
    const org = await world().org();
    const made = await fetch(`${world().gateway.base_url}/v1/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${org.live_key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ project_id: org.project_id, environment: 'live', name: 'pinned', scopes: ['inference'] },
        svc_version: '2026-09-01',
      }),
    });
    const { secret } = (await made.json()) as Json;
    for (const path of [paths.native, '/v1/svc/dry_run']) {
      const ask = (headers: Record<string, string>) => post(secret, path, body(false), headers).reply;
      expect((await ask({})).headers['svc-version']).toBe('2026-09-01');
      expect((await ask({ 'svc-version': '2026-09-09' })).headers['svc-version']).toBe('2026-09-09');
      const unknown = await ask({ 'svc-version': '2026-09-02' });
      expect([unknown.status, errorOf(unknown)?.['code']]).toEqual([400, 'unsupported_version']);
      expect(errorOf(unknown)?.['details'].supported).toEqual([...svcVersions]);
    }
  });
});
