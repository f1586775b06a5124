// The list of models with a filter, and several side by side.
import { type ModelSearch, type ModelView, modelCapabilities } from '@svc/core/catalog/index.ts';
import { document, type PageFacts, wide } from './frame.ts';
import { type Html, html } from './html.ts';
import { capabilityNames, count, milliseconds, percent, tokens, usd } from './words.ts';

export const COMPARED_MAX = 4;

const sorts = {
  name: 'Name',
  price: 'Price',
  latency: 'First token',
  throughput: 'Speed',
  popularity: 'Use',
  newest: 'Newest',
} as const;
const modalities = ['text', 'image', 'audio', 'video', 'embedding', 'ranking'] as const;

function option(value: string, name: string, chosen: string | undefined): Html {
  const selected = value === (chosen ?? '') && html` selected`;
  return html`<option value="${value}"${selected}>${name}</option>`;
}

function choice(name: string, label: string, options: readonly Html[]): Html {
  return html`<label>${label}<select name="${name}">${options}</select></label>`;
}

function tick(name: string, label: string, on: boolean, value = '1'): Html {
  return html`<label class="check"><input type="checkbox" name="${name}" value="${value}"${on && html` checked`}>${label}</label>`;
}

function filterForm(search: ModelSearch, vendors: readonly string[]): Html {
  const marks = modelCapabilities.filter((name) => name !== 'zdr' && name !== 'no_train');
  return html`<form class="filter" method="get" action="/models" role="search" aria-label="Models">
<label>Search<input type="search" name="q" maxlength="120" value="${search.q ?? ''}"></label>
${choice('vendor', 'Vendor', [
  option('', 'All', search.vendor),
  ...vendors.map((vendor) => option(vendor, vendor, search.vendor)),
])}
${choice('modality', 'Kind', [
  option('', 'All', search.modality),
  ...modalities.map((name) => option(name, name, search.modality)),
])}
${choice(
  'sort',
  'Order',
  Object.entries(sorts).map(([value, name]) => option(value, name, search.sort ?? 'name')),
)}
${marks.map((name) =>
  tick('capability', capabilityNames[name], search.capability?.includes(name) === true, name),
)}
${tick('zdr', capabilityNames.zdr, search.zdr === true)}
${tick('no_train', capabilityNames.no_train, search.no_train === true)}
<button>Show</button>
</form>`;
}

function row(model: ModelView): Html {
  const { input, output, cache_read } = model.pricing_from;
  const able = modelCapabilities.filter((name) => model.capabilities[name]);
  return html`<tr>
<td><input type="checkbox" name="id" value="${model.id}" aria-label="Compare ${model.name}"></td>
<th scope="row"><a href="/models/${model.id}">${model.name}</a><span class="id mono">${model.id}</span>${
    model.status === 'deprecated' && html`<span class="warn">Deprecated</span>`
  }</th>
<td class="n">${usd(input)}</td><td class="n">${usd(output)}</td><td class="n">${usd(cache_read)}</td>
<td class="n">${tokens(model.context_length)}</td>
<td class="n">${milliseconds(model.ttft_p50_ms)}</td><td class="n">${percent(model.uptime_30d)}</td>
<td>${able.map((name) => capabilityNames[name]).join(', ')}</td>
</tr>`;
}

function table(models: readonly ModelView[]): Html {
  return wide(
    'Models',
    html`<table>
<caption>Lowest prices in USD per million tokens. First token: the middle of 30 days. A dash: not enough calls to say, or no such price.</caption>
<thead><tr><td></td><th scope="col">Model</th><th scope="col" class="n">Input</th><th scope="col" class="n">Output</th>
<th scope="col" class="n">Cache read</th><th scope="col" class="n">Context</th><th scope="col" class="n">First token</th>
<th scope="col" class="n">Uptime</th><th scope="col">Can</th></tr></thead>
<tbody>
${models.map(row)}
</tbody></table>`,
  );
}

interface List {
  readonly models: readonly ModelView[];
  readonly search: ModelSearch;
  readonly vendors: readonly string[];
  /** The address of the console, without a slash at its end. */
  readonly origin: string;
}

