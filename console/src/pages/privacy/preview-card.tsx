// Redaction tried out: a text of one's own, and what is left of it under the policy as it is typed.
import { type FormEvent, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { AreaField } from '../../ui/field.tsx';
import { countText, plural } from '../../ui/format/numbers.ts';
import { FormFault } from '../../ui/states.tsx';
import type { Policy } from './policy.ts';
import { foundIn, piecesOf } from './preview.ts';
import type { Tried, usePreview } from './use-preview.ts';

type Redaction = Policy['redact'];

const keyOf = (redact: Redaction, sample: string) => JSON.stringify([redact, sample]);

function Left({ tried }: { tried: Tried }) {
  const found = foundIn(tried.sample, tried.output, tried.redact.patterns);
  return (
    <>
      <div>
        <h3>What is left of it</h3>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
        <section className="code privacy-left" aria-label="Text after redaction" tabIndex={0}>
          <pre>
            {piecesOf(tried.output).map(({ at, text, is_marker }) =>
              is_marker ? <mark key={at}>{text}</mark> : text,
            )}
          </pre>
        </section>
      </div>
      {found.length > 0 && (
        <ul className="privacy-found" aria-label="What was found">
          {found.map(({ what, count }) => (
            <li key={what}>
              <span className="privacy-what">{what}</span> <span className="num">{countText(count)}</span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function summaryOf({ redactions }: Tried, is_current: boolean): string {
  if (!is_current) return 'The text or the policy has changed since. Try it again.';
  if (redactions === 0) return 'Nothing was found: it would leave as it is.';
  return `${plural(redactions, 'place')} replaced.`;
}

export function PreviewCard({
  redact,
  preview,
}: {
  redact: Redaction;
  preview: ReturnType<typeof usePreview>;
}) {
  const { run, busy, fault, of_pattern, tried } = preview;
  const [sample, setSample] = useState('');
  const [empty, setEmpty] = useState(false);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setEmpty(sample === '');
    if (sample !== '') void run(sample, redact);
  };
  const of_sample = fault !== null && /\.sample$/.test(fault.field ?? '') ? fault.message : null;
  const is_current = tried !== null && keyOf(tried.redact, tried.sample) === keyOf(redact, sample);
  const elsewhere = of_pattern !== null || of_sample !== null;
  return (
    <Card title="Redaction preview" note="with the policy as it stands in the form">
      <form className="privacy-form" onSubmit={submit} noValidate>
        <AreaField
          label="Sample text"
          name="sample"
          rows={5}
          spellCheck={false}
          autoComplete="off"
          value={sample}
          onChange={({ target }) => setSample(target.value)}
          fault={empty ? 'Type or paste a text.' : of_sample}
          hint="Nothing of it is stored."
        />
        <FormFault fault={elsewhere ? null : fault} />
        <div className="settings-foot">
          <Button type="submit" icon="eye" busy={busy}>
            Show what is left
          </Button>
          <span role="status" className="soft">
            {of_pattern !== null && 'A pattern is refused; its field says why.'}
            {tried && summaryOf(tried, is_current)}
          </span>
        </div>
        {tried && <Left tried={tried} />}
      </form>
    </Card>
  );
}
