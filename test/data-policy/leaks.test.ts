// A planted secret and planted content appear in no log line, metric, row or error, however the call ends.
import { freePort } from '@svc/cli/tools/postgres.ts';
import { expect, test } from 'vitest';
import { AS_PROVIDER_SENT } from '../answers/record.ts';
import type { Reply } from '../calls/caller.ts';
import { endChunks, refuse, streamHead, textChunk, usageOf } from '../calls/upstream.ts';
import { bodyOf, eventually, useWorld } from '../calls/world.ts';
import { tenantUnder } from './policy.ts';

const metrics_port = await freePort();
const world = useWorld({
  gateway: 'alone',
  models: { chat: 2, messages: 2, script: 8, 'script-messages': 2 },
  env: { SVC_LOG_LEVEL: 'debug', SVC_METRICS_PORT: String(metrics_port) },
});
const SECRET = 'sk-proj-plantedsecret0123456789';
const CONTENT = 'planted-content-of-a-prompt';
const PLANTED = /planted/;
const idOf = (reply: Reply) => reply.headers['x-svc-request-id'] as string;

/** Everything that every table of the database holds, as text, but for the providers' own catalog. */
async function allRows(): Promise<string> {
  const { rows } = await world().db.query<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p') and not c.relispartition and n.nspname in ('public', 'ledger')`,
  );
  expect(rows.length).toBeGreaterThan(30);
  const texts: string[] = [];
  for (const { name } of rows) {
    const found = await world().db.query<{ line: string }>(`select t::text as line from ${name} t`);
    texts.push(...found.rows.map(({ line }) => `${name} ${line}`));
  }
  return texts.join('\n');
}

test('nothing that is planted is found anywhere but with provider and caller', async () => {
  const plain = await tenantUnder(world(), {});
  const logged = await tenantUnder(world(), { logging: 'on', redact: { presets: ['api_key'] } });
  const { id } = world().model('chat');
  const text = `${CONTENT} ${SECRET}`;
  const ask = (org: { key: string }, body: object | string, more = {}) =>
    world().chat(org.key, body as object, more).reply;
  const script = (
    kind: 'script' | 'script-messages',
    handler: Parameters<ReturnType<typeof world>['script']['on']>[2],
  ) => {
    const model = world().model(kind);
    world().script.on(model.upstream, kind === 'script' ? 'a' : 'x', handler);
    return model;
  };
  const calls: { name: string; reply: Promise<Reply>; own_error?: boolean }[] = [];
  const add = (name: string, reply: Promise<Reply>, own_error = false) =>
    calls.push({ name, reply, own_error });

  for (const org of [plain, logged]) {
    add('answered', ask(org, bodyOf(id, text)));
    add('streamed', ask(org, bodyOf(id, text, { stream: true, tools: [] })));
    add('unknown model', ask(org, bodyOf('calls/nothing', text)), true);
    add('wrong field', ask(org, { ...bodyOf(id, text), temperature: [text] }), true);
    add('unknown member', ask(org, { ...bodyOf(id, text), svc: { rout: text } }), true);
    add('wrong role', ask(org, { model: id, messages: [{ role: text, content: text }] }), true);
    add(
      'no endpoint',
      ask(org, bodyOf(id, text, { svc: { route: { providers: { only: ['sim-b'] } } } })),
      true,
    );
    add('wrong header', ask(org, bodyOf(id, text), { headers: { 'x-svc-metadata': text } }), true);
    add('idempotent', ask(org, bodyOf(id, text), { headers: { 'idempotency-key': 'a key' } }));
  }
  add(
    'no JSON',
    world().chat(plain.key, {}, { body: `{"messages": [{"content": "${text}", }]}` }).reply,
    true,
  );
  const echo = { error: { message: `cannot do ${text}`, type: 'server_error' } };
  add('upstream error', ask(plain, bodyOf(script('script', refuse(500, echo)).id, text)), true);
  add('error as a page', ask(plain, bodyOf(script('script', refuse(502, `<p>${text}`)).id, text)), true);
  add(
    'no JSON upstream',
    ask(plain, bodyOf(script('script', refuse(200, `{"choices": ${text}`)).id, text)),
    true,
  );
  const odd = { id: 'x', choices: [{ index: 0, message: text }], usage: text };
  add(
    'odd answer',
    ask(plain, bodyOf(script('script', refuse(200, odd)).id, text), { headers: AS_PROVIDER_SENT }),
  );
  const broken = script('script', (response) => {
    streamHead(response);
    response.write(`data: {"choices":[{"index":0,"delta":{"content":"${text}"}\n\n`);
    response.end();
  });
  add('broken stream', ask(plain, bodyOf(broken.id, text, { stream: true })), true);
  const reset = script('script', (response, { body }) => {
    streamHead(response);
    response.write(textChunk(String(body['model']), text), () => response.destroy());
  });
  add('reset', ask(logged, bodyOf(reset.id, text, { stream: true })));
  const wrong = script('script-messages', (response) => {
    streamHead(response);
    response.end(
      `event: content_block_delta\ndata: {"type":"content_block_delta","index":9,"delta":"${text}"}\n\n`,
    );
  });
  add('wrong order', ask(plain, bodyOf(wrong.id, text, { stream: true })));
  const fine = script('script', (response, { body }) => {
    streamHead(response);
    response.write(textChunk(String(body['model']), text));
    response.end(endChunks(String(body['model']), usageOf(1, 1)));
  });
  add('answered with it', ask(logged, bodyOf(fine.id, text, { stream: true })));

  const ids: string[] = [];
  for (const { name, reply, own_error } of calls) {
    const { status, text: said } = await reply;
    ids.push(idOf(await reply));
    if (own_error !== true) continue;
    expect([name, status >= 400 || said.includes('"error"')]).toEqual([name, true]);
    expect([name, PLANTED.exec(said)?.[0] ?? null]).toEqual([name, null]);
  }
  await eventually('all rows', async () => {
    const { rowCount } = await world().db.query('select 1 from request_row where request_id = any ($1)', [
      ids,
    ]);
    return rowCount === ids.length;
  });
  await eventually('content is kept', async () => {
    const { rowCount } = await world().db.query(
      'select 1 from request_row r left join request_payload p using (request_id) where r.logged and p.sealed is null',
    );
    return rowCount === 0;
  });
  const rows = await allRows();
  expect(rows).toContain(ids[0]);
  expect(PLANTED.exec(rows)?.index ?? null).toBe(null);
  const metrics = await (await fetch(`http://127.0.0.1:${metrics_port}/metrics`)).text();
  expect(metrics).toContain('svc_calls_total');
  expect(metrics).toContain('svc_payloads_dropped');
  expect(metrics).not.toMatch(PLANTED);
  const log = world().gateway.output();
  expect(log).toContain('gateway ready');
  expect(log).not.toMatch(PLANTED);
});
