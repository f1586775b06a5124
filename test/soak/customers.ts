// Organizations of a soak: half pay over each rail; a third is on a plan with a fee, which is taken when the month begins.
import { createPool } from '@svc/core/db/index.ts';
import { setBilling } from '@svc/core/orgs/index.ts';
import { provision } from '../support/provision.ts';

export interface Customer {
  readonly org_id: string;
  readonly project_id: string;
  readonly rail: 'rail-a' | 'rail-b';
  readonly book_id: number;
  readonly on_plan: boolean;
  /** The key that makes its calls; another one after it was rotated. */
  key: { readonly id: string; readonly secret: string };
  /** Of the loader's calls. */
  readonly loader_key: { readonly id: string; readonly key_no: number };
}

const PLACES = [
  { country: 'IN', rail: 'rail-a', state_code: '29' },
  { country: 'US', rail: 'rail-b', state_code: 'TX' },
  { country: 'IN', rail: 'rail-a', state_code: '07' },
  { country: 'US', rail: 'rail-b', state_code: 'NY' },
] as const;
/** Nobody runs dry: what runs dry is tested elsewhere. */
const CREDIT_MICRO = 1_000_000_000_000;
const PLAN_EACH = 3;
/** Limits and budgets that are counted and never reached. */
const LIMITS = {
  rpm: 100_000,
  tpm: 1_000_000_000,
  concurrency: 1_000,
  daily_budget_micro: CREDIT_MICRO,
  hard: true,
};

async function makeOne(database_url: string, at: number, starts_ms: number): Promise<Customer> {
  const { country, rail, state_code } = PLACES[at % PLACES.length] as (typeof PLACES)[number];
  const slug = `soak-${at}`;
  const keys = [
    { name: 'calls', ...LIMITS },
    { name: 'loader', ...LIMITS },
  ];
  const made = await provision({
    ...{ database_url, slug, country, keys, live_micro_usd: CREDIT_MICRO },
    project_monthly_micro: CREDIT_MICRO,
  });
  const on_plan = at % PLAN_EACH === 0;
  const pool = createPool(database_url, { max: 1 });
  const facts = { billing_address: { state_code }, billing_email: `${slug}@example.com` };
  await setBilling(pool, { org_id: made.org_id, at: new Date(starts_ms), ...facts });
  await pool.query({
    name: 'soak.put_on_plan',
    text: `update org set plan_id = $2, plan_since = $3 where id = $1`,
    values: [made.org_id, on_plan ? 'team' : 'enterprise', new Date(starts_ms - 40 * 86_400_000)],
  });
  await pool.end();
  const [calls, loader] = made.keys;
  if (calls === undefined || loader === undefined) throw new Error('an organization without keys');
  return {
    ...{ org_id: made.org_id, project_id: made.project_id, rail, book_id: made.live_book_id, on_plan },
    key: { id: calls.key_id, secret: calls.secret },
    loader_key: { id: loader.key_id, key_no: loader.key_no },
  };
}

export async function makeCustomers(
  database_url: string,
  { customers, starts_ms }: { readonly customers: number; readonly starts_ms: number },
): Promise<Customer[]> {
  const made: Customer[] = [];
  for (let at = 0; at < customers; at++) made.push(await makeOne(database_url, at, starts_ms));
  return made;
}
