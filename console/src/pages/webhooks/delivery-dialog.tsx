// One delivery: what was sent, and what each attempt met.
import type { DeliveryRowFragment } from '../../api/gen/tools/graphql.ts';
import { Button } from '../../ui/button.tsx';
import { IdText } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { durationText } from '../../ui/format/numbers.ts';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';
import { deliveryMarks, metBy } from './words.ts';

function Attempts({ of }: { of: DeliveryRowFragment['attemptLog'] }) {
  if (of.length === 0) return <p className="soft">None has ended yet.</p>;
  return (
    <ol className="webhook-attempts" aria-label="Attempts">
      {of.map((attempt) => (
        <li key={attempt.at}>
          <Time at={attempt.at} as="feed" /> {metBy(attempt)}{' '}
          <span className="sub">{durationText(attempt.latencyMs)}</span>
        </li>
      ))}
    </ol>
  );
}

export function DeliveryDialog(props: {
  row: DeliveryRowFragment;
  url: string;
  /** Null where nothing can be sent again. */
  onRedeliver: (() => void) | null;
  busy: boolean;
  onClose: () => void;
}) {
  const { row, url, onRedeliver, busy, onClose } = props;
  const { tone, shape, word } = deliveryMarks[row.status];
  return (
    <Dialog title={row.event} size={620} onClose={onClose}>
      <div className="webhook-delivery">
        <div className="row wrap">
          <Status tone={tone} shape={shape}>
            {word}
          </Status>
          <span className="sub">
            <Time at={row.createdAt} />
          </span>
        </div>
        <section>
          <h3>Request</h3>
          <p className="sub">
            POST {url} with <code className="mono">webhook-id</code> <IdText id={row.eventId} />
          </p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
          <section className="code" tabIndex={0} aria-label="Data of the event">
            <pre>{JSON.stringify(row.payload, null, 2)}</pre>
          </section>
        </section>
        <section>
          <h3>Attempts and answers</h3>
          <Attempts of={row.attemptLog} />
        </section>
      </div>
      <div className="dialog-foot">
        <Button onClick={onClose} data-autofocus>
          Close
        </Button>
        {onRedeliver && (
          <Button kind="primary" icon="refresh" busy={busy} onClick={onRedeliver}>
            Send again
          </Button>
        )}
      </div>
    </Dialog>
  );
}
