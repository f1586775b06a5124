// Answering a ticket, and settling it with the same words.
import { type FormEvent, useState } from 'react';
import { AnswerTicketDocument } from '../../../api/gen/staff/graphql.ts';
import { useSend } from '../../../api/send.ts';
import { Button } from '../../../ui/button.tsx';
import { AreaField } from '../../../ui/field.tsx';
import { FormFault } from '../../../ui/states.tsx';

interface Answering {
  readonly id: string;
  /** A request for limits is granted or refused, not settled here. */
  readonly settles: boolean;
  readonly onDone: (said: string) => void;
}

export function AnswerForm({ id, settles, onDone }: Answering) {
  const { send, busy, fault } = useSend();
  const [missing, setMissing] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const { submitter } = event.nativeEvent as SubmitEvent;
    const resolve = submitter?.getAttribute('value') === 'resolve';
    const text = String(new FormData(event.currentTarget).get('text') ?? '').trim();
    setMissing(text === '');
    if (text === '') return;
    const done = await send(AnswerTicketDocument, { id, text, resolve });
    if (done !== null) onDone(resolve ? 'Answered and settled.' : 'Answered.');
  };
  return (
    <form className="ticket-form" onSubmit={(event) => void submit(event)} noValidate>
      <AreaField
        label="Answer"
        name="text"
        maxLength={10_000}
        hint="The customer reads it here and by mail, signed Support."
        fault={missing ? 'Write an answer.' : null}
      />
      <FormFault fault={fault} />
      <div className="row wrap">
        <Button type="submit" kind="primary" busy={busy}>
          Answer
        </Button>
        {settles && (
          <Button type="submit" value="resolve">
            Answer and settle
          </Button>
        )}
      </div>
    </form>
  );
}
