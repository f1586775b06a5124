// `npm audit` itself, before a registry that the test plays: what it answers decides what is said.
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { askAudit, readAudit } from './audit.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const TODAY = '2026-11-28';
/** npm remembers advisories: each question has a memory of its own. */
function ask(url: string) {
  const cache = mkdtempSync(join(tmpdir(), 'svc-audit-'));
  onTestFinished(() => rmSync(cache, { recursive: true, force: true }));
  return askAudit(root, {
    ...{ npm_config_registry: url, npm_config_cache: cache },
    npm_config_fetch_retries: '0',
  });
}

interface Asked {
  readonly path: string;
  readonly packages: Readonly<Record<string, readonly string[]>>;
}

/** A registry that knows `advisories` of packages, or answers with `status`. */
async function registry(advisories: object, status = 200): Promise<{ url: string; asked: Asked[] }> {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    if (request.method === 'POST') {
      const body = Buffer.concat(pieces);
      const text = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
      asked.push({ path: request.url ?? '', packages: JSON.parse(text.toString()) });
    }
    response.statusCode = request.method === 'POST' ? status : 404;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(response.statusCode === 200 ? advisories : { error: 'not offered' }));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, asked };
}

const advisory = (severity: string) => ({
  ...{ id: 1, url: 'https://github.com/advisories/GHSA-aaaa-bbbb-cccc', title: 'Request smuggling' },
  ...{ severity, vulnerable_versions: '<999', cwe: [], cvss: { score: 9, vectorString: null } },
});

test('a high vulnerability of a package that programs need is a fault that names package, range and advisory', async () => {
  const { url, asked } = await registry({ fastify: [advisory('high')] });
  const audit = readAudit(await ask(url), TODAY);
  expect(audit).toEqual({
    kind: 'answered',
    faults: ['fastify <999: high, Request smuggling (https://github.com/advisories/GHSA-aaaa-bbbb-cccc)'],
  });
  expect(asked[0]?.path).toBe('/-/npm/v1/security/advisories/bulk');
  // What tests need alone is not asked about: a fault of theirs reaches no installation.
  expect(Object.keys(asked[0]?.packages ?? {})).toContain('pg');
  expect(Object.keys(asked[0]?.packages ?? {})).not.toContain('vitest');
});

test('a moderate one is none, and an accepted one is none until its day', async () => {
  const moderate = await registry({ fastify: [advisory('moderate')] });
  expect(readAudit(await ask(moderate.url), TODAY)).toEqual({
    ...{ kind: 'answered', faults: [] },
  });
  const { url } = await registry({ fastify: [advisory('critical')] });
  const ran = await ask(url);
  const accepted = [{ advisory: 'GHSA-aaaa-bbbb-cccc', until: '2026-12-01', why: 'in tests' }];
  expect(readAudit(ran, TODAY, accepted)).toEqual({ kind: 'answered', faults: [] });
  expect(readAudit(ran, '2026-12-01', accepted)).toMatchObject({ faults: [expect.any(String)] });
});

test('a registry without advisories, and one that is away, leave the answer open', async () => {
  const { url } = await registry({}, 405);
  expect(readAudit(await ask(url), TODAY)).toMatchObject({ kind: 'open' });
  const away = readAudit(await ask('http://127.0.0.1:9/'), TODAY);
  expect(away).toMatchObject({ kind: 'open', why: expect.stringContaining('ECONNREFUSED') });
});
