// The page of an app that shows itself to everybody.
import type { PublicApp } from '@svc/core/figures/index.ts';
import { document } from './frame.ts';
import { type Html, html } from './html.ts';
import { callsOf, count, used } from './words.ts';

const HEIGHT = 60;

/** A bar for each day, by tokens; what it shows is said in its label, and each day in its title. */
function bars(app: PublicApp): Html {
  const most = Math.max(1, ...app.trend.map((day) => day.tokens));
  const best = app.trend.find((day) => day.tokens === most);
  const words =
    best === undefined
      ? 'Tokens by day: no calls in 30 days'
      : `Tokens by day, the most on ${best.day}: ${used(best.tokens)} in ${callsOf(best.requests)}`;
  const days = app.trend.map((day, at) => {
    const height = day.tokens === 0 ? 1 : Math.max(2, Math.round((day.tokens / most) * HEIGHT));
    return html`<rect class="${day.tokens === 0 ? 'none' : 'use'}" x="${at * 6}" y="${HEIGHT - height}" width="5" height="${height}"><title>${day.day}: ${used(day.tokens)} tokens, ${callsOf(day.requests)}</title></rect>`;
  });
  return html`<svg class="trend" viewBox="0 0 ${app.trend.length * 6} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${words}">${days}</svg>`;
}

/** The whole page. */
export function appPage({ app, origin }: { app: PublicApp; origin: string }): string {
  const { name, slug, category, url } = app;
  const models = app.models.map((id) => html`<li><a href="/models/${id}">${id}</a></li>`);
  const at = category === null ? null : `/rankings?category=${encodeURIComponent(category)}`;
  return document(
    {
      title: name,
      description: `${name}: ${used(app.tokens_30d)} tokens in ${callsOf(app.requests_30d)} of 30 days.`,
      canonical: `${origin}/rankings/apps/${slug}`,
    },
    html`<p><a href="/rankings">What is used most</a></p>
<h1>${name}</h1>
<p class="soft mono">${slug}</p>
${url !== null && html`<p><a href="${url}" rel="nofollow noopener ugc">${url}</a></p>`}
${app.analytics === false && html`<p class="note">These figures are more than half an hour old, or there are none yet.</p>`}
<dl><div><dt>Tokens in 30 days</dt><dd>${used(app.tokens_30d)}</dd></div>
<div><dt>Calls in 30 days</dt><dd>${count(app.requests_30d)}</dd></div>
${at !== null && html`<div><dt>Category</dt><dd><a href="${at}">${category}</a></dd></div>`}</dl>
<h2>Tokens by day</h2>
${bars(app)}
<h2>Models it uses</h2>
${models.length === 0 ? html`<p class="note">None in 30 days.</p>` : html`<ul class="plain">${models}</ul>`}`,
  );
}

/** Where no app shows itself under that name: who hides one and who has none are not told apart. */
export function missingAppPage(origin: string): string {
  return document(
    {
      title: 'No such app',
      description: 'No app shows itself here.',
      canonical: `${origin}/rankings`,
      unlisted: true,
    },
    html`<h1>No such app</h1>
<p>No app shows itself under this name. <a href="/rankings">What is used most</a></p>`,
  );
}
