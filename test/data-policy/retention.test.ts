// docs/operate/retention.md says for how long every table keeps its rows: compared with the database, the jobs, and with what erasures
// of organizations do; and of each term what is older goes and what is younger stays.
import { readFileSync } from 'node:fs';
import { verifyAudit, writeAudit } from '@svc/core/identity/index.ts';
import { nowMs, shiftClock } from '@svc/core/kernel/index.ts';
import { upkeepJobs } from '@svc/core/operations/upkeep-jobs.ts';
import { kept, steps } from '@svc/core/org-erasure/index.ts';
import { afterEach, expect, test } from 'vitest';
import { startWorld } from '../organizations/world.ts';
import { rowOf } from '../registry/rows.ts';
import { staffContext } from '../support/provision.ts';

const world = await startWorld();
const { a, pool } = world;
const DAY_MS = 86_400_000;
afterEach(() => shiftClock(0));

const rows = async <Row>(text: string, values: readonly unknown[] = []) =>
  (await pool.query<Row>({ name: '', text, values })).rows;
const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const page = read('docs/operate/retention.md');

/** Lines of the table below a heading, as cells. */
function linesOf(heading: string): string[][] {
  const [, below = ''] = page.split(`\n## ${heading}\n`);
  return [...(below.split('\n## ')[0] as string).matchAll(/^\| (`.*) \|$/gm)].map(([, line]) =>
    (line as string).split(/ ?\| ?/),
  );
}
const named = (cell: string | undefined) =>
  [...(cell ?? '').matchAll(/`([a-z_.]+)`/g)].map(([, name]) => name as string);
const tablesOf = (heading: string) => linesOf(heading).flatMap(([cell]) => named(cell));
const headings = [...page.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading as string);

test('every table stands on the page once, and no other does', async () => {
  const found = await rows<{ name: string }>(
    `select case n.nspname when 'public' then '' else n.nspname || '.' end || c.relname as name
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p') and not c.relispartition and n.nspname in ('public', 'ledger', 'catalog')
        and c.relname <> 'svc_migration'`,
  );
  expect(headings.flatMap(tablesOf).sort()).toEqual(found.map(({ name }) => name).sort());
});

test('the jobs of the page exist, and every job that removes something is on it', () => {
  const source = ['jobs', 'upkeep-jobs'].map((name) => read(`core/operations/${name}.ts`)).join('');
  const jobs = [...source.matchAll(/name: '([a-z_]+)'/g)].map(([, name]) => name as string);
  const said = linesOf('Removed by age').flatMap((cells) => named(cells[2]));
  expect(said.filter((name) => !jobs.includes(name))).toEqual([]);
  const removing = jobs.filter((name) => /^(?:purge|drop|sweep)_/.test(name) && name !== 'sweep_holds');
  expect(removing.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  // Only what every program removes has no job.
  expect(linesOf('Removed by age').filter((cells) => named(cells[2]).length === 0)).toHaveLength(2);
});

test('what stays with the organization goes with its erasure, and what the law keeps is among the books', () => {
  const gone = new Set<string>(steps);
  expect(tablesOf('With the organization').filter((name) => !gone.has(name))).toEqual([]);
  const books = tablesOf('With the books').map((name) => name.replace('ledger.book', 'book'));
  expect(Object.keys(kept).filter((name) => !books.includes(name))).toEqual([]);
  expect(books.filter((name) => gone.has(name))).toEqual([]);
});

/** Plants a row of an age, and says how many of its kind there are. */
interface Planted {
  readonly days: number;
  plant(age_days: number): Promise<unknown>;
  count(): Promise<number>;
}
const count = async (from: string) =>
  (await rows<{ n: number }>(`select count(*)::int as n from ${from}`))[0]?.n ?? 0;
const at = (age_days: number) => new Date(nowMs() - age_days * DAY_MS);
const audit = staffContext(pool);
let serial = 0;
const suffix = () => String(++serial).padStart(26, '0');

const planted: Readonly<Record<string, Planted>> = {
  request_row: {
    days: 400,
    async plant(age_days) {
      const { attempt_rows: _, ...row } = rowOf(a, { model: 'planted' });
      await rows(`insert into request_row select (jsonb_populate_record(null::request_row, $1::jsonb)).*`, [
        JSON.stringify({ ...row, replays: 0, ts: at(age_days) }),
      ]);
    },
    count: () => count(`request_row where model = 'planted'`),
  },
  request_attempt: {
    days: 90,
    plant: (age_days) =>
      rows(
        `insert into request_attempt (request_id, call_ts, attempt, ts, provider, endpoint_id, pool_id, key_hint, outcome, http_status,
                                      error_class, duration_ms, output_tokens)
         values ($1, $2, 1, $2, 'planted', 'ep_4Q3P2N1M0K9J01KACZ3V8S6T5R', '', '', 'ok', 200, '', 1, 1)`,
        [rowOf(a).request_id, at(age_days)],
      ),
    count: () => count(`request_attempt where provider = 'planted'`),
  },
  endpoint_day: {
    days: 90,
    plant: (age_days) =>
      rows(
        `insert into endpoint_day (day, endpoint_id, attempts, ok, excused, ttft_counts, tpot_counts)
         values (($1::timestamptz at time zone 'UTC')::date, 'planted', 1, 1, 0, '{}', '{}')`,
        [at(age_days)],
      ),
    count: () => count(`endpoint_day where endpoint_id = 'planted'`),
  },
  app_day: {
    days: 90,
    plant: (age_days) =>
      rows(
        `insert into app_day (day, org_id, app_id, model, requests, tokens, first_at)
         values (($2::timestamptz at time zone 'UTC')::date, $1, 'planted', 'm', 1, 1, $2)`,
        [a.org.id, at(age_days)],
      ),
    count: () => count(`app_day where app_id = 'planted'`),
  },
  scim_log: {
    days: 90,
    plant: (age_days) =>
      rows(
        `insert into scim_log (org_id, token_id, at, method, path, resource_type, resource_id, status, reason)
         values ($1, 't', $2, 'GET', '/planted', '', '', 200, '')`,
        [a.org.id, at(age_days)],
      ),
    count: () => count(`scim_log where path = '/planted'`),
  },
  mail: {
    days: 90,
    plant: (age_days) =>
      rows(
        `insert into mail (id, template, reference, recipient, recipient_key, data, status, next_at, created_at, expires_at, sent_at)
         values ('mail_' || $1::text, 'planted', $1, 'a@b.example', 'a@b.example', '{}', 'sent', $2, $2, $2, $2)`,
        [suffix(), at(age_days)],
      ),
    count: () => count(`mail where template = 'planted'`),
  },
  access_request: {
    days: 180,
    plant: (age_days) =>
      rows(
        `insert into access_request (id, email, email_key, name, company, job_title, country, website, use_case, monthly_spend, status,
                                     reviewed_by, created_at, updated_at)
         values ('acr_' || $1::text, $1 || '@planted.example', $1 || '@planted.example', 'A', 'B', 'C', 'DE', '', 'D', '', 'declined', 'x', $2, $2)`,
        [suffix(), at(age_days)],
      ),
    count: () => count(`access_request where email like '%@planted.example'`),
  },
  rail_event: {
    days: 90,
    plant: (age_days) =>
      rows(
        `insert into rail_event (rail, event_id, type, facts, answer, received_at) values ('rail-b', 'planted-' || $1::text, 't', '{}', '{}', $2)`,
        [suffix(), at(age_days)],
      ),
    count: () => count(`rail_event where event_id like 'planted-%'`),
  },
  webhook_event: {
    days: 30,
    plant: (age_days) =>
      rows(
        `insert into webhook_event (id, org_id, type, body, created_at) values ('evt_' || $1::text, $2, 'test.ping', '{}', $3)`,
        [suffix(), a.org.id, at(age_days)],
      ),
    count: () => count(`webhook_event where type = 'test.ping'`),
  },
  audit_entry: {
    days: 730,
    async plant(age_days) {
      shiftClock(-age_days * DAY_MS);
      for (const org_id of [null, a.org.id]) await writeAudit(audit, { action: 'planted', org_id });
      shiftClock(0);
    },
    count: async () => (await count(`audit_entry where action = 'planted'`)) / 2,
  },
};

test.each(Object.entries(planted))(
  '%s: what is a day too old goes, and what has a day left stays',
  async (name, kind) => {
    const [line] = linesOf('Removed by age').filter(([cell]) => named(cell).includes(name));
    expect(line?.[1]).toContain(`${kind.days} days`);
    await kind.plant(kind.days + 1.5);
    await kind.plant(kind.days - 1.5);
    expect(await kind.count()).toBe(2);
    for (const job of upkeepJobs(pool)) await job.run();
    expect(await kind.count()).toBe(1);
  },
);

test('the audit log is whole after its oldest days have gone, and nobody can have younger ones dropped', async () => {
  const before = await verifyAudit(pool);
  expect(before).toMatchObject({ faults: [] });
  const [dropped] = await rows<{ n: number }>(`select drop_audit_days('2999-01-01', 1000)::int as n`);
  expect(dropped?.n).toBe(0);
  expect(await verifyAudit(pool)).toMatchObject({ entries: before.entries, faults: [] });
  await expect(rows('delete from audit_entry')).rejects.toThrow();
});
