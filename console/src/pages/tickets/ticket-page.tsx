// One ticket: what was asked, what was answered, and the next word.
import './tickets.css';
import { Link, useParams } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import {
  CloseTicketDocument,
  ReplyToTicketDocument,
  TicketDocument,
  type TicketShownFragment,
} from '../../api/gen/tools/graphql.ts';
import { useSend } from '../../api/send.ts';
import { useOrg } from '../../app/org.tsx';
import { Button } from '../../ui/button.tsx';
import { Card, PageHead } from '../../ui/card.tsx';
import { AreaField } from '../../ui/field.tsx';
import { Bone, ErrorBox, FormFault } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { type Said, Thread } from './thread.tsx';
import { kindWords, standing } from './words.ts';

function saidIn({ body, createdAt, messages }: TicketShownFragment): Said[] {
  const subject = body.invoiceNumber ?? body.invoiceId ?? body.topupId;
  const text = [body.text ?? body.reason, subject && `About ${subject}`].filter(Boolean).join('\n');
  const first = { id: 'first', who: 'Asked', text: text === '' ? '(no words)' : text, at: createdAt };
  return [first, ...messages.map(({ id, authorName, text, at }) => ({ id, who: authorName, text, at }))];
}

function Reply({ ticket, onDone }: { ticket: TicketShownFragment; onDone: (said: string) => void }) {
  const { send, busy, fault } = useSend();
  const [missing, setMissing] = useState(false);
  const { id, status } = ticket;
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const text = String(new FormData(form).get('text') ?? '').trim();
    setMissing(text === '');
    if (text === '') return;
    const done = await send(ReplyToTicketDocument, { id, text });
    if (done === null) return;
    form.reset();
    onDone('Sent to support.');
  };
  const close = async () => {
    const done = await send(CloseTicketDocument, { id });
    if (done !== null) onDone('The ticket is closed.');
  };
  return (
    <form className="ticket-form" onSubmit={(event) => void submit(event)} noValidate>
      <AreaField
        label={status === 'RESOLVED' ? 'Write again, which opens it anew' : 'Write more'}
        name="text"
        maxLength={10_000}
        fault={missing ? 'Write what you need.' : null}
      />
      <FormFault fault={fault} />
      <div className="row wrap">
        <Button type="submit" kind="primary" busy={busy}>
          Send
        </Button>
        <Button onClick={() => void close()}>Close the ticket</Button>
      </div>
    </form>
  );
}

function Shown({ ticket, onDone }: { ticket: TicketShownFragment; onDone: (said: string) => void }) {
  const takes_words = ticket.status === 'OPEN' || ticket.status === 'RESOLVED';
  return (
    <>
      <Card flush>
        <Thread said={saidIn(ticket)} />
      </Card>
      {takes_words && (
        <Card>
          <Reply ticket={ticket} onDone={onDone} />
        </Card>
      )}
    </>
  );
}

export function TicketPage() {
  const { slug, env } = useOrg();
  const { id } = useParams({ from: '/$org/$env/tickets/$id' });
  const [{ data, error }, again] = useQuery({
    ...{ query: TicketDocument, variables: { id } },
    requestPolicy: 'cache-and-network',
  });
  const [said, setSaid] = useState('');
  const reread = () => again({ requestPolicy: 'network-only' });
  const ticket = data?.ticket;
  const onDone = (words: string) => {
    setSaid(words);
    reread();
  };
  return (
    <>
      <PageHead title={ticket?.subject ?? 'Ticket'}>
        <p role="status">
          {said || (
            <Link className="link" to="/$org/$env/tickets" params={{ org: slug, env }}>
              All tickets
            </Link>
          )}{' '}
          {ticket && <span className="soft">About: {kindWords[ticket.kind]}.</span>}{' '}
          {ticket && <Status tone={standing(ticket).tone}>{standing(ticket).word}</Status>}
        </p>
      </PageHead>
      <div className="stack">
        {error && !ticket && <ErrorBox fault={faultOfQuery(error)} onRetry={reread} />}
        {!error && !ticket && <Bone width={260} />}
        {ticket && <Shown ticket={ticket} onDone={onDone} />}
      </div>
    </>
  );
}
