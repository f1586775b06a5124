// Closing an organization for its owner: its slug is typed, so that none is closed by a slip.
import { useState } from 'react';
import { faultOfForm } from '../../../api/errors.ts';
import { CloseOrgDocument, type FoundOrgFragment } from '../../../api/gen/staff/graphql.ts';
import { useMutate } from '../../../api/send.ts';
import { Button } from '../../../ui/button.tsx';
import { TextField } from '../../../ui/field.tsx';
import { useMay } from '../../realm.ts';
import { DecideDialog } from '../decide-dialog.tsx';

interface Of {
  readonly org: {
    readonly id: string;
    readonly slug: string;
    readonly name: string;
    readonly status: FoundOrgFragment['status'];
  };
  readonly onChanged: () => void;
}

function CloseDialog({
  org,
  onClose,
  onDone,
}: Pick<Of, 'org'> & { onClose: () => void; onDone: () => void }) {
  const mutate = useMutate();
  const send = async (form: FormData, reason: string) => {
    if (String(form.get('slug')).trim() !== org.slug)
      return { ok: false as const, fault: faultOfForm(`Type ${org.slug} to close it.`) };
    const refundRequested = form.get('refund') === 'on';
    return mutate(CloseOrgDocument, { orgId: org.id, refundRequested, reason });
  };
  return (
    <DecideDialog
      title={`Close ${org.name}`}
      note="Its keys, webhooks and automatic top-ups end at once, and its people are told by mail. It cannot be opened again."
      words={{ label: 'Reason', hint: 'It stands in the audit log.', needed: true }}
      verb="Close this organization"
      danger
      send={send}
      onClose={onClose}
      onDone={onDone}
    >
      <TextField label={`Type ${org.slug}`} name="slug" autoComplete="off" spellCheck={false} required />
      <label className="check">
        <input type="checkbox" name="refund" />
        <span>Give back unused credit that was paid for</span>
      </label>
    </DecideDialog>
  );
}

/** The button, for those of staff who may, as long as there is something to close. */
export function CloseButton({ org, onChanged }: Of) {
  const may = useMay('support', 'compliance');
  const [open, setOpen] = useState(false);
  if (!may || org.status === 'CLOSED') return null;
  return (
    <>
      <Button kind="danger" onClick={() => setOpen(true)}>
        Close…
      </Button>
      {open && (
        <CloseDialog
          org={org}
          onClose={() => setOpen(false)}
          onDone={() => {
            setOpen(false);
            onChanged();
          }}
        />
      )}
    </>
  );
}
