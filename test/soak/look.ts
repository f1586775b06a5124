// What is looked at each hour of a soak: figures, what has not come to its end, and what must be true.
import { readFileSync } from 'node:fs';
import { verifyLedger } from '@svc/core/ledger/index.ts';
import { waiting } from '../crash-money/waiting.ts';
import { until } from '../support/programs/until.ts';
import type { World } from './world.ts';

export interface Figures {
  /** Resident memory of each program, and how much of it belongs to no file: heap, buffers and stacks. */
  readonly memory: Readonly<
    Record<string, { readonly rss_mb: number; readonly own_mb: number; readonly pid: number }>
  >;
  /** The program that does the jobs; null while nobody says so. */
  readonly leader: string | null;
  readonly connections: number;
  /** Days of rows and months of meters that have a partition. */
  readonly partitions: number;
  readonly holds: number;
  readonly workflows: number;
  /** Age of the oldest fact in an outbox. */
  readonly outbox_s: number;
}

function memoryOf(pid: number) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const of = (name: string) =>
    Math.round(Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]) / 1_024);
  return { rss_mb: of('VmRSS'), own_mb: of('RssAnon'), pid };
}

const FIGURES = `
  select (select count(*)::int from pg_stat_activity where datname = current_database()) as connections,
         (select count(*)::int from pg_inherits where inhparent in
           ('request_row'::regclass, 'request_attempt'::regclass, 'ledger.meter'::regclass)) as partitions,
         (select count(*)::int from ledger.hold) as holds,
         coalesce((select extract(epoch from to_timestamp($1 / 1000.0) - min(created_at))::int from (
           select created_at from outbox union all select created_at from ledger.outbox) facts), 0) as outbox_s`;

type Counted = Omit<Figures, 'memory' | 'workflows' | 'leader'>;

export async function readFigures(world: World): Promise<Figures> {
  const [row] = await world.rows<Counted>(FIGURES, [world.nowMs()]);
  const { count } = await world.temporal.workflow.count(`ExecutionStatus = 'Running'`);
  const memory = Object.fromEntries(Object.entries(world.pids()).map(([name, pid]) => [name, memoryOf(pid)]));
  return { ...(row as Counted), memory, leader: await world.leader(), workflows: count };
}

/** Payments that nobody has booked yet: a callback that met a gateway on its way out comes again, or the rail is asked. */
const UNBOOKED = `select count(*)::int as n from topup where status = 'pending'`;
const UNTOLD = `select count(*)::int as n from webhook_delivery where status in ('queued', 'delivering')`;

/** Waits until nothing is left to do that happens at once; what is left after `patience_ms`. */
export async function rest(world: World, patience_ms: number): Promise<string[]> {
  let left: readonly string[] = [];
  const isAtRest = async () => {
    const { moments } = await waiting(world);
    const [pending] = await world.rows<{ n: number }>(UNBOOKED);
    const [untold] = await world.rows<{ n: number }>(UNTOLD);
    const [held] = await world.rows<{ n: number }>('select count(*)::int as n from ledger.hold');
    left = [
      ...moments,
      ...(pending?.n === 0 ? [] : [`${pending?.n} top-ups`]),
      ...(untold?.n === 0 ? [] : [`${untold?.n} deliveries`]),
      ...(held?.n === 0 ? [] : [`${held?.n} holds`]),
    ];
    return left.length === 0;
  };
  await until('rest', isAtRest, patience_ms).catch(() => {});
  return left.map((what) => `${what} still wait`);
}

interface Sums {
  readonly org_id: string;
  readonly charged: number;
  readonly counted: number;
}

/** What each book was charged, and what rows of calls say. */
const CHARGED = `
  select o.id as org_id, coalesce(e.sum, 0)::float8 as charged, coalesce(r.sum, 0)::float8 as counted
    from org o
    left join (select book_id, -sum(amount) as sum from ledger.entry where kind = 1 group by 1) e on e.book_id = o.live_book_id
    left join (select org_id, sum(cost_micro) as sum from request_row where environment = 'live' group by 1) r on r.org_id = o.id`;

