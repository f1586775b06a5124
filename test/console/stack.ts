// Everything behind the console: a database with an organisation that has a past, the gateway, the admin program
// with the built console, two providers of which one is down, and the simulated rails.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@svc/cli/tools/postgres.ts';
import { createPool } from '@svc/core/db/index.ts';
import { createPerson } from '@svc/core/identity/index.ts';
import { Secret, TOTP } from 'otpauth';
import { startProviderSim } from '../sim/providers/index.ts';
import { type RailASim, type RailSim, startRailASim, startRailSim } from '../sim/rails/index.ts';
import { createTestDatabase } from '../support/database.ts';
import { atFileEnd } from '../support/ends.ts';
import { freshDataDir, startGatewayProcess } from '../support/gateway.ts';
import { type Provisioned, provision, staffContext } from '../support/provision.ts';
import { writePast } from './past.ts';

const CONSOLE = fileURLToPath(new URL('../../console/', import.meta.url));
const ADMIN = fileURLToPath(new URL('../../admin-graphql/main.ts', import.meta.url));
const BUILD_MS = 60_000;
const WEBHOOK_SECRET = 'whsec_console';
/** A model whose first endpoint is down, so that each call moves on to the second. */
export const MODEL = 'meridian/sonnet-mini';

export interface Person {
  readonly email: string;
  readonly password: string;
}

export interface Stack {
  readonly console_url: string;
  readonly gateway_url: string;
  readonly staff_url: string;
  readonly database_url: string;
  /** Where the programs keep their keys. */
  readonly data_dir: string;
  readonly rails: RailSim;
  readonly rail_a: RailASim;
  /** An organisation with 30 days of calls. */
  readonly full: Provisioned;
  readonly full_slug: string;
  /** One that has just been made. */
  readonly empty_slug: string;
  /** Owner of both. */
  readonly owner: Person;
  /** Reads `full` and no more. */
  readonly viewer: Person;
  /** Gets a second factor. */
  readonly second: Person;
  /** Whose password is guessed. */
  readonly guessed: Person;
  /** The last output of the programs, for messages of failed tests. */
  output(): string;
}

function newest(dir: string): number {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('api/gen'))
    .reduce((max, { parentPath, name }) => Math.max(max, statSync(join(parentPath, name)).mtimeMs), 0);
}

function isFresh(): boolean {
  const built = join(CONSOLE, 'dist/operations.json');
  const schemas = ['tenant', 'staff'].map((name) =>
    fileURLToPath(new URL(`../../graphql/${name}/schema.graphql`, import.meta.url)),
  );
  const sources = ['index.html', 'staff.html', 'build.ts', 'codegen.ts', 'vite.config.ts'].map((name) =>
    join(CONSOLE, name),
  );
  const changed = Math.max(
    newest(join(CONSOLE, 'src')),
    ...[...schemas, ...sources].map((path) => statSync(path).mtimeMs),
  );
  return existsSync(built) && statSync(built).mtimeMs > changed;
}

async function build(): Promise<void> {
  const child = spawn(process.execPath, [join(CONSOLE, 'build.ts'), '--quiet'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (piece: Buffer) => {
      output += piece.toString();
    });
  }
  const code = await new Promise((done) => child.once('exit', done));
  if (code !== 0) throw new Error(`the console cannot be built: ${output}`);
}

/**
 * Builds the console when its sources are newer than what is built; of test files that run at once, one builds.
 * @throws Error with the output of a failed build.
 */
export async function ensureBuilt(): Promise<void> {
  const lock = join(CONSOLE, '.building');
  const deadline = performance.now() + BUILD_MS;
  while (!isFresh()) {
    try {
      mkdirSync(lock);
    } catch {
      // Someone else builds; a lock whose owner died is broken after the longest build.
      if (performance.now() > deadline) rmdirSync(lock);
      await new Promise((done) => setTimeout(done, 100));
      continue;
    }
    try {
      return await build();
    } finally {
      rmdirSync(lock);
    }
  }
}

function providersYaml(up: string, down: string, more: string): string {
  const provider = (id: string, base: string, region: string) => `
  - id: ${id}
    name: ${id}
    kind: openai
    base_url: ${base}/v1
    api_key_env: [CONSOLE_PROVIDER_KEY]
    regions: [${region}]
    data_policy: { trains: false, retention_days: 0, zdr: true }`;
  const endpoint = (id: string, region: string, price: string) => `
      - provider: ${id}
        upstream_model: sonnet-mini
        region: ${region}
        price: { input: "${price}", output: "${price}", cache_read: "0.25" }`;
  return `version: 1
providers:${provider('acme', down, 'eu-west')}${provider('beta', up, 'eu-central')}${more}
models:
  - id: ${MODEL}
    name: Sonnet mini
    context_length: 128000
    max_output: 8192
    capabilities: { tools: true }
    endpoints:${endpoint('acme', 'eu-west', '1.00')}${endpoint('beta', 'eu-central', '2.50')}
`;
}

