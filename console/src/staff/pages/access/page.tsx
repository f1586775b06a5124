// Who is let in: requests for access, oldest first, the waitlist, and invite codes.
import { useState } from 'react';
import { useClient, useQuery } from 'urql';
import {
  type AccessRequestRowFragment,
  ApproveAccessDocument,
  DeclineAccessDocument,
  StaffAccessRequestsDocument,
} from '../../../api/gen/staff/graphql.ts';
import { useMutate } from '../../../api/send.ts';
import { useOlder } from '../../../pages/credits/older.tsx';
import { Button } from '../../../ui/button.tsx';
import { PageHead } from '../../../ui/card.tsx';
import { Time, useNow } from '../../../ui/time.tsx';
import { useMay } from '../../realm.ts';
import { DecideDialog } from '../decide-dialog.tsx';
import { ageOf } from '../item-words.ts';
import { WaitingCard } from '../waiting-card.tsx';
import { CodesCard } from './codes-card.tsx';
import { WaitlistCard } from './waitlist-card.tsx';

const PAGE = 20;
type Row = AccessRequestRowFragment;
type Verdict = 'approve' | 'decline';

/** What was said besides, in one line. */
function factsOf({ jobTitle, country, website, monthlySpend }: Row): string {
  const spend = monthlySpend === '' ? '' : `${monthlySpend} a month`;
  return [jobTitle, country, website, spend].filter((fact) => fact !== '').join(' · ');
}

function Request({ row, onDecide }: { row: Row; onDecide: (verdict: Verdict) => void }) {
  const now = useNow();
  const may = useMay('support');
  const facts = factsOf(row);
  return (
    <li className="item">
      <div className="item-head">
        <h3>
          {row.name}, {row.company}
        </h3>
        <span className="sub">
          {row.email}, waits {ageOf(row.createdAt, now)}, came <Time at={row.createdAt} />
        </span>
      </div>
      <p className="soft">“{row.useCase}”</p>
      {facts !== '' && <p className="soft">{facts}</p>}
      {may && (
        <div className="row wrap">
          <Button kind="primary" onClick={() => onDecide('approve')} aria-label={`Approve ${row.email}`}>
            Approve…
          </Button>
          <Button onClick={() => onDecide('decline')} aria-label={`Decline ${row.email}`}>
            Decline…
          </Button>
        </div>
      )}
    </li>
  );
}

interface Doing {
  readonly row: Row;
  readonly verdict: Verdict;
}

function Decision({ doing, onClose, onDone }: { doing: Doing; onClose: () => void; onDone: () => void }) {
  const mutate = useMutate();
  const { row, verdict } = doing;
  const { id } = row;
  const approves = verdict === 'approve';
  return (
    <DecideDialog
      title={approves ? `Approve ${row.email}` : `Decline ${row.email}`}
      note={
        approves
          ? 'A mail brings a link, valid for three days, that makes the account.'
          : 'The person may ask again later.'
      }
      words={{ label: 'Reason', hint: 'For the audit log; the person does not read it.', needed: true }}
      verb={approves ? 'Approve' : 'Decline'}
      danger={!approves}
      send={(form, reason) =>
        approves
          ? mutate(ApproveAccessDocument, { id, reason })
          : mutate(DeclineAccessDocument, { id, reason, sendMail: form.get('mail') !== null })
      }
      onClose={onClose}
      onDone={onDone}
    >
      {!approves && (
        <label className="check">
          <input type="checkbox" name="mail" value="yes" defaultChecked />
          <span>Send a mail that says so.</span>
        </label>
      )}
    </DecideDialog>
  );
}

export function AccessPage() {
  const client = useClient();
  const [{ data, error }, again] = useQuery({
    query: StaffAccessRequestsDocument,
    variables: { first: PAGE },
  });
  const [doing, setDoing] = useState<Doing | null>(null);
  const reread = () => again({ requestPolicy: 'network-only' });
  const { rows, ...older } = useOlder(data?.accessRequests, async (after) => {
    const { data: page, error } = await client
      .query(StaffAccessRequestsDocument, { first: PAGE, after })
      .toPromise();
    return { page: page?.accessRequests, error };
  });
  return (
    <>
      <PageHead title="Access">
        <p>Who asks for an account, who waits for an organization, and codes that let people in.</p>
      </PageHead>
      <div className="stack">
        <WaitingCard
          {...{ title: 'Open requests', what: 'requests', rows, older, error, onRetry: reread }}
          empty={['Nothing waits', 'Nobody asks for access.']}
        >
          {(rows) => (
            <ul className="items">
              {rows.map((row) => (
                <Request key={row.id} row={row} onDecide={(verdict) => setDoing({ row, verdict })} />
              ))}
            </ul>
          )}
        </WaitingCard>
        <WaitlistCard />
        <CodesCard />
      </div>
      {doing && (
        <Decision
          doing={doing}
          onClose={() => setDoing(null)}
          onDone={() => {
            setDoing(null);
            reread();
          }}
        />
      )}
    </>
  );
}
