// Gateways on one database with a balance of known size, and callers that come all at once.
import { onTestFinished } from 'vitest';
import { type Callers, openCallers, type Seen } from '../crash/caller.ts';
import type { PlannedCall } from '../crash/plan.ts';
import { crashProviders, startCrashProvider } from '../crash/provider.ts';
import type { Sim } from '../sim/providers/index.ts';
import { createTestDatabase, openTestDatabase } from '../support/database.ts';
import { atFileEnd } from '../support/ends.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway.ts';
import { type KeyOptions, type ProjectLimits, type Provisioned, provision } from '../support/provision.ts';
import { startSharedGateway } from '../support/shared-gateway.ts';

export interface Money extends Provisioned {
  readonly database_url: string;
  readonly provider: Sim;
  readonly gateways: readonly GatewayProcess[];
  readonly callers: Callers;
  /** Stops the gateways, their database and the simulators. */
  close(): Promise<void>;
}

/** Tokens and price of a call of `crash/exact`, whose hold is exactly its cost. */
export const EXACT_TOKENS = 50;
export const EXACT_MICRO = 100;

interface MoneyOptions {
  readonly balance: number;
  readonly processes: number;
  readonly keys?: readonly KeyOptions[];
  readonly project_monthly_micro?: number;
  readonly project_limits?: ProjectLimits;
  readonly env?: Readonly<Record<string, string>>;
}

/** `startMoney` on a database of its own for one test; all of it ends with the test. */
export async function openMoney(options: MoneyOptions): Promise<Money> {
  const database = await openTestDatabase();
  onTestFinished(database.drop);
  const money = await startMoney({ ...options, database_url: database.url });
  onTestFinished(money.close);
  return money;
}

function provisionMoney(database_url: string, options: MoneyOptions, slug?: string): Promise<Provisioned> {
  const { keys, project_monthly_micro, project_limits } = options;
  return provision({
    database_url,
    live_micro_usd: options.balance,
    ...(slug === undefined ? {} : { slug }),
    ...(keys === undefined ? {} : { keys }),
    ...(project_monthly_micro === undefined ? {} : { project_monthly_micro }),
    ...(project_limits === undefined ? {} : { project_limits }),
  });
}

function startGateways(
  start: typeof startGatewayProcess | typeof startSharedGateway,
  database_url: string,
  provider: Sim,
  { processes, env }: Pick<MoneyOptions, 'processes' | 'env'>,
): Promise<GatewayProcess[]> {
  return Promise.all(
    Array.from({ length: processes }, (_, i) =>
      start({
        database_url,
        providers: crashProviders(provider),
        name: `money-${i}`,
        env: { CRASH_API_KEY: 'sk-crash', ...env },
      }),
    ),
  );
}

/**
 * Starts `processes` gateways that all tests of the file share, for tests that kill none. What it returns opens an
 * organization of a test's own on the first of them, as many as the test wants.
 */
export async function shareGateways(
  processes: number,
  env: Readonly<Record<string, string>> = {},
): Promise<(options: Omit<MoneyOptions, 'env'>) => Promise<Money>> {
  const database_url = await createTestDatabase();
  const provider = await startCrashProvider();
  atFileEnd(() => provider.close());
  const all = await startGateways(startSharedGateway, database_url, provider, { processes, env });
  atFileEnd(() => Promise.all(all.map((gateway) => gateway.kill())));
  let opened = 0;
  return async (options) => {
    if (options.processes > all.length) throw new Error(`only ${all.length} gateways are shared`);
    provider.reset();
    const provisioned = await provisionMoney(database_url, options, `money-${++opened}`);
    const callers = openCallers();
    onTestFinished(() => callers.close());
    const gateways = all.slice(0, options.processes);
    return { ...provisioned, database_url, provider, gateways, callers, close: () => callers.close() };
  };
}

/** Starts `processes` gateways over an organization with `balance`; the caller closes it. */
export async function startMoney(args: MoneyOptions & { readonly database_url: string }): Promise<Money> {
  const { database_url } = args;
  const provider = await startCrashProvider();
  const callers = openCallers();
  const provisioned = await provisionMoney(database_url, args);
  const gateways = await startGateways(startGatewayProcess, database_url, provider, args);
  const close = async () => {
    await callers.close();
    await Promise.all(gateways.map((gateway) => gateway.kill()));
    await provider.close();
  };
  return { ...provisioned, database_url, provider, gateways, callers, close };
}

let last = 0;

/** A call with a number of its own; without further options a short plain call that costs exactly its hold. */
export function aCall(key: string, options: Partial<PlannedCall> = {}): PlannedCall {
  return {
    no: ++last,
    dialect: 'chat',
    model: 'crash/exact',
    stream: false,
    behaviour: 'ok',
    habit: 'once',
    leave_after_ms: null,
    key,
    gateway: 0,
    tokens: EXACT_TOKENS,
    chunks: 10,
    chunk_ms: 0,
    max_tokens: EXACT_TOKENS,
    over_report: 0,
    ...options,
  };
}

/** Sends `count` calls at once, spread over the gateways; what each caller saw. */
export async function allAtOnce(
  money: Money,
  count: number,
  options: Partial<PlannedCall> = {},
): Promise<Seen[]> {
  return Promise.all(spread(money, count, options).map(([origin, call]) => seenAt(money, origin, call)));
}

/**
 * The same by callers that come back when told to: a machine under load may not hold in time, which is a 503 and costs
 * nothing.
 */
export async function allUntilHeld(
  money: Money,
  count: number,
  options: Partial<PlannedCall> = {},
): Promise<Seen[]> {
  const ask = async ([origin, call]: Sending) => {
    for (;;) {
      const seen = await seenAt(money, origin, call);
      if (seen.kind !== 'refused' || seen.code !== 'service_unavailable') return seen;
    }
  };
  return Promise.all(spread(money, count, options).map(ask));
}

type Sending = readonly [origin: string, call: PlannedCall];

function spread({ gateways, live_key }: Money, count: number, options: Partial<PlannedCall>): Sending[] {
  return Array.from({ length: count }, (_, i) => {
    const origin = (gateways[i % gateways.length] as GatewayProcess).base_url;
    return [origin, aCall(live_key, { stream: i % 2 === 1, ...options })];
  });
}

async function seenAt({ callers }: Money, origin: string, call: PlannedCall): Promise<Seen> {
  return (await callers.send(origin, call)).seen;
}

/** How many callers saw the result that `like` names: `final`, or the code of a refusal. */
export function countSeen(seen: readonly Seen[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const one of seen) {
    const name = one.kind === 'refused' ? `${one.status} ${one.code}` : one.kind;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