/** What summed hours say, and rows of the same hours. */
const SUMMED = `
  select o.id as org_id, coalesce(h.sum, 0)::float8 as charged, coalesce(r.sum, 0)::float8 as counted
    from org o
    left join (select org_id, sum(cost_micro) as sum from usage_hour group by 1) h on h.org_id = o.id
    left join (select org_id, sum(cost_micro) as sum from request_row w
                where exists (select from usage_hour u where u.org_id = w.org_id and u.environment = w.environment
                                 and u.hour = date_trunc('hour', w.ts, 'UTC'))
                group by 1) r on r.org_id = o.id`;

async function unequal(world: World, text: string, what: string): Promise<string[]> {
  const rows = await world.rows<Sums>(text);
  return rows
    .filter(({ charged, counted }) => charged !== counted)
    .map(
      ({ org_id, charged, counted }) => `${what} of ${org_id}: ${charged}, rows of its calls say ${counted}`,
    );
}

/** Of what must be none; each with the rows that are counted. */
const NONE: Readonly<Record<string, string>> = {
  'rows of calls without a partition of their day': 'request_row_default',
  'attempts without a partition of their day': 'request_attempt_default',
  'meters without a partition of their month': 'ledger.meter_default',
  'paid top-ups without one document and one entry': `topup t
      left join (select topup_id, count(*) as n from invoice where kind <> 'credit_note' group by 1) i on i.topup_id = t.id
      left join (select ref_id, count(*) as n, sum(amount) as sum from ledger.entry where ref_type = 'topup' group by 1) e
        on e.ref_id = t.id
     where t.status = 'paid'
       and (i.n is distinct from 1 or e.n is distinct from 1 or e.sum is distinct from t.credits_micro)`,
  'series of documents with a gap': `(
     select from invoice_counter c left join invoice i on i.number like c.series || '/' || c.fy || '/%'
      group by c.supplier, c.series, c.fy, c.last_no having count(i.id) <> c.last_no) gaps`,
  'matters that were put before the staff': 'staff_item where resolved_at is null',
  'events that were given up': `webhook_delivery where status <> 'delivered'`,
  'webhooks that are switched off': `webhook where status <> 'active'`,
  'mails that were given up': `mail where status not in ('queued', 'sending', 'sent')`,
};

/** What is wrong now. `verify` reads the whole ledger. */
export async function judge(world: World, { verify }: { readonly verify: boolean }): Promise<string[]> {
  const faults = [...world.died];
  for (const [what, from] of Object.entries(NONE)) {
    const [row] = await world.rows<{ n: number }>(`select count(*)::int as n from ${from}`);
    if (row?.n !== 0) faults.push(`${row?.n} ${what}`);
  }
  faults.push(...(await unequal(world, CHARGED, 'charges')));
  faults.push(...(await unequal(world, SUMMED, 'summed hours')));
  const failed = await world.temporal.workflow.count(`ExecutionStatus = 'Failed'`);
  if (failed.count !== 0) faults.push(`${failed.count} workflows failed`);
  if (!verify) return faults;
  const { findings } = await verifyLedger({ url: world.database_url });
  return [...faults, ...findings.map((finding) => `ledger verify: ${JSON.stringify(finding)}`)];
}

/** What is wrong with the month that began: each organization on a plan with a fee has paid for it, once, and nobody else. */
export async function judgeMonth(world: World, period: string): Promise<string[]> {
  const rows = await world.rows<{ org_id: string; paid: number; unmoved: number }>(
    `select o.id as org_id,
            (select count(*)::int from plan_charge c
              where c.org_id = o.id and c.period = $1 and c.status = 'paid') as paid,
            (select count(*)::int from plan_charge c where c.org_id = o.id and c.status = 'paid')
            - (select count(*)::int from ledger.entry e join ledger.entry_kind k on k.kind = e.kind
                where e.book_id = o.live_book_id and k.name = 'plan_fee') as unmoved
       from org o`,
    [period],
  );
  const wanted = new Map(world.customers.map(({ org_id, on_plan }) => [org_id, on_plan ? 1 : 0]));
  return rows
    .filter(({ org_id, paid, unmoved }) => paid !== wanted.get(org_id) || unmoved !== 0)
    .map((row) => `of the fee of ${period}: ${JSON.stringify(row)}, wanted ${wanted.get(row.org_id)}`);
}
