// What top-ups need from the process they run in.
import { type Config, type Context, ServiceError } from '../kernel/index.ts';
import { type FxSource, openFx, STATIC_SOURCE } from './fx/source.ts';
import { noRails, openRails, type Rails } from './rails/open.ts';
import type { Rail, RailError } from './rails/types.ts';
import type { RailName } from './types.ts';

export interface MoneyIn {
  readonly rails: Rails;
  readonly fx: FxSource;
  /** Origin of the console: where a payer returns to. */
  readonly console_url: string;
  /** Address of the gateway, where our page to pay on is. */
  readonly base_url: string;
  /** How long a caller who asks for a refund waits for its end. */
  readonly refund_wait_ms: number;
}

declare module '../kernel/operation/operation.ts' {
  interface Services {
    /** Absent: no rail is configured, rates are those of the release. */
    readonly money_in?: MoneyIn;
  }
}

const REFUND_WAIT_MS = 10_000;
const CLOSED: MoneyIn = {
  rails: noRails,
  fx: STATIC_SOURCE,
  console_url: 'http://127.0.0.1:8081',
  base_url: 'http://127.0.0.1:8080',
  refund_wait_ms: REFUND_WAIT_MS,
};

/**
 * Rails and rates of the settings. @throws ConfigError when a rail is half configured or the source of rates
 * is unknown.
 */
export function openMoneyIn(config: Config): MoneyIn {
  const console_url = config.console_origins?.[0] ?? `http://127.0.0.1:${config.admin_port}`;
  const base_url = config.base_url ?? `http://127.0.0.1:${config.port}`;
  return {
    rails: openRails(config),
    fx: openFx(config.fx_source),
    console_url,
    base_url,
    refund_wait_ms: REFUND_WAIT_MS,
  };
}

/** The process's rails and rates; without any, quotes are given and nothing can be paid. */
export function moneyIn(context: Pick<Context, 'services'>): MoneyIn {
  return context.services.money_in ?? CLOSED;
}

/** The rail `name`. @throws ServiceError rail_unavailable when this installation does not have it. */
export function railOrRefuse(context: Pick<Context, 'services'>, name: RailName): Rail {
  const rail = moneyIn(context).rails[name];
  if (rail !== null) return rail;
  throw new ServiceError('rail_unavailable', `Payments over ${name} are not available here.`, {
    details: { rail: name, reason: 'not_configured' },
  });
}

/**
 * What a caller reads when a rail took no order or registration. Out of reach is 503: the same request can succeed later. A
 * refusal is 409: it would be refused again, so the rail's words say what to change. `safe` is what did not happen.
 */
export function railFailure(
  error: RailError,
  args: { rail: RailName; safe: string; details: Record<string, unknown> },
): ServiceError {
  const { rail, safe } = args;
  if (!error.declined) {
    return new ServiceError('rail_unavailable', `The payment rail cannot be reached. ${safe} Try again.`, {
      details: { rail, reason: 'unreachable', ...args.details },
    });
  }
  return new ServiceError('conflict', `The payment rail refuses this: ${error.message} ${safe}`, {
    details: { rail, reason: 'declined', rail_code: error.code, ...args.details },
  });
}
