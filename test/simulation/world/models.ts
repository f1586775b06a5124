// Models of a run beside those of the crash test, and what all of them cost: one that is free, and one that sees pictures, of
// which only its provider can say what they are counted as, and hears, which has a price of its own; and one of which a call costs
// hundreds of dollars.
import type { CatalogHandle, Endpoint } from '@svc/core/catalog/index.ts';
import { ownCostOf } from '../../crash/provider.ts';

/** Micro-USD a token. */
interface Rates {
  readonly input: number;
  readonly output: number;
  readonly audio: number;
}

const USUAL: Rates = { input: 3, output: 2, audio: 3 };
const OWN: Readonly<Record<string, Rates>> = {
  'sim/free': { input: 0, output: 0, audio: 0 },
  'sim/senses': { input: 3, output: 2, audio: 4 },
  'sim/expensive': { input: 3, output: 600_000, audio: 3 },
};

/** Rates of `model`. */
export const ratesOf = (model: string): Rates => OWN[model] ?? USUAL;

/** What a price is of. */
export interface Priced {
  readonly model: string;
  /** Of a call with a provider key of the caller's own. */
  readonly is_own: boolean;
}

/** The cost of what was used; `audio` tokens are a part of the input. */
export function costOf(
  { model, is_own }: Priced,
  used: { readonly input: number; readonly output: number; readonly audio: number },
): number {
  const { input, output, audio } = ratesOf(model);
  const list = (used.input - used.audio) * input + used.audio * audio + used.output * output;
  return is_own ? ownCostOf(list) : list;
}

/** Whether only the provider can count what `model` is asked. */
export const isOpen = (model: string): boolean => model === 'sim/senses';

/** Entries of a providers file, after those of the crash test. */
export const MODELS_YAML = Object.entries(OWN)
  .map(
    ([id, { input, output, audio }]) => `
  - id: ${id}
    name: Simulated ${id.slice(4)}
    context_length: 128000
    max_output: 8192
    capabilities: { vision: true }
    endpoints:
      - provider: crash
        upstream_model: ${id.replace('/', '-')}
        region: local
        cancel_billing: stops
        price: { input: "${input}", output: "${output}"${audio === input ? '' : `, audio_input: "${audio}"`} }`,
  )
  .join('');

/** What each price is of, by its number. */
export function pricesOf(catalog: CatalogHandle): ReadonlyMap<number, Priced> {
  const all = [...catalog.current().models.values()].flatMap(({ id, endpoints }) =>
    endpoints.map((endpoint) => ({ ...endpoint, model: id })),
  );
  const own = all.flatMap(({ model, byok }) => (byok === undefined ? [] : [{ model, price: byok.price }]));
  const entry = (model: string, { price_no }: Endpoint['price'], is_own: boolean) =>
    [price_no, { model, is_own }] as const;
  return new Map([
    ...all.map(({ model, price }) => entry(model, price, false)),
    ...own.map(({ model, price }) => entry(model, price, true)),
  ]);
}
