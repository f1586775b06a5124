// Prices that a file gives from a day on: which of them holds today, and which are to come. Pure.
import type { FileEndpoint } from './file-schema.ts';
import type { ComingPrice, Model, Rates } from './types.ts';

/** `file` with the prices that hold on `today`. */
export function pricedOn(file: FileEndpoint, today: string): FileEndpoint {
  let priced = file;
  for (const { from, price, bands, tiers } of file.scheduled ?? []) {
    if (from > today) break;
    const { bands: _, ...rest } = priced;
    priced = {
      ...rest,
      price,
      ...(bands === undefined ? {} : { bands }),
      tiers: { ...rest.tiers, ...tiers },
    };
  }
  return priced;
}

/** The prices of `file` after `today`, as `ratesOf` makes rates of them; absent where it has none. */
export function comingAfter(
  file: FileEndpoint,
  today: string,
  ratesOf: (price: FileEndpoint['price']) => Rates,
): { coming?: readonly ComingPrice[] } {
  const coming = (file.scheduled ?? [])
    .filter(({ from }) => from > today)
    .map(({ from, price }) => ({ from, rates: ratesOf(price) }));
  return coming.length === 0 ? {} : { coming };
}

/** The prices to come of all endpoints of `model`, the nearest first. */
export function scheduledPrices(model: Model): { endpoint_id: string; effective_at: string; rates: Rates }[] {
  return model.endpoints
    .flatMap(({ id, coming = [] }) =>
      coming.map(({ from, rates }) => ({
        endpoint_id: id,
        effective_at: `${from}T00:00:00.000Z`,
        rates,
      })),
    )
    .sort((a, b) => (a.effective_at < b.effective_at ? -1 : Number(a.effective_at > b.effective_at)));
}
