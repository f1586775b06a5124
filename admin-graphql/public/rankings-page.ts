// The page of what is used most: models and apps by tokens.
import type { RankingsView } from '@svc/core/figures/index.ts';
import { document, wide } from './frame.ts';
import { type Html, html } from './html.ts';
import { count, used } from './words.ts';

/** What somebody can ask the page for, in days. */
export const RANKED_DAYS = [1, 7, 30, 90] as const;

interface RankingsFacts {
  readonly view: RankingsView;
  readonly category: string | null;
  readonly origin: string;
}

const daysWords = (days: number) => (days === 1 ? 'Today' : `${days} days`);

function windows({ view, category }: RankingsFacts): Html {
  const options = RANKED_DAYS.map(
    (days) =>
      html`<option value="${days}"${days === view.days && html` selected`}>${daysWords(days)}</option>`,
  );
  return html`<form class="filter" method="get" action="/rankings">
<label>Time<select name="days">${options}</select></label>
<label>Category of apps<input name="category" maxlength="40" value="${category ?? ''}" placeholder="all"></label>
<button>Show</button>
</form>`;
}

interface Line {
  readonly id: string;
  readonly href: string;
  readonly requests: number;
  readonly tokens: number;
  readonly others: number;
}

function table(name: string, heads: { who: string; others: string }, lines: readonly Line[]): Html {
  const most = lines[0]?.tokens ?? 0;
  const rows = lines.map(({ id, href, requests, tokens, others }, at) => {
    const share = most === 0 ? 0 : Math.max(1, Math.round((tokens / most) * 100));
    return html`<tr><td class="place">${at + 1}</td><th scope="row"><a href="${href}">${id}</a>
<svg class="share" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect x="0" y="0" width="${share}" height="4"/></svg></th>
<td class="n">${used(tokens)}</td><td class="n">${count(requests)}</td><td class="n">${count(others)}</td></tr>`;
  });
  return wide(
    name,
    html`<table><thead><tr><th scope="col" class="place">Place</th><th scope="col">${heads.who}</th><th scope="col" class="n">Tokens</th>
<th scope="col" class="n">Calls</th><th scope="col" class="n">${heads.others}</th></tr></thead><tbody>${rows}</tbody></table>`,
  );
}

/** The whole page. */
export function rankingsPage(facts: RankingsFacts): string {
  const { view, category, origin } = facts;
  const models = view.models.map(({ apps, ...model }) => ({
    ...{ ...model, href: `/models/${model.id}`, others: apps },
  }));
  const apps = view.apps.map(({ models, ...app }) => ({
    ...{ ...app, href: `/rankings/apps/${app.id}`, others: models },
  }));
  const none = (words: string) => html`<p class="note">${words}</p>`;
  return document(
    {
      title: 'What is used most',
      description: 'Models and apps by the tokens of their calls.',
      canonical: `${origin}/rankings`,
      unlisted: category !== null || view.days !== 7,
    },
    html`<h1>What is used most</h1>
<p class="soft">By tokens of answered calls, in rounded numbers. An app is named when its organization shows it; the others count in totals.</p>
${windows(facts)}
${view.analytics === false && none('These figures are more than half an hour old, or there are none yet.')}
<h2>Models</h2>
${models.length === 0 ? none('No model has enough calls to be ranked.') : table('Models', { who: 'Model', others: 'Apps' }, models)}
<h2>Apps</h2>
${apps.length === 0 ? none('No app that shows itself was used.') : table('Apps', { who: 'App', others: 'Models' }, apps)}`,
  );
}
