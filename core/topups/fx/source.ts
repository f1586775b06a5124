// Where exchange rates come from: the table of the release, the daily rates of the European Central Bank, or an address
// that answers with JSON (docs/money/exchange-rates.md).
import { ConfigError, type Db } from '../../kernel/index.ts';
import { type FxKind, type Rates, ratesAt, releaseRates } from './rates.ts';
import { findNewestDay } from './store.ts';

const ECB_DAILY = 'https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml';

/** A source; `url` is null where nothing is fetched. */
export interface FxSource {
  readonly kind: FxKind;
  readonly url: string | null;
}

export const STATIC_SOURCE: FxSource = { kind: 'static', url: null };

/** Rates are public, but nobody in between may change them: in the clear only on this machine. */
function isAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && /^(?:localhost|127(?:\.\d+){3})$/.test(hostname));
}

/** The source that `SVC_FX_SOURCE` names. @throws ConfigError for anything else. */
export function openFx(setting: string): FxSource {
  if (setting === 'static') return STATIC_SOURCE;
  if (setting === 'ecb') return { kind: 'ecb', url: ECB_DAILY };
  const mirror = /^ecb:(https?:.+)$/.exec(setting)?.[1];
  if (mirror !== undefined && isAddress(mirror)) return { kind: 'ecb', url: mirror };
  if (isAddress(setting)) return { kind: 'json', url: setting };
  throw new ConfigError([
    'SVC_FX_SOURCE: expected static, ecb, ecb:<address of a mirror>, or an https:// address of JSON',
  ]);
}

/** The rates in force at `now`. */
export async function readRates(db: Db, source: FxSource, now: Date): Promise<Rates> {
  const newest = await findNewestDay(db, source.kind);
  return source.kind === 'static' ? releaseRates(newest) : ratesAt(source.kind, newest, now);
}
