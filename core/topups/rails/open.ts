// The rails that are configured.
import { type Config, ConfigError } from '../../kernel/index.ts';
import type { RailName } from '../types.ts';
import { openRailA } from './rail-a.ts';
import { openRailB } from './rail-b.ts';
import type { Rail } from './types.ts';

/** The rails this installation has; null where one is not configured. */
export type Rails = Readonly<Record<RailName, Rail | null>>;

export const noRails: Rails = { 'rail-a': null, 'rail-b': null };

type RailConfig = Pick<
  Config,
  | 'rail_a_base_url'
  | 'rail_a_key_id'
  | 'rail_a_key_secret'
  | 'rail_a_webhook_secret'
  | 'rail_b_base_url'
  | 'rail_b_key_id'
  | 'rail_b_key_secret'
  | 'rail_b_webhook_secret'
  | 'dev'
>;

/** The settings of one rail. */
interface Given {
  readonly base_url: string | null;
  readonly key_id: string | null;
  readonly key_secret: string | null;
  readonly webhook_secrets: readonly string[];
}

/** The secret key goes there with every call: in the clear only where no network is in between. */
function isSafeAddress(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  if (protocol === 'https:') return true;
  return protocol === 'http:' && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}

/** Several secrets with commas between: while one replaces another, events are signed with either. */
function secretsOf(text: string | null): readonly string[] {
  const secrets = (text ?? '').split(',').map((secret) => secret.trim());
  return secrets.filter((secret) => secret !== '');
}

/**
 * What one rail was given; null when none of its variables is set.
 * @throws ConfigError naming everything that is missing or unsafe.
 */
function givenTo(
  rail: RailName,
  config: RailConfig,
): (Given & { readonly key_id: string | null; readonly key_secret: string }) | null {
  const is_a = rail === 'rail-a';
  const base_url = is_a ? config.rail_a_base_url : config.rail_b_base_url;
  const key_id = is_a ? config.rail_a_key_id : config.rail_b_key_id;
  const key_secret = is_a ? config.rail_a_key_secret : config.rail_b_key_secret;
  const secret = is_a ? config.rail_a_webhook_secret : config.rail_b_webhook_secret;
  if ([base_url, key_id, key_secret, secret].every((value) => value === null)) return null;
  const prefix = is_a ? 'SVC_RAIL_A' : 'SVC_RAIL_B';
  const because = `${rail} is configured by another ${prefix}_ variable`;
  const webhook_secrets = secretsOf(secret);
  const faults: string[] = [];
  // The checkout of rail-a is opened in a browser, under the public name of the account.
  if (is_a && key_id === null) faults.push(`${prefix}_KEY_ID: missing, ${because}`);
  if (key_secret === null) faults.push(`${prefix}_KEY_SECRET: missing, ${because}`);
  if (webhook_secrets.length === 0) faults.push(`${prefix}_WEBHOOK_SECRET: missing, ${because}`);
  if (base_url !== null && !isSafeAddress(base_url)) {
    faults.push(`${prefix}_BASE_URL: expected an https:// address, or http:// on this machine`);
  }
  if (config.dev && /^(?:rzp|sk|rk)_live_/.test((is_a ? key_id : key_secret) ?? '')) {
    const name = is_a ? 'KEY_ID' : 'KEY_SECRET';
    faults.push(`${prefix}_${name}: a key for real money, and SVC_DEV=1 lets anyone move the clock`);
  }
  if (faults.length > 0 || key_secret === null) throw new ConfigError(faults);
  return { base_url, key_id, key_secret, webhook_secrets };
}

/**
 * Opens the rails of the settings. A rail is configured when any of its variables is set; all it needs must be there.
 * @throws ConfigError naming what is missing.
 */
export function openRails(config: RailConfig): Rails {
  const [a, b] = [givenTo('rail-a', config), givenTo('rail-b', config)];
  return {
    'rail-a': a === null ? null : openRailA({ ...a, key_id: a.key_id ?? '' }),
    'rail-b': b === null ? null : openRailB(b),
  };
}
