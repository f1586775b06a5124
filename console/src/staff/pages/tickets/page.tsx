// Tickets that wait for staff, oldest first, each with what was written and room for the answer.
import '../../../pages/tickets/tickets.css';
import { useState } from 'react';
import { useClient, useQuery } from 'urql';
import { faultOfQuery } from '../../../api/errors.ts';
import { type StaffTicketRowFragment, StaffTicketsDocument } from '../../../api/gen/staff/graphql.ts';
import { OlderFoot, useOlder } from '../../../pages/credits/older.tsx';
import { Thread } from '../../../pages/tickets/thread.tsx';
import { kindWords } from '../../../pages/tickets/words.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, PageHead } from '../../../ui/card.tsx';
import { Bone, Empty, ErrorBox } from '../../../ui/states.tsx';
import { Time, useNow } from '../../../ui/time.tsx';
import { To } from '../../go.tsx';
import { useMay } from '../../realm.ts';
import { ageOf } from '../item-words.ts';
import { AnswerForm } from './answer-form.tsx';

const PAGE = 20;
type Row = StaffTicketRowFragment;

function saidIn({ ticket: { body, createdAt, messages } }: Row) {
  // A top-up that was not paid has no document, and only its id names it.
  const subject = body.invoiceNumber ?? body.invoiceId ?? body.topupId;
  const about = [body.text ?? body.reason, subject && `About ${subject}`].filter(Boolean).join('\n');
  const first = { id: 'first', who: 'Asked', text: about === '' ? '(no words)' : about, at: createdAt };
  return [first, ...messages.map(({ id, authorName, text, at }) => ({ id, who: authorName, text, at }))];
}

function Ticket({ row, onDone }: { row: Row; onDone: (said: string) => void }) {
  const now = useNow();
  const may = useMay('support', 'finance');
  const [open, setOpen] = useState(false);
  const { ticket, orgName, orgSlug, planId } = row;
  return (
    <li className="item">
      <div className="item-head">
        <h3>{ticket.subject}</h3>
        <span className="sub">
          {orgName}, plan {planId}, {kindWords[ticket.kind]}, waits {ageOf(ticket.createdAt, now)}, came{' '}
          <Time at={ticket.createdAt} />
          {ticket.waitingFor === 'CUSTOMER' && ', waits for the customer'}
        </span>
      </div>
      <Thread said={saidIn(row)} />
      {open && <AnswerForm id={ticket.id} settles={ticket.kind !== 'LIMIT_INCREASE'} onDone={onDone} />}
      <div className="row wrap">
        {may && !open && (
          <Button kind="primary" onClick={() => setOpen(true)} aria-label={`Answer ${ticket.subject}`}>
            Answer…
          </Button>
        )}
        <To
          className="btn"
          href={`/orgs/${orgSlug}`}
          aria-label={`Open the organization of ${ticket.subject}`}
        >
          Open the organization
        </To>
      </div>
    </li>
  );
}

export function TicketsPage() {
  const client = useClient();
  const [answered, setAnswered] = useState(false);
  const [said, setSaid] = useState('');
  const variables = { first: PAGE, answered };
  const [{ data, error }, again] = useQuery({ query: StaffTicketsDocument, variables });
  const reread = () => again({ requestPolicy: 'network-only' });
  const { rows, ...older } = useOlder(data?.tickets, async (after) => {
    const { data: page, error } = await client
      .query(StaffTicketsDocument, { ...variables, after })
      .toPromise();
    return { page: page?.tickets, error };
  });
  const onDone = (words: string) => {
    setSaid(words);
    reread();
  };
  return (
    <>
      <PageHead
        title="Tickets"
        actions={
          <Button aria-pressed={answered} onClick={() => setAnswered(!answered)}>
            {answered ? 'Only what waits for us' : 'Also what was answered'}
          </Button>
        }
      >
        <p role="status">{said || 'What customers ask. The oldest stands first.'}</p>
      </PageHead>
      <Card title="Open tickets" flush>
        {error && !data?.tickets && <ErrorBox fault={faultOfQuery(error)} onRetry={reread} />}
        {!error && data === undefined && (
          <div className="item">
            <Bone width={260} />
          </div>
        )}
        {rows?.length === 0 && <Empty title="Nothing waits">Every ticket has an answer.</Empty>}
        {rows !== undefined && rows.length > 0 && (
          <>
            <ul className="items">
              {rows.map((row) => (
                <Ticket key={`${row.ticket.id} ${row.ticket.messages.length}`} row={row} onDone={onDone} />
              ))}
            </ul>
            <OlderFoot shown={rows.length} what="tickets" order="oldest" {...older} />
          </>
        )}
      </Card>
    </>
  );
}
