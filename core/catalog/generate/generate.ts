// Writes catalog.yaml from the price package: `node core/catalog/generate/generate.ts 2026-11-21`. The date picks among
// dated prices and stands in the header, so that the same package and date give the same file.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { findProvider, type ModelPrice, type TieredPrices } from '@pydantic/genai-prices';
import { type RateKind, rateKinds } from '../kinds.ts';
import type { Host, Row } from './makers.ts';
import { cancelBilling, providers } from './providers.ts';
import { rows } from './table.ts';

/** Price keys of the package that have a line kind here. Others must not matter for the models of the table. */
const kindOf: { readonly [key: string]: RateKind } = {
  input_mtok: 'input',
  output_mtok: 'output',
  cache_read_mtok: 'cache_read',
  cache_write_mtok: 'cache_write',
  cache_write_1h_mtok: 'cache_write_1h',
  output_reasoning_mtok: 'reasoning',
  input_image_mtok: 'image_input',
  web_searches_kcount: 'search_unit',
};
/** Prices of things that no model of the table is offered for: sound and film, searches in stored files. */
const unused = new Set([
  'storage_searches_kcount',
  'input_audio_mtok',
  'input_video_mtok',
  'cache_audio_read_mtok',
]);
/** The package counts searches by the thousand, a file by the million. */
const SEARCHES = 'web_searches_kcount';
const THOUSAND = 1_000;

type Decimals = Partial<Record<RateKind, string>>;
interface GeneratedPrice {
  readonly price: Decimals;
  readonly bands: readonly { from_prompt_tokens: number; price: Decimals }[];
}

/** Tiers arrive as plain objects, not as the package's class. */
function isTiered(value: number | TieredPrices | undefined): value is TieredPrices {
  return typeof value === 'object';
}

/** Exact decimal text of the package's USD per million. @throws Error beyond six places. */
function decimal(value: number): string {
  const text = String(value);
  if (!/^\d+(\.\d{1,6})?$/.test(text)) throw new Error(`cannot be written with six places: ${text}`);
  return text;
}

/** The package's present entry. @throws Error where prices change by the hour or on a coming day: not expressible. */
function presentPrice(host: Host, date: string): ModelPrice {
  const [provider, id] = host.priced_as;
  const model = findProvider({ providerId: provider })?.models.find((item) => item.id === id);
  if (model === undefined) throw new Error(`no price of ${provider} ${id}`);
  if (model.deprecated) throw new Error(`${provider} ${id} is deprecated`);
  if (!Array.isArray(model.prices)) return model.prices;
  let present: ModelPrice | undefined;
  for (const { constraint, prices } of model.prices) {
    if (constraint !== undefined && constraint.type !== 'start_date') {
      throw new Error(`${provider} ${id} has prices by time of day`);
    }
    if (constraint !== undefined && constraint.start_date > date) {
      throw new Error(`${provider} ${id} changes its price on ${constraint.start_date}`);
    }
    present = prices;
  }
  if (present === undefined) throw new Error(`${provider} ${id} has no price`);
  return present;
}

/** Price and bands of `host` on `date` (`YYYY-MM-DD`). @throws Error when the package has something else to say. */
export function priceOf(host: Host, date: string): GeneratedPrice {
  const searches = host.capabilities?.server_tools?.includes('web_search') === true;
  const entries = Object.entries(presentPrice(host, date)).filter(
    ([key]) => !unused.has(key) && (key !== SEARCHES || searches),
  );
  // The package's tier counts above its start; a band here counts from its own.
  const starts = new Set<number>();
  for (const [, value] of entries) {
    if (isTiered(value)) for (const tier of value.tiers) starts.add(tier.start + 1);
  }
  const at = (from: number): Decimals => {
    const price: Decimals = {};
    for (const [key, value] of entries) {
      const kind = kindOf[key];
      if (kind === undefined) throw new Error(`${host.priced_as.join(' ')}: no line kind for ${key}`);
      if (value === undefined) continue;
      const reached = isTiered(value) ? value.tiers.filter((tier) => tier.start < from).at(-1) : undefined;
      const number = isTiered(value) ? (reached?.price ?? value.base) : value;
      price[kind] = decimal(key === SEARCHES ? number * THOUSAND : number);
    }
    return price;
  };
  const bands = [...starts]
    .sort((a, b) => a - b)
    .map((from) => ({ from_prompt_tokens: from, price: at(from) }));
  return { price: at(0), bands };
}

