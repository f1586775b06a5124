// The two demo organizations of `make up`, one per payment rail, each with a live and a sandbox key. The service
// shows secrets only once, so they are kept in the data directory and the second start prints the same keys.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPool, readSetting, writeSetting } from '@svc/core/db/index.ts';
import { createPerson, resetPassword } from '@svc/core/identity/index.ts';
import { readSupplier } from '@svc/core/invoices/index.ts';
import { type Context, type Id, microUsd, scopes } from '@svc/core/kernel/index.ts';
import { createKey } from '@svc/core/keys/index.ts';
import { orderCredit } from '@svc/core/ledger/index.ts';
import { acceptInForce, foundingKinds, takeShipped } from '@svc/core/legal/index.ts';
import { createOrg, findBilling, findOrg, setBilling } from '@svc/core/orgs/index.ts';
import { staffContext } from '../context.ts';
import { getOrg, getProject } from '../lookup.ts';

/** Live credit of each demo organization, in micro-USD. */
export const LIVE_GRANT_MICRO_USD = microUsd(5_000_000);

const wanted = [
  { slug: 'demo', name: 'Demo', billing_country: 'US' },
  { slug: 'demo-in', name: 'Demo India', billing_country: 'IN' },
] as const;
/** In India the state of the address decides the tax, so that without one nothing can be bought. */
const ADDRESS_IN = { line1: '1 Example Road', city: 'Mumbai', state_code: '27', postal_code: '400001' };

/** Made up, its check character right. */
const GSTIN_IN = '27AAPFU0939F1ZV';

/** The console login of a demo organization's owner. */
interface ConsoleLogin {
  readonly email: string;
  readonly password: string;
}

interface DemoOrg {
  readonly slug: string;
  readonly org_id: Id<'org'>;
  readonly project_id: Id<'project'>;
  readonly test_project_id: Id<'project'>;
  readonly live_key: string;
  readonly sandbox_key: string;
  /** The owner's console login. */
  readonly console_login: ConsoleLogin;
}

/** The first demo organization, the one that pays in rupees, and whether they were created just now. */
export interface Demo extends DemoOrg {
  readonly indian: DemoOrg;
  /** Staff have set who sells. */
  readonly has_supplier: boolean;
  readonly fresh: boolean;
}

function readDemo(path: string): DemoOrg[] {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as DemoOrg[];
  } catch {
    return [];
  }
}

async function createDemoOrg(context: Context, org: (typeof wanted)[number]) {
  // The plan without limits: people also try the demo under load. A key can still be given limits.
  const made = await createOrg(context, { ...org, plan_id: 'enterprise' });
  const { shard, live_book_id } = await getOrg(context, made.id);
  await orderCredit(context, shard, {
    book_id: live_book_id,
    amount_micro_usd: LIVE_GRANT_MICRO_USD,
    kind: 'grant',
    granted: true,
    expires_at: null,
    ref_type: 'staff',
    ref_id: 'make up',
  });
}

/** Gives the demo organization in India an address and a GSTIN, so that its documents are registered, unless somebody gave it one. */
async function addressIndia(context: Context): Promise<void> {
  const org = await findOrg(context.db, 'demo-in');
  const billing = org === null ? null : await findBilling(context.db, org.id);
  if (billing === null || billing.address !== null) return;
  await setBilling(context.db, {
    org_id: billing.org_id,
    at: context.now(),
    billing_address: ADDRESS_IN,
    ...(billing.gstin === null ? { gstin: GSTIN_IN } : {}),
  });
}

/**
 * Lets documents of the demo supplier be registered exactly where the simulated portal runs; whether staff have set another
 * supplier, for whom nothing is simulated.
 */
async function setRegistration(context: Context, has_portal: boolean): Promise<boolean> {
  const { is_demo } = await readSupplier(context.db);
  const value = has_portal && is_demo;
  const at = context.now();
  if ((await readSetting<boolean>(context.db, 'demo_e_invoices')) !== value)
    await writeSetting(context.db, { name: 'demo_e_invoices', value, at });
  return !is_demo;
}

