// The texts: templates that say so, public pages, files, and what they are filled with.
import { shippedTexts } from '@svc/core/legal/index.ts';
import { expect, test } from 'vitest';
import { startLegalWorld } from './world.ts';

const world = await startLegalWorld();
const { a, b, call, makePerson, signIn, rows } = world;

test('every shipped text says that it is a template, and has what a version needs', () => {
  const texts = shippedTexts();
  expect(texts.map(({ kind }) => kind).sort()).toEqual([
    ...['aup', 'dpa', 'dpdp_notice', 'privacy', 'sccs', 'tos'],
  ]);
  for (const { kind, text, title, summary } of texts) {
    expect(text, kind).toContain('This text is a template. Have it reviewed by counsel');
    expect(text).toContain(`# ${title}`);
    expect(summary.length).toBeGreaterThan(10);
  }
});

test.for(['breach-template', 'dpdp-notice', 'scc', 'ropa'])('%s is Markdown, and says so', async (name) => {
  const answer = await call('GET', `/v1/legal/${name}`, { key: a.key });
  expect(answer.statusCode, answer.body).toBe(200);
  expect(answer.headers['content-type']).toBe('text/markdown; charset=utf-8');
  expect(answer.body).toMatch(/^# /);
  expect(answer.body).not.toMatch(/\{\{/);
});

test('texts name the organization that reads them, and say what nobody has set', async () => {
  await rows(`update org set legal_name = 'Acme <Holdings> | Ltd' where id = $1`, [a.org.id]);
  const mine = await call('GET', '/v1/legal/scc', { key: a.key });
  expect(mine.body).toContain('Acme <Holdings> | Ltd');
  expect(mine.body).toContain('[dpo_email is not set]');
  expect((await call('GET', '/v1/legal/scc', { key: b.key })).body).not.toContain('Acme');
  const breach = await call('GET', '/v1/legal/breach-template', { key: a.key });
  expect(breach.body).toContain('within 72 hours');
  expect(breach.body).toContain('To each affected person, without delay');
});

test('the record of processing follows the data policy, as table and as CSV, for owners and admins', async () => {
  const csv = await call('GET', '/v1/legal/ropa?format=csv', { key: a.key });
  expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8');
  const [head, ...lines] = csv.body.trimEnd().split('\r\n');
  expect(head).toBe('activity,role,people,categories,recipients,transfers,retention,measures');
  expect(lines).toHaveLength(9);
  expect(csv.body).toContain('not kept: logging is off');
  await rows(
    `update org set data_policy = data_policy || '{"logging": "on", "retention_days": 7}' where id = $1`,
    [a.org.id],
  );
  expect((await call('GET', '/v1/legal/ropa?format=csv', { key: a.key })).body).toContain('7 days');
  const billing = await signIn(await makePerson(a, 'billing'));
  expect((await call('GET', '/v1/legal/ropa', { key: billing })).statusCode).toBe(403);
  expect((await call('GET', '/v1/legal/ropa?format=xml', { key: a.key })).statusCode).toBe(400);
});

test('the agreement on processing is Markdown, and PDF where that is asked for', async () => {
  const text = await call('GET', '/v1/documents/dpa', { key: a.test_key });
  expect(text.headers['content-type']).toBe('text/markdown; charset=utf-8');
  expect(text.body).toContain('## Annex 1: sub-processors');
  const headers = { accept: 'application/pdf' };
  const pdf = await call('GET', '/v1/documents/dpa', { key: a.key, headers });
  expect(pdf.statusCode).toBe(200);
  expect(pdf.headers['content-type']).toBe('application/pdf');
  expect(pdf.headers['vary']).toContain('accept');
  expect(pdf.rawPayload.subarray(0, 5).toString()).toBe('%PDF-');
  expect(pdf.rawPayload.length).toBeGreaterThan(20_000);
});

test('the public pages need no key, name nobody, and run nothing', async () => {
  const contents = await call('GET', '/docs/legal');
  expect(contents.body).toContain('/docs/legal/tos/2026-11-01');
  const page = await call('GET', '/docs/legal/tos/2026-11-01');
  expect(page.statusCode).toBe(200);
  expect(page.headers['content-type']).toContain('text/html');
  expect(page.headers['content-security-policy']).toContain("default-src 'none'");
  expect(page.body).toContain('the Customer');
  expect(page.body).not.toContain('Acme');
  expect((await call('GET', '/docs/legal/tos')).headers['location']).toBe('/docs/legal/tos/2026-11-01');
  expect((await call('GET', '/docs/legal/subprocessors')).body).toContain('<table>');
  for (const path of ['tos/1999-01-01', 'nonsense', 'tos/%2e%2e%2f', '__proto__'])
    expect((await call('GET', `/docs/legal/${path}`)).statusCode, path).toBe(404);
});

test('what a text holds is shown as text, and only addresses of the web become links', async () => {
  await rows(
    `insert into legal_version (kind, version, title, summary, requires_acceptance, text, effective_at,
                                         published_at, published_by)
              values ('aup', '2026-11-02', '<b>x</b>', 'x', false, $1, now() - interval '1 hour', now(), 'test')`,
    [
      '# <script>alert(1)</script>\n\n[a](javascript:alert(1)) [b](https://example.com/"onclick=)\n\n| a | b |\n|---|---|\n| <i> | 2 |',
    ],
  );
  const { body } = await call('GET', '/docs/legal/aup/2026-11-02');
  expect(body).not.toContain('<script>');
  expect(body).not.toContain('href="javascript');
  expect(body).not.toMatch(/"onclick/);
  expect(body).toContain('&lt;i&gt;');
});
