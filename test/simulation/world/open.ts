// Makes the installation that every run of this process begins with.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createByokOperation } from '@svc/core/byok/index.ts';
import { type CatalogHandle, openCatalog } from '@svc/core/catalog/index.ts';
import { createPool, migrate, migrateLedger, type ShardAddress } from '@svc/core/db/index.ts';
import { builtIn } from '@svc/core/inference/index.ts';
import {
  type Id,
  loadRootKey,
  microUsd,
  newRequestId,
  type RootKeyRing,
  silentLog,
} from '@svc/core/kernel/index.ts';
import { drawFrom } from '@svc/core/kernel/random.ts';
import { credit } from '@svc/core/ledger/index.ts';
import { createMandate, pollMandate, setAutoTopup } from '@svc/core/mandates/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import { setBilling } from '@svc/core/orgs/index.ts';
import { putOnPlan } from '@svc/core/plans/index.ts';
import { crashProviders, OWN_SECRET } from '../../crash/provider.ts';
import { type Provisioned, provision, staffContext } from '../../support/provision.ts';
import { DATABASE_URL, LEDGER_URL } from '../engine/database.ts';
import { bytesFrom } from '../engine/dice.ts';
import { calmly, type Engines, keep, openEngines } from '../engine/installation.ts';
import { currentLoop, type Loop } from '../engine/loop.ts';
import { pinClock } from '../engine/timers.ts';
import type { AutomaticOrg } from './automatic.ts';
import type { Broken } from './broken.ts';
import { MODELS_YAML, type Priced, pricesOf } from './models.ts';
import { paymentContext } from './payments.ts';
import { type Keys, RUNS_MS } from './plan.ts';
import { RailBooks } from './rails.ts';

const DAY_MS = 86_400_000;
/** Credit that was paid then can be given away in a run (core/gifts). */
const MADE_MS = Date.UTC(2026, 1, 20);
const SHARDS: readonly ShardAddress[] = [{ name: 'a', url: LEDGER_URL }];
const RICH_MICRO = 50_000_000;
const POOR_MICRO = 9_000;
const BUDGET_MICRO = 1_600;
const PROJECT_BUDGET_MICRO = 3_200;
const PIECES = 20;
const PIECE_MICRO = 150;
/** Paid and granted credit of who gives gifts, of each so many lots: enough for one or two gifts. */
const GIVEN = { lots: 4, paid_micro: 900_000, granted_micro: 600_000 };
/** Of who is debited automatically, and how far its balance is above the threshold: a call. */
const THRESHOLD_MICRO = 5_000_000;
const AUTOMATIC_ABOVE_MICRO = 20;
/** Where organizations are made. */
const at = { database_url: DATABASE_URL, shards: SHARDS, shard: 'a' };

export interface Installation {
  readonly engines: Engines;
  readonly shards: readonly ShardAddress[];
  readonly catalog: CatalogHandle;
  readonly root_key: RootKeyRing;
  readonly keys: Keys;
  /** By the numbers of prices. */
  readonly prices: ReadonlyMap<number, Priced>;
  /** A hard daily budget of a key, which is raised in some runs. */
  readonly budget: { readonly book_id: number; readonly key_no: number; readonly cap_micro_usd: number };
  /** One pays over each rail. */
  readonly payers: readonly Id<'org'>[];
  /** With credit that was paid, and credit that was granted. */
  readonly givers: readonly Id<'org'>[];
  readonly takers: readonly Id<'org'>[];
  /** On a plan with a fee: one with the credit for it, and one that has to pay in first. */
  readonly subscribers: readonly [Id<'org'>, Id<'org'>];
  /** One is debited by card, the other by UPI a day after a notice. */
  readonly automatic: readonly [AutomaticOrg, AutomaticOrg];
  /** A mutation: what a dead process leaves on its disk goes with it. */
  readonly loses_journals: boolean;
}

/**
 * Organizations that make calls: one that cannot run dry, with a key that has a hard daily budget; one that will; one whose project
 * has a hard budget; one whose credit came in many small pieces; and one that gives some of it away.
 */
async function makeOrgs(): Promise<
  Pick<Installation, 'payers' | 'givers' | 'takers' | 'subscribers' | 'budget'> & {
    readonly keys: Omit<Keys, 'owner' | 'client'>;
  }
