// The rails that are configured.
import { type Config, ConfigError } from '../../kernel/index.ts';
import { openRailB } from './rail-b.ts';
import type { Rail } from './types.ts';

/** The rails this installation has; null where one is not configured. */
export interface Rails {
  readonly 'rail-a': Rail | null;
  readonly 'rail-b': Rail | null;
}

export const noRails: Rails = { 'rail-a': null, 'rail-b': null };

type RailConfig = Pick<
  Config,
  'rail_b_base_url' | 'rail_b_key_id' | 'rail_b_key_secret' | 'rail_b_webhook_secret' | 'dev'
>;

/** The secret key goes there with every call: in the clear only where no network is in between. */
function isSafeAddress(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  if (protocol === 'https:') return true;
  return protocol === 'http:' && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}

function faultsOf(config: RailConfig, secrets: readonly string[]): string[] {
  const faults: string[] = [];
  const because = 'rail-b is configured by another SVC_RAIL_B_ variable';
  if (config.rail_b_key_secret === null) faults.push(`SVC_RAIL_B_KEY_SECRET: missing, ${because}`);
  if (secrets.length === 0) faults.push(`SVC_RAIL_B_WEBHOOK_SECRET: missing, ${because}`);
  if (config.rail_b_base_url !== null && !isSafeAddress(config.rail_b_base_url)) {
    faults.push('SVC_RAIL_B_BASE_URL: expected an https:// address, or http:// on this machine');
  }
  if (config.dev && /^(?:sk|rk)_live_/.test(config.rail_b_key_secret ?? '')) {
    faults.push('SVC_RAIL_B_KEY_SECRET: a key for real money, and SVC_DEV=1 lets anyone move the clock');
  }
  return faults;
}

/**
 * Opens the rails of the settings. A rail is configured when any of its variables is set; all it needs must be there.
 * @throws ConfigError naming what is missing.
 */
export function openRails(config: RailConfig): Rails {
  const { rail_b_base_url, rail_b_key_id, rail_b_key_secret, rail_b_webhook_secret } = config;
  const given = [rail_b_base_url, rail_b_key_id, rail_b_key_secret, rail_b_webhook_secret];
  if (given.every((value) => value === null)) return noRails;
  const webhook_secrets = (rail_b_webhook_secret ?? '').split(',').map((text) => text.trim());
  const secrets = webhook_secrets.filter((text) => text !== '');
  const faults = faultsOf(config, secrets);
  if (faults.length > 0 || rail_b_key_secret === null) throw new ConfigError(faults);
  return {
    'rail-a': null,
    'rail-b': openRailB({
      base_url: rail_b_base_url,
      key_secret: rail_b_key_secret,
      webhook_secrets: secrets,
    }),
  };
}