async function createDemoKey(context: Context, slug: string, project: string) {
  const org = await getOrg(context, slug);
  const home = await getProject(context, org, project);
  const name = `make up (${home.environment})`;
  const input = { name, scopes, environment: home.environment };
  const { secret } = await createKey(context, org, home, input);
  return { project_id: home.id, secret };
}

/**
 * The owner's login, created if it is missing. When the database knows the person but the password was lost, they get
 * a new one.
 */
async function seedOwner(context: Context, org_id: Id<'org'>, slug: string): Promise<ConsoleLogin> {
  const email = `owner@${slug}.example`;
  const { password } = await createPerson(context, { email, name: 'Demo Owner', org_id, role: 'owner' });
  return { email, password: password ?? (await resetPassword(context, email)) };
}

/** The organization, created if it is missing, with two new keys. */
async function seedOne(context: Context, org: (typeof wanted)[number]): Promise<DemoOrg> {
  if ((await findOrg(context.db, org.slug)) === null) await createDemoOrg(context, org);
  const { id: org_id } = await getOrg(context, org.slug);
  // The owner comes first, so that the keys created here count as the owner's.
  const console_login = await seedOwner(context, org_id, org.slug);
  const live = await createDemoKey(context, org.slug, 'default');
  const test = await createDemoKey(context, org.slug, 'sandbox');
  return {
    slug: org.slug,
    org_id,
    project_id: live.project_id,
    test_project_id: test.project_id,
    live_key: live.secret,
    sandbox_key: test.secret,
    console_login,
  };
}

/** Whether the stored secrets are complete; an installation of an earlier release has no login among them. */
function isWhole(remembered: readonly Partial<DemoOrg>[], orgs: readonly (object | null)[]): boolean {
  return (
    orgs.every((org) => org !== null) && remembered.every(({ console_login }) => console_login !== undefined)
  );
}

/** Terms bind in the demo, so that people see what comes of them; the demo organizations have accepted them. */
async function insistOnTerms(context: Context, made: readonly DemoOrg[]): Promise<void> {
  const enforced_at = context.now().toISOString();
  const value = { grievance_officer: 'Demo Officer', dpo_email: 'privacy@demo.example', enforced_at };
  await writeSetting(context.db, { name: 'legal', value, at: context.now() });
  const kinds = [...foundingKinds, 'dpa'] as const;
  for (const { org_id } of made) {
    await acceptInForce(context, { org_id, kinds, signing: { signer_name: 'Demo Owner' } });
  }
}

/**
 * Creates the demo organizations and keys that the database at `url` lacks. What `dataDir` remembers is kept as long
 * as the database has it too.
 */
export async function seedDemo(
  url: string,
  { dataDir, has_portal }: { dataDir: string; has_portal: boolean },
): Promise<Demo> {
  const path = join(dataDir, 'demo.json');
  const pool = createPool(url, { max: 1, application: 'svc-up' });
  try {
    const remembered = readDemo(path);
    const context = await staffContext(pool);
    await takeShipped(context);
    const has_supplier = await setRegistration(context, has_portal);
    const orgs = await Promise.all(remembered.map(({ org_id }) => findOrg(context.db, org_id)));
    const [first, second] = remembered;
    if (first !== undefined && second !== undefined && isWhole(remembered, orgs)) {
      await addressIndia(context);
      return { ...first, indian: second, has_supplier, fresh: false };
    }
    const demo = await context.transaction(async (context) => {
      // So that people can try it; an installation does not give it unless staff say so.
      const checkin = { enabled: true, needs_topup: false };
      await writeSetting(context.db, { name: 'checkin', value: checkin, at: context.now() });
      const made: DemoOrg[] = [];
      for (const org of wanted) made.push(await seedOne(context, org));
      await insistOnTerms(context, made);
      await addressIndia(context);
      return made;
    });
    writeFileSync(path, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 });
    return { ...(demo[0] as DemoOrg), indian: demo[1] as DemoOrg, has_supplier, fresh: true };
  } finally {
    await pool.end();
  }
}