> {
  const rich = await provision({
    ...{ ...at, slug: 'rich', live_micro_usd: RICH_MICRO },
    keys: [{ name: 'plain' }, { name: 'second' }, { name: 'budget', daily_budget_micro: BUDGET_MICRO }],
  });
  const poor = await provision({ ...at, slug: 'poor', live_micro_usd: POOR_MICRO });
  const planned = await provision({
    ...{ ...at, slug: 'planned', live_micro_usd: RICH_MICRO, project_monthly_micro: PROJECT_BUDGET_MICRO },
    keys: [{ name: 'one' }, { name: 'other' }],
  });
  const pieced = await provision({ ...at, slug: 'pieced', live_micro_usd: 0 });
  await creditPieces(pieced.live_book_id);
  const giving = await provision({ ...at, slug: 'giving', live_micro_usd: 0 });
  await creditGiver(giving.live_book_id);
  const all = [rich, poor, planned, pieced, giving].flatMap(({ keys }) => keys).map(({ secret }) => secret);
  const budgets = [...rich.keys.filter(({ name }) => name === 'budget'), ...planned.keys].map(
    ({ secret }) => secret,
  );
  const indian = await provision({ ...at, slug: 'indian', country: 'IN', live_micro_usd: 0 });
  await billAll([poor.org_id, indian.org_id]);
  const subscriber = await provision({ ...at, slug: 'subscriber', live_micro_usd: 2 * RICH_MICRO });
  const subscribers = [subscriber.org_id, indian.org_id] as const;
  await subscribeAll(subscribers);
  const changing = rich.keys.find(({ name }) => name === 'budget')?.key_no as number;
  const budget = { book_id: rich.live_book_id, key_no: changing, cap_micro_usd: BUDGET_MICRO };
  const few = [...poor.keys, ...pieced.keys].map(({ secret }) => secret);
  return {
    ...{ keys: { all, budgets, poor: few }, budget, payers: [poor.org_id, indian.org_id] },
    ...{ givers: [giving.org_id], takers: [planned.org_id, rich.org_id], subscribers },
  };
}

/** Paid and granted lots in no order of their ends; some end while a run has its calls, or soon after. */
async function creditPieces(book_id: number): Promise<void> {
  const db = createPool(LEDGER_URL, { max: 1 });
  const ends_ms = [null, 30 * DAY_MS, 3_000, 1_000, 9 * DAY_MS, 20_000, null, 400];
  for (let n = 0; n < PIECES; n++) {
    const ends = ends_ms[(n * 3) % ends_ms.length] ?? null;
    const granted = n % 3 !== 1;
    await credit(db, {
      ...{ book_id, granted, kind: granted ? 'grant' : 'topup', ref_type: 'staff', ref_id: `piece ${n}` },
      amount_micro_usd: microUsd(PIECE_MICRO + n * 41),
      expires_at: ends === null ? null : new Date(RUNS_MS + ends),
    });
  }
  await db.end();
}

async function creditGiver(book_id: number): Promise<void> {
  const db = createPool(LEDGER_URL, { max: 1 });
  for (let n = 0; n < 2 * GIVEN.lots; n++) {
    const granted = n % 2 === 0;
    await credit(db, {
      ...{ book_id, granted, kind: granted ? 'grant' : 'topup', ref_type: 'staff', ref_id: `giver ${n}` },
      amount_micro_usd: microUsd(granted ? GIVEN.granted_micro : GIVEN.paid_micro),
      expires_at: granted || n % 4 === 1 ? new Date(RUNS_MS + (n + 1) * DAY_MS) : null,
    });
  }
  await db.end();
}

/** Organizations are billed somewhere before they can pay. */
async function billAll([american, indian]: readonly [Id<'org'>, Id<'org'>]): Promise<void> {
  const db = createPool(DATABASE_URL, { max: 1 });
  const at = new Date(MADE_MS);
  await setBilling(db, { org_id: american, at, billing_email: 'american@example.com' });
  const billing_address = { state_code: '29' };
  await setBilling(db, { org_id: indian, at, billing_address, billing_email: 'indian@example.in' });
  await db.end();
}

async function subscribeAll(org_ids: readonly Id<'org'>[]): Promise<void> {
  const pool = createPool(DATABASE_URL, { max: 1, shards: SHARDS });
  const wanted = { plan_id: 'team', applies: 'now', free_months: 0, reason: 'simulated' } as const;
  for (const org_id of org_ids) await putOnPlan(staffContext(pool), org_id, wanted);
  await pool.end();
}

