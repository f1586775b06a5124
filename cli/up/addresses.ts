// Where each program listens. All addresses are chosen before the first program starts, because the gateway needs the
// addresses of programs that start after it. A default port that is taken is replaced by another; a port that was
// configured is not.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, readSecretVariable, secureText } from '@svc/core/kernel/index.ts';
import { freePort } from '../tools/postgres.ts';
import { isFree, whoListens } from './ports.ts';
import { CannotStart, readText } from './start.ts';

/** A payment rail that `make up` simulates. Its secrets are generated here and kept. */
interface SimulatedRail {
  readonly port: number;
  readonly key_id: string;
  readonly key_secret: string;
  readonly webhook_secret: string;
}

const rails = ['a', 'b'] as const;
type Rail = (typeof rails)[number];
/** Null where settings configure a real rail. */
type SimulatedRails = Readonly<Record<Rail, SimulatedRail | null>>;

export interface Addresses {
  readonly gateway: number;
  readonly admin: number;
  readonly staff: number;
  /** `host:port`, and whether `make up` starts the server itself (`is_own`). */
  readonly temporal: { readonly address: string; readonly port: number; readonly is_own: boolean };
  readonly temporal_ui: number;
  readonly rails: SimulatedRails;
  /** Port of the simulated registration portal; null where a real one is set. */
  readonly portal: number | null;
  /** Port of the worker's health and metrics. */
  readonly worker: number;
  /** What is known to prevent a program from starting, by the program's name. */
  readonly taken: Readonly<Record<string, string>>;
}