async function people(database_url: string, full: Provisioned, empty: Provisioned) {
  const pool = createPool(database_url, { max: 2, application: 'svc-test' });
  try {
    const context = staffContext(pool);
    const owner = { email: 'asha@meridian.example', password: 'correct horse battery staple' };
    const viewer = { email: 'vik@meridian.example', password: 'another long passphrase here' };
    await createPerson(context, { ...owner, name: 'Asha Rao', org_id: full.org_id, role: 'owner' });
    await createPerson(context, { ...owner, name: 'Asha Rao', org_id: empty.org_id, role: 'owner' });
    await createPerson(context, { ...viewer, name: 'Vik', org_id: full.org_id, role: 'viewer' });
    const [second, guessed] = ['second', 'guessed'].map((name) => ({
      email: `${name}@meridian.example`,
      password: `${[...name].reverse().join('')} long passphrase`,
    })) as [Person, Person];
    for (const person of [second, guessed]) {
      await createPerson(context, { ...person, org_id: full.org_id, role: 'developer' });
    }
    await writePast(pool, full);
    return { owner, viewer, second, guessed };
  } finally {
    await pool.end();
  }
}

/**
 * Starts everything, with settings and `providers` (items of a catalog file) of its own where a file needs some; it ends
 * after the last test of the file.
 */
export async function startStack(
  settings: Readonly<Record<string, string>> = {},
  providers = '',
): Promise<Stack> {
  await ensureBuilt();
  const database_url = await createTestDatabase();
  const sim = await startProviderSim();
  atFileEnd(() => sim.close());
  const [gateway_port, admin_port, staff_port] = [await freePort(), await freePort(), await freePort()];
  const rails = await startRailSim({
    webhook_url: `http://127.0.0.1:${gateway_port}/webhooks/rail-b`,
    webhook_secrets: [WEBHOOK_SECRET],
  });
  const rail_a = await startRailASim({
    webhook_url: `http://127.0.0.1:${gateway_port}/webhooks/rail-a`,
    webhook_secrets: [WEBHOOK_SECRET],
    keys: ['rzp_test_console:secret'],
  });
  atFileEnd(() => Promise.all([rails.close(), rail_a.close()]));
  const full = await provision({
    database_url,
    slug: 'meridian',
    live_micro_usd: 1_284_371_904,
    keys: [{ name: 'backend-prod', daily_budget_micro: 50_000_000 }, { name: 'batch-night' }],
  });
  const empty = await provision({ database_url, slug: 'newcomer', live_micro_usd: 0, keys: [] });
  const persons = await people(database_url, full, empty);

  const data_dir = freshDataDir();
  const shared = {
    database_url,
    data_dir,
    providers: providersYaml(sim.url, `http://127.0.0.1:${await freePort()}`, providers),
  };
  const env = {
    SVC_PORT: String(gateway_port),
    SVC_ADMIN_PORT: String(admin_port),
    SVC_STAFF_PORT: String(staff_port),
    SVC_RAIL_A_BASE_URL: rail_a.url,
    SVC_RAIL_A_KEY_ID: 'rzp_test_console',
    SVC_RAIL_A_KEY_SECRET: 'secret',
    SVC_RAIL_A_WEBHOOK_SECRET: WEBHOOK_SECRET,
    SVC_RAIL_B_BASE_URL: rails.url,
    SVC_RAIL_B_KEY_SECRET: 'sk_test_console',
    SVC_RAIL_B_WEBHOOK_SECRET: WEBHOOK_SECRET,
    CONSOLE_PROVIDER_KEY: 'sim',
    ...settings,
  };
  const gateway = await startGatewayProcess({ ...shared, name: 'gateway', port: gateway_port, env });
  atFileEnd(() => gateway.kill());
  const admin = await startGatewayProcess({ ...shared, name: 'admin', port: admin_port, env, entry: ADMIN });
  atFileEnd(() => admin.kill());
  return {
    ...{ database_url, data_dir, rails, rail_a, full, ...persons },
    console_url: admin.base_url,
    staff_url: `http://127.0.0.1:${staff_port}`,
    gateway_url: gateway.base_url,
    full_slug: 'meridian',
    empty_slug: 'newcomer',
    output: () => `${gateway.output()}\n${admin.output()}`,
  };
}

/** Switches the second factor of `person` on over the API and returns what makes codes. */
export async function enrol({ gateway_url }: Pick<Stack, 'gateway_url'>, person: Person): Promise<TOTP> {
  const post = async (path: string, body: object, token?: string) => {
    const response = await fetch(`${gateway_url}/v1/auth/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path} ${response.status}`);
    return (await response.json()) as { token: string; secret: string };
  };
  const { token } = await post('login', { ...person, transport: 'bearer' });
  const { secret } = await post('totp/enrol', {}, token);
  const totp = new TOTP({ secret: Secret.fromBase32(secret) });
  await post('totp/confirm', { code: totp.generate() }, token);
  return totp;
}

/** Sends a request with a key of the full organisation; the answer, which must be a success. */
export async function manage(
  { gateway_url, full }: Pick<Stack, 'gateway_url' | 'full'>,
  [method, path]: readonly [method: string, path: string],
  body?: object,
): Promise<Response> {
  const answer = await fetch(`${gateway_url}${path}`, {
    method,
    headers: { authorization: `Bearer ${full.live_key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer;
}