/** An organization with a provider key of its own, which the pool stands in for. */
async function makeOwner(services: { catalog: CatalogHandle; root_key: RootKeyRing }): Promise<Provisioned> {
  const keys = [{ name: 'plain' }, { name: 'client' }];
  const made = await provision({ ...at, slug: 'owning', live_micro_usd: RICH_MICRO, keys });
  const pool = createPool(DATABASE_URL, { max: 1, shards: SHARDS });
  const { org_id, project_id } = made;
  const { key_id } = made.keys[0] as Provisioned['keys'][number];
  const context = createContext({
    ...{ request_id: newRequestId(), pool, log: silentLog },
    caller: {
      ...{ kind: 'key', org_id, project_id, key_id, environment: 'live', expires_at: null },
      scopes: ['manage:keys'],
    },
    services: {
      ...{ catalog: services.catalog.current, root_key: services.root_key },
      provider_keys: { faultOf: () => null },
    } as never,
  });
  const wanted = { provider_id: 'crash-own', secret: OWN_SECRET, fallback_to_pool: true };
  await createByokOperation.run(context, wanted);
  await pool.end();
  return made;
}

interface Debited {
  readonly slug: string;
  readonly country: string;
  readonly billing_address?: { readonly state_code: string };
  readonly method: 'card' | 'upi';
  readonly amount_minor: number;
}

const BY_CARD: Debited = { slug: 'automatic', country: 'US', method: 'card', amount_minor: 2_500 };
const BY_UPI: Debited = {
  ...{ slug: 'announced', country: 'IN', billing_address: { state_code: '29' } },
  ...{ method: 'upi', amount_minor: 150_000 },
};

/** An organization whose calls soon bring it below the threshold of its automatic top-up. */
async function makeAutomatic(
  root_key: RootKeyRing,
  { slug, country, method, amount_minor, ...address }: Debited,
): Promise<AutomaticOrg> {
  const live_micro_usd = THRESHOLD_MICRO + AUTOMATIC_ABOVE_MICRO;
  const { org_id, live_key } = await provision({ ...at, slug, country, live_micro_usd });
  const pool = createPool(DATABASE_URL, { max: 1, shards: SHARDS });
  const billing_email = `${slug}@example.com`;
  await setBilling(pool, { org_id, at: new Date(MADE_MS), ...address, billing_email });
  const books = new RailBooks(currentLoop() as Loop);
  const context = paymentContext({ pool, root_key, books, log: silentLog });
  const { id } = (await createMandate(context, { org_id, method })).mandate;
  await pollMandate(context, { mandate_id: id });
  const wanted = { org_id, enabled: true, threshold_micro: THRESHOLD_MICRO, amount_minor };
  await context.transaction((context) => setAutoTopup(context, wanted));
  await pool.end();
  return { org_id, mandate_id: id, key: live_key, is_announced: method === 'upi' };
}

async function loadCatalog(dir: string): Promise<CatalogHandle> {
  const file = join(dir, 'providers.yaml');
  const crash = crashProviders({ url: 'http://provider.sim' } as Parameters<typeof crashProviders>[0]);
  writeFileSync(file, `${crash.trimEnd()}${MODELS_YAML}\n`);
  process.env['CRASH_API_KEY'] = 'sk-simulated';
  const db = createPool(DATABASE_URL, { max: 1 });
  const opened = await openCatalog({
    ...{ db, files: [file], log: silentLog, formats: builtIn.catalog },
    ...{ insecure_upstreams: true, poll_ms: 0 },
  });
  await db.end();
  return opened;
}

/** Opens the servers and makes the installation, of the product as it is or as `broken` has it. */
export async function openInstallation(broken: Broken | null = null): Promise<Installation> {
  drawFrom(bytesFrom(0));
  // A server knows since when it runs, and does not sweep before a lease has had its time.
  pinClock(MADE_MS - DAY_MS);
  const engines = await openEngines().finally(() => pinClock(null));
  const dir = mkdtempSync(join(tmpdir(), 'svc-simulation-'));
  try {
    const made = await calmly(engines, MADE_MS, async () => {
      await migrate(DATABASE_URL);
      await migrateLedger(LEDGER_URL);
      const orgs = await makeOrgs();
      const catalog = await loadCatalog(dir);
      const root_key = loadRootKey(join(dir, 'keyring.json'));
      const [owner, client] = (await makeOwner({ catalog, root_key })).keys.map(({ secret }) => secret);
      const keys = { ...orgs.keys, owner: owner as string, client: client as string };
      const automatic = [
        await makeAutomatic(root_key, BY_CARD),
        await makeAutomatic(root_key, BY_UPI),
      ] as const;
      return { ...orgs, keys, catalog, root_key, automatic };
    });
    await broken?.apply(engines['ledger.sim'].postgres);
    await keep(engines);
    return {
      engines,
      shards: SHARDS,
      ...made,
      prices: pricesOf(made.catalog),
      loses_journals: broken?.loses_journals ?? false,
    };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