/** What is kept between starts, so that addresses stay the same. */
interface Remembered {
  temporal?: number;
  temporal_ui?: number;
  portal?: number;
  rails?: { [name in Rail]?: SimulatedRail };
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const TEMPORAL_PORT = 7233;
const TEMPORAL_UI_PORT = 8233;
const PORTAL_PORT = 8086;
const RAIL_PORTS: Readonly<Record<Rail, number>> = { a: 8085, b: 8084 };

/** The first port of `preferred` that is free on loopback; otherwise any free port. */
async function firstFree(preferred: readonly (number | undefined)[]): Promise<number> {
  for (const port of preferred) if (port !== undefined && (await isFree('127.0.0.1', port))) return port;
  return freePort();
}

async function gatewayPort(config: Config): Promise<number> {
  if (config.port === 0) return freePort();
  if (await isFree(config.host, config.port)) return config.port;
  throw new CannotStart(`${inUse(config.port)}. Choose another one: SVC_PORT=${config.port + 10} make up`);
}

function inUse(port: number): string {
  const who = whoListens(port);
  return `Port ${port} is in use${who === null ? '' : ` by ${who}`}`;
}

/**
 * The port of a listener of the admin program. When that port was configured and is taken, also the message that says
 * so.
 */
async function adminPort(
  config: Config,
  preferred: { port: number; variable: string },
): Promise<{ port: number; taken: string | null }> {
  const { port, variable } = preferred;
  if (port === 0) return { port: await freePort(), taken: null };
  if (await isFree(config.host, port)) return { port, taken: null };
  if (readSecretVariable(variable) === null) return { port: await freePort(), taken: null };
  return { port, taken: `${inUse(port)}. Choose another one: ${variable}=${port + 10} make up` };
}

function hasRealRail(config: Config, rail: Rail): boolean {
  const settings =
    rail === 'a'
      ? [config.rail_a_base_url, config.rail_a_key_id, config.rail_a_key_secret, config.rail_a_webhook_secret]
      : [
          config.rail_b_base_url,
          config.rail_b_key_id,
          config.rail_b_key_secret,
          config.rail_b_webhook_secret,
        ];
  return settings.some((it) => it !== null);
}

async function simulatedRail(config: Config, rail: Rail, known: Remembered): Promise<SimulatedRail | null> {
  if (hasRealRail(config, rail)) return null;
  const kept = known.rails?.[rail];
  return {
    // An installation whose gateway has another port is a second one, and needs a rail of its own.
    port: await firstFree([kept?.port, config.port === 8080 ? RAIL_PORTS[rail] : undefined]),
    // Keys must be test keys, because the simulated rails send test events.
    key_id: kept?.key_id ?? `${rail === 'a' ? 'rzp' : 'pk'}_test_${secureText(LETTERS, 14)}`,
    key_secret: kept?.key_secret ?? `sk_test_${secureText(LETTERS, 32)}`,
    webhook_secret: kept?.webhook_secret ?? `whsec_${secureText(LETTERS, 32)}`,
  };
}

async function temporal(
  config: Config,
  known: Remembered,
): Promise<Pick<Addresses, 'temporal' | 'temporal_ui'>> {
  const address = config.temporal_address;
  if (address !== null)
    return { temporal: { address, port: Number(address.split(':').at(-1)), is_own: false }, temporal_ui: 0 };
  const is_usual = config.port === 8080;
  const port = await firstFree([known.temporal, is_usual ? TEMPORAL_PORT : undefined]);
  const temporal_ui = await firstFree([known.temporal_ui, is_usual ? TEMPORAL_UI_PORT : undefined]);
  return { temporal: { address: `127.0.0.1:${port}`, port, is_own: true }, temporal_ui };
}

/** Chooses all addresses and stores them in `dataDir`. @throws CannotStart when the gateway's port is taken. */
export async function chooseAddresses(config: Config, dataDir: string): Promise<Addresses> {
  const file = join(dataDir, 'addresses.json');
  const known = parse(readText(file));
  const gateway = await gatewayPort(config);
  const admin = await adminPort(config, { port: config.admin_port, variable: 'SVC_ADMIN_PORT' });
  const staff = await adminPort(config, { port: config.staff_port, variable: 'SVC_STAFF_PORT' });
  const simulated: SimulatedRails = {
    a: await simulatedRail(config, 'a', known),
    b: await simulatedRail(config, 'b', known),
  };
  const flow = await temporal(config, known);
  const has_portal = config.einvoice_url !== null || config.einvoice_demo_url !== null;
  const portal = has_portal
    ? null
    : await firstFree([known.portal, config.port === 8080 ? PORTAL_PORT : undefined]);
  const remembered: Remembered = {
    ...known,
    ...(flow.temporal.is_own ? { temporal: flow.temporal.port, temporal_ui: flow.temporal_ui } : {}),
    ...(portal === null ? {} : { portal }),
    rails: {
      ...known.rails,
      ...(simulated.a === null ? {} : { a: simulated.a }),
      ...(simulated.b === null ? {} : { b: simulated.b }),
    },
  };
  writeFileSync(file, `${JSON.stringify(remembered, null, 2)}\n`, { mode: 0o600 });
  const taken = admin.taken ?? staff.taken;
  return {
    gateway,
    admin: admin.port,
    staff: staff.port,
    ...flow,
    rails: simulated,
    portal,
    worker: await firstFree(config.metrics_port === 0 ? [] : [config.metrics_port + 2]),
    taken: taken === null ? {} : { admin: taken },
  };
}

function parse(text: string | null): Remembered {
  try {
    return JSON.parse(text ?? '{}') as Remembered;
  } catch {
    return {};
  }
}

/** The settings by which programs find the simulated rails. */
function railEnvironment(simulated: SimulatedRails): Record<string, string> {
  const entries = rails.flatMap((name): [string, string][] => {
    const rail = simulated[name];
    if (rail === null) return [];
    const prefix = `SVC_RAIL_${name.toUpperCase()}`;
    return [
      [`${prefix}_BASE_URL`, `http://127.0.0.1:${rail.port}`],
      [`${prefix}_KEY_ID`, rail.key_id],
      [`${prefix}_KEY_SECRET`, rail.key_secret],
      [`${prefix}_WEBHOOK_SECRET`, rail.webhook_secret],
    ];
  });
  return Object.fromEntries(entries);
}

/** The settings that every program of the installation shares. */
export function sharedEnvironment(parts: {
  readonly addresses: Addresses;
  readonly dataDir: string;
  readonly databaseUrl: string;
}): Record<string, string | undefined> {
  const { addresses, dataDir, databaseUrl } = parts;
  return {
    SVC_DEV: '1',
    SVC_PUBLIC_MIN_ORGS: '1',
    ...process.env,
    SVC_DATA_DIR: dataDir,
    SVC_DATABASE_URL: databaseUrl,
    SVC_PORT: String(addresses.gateway),
    SVC_ADMIN_PORT: String(addresses.admin),
    SVC_STAFF_PORT: String(addresses.staff),
    SVC_TEMPORAL_ADDRESS: addresses.temporal.address,
    ...railEnvironment(addresses.rails),
    ...(addresses.portal === null ? {} : { SVC_EINVOICE_DEMO_URL: `http://127.0.0.1:${addresses.portal}` }),
  };
}

/** The address at which this machine reaches a listener, whatever address it listens on. */
export function localAddress(config: Config, port: number): string {
  const host = config.host === '0.0.0.0' || config.host === '::' ? '127.0.0.1' : config.host;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