/** The page of all models that match. */
export function listPage({ models, search, vendors, origin }: List): string {
  const narrowed = Object.keys(search).length > 0;
  const facts: PageFacts = {
    title: 'Models and prices',
    description: `${models.length} models with prices per million tokens, uptime and speed.`,
    canonical: `${origin}/models`,
    unlisted: narrowed,
  };
  const found = models.length === 1 ? '1 model' : `${models.length} models`;
  return document(
    facts,
    html`<h1>Models and prices</h1>
<p class="soft">What each model costs and how it did. No account is needed to look.</p>
${filterForm(search, vendors)}
${
  models.length === 0
    ? html`<p class="note">No model matches. <a href="/models">Show all models</a></p>`
    : html`<form method="get" action="/models/compare">
<div class="bar"><span>${found}</span><button>Compare what is ticked</button></div>
${table(models)}
</form>`
}`,
  );
}

interface Line {
  readonly name: string;
  readonly show: (model: ModelView) => string;
  /** The lowest is marked. */
  readonly value?: (model: ModelView) => number | null | undefined;
}

const lines: readonly Line[] = [
  { name: 'Input', show: (m) => usd(m.pricing_from.input), value: (m) => m.pricing_from.input },
  { name: 'Output', show: (m) => usd(m.pricing_from.output), value: (m) => m.pricing_from.output },
  {
    name: 'Cache read',
    show: (m) => usd(m.pricing_from.cache_read),
    value: (m) => m.pricing_from.cache_read,
  },
  { name: 'Cache write', show: (m) => usd(m.pricing_from.cache_write) },
  { name: 'First token', show: (m) => milliseconds(m.ttft_p50_ms), value: (m) => m.ttft_p50_ms },
  { name: 'Uptime', show: (m) => percent(m.uptime_30d) },
  { name: 'Calls in 7 days', show: (m) => count(m.requests_7d) },
  { name: 'Context', show: (m) => tokens(m.context_length) },
  { name: 'Longest answer', show: (m) => tokens(m.max_output) },
  { name: 'Reads', show: (m) => m.modalities.in.join(', ') },
  { name: 'Writes', show: (m) => m.modalities.out.join(', ') },
  { name: 'Endpoints', show: (m) => String(m.endpoints) },
  ...modelCapabilities.map((name) => ({
    name: capabilityNames[name],
    show: (m: ModelView) => (m.capabilities[name] ? 'Yes' : 'No'),
  })),
];

function comparedLine({ name, show, value }: Line, models: readonly ModelView[]): Html {
  const values = models.map((model) => value?.(model) ?? Number.POSITIVE_INFINITY);
  const least = Math.min(...values);
  const differs = new Set(values).size > 1;
  const cells = models.map((model, at) => {
    if (!differs || values[at] !== least) return html`<td>${show(model)}</td>`;
    return html`<td class="least">${show(model)} <span class="ok">lowest</span></td>`;
  });
  return html`<tr><th scope="row">${name}</th>${cells}</tr>`;
}

/** The page of a few models side by side. */
export function comparePage({ models, origin }: { models: readonly ModelView[]; origin: string }): string {
  const names = models.map(({ name }) => name).join(', ');
  const facts: PageFacts = {
    title: models.length === 0 ? 'Compare models' : `Compare ${names}`,
    description: `Prices and figures of ${names === '' ? 'models' : names} side by side.`,
    canonical: `${origin}/models`,
    unlisted: true,
  };
  const heads = models.map(({ id, name }) => html`<th scope="col"><a href="/models/${id}">${name}</a></th>`);
  return document(
    facts,
    html`<p><a href="/models">All models</a></p>
<h1>Compare models</h1>
${
  models.length < 2
    ? html`<p class="note">Tick two to ${COMPARED_MAX} models in the <a href="/models">list</a>, then compare.</p>`
    : html`<p class="soft">Lowest prices in USD per million tokens; figures of 30 days.</p>
${wide('Comparison', html`<table><thead><tr><td></td>${heads}</tr></thead><tbody>${lines.map((line) => comparedLine(line, models))}</tbody></table>`)}`
}`,
  );
}
