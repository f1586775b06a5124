// The page of one model: what it costs where, how it did, and what changes.
import type { EndpointView, Model, ModelView } from '@svc/core/catalog/index.ts';
import { priceOf } from '@svc/core/catalog/index.ts';
import type { ModelStats } from '@svc/core/figures/index.ts';
import { document, type PageFacts, wide } from './frame.ts';
import { type Html, html } from './html.ts';
import { capabilityNames, count, dataWords, milliseconds, percent, tokens, usd } from './words.ts';

type Day = ModelStats['series'][number];

interface ModelFacts {
  readonly model: Model;
  readonly view: ModelView;
  readonly endpoints: readonly EndpointView[];
  readonly stats: ModelStats;
  readonly origin: string;
  readonly base_url: string;
}

const statusWords = { active: 'Active', degraded: 'Degraded', disabled: 'Not callable here' } as const;
const statusClass = { active: 'ok', degraded: 'warn', disabled: 'soft' } as const;

function endpointRow(endpoint: EndpointView): Html {
  const { price, latency, status } = endpoint;
  const place = [endpoint.region, endpoint.quantization].filter(Boolean).join(', ');
  return html`<tr><th scope="row">${endpoint.provider_name}<span class="id">${place}</span></th>
<td class="n">${usd(price.input)}</td><td class="n">${usd(price.output)}</td><td class="n">${usd(price.cache_read)}</td>
<td class="n">${usd(price.cache_write)}</td><td class="n">${milliseconds(latency.ttft_p50_ms)}</td>
<td class="n">${milliseconds(latency.ttft_p95_ms)}</td><td class="n">${percent(endpoint.uptime_30d)}</td>
<td class="${statusClass[status]}">${statusWords[status]}</td><td>${dataWords(endpoint.data_policy)}</td></tr>`;
}

function endpointTable(endpoints: readonly EndpointView[]): Html {
  return wide(
    'Endpoints',
    html`<table><caption>Prices in USD per million tokens. First token in the middle, and of the slowest twentieth. A dash: not enough calls to say, or no such price.</caption>
<thead><tr><th scope="col">Provider</th><th scope="col" class="n">Input</th><th scope="col" class="n">Output</th>
<th scope="col" class="n">Cache read</th><th scope="col" class="n">Cache write</th><th scope="col" class="n">First token</th>
<th scope="col" class="n">95 % within</th><th scope="col" class="n">Uptime</th><th scope="col">State</th><th scope="col">Data</th></tr></thead>
<tbody>${endpoints.map(endpointRow)}</tbody></table>`,
  );
}

/** Prices of long prompts, where an endpoint has such. */
function bandRows(model: Model): Html[] {
  return model.endpoints.flatMap(({ provider_name, price }) =>
    price.bands.map(({ from_prompt_tokens, rates }) => {
      const { input, output } = priceOf(rates);
      return html`<tr><th scope="row">${provider_name}</th><td class="n">${count(from_prompt_tokens)}</td><td class="n">${usd(input)}</td><td class="n">${usd(output)}</td></tr>`;
    }),
  );
}

function classOf({ uptime }: Day): string {
  if (uptime === null) return 'none';
  if (uptime >= 0.99) return 'good';
  return uptime >= 0.9 ? 'poor' : 'down';
}

/** A strip of days; what it shows is said in its label, and each day in its title. */
function strip(name: string, days: readonly Day[]): Html {
  const known = days.filter(({ uptime }) => uptime !== null);
  const worst = known.toSorted((a, b) => (a.uptime ?? 1) - (b.uptime ?? 1))[0];
  const words =
    worst === undefined
      ? `${name}: not enough calls on any day`
      : `${name}: ${known.length} of ${days.length} days known, the worst ${worst.day} with ${percent(worst.uptime)}`;
  const bars = days.map(
    (day, at) =>
      html`<rect class="${classOf(day)}" x="${at * 6}" y="0" width="5" height="28"><title>${day.day}: ${percent(day.uptime)}</title></rect>`,
  );
  return html`<svg class="days" viewBox="0 0 ${days.length * 6} 28" preserveAspectRatio="none" role="img" aria-label="${words}">${bars}</svg>`;
}

function dayRows({ endpoints, stats }: ModelFacts): Html[] {
  const by_endpoint = Map.groupBy(stats.series, ({ endpoint_id }) => endpoint_id);
  return endpoints.map(({ id, provider_name, region, attempts_30d, uptime_30d }) => {
    const days = by_endpoint.get(id) ?? [];
    return html`<tr><th scope="row">${provider_name}<span class="id">${region}</span></th><td>${strip(`${provider_name}, ${region}`, days)}</td><td class="n">${percent(uptime_30d)}</td><td class="n">${count(attempts_30d)}</td></tr>`;
  });
}

function comingRows({ endpoints, stats }: ModelFacts): Html[] {
  const names = new Map(endpoints.map(({ id, provider_name }) => [id, provider_name]));
  return stats.scheduled_prices.map(
    ({ endpoint_id, effective_at, price }) =>
      html`<tr><th scope="row">${effective_at.slice(0, 10)}</th><td>${names.get(endpoint_id) ?? ''}</td><td class="n">${usd(price.input)}</td><td class="n">${usd(price.output)}</td></tr>`,
  );
}

function section(title: string, table: Html | false): Html | false {
  return table && html`<h2>${title}</h2>${table}`;
}

const heads = (...names: readonly [string, ...string[]]) =>
  html`<thead><tr>${names.map((name) => {
    const right = /^(?:Input|Output|From tokens|Uptime|Attempts)$/.test(name) && html` class="n"`;
    return html`<th scope="col"${right}>${name}</th>`;
  })}</tr></thead>`;

