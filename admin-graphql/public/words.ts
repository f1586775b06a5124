// Numbers and marks of a model as people read them. Pure.
import type { ModelView } from '@svc/core/catalog/index.ts';

/** USD per million tokens in as many digits as it has, two at least: `$2.50`, `$0.0375`. */
export function usd(value: number | undefined): string {
  if (value === undefined) return '–';
  const text = value.toFixed(6).replace(/0+$/, '');
  const [whole = '0', places = ''] = text.split('.');
  return `$${whole}.${places.padEnd(2, '0')}`;
}

/** Tokens in thousands and millions: `128K`, `1M`, `1.05M`. */
export function tokens(count: number): string {
  if (count >= 1_000_000) return `${Number((count / 1_000_000).toFixed(2))}M`;
  return count >= 1_000 ? `${Math.round(count / 1_000)}K` : String(count);
}

const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumSignificantDigits: 3 });
/** What was used, in three digits: `1.22K`, `204M`. */
export const used = (value: number): string => compact.format(value);

export const callsOf = (value: number): string =>
  `${value.toLocaleString('en-US')} ${value === 1 ? 'call' : 'calls'}`;

export const milliseconds = (value: number | null): string =>
  value === null ? '–' : `${Math.round(value).toLocaleString('en-US')} ms`;

/** A fraction in percent; never rounded up to 100. */
export function percent(value: number | null): string {
  if (value === null) return '–';
  if (value === 1) return '100 %';
  return `${(Math.floor(value * 10_000) / 100).toFixed(2)} %`;
}

export const count = (value: number | null): string => (value === null ? '–' : value.toLocaleString('en-US'));

export const capabilityNames: Readonly<Record<keyof ModelView['capabilities'], string>> = {
  tools: 'Tools',
  json_schema: 'JSON schema',
  vision: 'Vision',
  audio: 'Audio',
  reasoning: 'Reasoning',
  cache: 'Prompt cache',
  zdr: 'Zero data retention',
  no_train: 'No training',
};

function keptWords({ retention_days: days, zdr }: { retention_days: number | null; zdr: boolean }): string {
  if (zdr) return 'zero retention';
  if (days === null) return 'unknown retention';
  return days === 0 ? 'keeps nothing' : `keeps ${days} days`;
}

/** What a provider does with what it is sent. */
export function dataWords(policy: { trains: boolean; retention_days: number | null; zdr: boolean }): string {
  return `${policy.trains ? 'may train' : 'does not train'}, ${keptWords(policy)}`;
}
