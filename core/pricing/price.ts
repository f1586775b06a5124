// The price function: a bill is a pure function of usage and an immutable price version (docs/money/pricing.md), so that
// anyone can recompute it from the reply alone.
import type { PriceVersion, RateKind, Rates } from '../catalog/index.ts';
import { mulDivHalfUp } from '../kernel/index.ts';
import type { Cost, CostLine, Usage } from './types.ts';

/** Input side of a usage: `input + cache_read + cache_write`; picks the band. */
export function promptTokens(usage: Usage): number {
  return usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
}

/** The rates of the one band that `prompt_tokens` reaches; the whole call uses them. */
export function ratesFor(price: Pick<PriceVersion, 'rates' | 'bands'>, prompt_tokens: number): Rates {
  let rates = price.rates;
  for (const band of price.bands) {
    if (band.from_prompt_tokens > prompt_tokens) break;
    rates = band.rates;
  }
  return rates;
}

/**
 * Nano-USD per unit of `kind` with the fallbacks of docs/money/pricing.md#lines; null where the kind is not separately
 * priced, so that its units stay in `input` or `output`. A 1 h cache write without a rate costs 1.6 × the plain one
 * (Anthropic's ratio).
 */
export function rateOf(rates: Rates, kind: RateKind): number | null {
  const own = rates[kind];
  if (own !== undefined) return own;
  switch (kind) {
    case 'cache_read':
    case 'cache_write':
      return rates.input;
    case 'cache_write_5m':
      return rates.cache_write ?? rates.input;
    case 'cache_write_1h':
      return mulDivHalfUp(rates.cache_write ?? rates.input, 16, 10);
    default:
      return null;
  }
}

function line(kind: string, units: number, unit_price_nano: number): CostLine {
  return { kind, units, unit_price_nano, micro_usd: mulDivHalfUp(units, unit_price_nano, 1000) };
}

/** Moves the priced parts of a total into lines of their own; a part is never larger than what is left. */
function splitOff(
  total: number,
  parts: readonly (readonly [RateKind, number | undefined])[],
  rates: Rates,
  lines: CostLine[],
): number {
  let left = total;
  for (const [kind, count] of parts) {
    const rate = rates[kind];
    const units = Math.min(count ?? 0, left);
    if (rate === undefined || units === 0) continue;
    left -= units;
    lines.push(line(kind, units, rate));
  }
  return left;
}

function cacheLines(usage: Usage, rates: Rates): CostLine[] {
  const five = Math.min(usage.cache_write_5m_tokens ?? 0, usage.cache_write_tokens);
  const hour = Math.min(usage.cache_write_1h_tokens ?? 0, usage.cache_write_tokens - five);
  const units: [RateKind, number][] = [
    ['cache_read', usage.cache_read_tokens],
    ['cache_write_5m', five],
    ['cache_write_1h', hour],
    ['cache_write', usage.cache_write_tokens - five - hour],
  ];
  const lines: CostLine[] = [];
  for (const [kind, count] of units) {
    if (count > 0) lines.push(line(kind, count, rateOf(rates, kind) as number));
  }
  return lines;
}

function costLines(usage: Usage, rates: Rates): CostLine[] {
  const parts: CostLine[] = [];
  const output_parts: CostLine[] = [];
  const output = splitOff(
    usage.output_tokens,
    [
      ['reasoning', usage.reasoning_tokens],
      ['audio_output', usage.audio_output_tokens],
      ['image_output', usage.image_output_tokens],
    ],
    rates,
    output_parts,
  );
  const input = splitOff(
    usage.input_tokens,
    [
      ['audio_input', usage.audio_input_tokens],
      ['image_input', usage.image_input_tokens],
    ],
    rates,
    parts,
  );
  const lines = [line('input', input, rates.input), line('output', output, rates.output)];
  lines.push(...cacheLines(usage, rates));
  const of = (kind: RateKind) => (l: CostLine) => l.kind === kind;
  lines.push(...output_parts.filter(of('reasoning')), ...parts.filter(of('audio_input')));
  lines.push(...output_parts.filter(of('audio_output')), ...parts.filter(of('image_input')));
  lines.push(...output_parts.filter(of('image_output')));
  const searches = usage.search_units ?? 0;
  if (searches > 0 && rates.search_unit !== undefined) {
    lines.push(line('search_unit', searches, rates.search_unit));
  }
  const requests = usage.requests ?? 1;
  if (requests > 0 && rates.request !== undefined) lines.push(line('request', requests, rates.request));
  return lines;
}

function sum(lines: readonly CostLine[]): number {
  let total = 0;
  for (const item of lines) total += item.micro_usd;
  return total;
}

/**
 * The cost of `usage` at `price` in micro-USD: one line per kind in the order of docs/money/pricing.md#lines, each
 * `(units × unit_price_nano + 500) div 1000`, total = sum of lines. `input` and `output` are always present. At the
 * price of a call with the caller's own provider key the only line is `byok_fee`, whose units are the list cost in
 * micro-USD.
 * @throws RangeError when a product passes 2^53-1, or the fee is no multiple of 10 bps.
 */
export function price(usage: Usage, price: PriceVersion): Cost {
  const prompt = promptTokens(usage);
  let lines: CostLine[];
  const { fee_bps } = price;
  if (fee_bps === undefined) {
    lines = costLines(usage, ratesFor(price, prompt));
  } else {
    if (fee_bps % 10 !== 0) throw new RangeError(`fee is no multiple of 10 bps: ${fee_bps}`);
    const list = sum(costLines(usage, ratesFor(price.list ?? price, prompt)));
    lines = [line('byok_fee', list, fee_bps / 10)];
  }
  const cost: Cost = { total_micro_usd: sum(lines), lines, price_version: price.id };
  if (usage.source === 'estimate') cost.estimated = true;
  return cost;
}

function withCounts(usage: Usage, input_tokens: number, output_tokens: number): Usage {
  return { ...usage, input_tokens, output_tokens };
}

/** The largest n in 0..max for which `fits(n)`; `fits` holds up to some n and not above. -1 when not even 0 fits. */
function largest(max: number, fits: (n: number) => boolean): number {
  let low = -1;
  let high = max;
  while (low < high) {
    // From `low` on: half of -1 rounded up would be -0.
    const middle = low + Math.ceil((high - low) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * `usage` with its own counts lowered, first of output, then of input, until it costs at most `ceiling_micro_usd`.
 * For estimated usage only, which is never charged above the hold: the lines then still recompute exactly, which a
 * total cut by hand would not.
 */
export function fitUsage(usage: Usage, version: PriceVersion, ceiling_micro_usd: number): Usage {
  const fits = (input: number, output: number) =>
    price(withCounts(usage, input, output), version).total_micro_usd <= ceiling_micro_usd;
  if (fits(usage.input_tokens, usage.output_tokens)) return usage;
  const output = largest(usage.output_tokens, (n) => fits(usage.input_tokens, n));
  if (output >= 0) return withCounts(usage, usage.input_tokens, output);
  const input = largest(usage.input_tokens, (n) => fits(n, 0));
  if (input >= 0) return withCounts(usage, input, 0);
  return {
    input_tokens: 0,
    output_tokens: 0,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
    requests: 0,
    source: usage.source,
  };
}