function facts({ view, model }: ModelFacts): Html {
  const of: readonly (readonly [string, string])[] = [
    ['Input from', usd(view.pricing_from.input)],
    ['Output from', usd(view.pricing_from.output)],
    ['Context', `${count(view.context_length)} tokens`],
    ['Longest answer', `${count(view.max_output)} tokens`],
    ['First token', milliseconds(view.ttft_p50_ms)],
    ['Uptime of 30 days', percent(view.uptime_30d)],
    ['Calls in 7 days', count(view.requests_7d)],
    ['Reads', view.modalities.in.join(', ')],
    ['Writes', view.modalities.out.join(', ')],
    ...(model.released_at === null ? [] : [['Released', model.released_at] as const]),
  ];
  return html`<dl>${of.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

function ending({ model, view }: ModelFacts): Html | false {
  if (view.status !== 'deprecated') return false;
  const until = model.retires_at === null ? '' : ` From ${model.retires_at} on it is not called.`;
  return html`<p class="note warn">This model is deprecated.${until}</p>`;
}

function changes(changelog: ModelStats['changelog']): Html {
  return html`<ul class="plain">${changelog.map(({ summary, effective_at }) => html`<li><time datetime="${effective_at}">${effective_at.slice(0, 10)}</time>: ${summary}</li>`)}</ul>`;
}

function usedBy({ stats }: ModelFacts): Html | false {
  if (stats.apps.length === 0) return false;
  return html`<ul class="plain">${stats.apps.map(({ app_id, tokens_7d }) => html`<li>${app_id}: ${tokens(tokens_7d)} tokens in 7 days</li>`)}</ul>`;
}

function body(of: ModelFacts): Html {
  const { model, view, endpoints, stats, base_url } = of;
  const able = Object.entries(capabilityNames).filter(([name]) => view.capabilities[name as 'tools']);
  const bands = bandRows(model);
  const coming = comingRows(of);
  const call = `curl ${base_url}/v1/responses \\\n  -H 'authorization: Bearer svc-live-…' -H 'content-type: application/json' \\\n  -d '{"model":"${model.id}","input":"Hello"}'`;
  return html`<p><a href="/models">All models</a></p>
<h1>${view.name}</h1>
<p class="mono soft">${view.id}</p>
${ending(of)}
${facts(of)}
<p>${able.map(([, name]) => name).join(', ')}</p>
${section('Where it runs and what it costs', endpointTable(endpoints))}
${section('Long prompts', bands.length > 0 && wide('Prices of long prompts', html`<table>${heads('Provider', 'From tokens', 'Input', 'Output')}<tbody>${bands}</tbody></table>`))}
${section('Prices to come', coming.length > 0 && wide('Prices to come', html`<table>${heads('From', 'Provider', 'Input', 'Output')}<tbody>${coming}</tbody></table>`))}
${section('The last 30 days', wide('Days', html`<table>${heads('Provider', 'Uptime by day, oldest first', 'Uptime', 'Attempts')}<tbody>${dayRows(of)}</tbody></table>`))}
${!stats.analytics && html`<p class="soft">These figures are more than half an hour old, or there are none yet.</p>`}
${section('Used by', usedBy(of))}
${section('Changes', changes(of.stats.changelog))}
${model.endpoints.some(({ task }) => task === undefined) && section('Call it', html`<pre tabindex="0" role="region" aria-label="A first call">${call}</pre>`)}`;
}

/** The page of a model. */
export function modelPage(of: ModelFacts): string {
  const { view, origin } = of;
  const { input, output } = view.pricing_from;
  const facts: PageFacts = {
    title: `${view.name}: prices and uptime`,
    description: `${view.name} (${view.id}) from ${usd(input)} per million input and ${usd(output)} per million output tokens, at ${view.endpoints} endpoints.`,
    canonical: `${origin}/models/${view.id}`,
  };
  return document(facts, body(of));
}

const nearList = (near: readonly string[]): Html =>
  html`<ul class="plain">${near.map((id) => html`<li><a href="/models/${id}">${id}</a></li>`)}</ul>`;

/** The page of a model that left the catalog. */
export function withdrawnPage(of: {
  readonly id: string;
  readonly left_at: Date;
  readonly changelog: ModelStats['changelog'];
  readonly near: readonly string[];
  readonly origin: string;
}): string {
  const day = of.left_at.toISOString().slice(0, 10);
  return document(
    {
      title: `${of.id}: not offered any more`,
      description: `${of.id} left the catalog on ${day}.`,
      canonical: `${of.origin}/models/${of.id}`,
      unlisted: true,
    },
    html`<p><a href="/models">All models</a></p>
<h1>${of.id}</h1>
<p class="note warn">This model left the catalog on <time datetime="${of.left_at.toISOString()}">${day}</time>. A call that names it is answered 404 <code>model_not_found</code> and costs nothing.</p>
${section('Near names', of.near.length > 0 && nearList(of.near))}
${section('Changes', of.changelog.length > 0 && changes(of.changelog))}`,
  );
}

/** The page in place of a model that never was. */
export function missingPage(of: { near: readonly string[]; origin: string }): string {
  return document(
    {
      title: 'No such model',
      description: 'There is no model of this name.',
      canonical: `${of.origin}/models`,
      unlisted: true,
    },
    html`<h1>There is no model of this name</h1>
<p>The address has an error. <a href="/models">All models</a></p>
${section('Did you mean', of.near.length > 0 && nearList(of.near))}`,
  );
}
