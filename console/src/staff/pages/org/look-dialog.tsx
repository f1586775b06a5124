// Looking at an organization as its people see it: a reason is asked for, and the look opens in a new tab.

import { useState } from 'react';
import { LookAsCustomerDocument } from '../../../api/gen/staff/graphql.ts';
import { useMutate } from '../../../api/send.ts';
import { Button } from '../../../ui/button.tsx';
import { useMay } from '../../realm.ts';
import { DecideDialog } from '../decide-dialog.tsx';

function LookDialog(props: { org: { id: string; name: string }; onClose: () => void }) {
  const { org, onClose } = props;
  const mutate = useMutate();
  const send = async (_form: FormData, reason: string) => {
    const answer = await mutate(LookAsCustomerDocument, { orgId: org.id, reason });
    // The token of the link is good for a minute, and never in this page's own history.
    if (answer.ok) window.open(answer.value.url, '_blank', 'noopener');
    return answer;
  };
  return (
    <DecideDialog
      title={`Look as ${org.name}`}
      note="Half an hour, as a viewer of theirs: you read, and change nothing. Content and secrets are not shown. Their audit log says who looked and why."
      words={{ label: 'Reason', hint: 'The customer reads it in the audit log.', needed: true }}
      verb="Look"
      send={send}
      onClose={onClose}
      onDone={onClose}
    />
  );
}

/** The button, for those of staff who may. */
export function LookButton({ org }: { org: { id: string; name: string } }) {
  const may = useMay('support', 'finance', 'compliance');
  const [open, setOpen] = useState(false);
  if (!may) return null;
  return (
    <>
      <Button icon="eye" onClick={() => setOpen(true)}>
        Look as customer…
      </Button>
      {open && <LookDialog org={org} onClose={() => setOpen(false)} />}
    </>
  );
}
