// Tickets of customers: read, answered and settled here.
import '../tickets/tickets.css';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useClient, useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import {
  ResaleReplyDocument,
  ResaleResolveDocument,
  type ResaleTicketFragment,
  ResaleTicketsDocument,
  type TicketStatus,
} from '../../api/gen/tools/graphql.ts';
import { useSend } from '../../api/send.ts';
import { useOrg } from '../../app/org.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { AreaField } from '../../ui/field.tsx';
import { Bone, Empty, ErrorBox, FormFault } from '../../ui/states.tsx';
import { Status, type Tone } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';
import { OlderFoot, useOlder } from '../credits/older.tsx';
import { Choice } from '../requests/filters.tsx';
import { type Said, Thread } from '../tickets/thread.tsx';
import { kindWords } from '../tickets/words.ts';
import { holds } from './views.ts';

const PAGE = 20;
type Row = ResaleTicketFragment;
const statuses: readonly { value: TicketStatus; name: string }[] = [
  { value: 'OPEN', name: 'open' },
  { value: 'RESOLVED', name: 'resolved' },
  { value: 'CLOSED', name: 'closed' },
];

/** How a ticket stands, as the reseller reads it. */
function standing({ status, waitingFor }: Row['ticket']): readonly [Tone, string] {
  if (status !== 'OPEN') return ['mute', status.toLowerCase()];
  return waitingFor === 'CUSTOMER' ? ['ok', 'answered'] : ['warn', 'waits for an answer'];
}

function saidIn({ ticket }: Row): Said[] {
  const text = ticket.body.text ?? ticket.body.reason ?? '';
  const first = { id: 'first', who: 'Asked', text: text === '' ? '(no words)' : text, at: ticket.createdAt };
  return [
    first,
    ...ticket.messages.map(({ id, authorName, text, at }) => ({ id, who: authorName, text, at })),
  ];
}

function Answer({ row, onDone }: { row: Row; onDone: (said: string) => void }) {
  const { sendOnce, busy, fault } = useSend();
  const [missing, setMissing] = useState(false);
  const { id, kind, subject } = row.ticket;
  const act = async (form: HTMLFormElement, resolves: boolean) => {
    const text = String(new FormData(form).get('text') ?? '').trim();
    setMissing(!resolves && text === '');
    if (!resolves && text === '') return;
    const done = resolves
      ? await sendOnce(ResaleResolveDocument, { id, ...(text === '' ? {} : { text }) })
      : await sendOnce(ResaleReplyDocument, { id, text });
    if (done === null) return;
    form.reset();
    onDone(resolves ? `${subject} is resolved.` : `The answer to ${subject} is sent.`);
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    void act(event.currentTarget, false);
  };
  return (
    <form className="ticket-form" onSubmit={submit} noValidate>
      <AreaField
        label={`Answer to ${subject}`}
        name="text"
        maxLength={10_000}
        hint="The customer gets it by mail, in your organisation’s name."
        fault={missing ? 'Write an answer.' : null}
      />
      <FormFault fault={fault} />
      <div className="row wrap">
        <Button type="submit" kind="primary" busy={busy}>
          Send
        </Button>
        {kind !== 'LIMIT_INCREASE' && (
          <Button
            onClick={({ currentTarget }) => currentTarget.form && void act(currentTarget.form, true)}
            aria-label={`Resolve ${subject}`}
          >
            Resolve
          </Button>
        )}
      </div>
    </form>
  );
}

function Ticket({ row, named, onDone }: { row: Row; named: boolean; onDone: (said: string) => void }) {
  const org = useOrg();
  const [open, setOpen] = useState(false);
  const { ticket } = row;
  const [tone, word] = standing(ticket);
  return (
    <li className="resale-block">
      <div className="row wrap">
        <h3>{ticket.subject}</h3>
        <Status tone={tone}>{word}</Status>
        <span className="sub">
          {kindWords[ticket.kind]}
          {named && (
            <>
              {' of '}
              {holds(org, 'reseller.read') ? (
                <Link
                  className="link"
                  to="/$org/$env/reseller/customers/$id"
                  params={{ org: org.slug, env: org.env, id: ticket.orgId }}
                >
                  {row.orgName}
                </Link>
              ) : (
                row.orgName
              )}
            </>
          )}
          , <Time at={ticket.updatedAt} />
        </span>
        <span className="grow" />
        <Button
          aria-expanded={open}
          aria-label={`${open ? 'Close' : 'Read'} ${ticket.subject}`}
          onClick={() => setOpen(!open)}
        >
          {open ? 'Close' : 'Read'}
        </Button>
      </div>
      {open && <Thread said={saidIn(row)} />}
      {open && ticket.status !== 'CLOSED' && <Answer row={row} onDone={onDone} />}
    </li>
  );
}

function useTickets(status: TicketStatus | undefined, child: string | undefined) {
  const client = useClient();
  const asked = {
    first: PAGE,
    ...(status === undefined ? {} : { status }),
    ...(child === undefined ? {} : { childOrgId: child }),
  };
  const [{ data, error }, again] = useQuery({
    ...{ query: ResaleTicketsDocument, variables: asked },
    requestPolicy: 'cache-and-network',
  });
  const list = useOlder(data?.reseller?.tickets, async (after) => {
    const { data: page, error } = await client.query(ResaleTicketsDocument, { ...asked, after }).toPromise();
    return { page: page?.reseller?.tickets, error };
  });
  return { ...list, error, reread: () => again({ requestPolicy: 'network-only' }) };
}

/** The tickets of all customers, open ones first asked for; of `child` those of one, all of them. */
export function TicketsCard({ child }: { child?: string }) {
  const [status, setStatus] = useState<TicketStatus | undefined>(child === undefined ? 'OPEN' : undefined);
  const { rows, error, reread, ...older } = useTickets(status, child);
  const [said, setSaid] = useState('');
  const done = (words: string) => {
    setSaid(words);
    reread();
  };
  const choice = (
    <Choice
      name="State of tickets"
      all="Every state"
      value={status}
      onChange={(to) => setStatus(statuses.find(({ value }) => value === to)?.value)}
    >
      {statuses}
    </Choice>
  );
  return (
    <Card title="Tickets" note={<span role="status">{said}</span>} more={choice} flush>
      {error && !rows && <ErrorBox fault={faultOfQuery(error)} onRetry={reread} />}
      {!error && !rows && (
        <div className="resale-pad">
          <Bone width={260} />
        </div>
      )}
      {rows?.length === 0 && (
        <Empty title={status === 'OPEN' ? 'No open ticket' : 'No ticket'}>
          What customers ask stands here; the service sees it too.
        </Empty>
      )}
      {rows !== undefined && rows.length > 0 && (
        <ul className="resale-list">
          {rows.map((row) => (
            <Ticket key={row.ticket.id} row={row} named={child === undefined} onDone={done} />
          ))}
        </ul>
      )}
      <OlderFoot shown={rows?.length ?? 0} what="tickets" {...older} />
    </Card>
  );
}
