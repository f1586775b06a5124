// Models of a run beside those of the crash test, and what all of them cost: one that is free, and one that sees pictures, of
// which only its provider can say what they are counted as, and hears, which has a price of its own; and one of which a call costs
// hundreds of dollars.
import type { CatalogHandle } from '@svc/core/catalog/index.ts';

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

/** The cost of what was used of `model`; `audio` tokens are a part of the input. */
export function costOf(
  model: string,
  used: { readonly input: number; readonly output: number; readonly audio: number },
): number {
  const { input, output, audio } = ratesOf(model);
  return (used.input - used.audio) * input + used.audio * audio + used.output * output;
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

/** The model by the number of its price. */
export function modelsByPrice(catalog: CatalogHandle): ReadonlyMap<number, string> {
  const all = [...catalog.current().models.values()];
  return new Map(
    all.flatMap(({ id, endpoints }) => endpoints.map(({ price }) => [price.price_no, id] as const)),
  );
}
