// The page behind the link of a notice: it asks before it skips, because mail programs open links by themselves.

import type { SkipPage } from '@svc/core/mandates/index.ts';
import { escaped, frame } from '@svc/http/index.ts';

const OVER: Readonly<Record<Exclude<SkipPage['state'], 'open'>, readonly [title: string, words: string]>> = {
  skipped: ['This debit is skipped', 'Nothing is debited. Automatic top-up itself stays switched on.'],
  made: ['It is too late to skip', 'The debit was made, or is being made now.'],
  over: ['There is nothing to skip', 'This debit will not be made.'],
};

/** The page of a debit that was announced. */
export function skipPage({ state, org_name, total, back_url }: SkipPage): string {
  const back = `<a class="button" href="${escaped(back_url)}">Open the console</a>`;
  if (state !== 'open') {
    const [title, words] = OVER[state];
    return frame(title, `<h1>${title}</h1>\n<p>${words}</p>\n${back}`);
  }
  return frame(
    `Skip the debit of ${total}`,
    `<h1>Skip this debit?</h1>
<p>${escaped(total)} would be debited to buy credits for ${escaped(org_name)}. Skipped, nothing is debited; automatic
top-up tries again after a day if the balance is still low.</p>
<form method="post">
<button type="submit">Skip this debit</button>
${back}
</form>`,
  );
}
