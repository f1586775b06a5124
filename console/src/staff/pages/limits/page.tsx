// Requests for higher limits that wait for a person, oldest first.
import { useState } from 'react';
import { useClient, useQuery } from 'urql';
import { faultOfForm } from '../../../api/errors.ts';
import {
  ApproveLimitsDocument,
  type LimitRequestRowFragment,
  RefuseLimitsDocument,
  StaffLimitRequestsDocument,
} from '../../../api/gen/staff/graphql.ts';
import { useMutate } from '../../../api/send.ts';
import type { Result } from '../../../api/session.ts';
import { limitOf } from '../../../pages/budgets/limits.ts';
import { useOlder } from '../../../pages/credits/older.tsx';
import { Button } from '../../../ui/button.tsx';
import { PageHead } from '../../../ui/card.tsx';
import { TextField } from '../../../ui/field.tsx';
import { countText } from '../../../ui/format/numbers.ts';
import { Columns, Table } from '../../../ui/table.tsx';
import { Time, useNow } from '../../../ui/time.tsx';
import { To } from '../../go.tsx';
import { useMay } from '../../realm.ts';
import { DecideDialog } from '../decide-dialog.tsx';
import { ageOf } from '../item-words.ts';
import { limitLabels as labels, type LimitName as Name, limitNames as names } from '../limit-names.ts';
import { WaitingCard } from '../waiting-card.tsx';

const PAGE = 20;
type Row = LimitRequestRowFragment;
type Verdict = 'approve' | 'refuse';

function limitText(limit: number | null | undefined): string {
  return limit === null || limit === undefined ? 'no limit' : countText(limit);
}

/** The limits that a request names. */
function askedOf({ ticket }: Row): Name[] {
  return names.filter((name) => typeof ticket.body.requested[name] === 'number');
}

function Asked({ row }: { row: Row }) {
  return (
    <Table name={`Limits that ${row.keyName} asks for`} stacks>
      <Columns
        of={[
          'Limit',
          { name: 'Asked', className: 'n' },
          { name: 'Key now', className: 'n' },
          { name: 'Organization', className: 'n' },
        ]}
      />
      <tbody>
        {askedOf(row).map((name) => (
          <tr key={name}>
            <td>{labels[name]}</td>
            <td className="n" data-label="Asked">
              {limitText(row.ticket.body.requested[name])}
            </td>
            <td className="n soft" data-label="Key now">
              {limitText(row.now[name])}
            </td>
            <td className="n soft" data-label="Organization">
              {limitText(row.most[name])}
            </td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

function Request({ row, onDecide }: { row: Row; onDecide: (verdict: Verdict) => void }) {
  const now = useNow();
  const may = useMay('support', 'finance');
  const { ticket, keyName, keyStatus } = row;
  return (
    <li className="item">
      <div className="item-head">
        <h3>
          {row.orgName}, key {keyName}
        </h3>
        <span className="sub">
          waits {ageOf(ticket.createdAt, now)}, came <Time at={ticket.createdAt} />, plan {row.planId}
          {keyStatus !== 'active' && `, the key is ${keyStatus}`}
        </span>
      </div>
      {ticket.body.reason !== '' && <p className="soft">“{ticket.body.reason}”</p>}
      <Asked row={row} />
      <div className="row wrap">
        {may && keyStatus === 'active' && (
          <Button kind="primary" onClick={() => onDecide('approve')} aria-label={`Grant ${ticket.subject}`}>
            Grant…
          </Button>
        )}
        {may && (
          <Button onClick={() => onDecide('refuse')} aria-label={`Refuse ${ticket.subject}`}>
            Refuse…
          </Button>
        )}
        <To
          className="btn"
          href={`/orgs/${row.orgSlug}`}
          aria-label={`Open the organization of ${ticket.subject}`}
        >
          Open the organization
        </To>
      </div>
    </li>
  );
}

/** The limits as they are typed, or what is wrong with them. */
function typedOf(row: Row, form: FormData): Result<Partial<Record<Name, number>>> {
  const wanted = askedOf(row).map((name) => [name, limitOf(String(form.get(name) ?? ''))] as const);
  const wrong = wanted.find(([, value]) => typeof value !== 'number');
  if (wrong !== undefined)
    return { ok: false, fault: faultOfForm(`${labels[wrong[0]]}: a whole number from 1 on.`) };
  return { ok: true, value: Object.fromEntries(wanted) };
}

interface Doing {
  readonly row: Row;
  readonly verdict: Verdict;
}

function Decision({ doing, onClose, onDone }: { doing: Doing; onClose: () => void; onDone: () => void }) {
  const mutate = useMutate();
  const { row, verdict } = doing;
  const grants = verdict === 'approve';
  const { id } = row.ticket;
  const grant = async (form: FormData, answer: string) => {
    const typed = typedOf(row, form);
    if (!typed.ok) return typed;
    return mutate(ApproveLimitsDocument, { id, answer, ...typed.value });
  };
  return (
    <DecideDialog
      title={grants ? `Grant limits to ${row.keyName}` : `Refuse ${row.keyName}`}
      note={
        grants
          ? 'What lies beyond the plan becomes an override of the organization. It holds within a second; who asked gets a mail.'
          : 'The limits stay as they are; who asked gets a mail with your words.'
      }
      words={{
        label: 'Answer',
        hint: grants ? 'The customer reads it. May be empty.' : 'The customer reads it.',
        needed: !grants,
      }}
      verb={grants ? 'Grant these limits' : 'Refuse the request'}
      danger={!grants}
      send={(form, answer) => (grants ? grant(form, answer) : mutate(RefuseLimitsDocument, { id, answer }))}
      onClose={onClose}
      onDone={onDone}
    >
      {grants &&
        askedOf(row).map((name) => (
          <TextField
            key={name}
            label={labels[name]}
            name={name}
            inputMode="numeric"
            defaultValue={row.ticket.body.requested[name] ?? ''}
            autoComplete="off"
          />
        ))}
    </DecideDialog>
  );
}

export function LimitsPage() {
  const client = useClient();
  const [{ data, error }, again] = useQuery({
    query: StaffLimitRequestsDocument,
    variables: { first: PAGE },
  });
  const [doing, setDoing] = useState<Doing | null>(null);
  const reread = () => again({ requestPolicy: 'network-only' });
  const { rows, ...older } = useOlder(data?.limitRequests, async (after) => {
    const { data: page, error } = await client
      .query(StaffLimitRequestsDocument, { first: PAGE, after })
      .toPromise();
    return { page: page?.limitRequests, error };
  });
  return (
    <>
      <PageHead title="Limits">
        <p>Requests for higher limits that go beyond a plan. The oldest stands first.</p>
      </PageHead>
      <WaitingCard
        {...{ title: 'Open requests', what: 'requests', rows, older, error, onRetry: reread }}
        empty={['Nothing waits', 'What a plan allows is granted by itself.']}
      >
        {(rows) => (
          <ul className="items">
            {rows.map((row) => (
              <Request key={row.ticket.id} row={row} onDecide={(verdict) => setDoing({ row, verdict })} />
            ))}
          </ul>
        )}
      </WaitingCard>
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