function contextOf(row: Row): number {
  if (row.context_length !== undefined) return row.context_length;
  for (const host of row.hosts) {
    const [provider, id] = host.priced_as;
    const found = findProvider({ providerId: provider })?.models.find((model) => model.id === id);
    if (found?.context_window !== undefined) return found.context_window;
  }
  throw new Error(`no context length of ${row.id}`);
}

function flow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`;
  if (value !== null && typeof value === 'object') {
    const members = Object.entries(value).map(([key, member]) => `${key}: ${flow(member)}`);
    return `{ ${members.join(', ')} }`;
  }
  return typeof value === 'string' && !/^[a-z][a-z_-]*$/.test(value) ? JSON.stringify(value) : String(value);
}

function rate(price: Decimals): string {
  const members = rateKinds.flatMap((kind) =>
    price[kind] === undefined ? [] : [`${kind}: "${price[kind]}"`],
  );
  return `{ ${members.join(', ')} }`;
}

/** An endpoint whose model makes `out`; of vectors only the text is billed. */
function endpointLines(host: Host, out: Row['out'], date: string): string[] {
  const { price, bands } = priceOf(host, date);
  const whole = out === undefined ? price : { ...price, output: '0' };
  const lines = [
    `      - provider: ${host.provider}`,
    `        upstream_model: ${JSON.stringify(host.upstream_model)}`,
    ...(host.family === undefined ? [] : [`        family: ${host.family}`]),
    `        price: ${rate(whole)}`,
  ];
  if (bands.length > 0) lines.push('        bands:');
  for (const band of bands) {
    lines.push(`          - { from_prompt_tokens: ${band.from_prompt_tokens}, price: ${rate(band.price)} }`);
  }
  const cancel = cancelBilling[host.provider];
  if (cancel !== undefined) lines.push(`        cancel_billing: ${cancel}`);
  for (const key of ['quantization', 'max_output', 'capabilities', 'flags'] as const) {
    if (host[key] !== undefined) lines.push(`        ${key}: ${flow(host[key])}`);
  }
  return lines;
}

function modelLines(row: Row, date: string): string[] {
  const lines = [
    `  - id: ${row.id}`,
    `    name: ${JSON.stringify(row.name)}`,
    `    context_length: ${contextOf(row)}`,
  ];
  if (row.max_output !== undefined) lines.push(`    max_output: ${row.max_output}`);
  lines.push(`    modalities: ${flow({ in: row.in, out: row.out ?? ['text'] })}`);
  lines.push(`    capabilities: ${flow(row.capabilities)}`);
  if (row.reasoning !== undefined) lines.push(`    reasoning: ${flow(row.reasoning)}`);
  if (row.tokenizer !== undefined) lines.push(`    tokenizer: ${row.tokenizer}`);
  lines.push('    endpoints:', ...row.hosts.flatMap((host) => endpointLines(host, row.out, date)));
  return lines;
}

function providerLines(): string[] {
  return providers.flatMap((provider) =>
    Object.entries(provider).map(([key, value], i) => `${i === 0 ? '  - ' : '    '}${key}: ${flow(value)}`),
  );
}

function packageVersion(): string {
  const main = createRequire(import.meta.url).resolve('@pydantic/genai-prices');
  const text = readFileSync(new URL('../package.json', `file://${main}`), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** The text of catalog.yaml for `date`. @throws Error naming the first model that cannot be represented. */
export function generateCatalog(date: string): string {
  return [
    '# Generated by core/catalog/generate/generate.ts; edit generate-*.ts beside it, not this file.',
    `# Public list prices, USD per million tokens, from @pydantic/genai-prices ${packageVersion()} as of ${date}.`,
    '# Capabilities, largest answers and data policies are entered by hand and were not tried against the providers;',
    '# what is not well known is left out. Check prices and policies against your contracts before go-live.',
    'version: 1',
    'providers:',
    ...providerLines(),
    'models:',
    ...rows.flatMap((row) => modelLines(row, date)),
    '',
  ].join('\n');
}

if (import.meta.main) {
  const date = process.argv[2];
  if (date === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(date)) {
    throw new Error('usage: node core/catalog/generate/generate.ts YYYY-MM-DD');
  }
  writeFileSync(new URL('../catalog.yaml', import.meta.url), generateCatalog(date));
}
