// Creates organizations and keys for tests, with the product's own functions.
import { createPool, type Pool, type ShardAddress } from '@svc/core/db/index.ts';
import {
  type Context,
  type Environment,
  type Id,
  type Log,
  microUsd,
  newRequestId,
  type Services,
  silentLog,
} from '@svc/core/kernel/index.ts';
import { createKey } from '@svc/core/keys/index.ts';
import { credit, setBudget } from '@svc/core/ledger/index.ts';
import { createContext } from '@svc/core/operations/index.ts';
import {
  createOrg,
  findOrg,
  findProject,
  type Org,
  type Project,
  updateProject,
} from '@svc/core/orgs/index.ts';
import { usualLedgers } from './books.ts';

const allScopes = [
  'inference',
  'read:usage',
  'read:credits',
  'manage:credits',
  'manage:keys',
  'manage:policies',
] as const;

export interface KeyOptions {
  readonly name: string;
  readonly environment?: Environment;
  readonly daily_budget_micro?: number;
  readonly hard?: boolean;
  readonly rpm?: number;
  readonly tpm?: number;
  readonly concurrency?: number;
}

export interface ProvisionedKey {
  readonly name: string;
  readonly secret: string;
  readonly key_id: Id<'key'>;
  readonly key_no: number;
}

export interface Provisioned {
  readonly org_id: Id<'org'>;
  readonly project_id: Id<'project'>;
  /** The ledger that has its books. */
  readonly ledger_url: string;
  readonly live_book_id: number;
  readonly sandbox_book_id: number;
  readonly keys: readonly ProvisionedKey[];
  /** The first live key. */
  readonly live_key: string;
  readonly sandbox_key: string;
}

/** A staff context on `pool`, like that of `svcctl` and the seed. */
export function staffContext(pool: Pool, log: Log = silentLog): Context {
  return createContext({
    request_id: newRequestId(),
    caller: { kind: 'staff', name: 'test', staff_id: null, roles: ['super'] },
    pool,
    log,
    services: {} as Services,
  });
}

async function withPool<T>(
  url: string,
  shards: readonly ShardAddress[],
  work: (pool: Pool) => Promise<T>,
): Promise<T> {
  const pool = createPool(url, { max: 2, application: 'svc-test', shards });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}

let credits = 0;
let organizations = 0;

/** Where the books of the next organization are: the ledgers take turns. */
function nextShard(pool: Pool): string {
  return pool.shards.names[organizations++ % pool.shards.names.length] as string;
}

/** Credits a book of the ledger at `url` with a grant that does not expire. */
export function grantCredits(
  url: string,
  grant: { readonly book_id: number; readonly amount_micro_usd: number },
): Promise<void> {
  return withPool(url, [], async (pool) => {
    await pool.transaction((db) =>
      credit(db, {
        book_id: grant.book_id,
        amount_micro_usd: microUsd(grant.amount_micro_usd),
        kind: 'grant',
        granted: true,
        expires_at: null,
        ref_type: 'staff',
        ref_id: `test ${process.pid} ${++credits}`,
      }),
    );
  });
}

async function makeKeys(
  context: Context,
  org: Org,
  project: Project,
  wanted: readonly KeyOptions[],
): Promise<ProvisionedKey[]> {
  const keys: ProvisionedKey[] = [];
  for (const options of wanted) {
    const { key, secret } = await createKey(context, org, project, {
      name: options.name,
      scopes: allScopes,
      environment: options.environment ?? 'live',
      rpm: options.rpm ?? null,
      tpm: options.tpm ?? null,
      concurrency: options.concurrency ?? null,
      budget_daily_micro: options.daily_budget_micro ?? null,
      budget_hard: options.hard ?? true,
    });
    keys.push({ name: options.name, secret, key_id: key.id, key_no: key.chain_no });
  }
  return keys;
}

export type ProjectLimits = Partial<Pick<Project, 'rpm' | 'tpm' | 'concurrency'>>;

/** An organization on a plan without limits, with credit, the requested live keys and a test key. */
export function provision(options: {
  readonly database_url: string;
  /** Further ledgers, and the name of the one that holds its books; `main` when absent. */
  readonly shards?: readonly ShardAddress[];
  readonly shard?: string;
  readonly slug?: string;
  readonly live_micro_usd: number;
  /** Where it is billed; the United States when absent. */
  readonly country?: string;
  readonly keys?: readonly KeyOptions[];
  /** Monthly budget of the project, enforced. */
  readonly project_monthly_micro?: number;
  /** Limits of all keys of the project together. */
  readonly project_limits?: ProjectLimits;
}): Promise<Provisioned> {
  const shards = options.shards ?? usualLedgers(options.database_url);
  return withPool(options.database_url, shards, async (pool) => {
    const context = staffContext(pool);
    const { slug = 'test' } = options;
    const shard = options.shard ?? (options.shards === undefined ? nextShard(pool) : 'main');
    const made = await createOrg(context, {
      ...{ slug, name: slug, shard },
      billing_country: options.country ?? 'US',
      plan_id: 'enterprise',
    });
    const { url } = pool.shards.addresses.find(({ name }) => name === shard) as ShardAddress;
    const org = (await findOrg(pool, made.id)) as Org;
    const project = (await findProject(pool, { org_id: org.id, id: made.project_id })) as Project;
    if (options.live_micro_usd > 0) {
      const grant = { book_id: org.live_book_id, amount_micro_usd: options.live_micro_usd };
      await grantCredits(url, grant);
    }
    if (options.project_monthly_micro !== undefined) {
      await setBudget(pool.shards.at(shard), {
        book_id: org.live_book_id,
        subject: { project_no: project.live_no },
        cap_micro_usd: microUsd(options.project_monthly_micro),
        hard: true,
      });
    }
    if (options.project_limits !== undefined)
      await updateProject(pool, { ...project, ...options.project_limits }, context.now());
    const keys = await context.transaction((context) =>
      makeKeys(context, org, project, [
        ...(options.keys ?? [{ name: 'live' }]),
        { name: 'sandbox', environment: 'test' },
      ]),
    );
    const live = keys.filter((key) => key.name !== 'sandbox');
    return {
      org_id: org.id,
      project_id: project.id,
      ledger_url: url,
      live_book_id: org.live_book_id,
      sandbox_book_id: org.sandbox_book_id,
      keys: live,
      live_key: live[0]?.secret ?? '',
      sandbox_key: keys.find((key) => key.name === 'sandbox')?.secret ?? '',
    };
  });
}
