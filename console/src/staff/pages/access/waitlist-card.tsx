// People who have an account and wait until they may make an organization, oldest first.
import { useState } from 'react';
import { useClient, useQuery } from 'urql';
import {
  InviteFromWaitlistDocument,
  StaffWaitlistDocument,
  type WaitlistRowFragment,
} from '../../../api/gen/staff/graphql.ts';
import { useMutate } from '../../../api/send.ts';
import { useOlder } from '../../../pages/credits/older.tsx';
import { Button } from '../../../ui/button.tsx';
import { Time, useNow } from '../../../ui/time.tsx';
import { useMay } from '../../realm.ts';
import { DecideDialog } from '../decide-dialog.tsx';
import { ageOf } from '../item-words.ts';
import { WaitingCard } from '../waiting-card.tsx';

const PAGE = 20;
type Row = WaitlistRowFragment;

function Entry({ row, onInvite }: { row: Row; onInvite: (() => void) | null }) {
  const now = useNow();
  return (
    <li className="item">
      <div className="item-head">
        <h3>{row.name === '' ? row.company : `${row.name}, ${row.company}`}</h3>
        <span className="sub">
          {row.email}, waits {ageOf(row.createdAt, now)}, came <Time at={row.createdAt} />
        </span>
      </div>
      <p className="soft">“{row.useCase}”</p>
      {onInvite && (
        <div className="row wrap">
          <Button kind="primary" onClick={onInvite} aria-label={`Invite ${row.email}`}>
            Invite…
          </Button>
        </div>
      )}
    </li>
  );
}

export function WaitlistCard() {
  const client = useClient();
  const mutate = useMutate();
  const may = useMay('support');
  const [{ data, error }, again] = useQuery({ query: StaffWaitlistDocument, variables: { first: PAGE } });
  const [inviting, setInviting] = useState<Row | null>(null);
  const reread = () => again({ requestPolicy: 'network-only' });
  const { rows, ...older } = useOlder(data?.waitlist, async (after) => {
    const { data: page, error } = await client
      .query(StaffWaitlistDocument, { first: PAGE, after })
      .toPromise();
    return { page: page?.waitlist, error };
  });
  return (
    <>
      <WaitingCard
        {...{ title: 'Waitlist', what: 'people', rows, older, error, onRetry: reread }}
        empty={['Nobody waits', 'People with an account wait here for an organization of their own.']}
      >
        {(rows) => (
          <ul className="items">
            {rows.map((row) => (
              <Entry key={row.id} row={row} onInvite={may ? () => setInviting(row) : null} />
            ))}
          </ul>
        )}
      </WaitingCard>
      {inviting && (
        <DecideDialog
          title={`Invite ${inviting.email}`}
          note="A mail tells them that they can make an organization."
          words={{ label: 'Reason', hint: 'For the audit log; the person does not read it.', needed: true }}
          verb="Invite"
          send={(_form, reason) => mutate(InviteFromWaitlistDocument, { id: inviting.id, reason })}
          onClose={() => setInviting(null)}
          onDone={() => {
            setInviting(null);
            reread();
          }}
        />
      )}
    </>
  );
}
