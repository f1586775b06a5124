// Erasing the organisation: asked for with a notice, shown while it waits, and taken back until it begins.
import { useState } from 'react';
import {
  CancelOrgErasureDocument,
  type OrgSettingsFragment,
  RequestOrgErasureDocument,
} from '../../api/gen/graphql.ts';
import { useAction, useMutate } from '../../api/send.ts';
import { useOrg } from '../../app/org.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Dialog, DialogFoot } from '../../ui/dialog.tsx';
import { FormFault } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import { useProof } from '../profile/proof.tsx';

type Act = 'ask' | 'cancel';

const words = {
  ask: {
    title: 'Erase this organisation',
    note: 'After a notice, of 30 days unless this service says otherwise, it is closed, and keys, projects, policies, stored content, calls and people are deleted. Invoices, payments and the ledger are kept as long as the law asks. Until then an owner can take it back.',
    verb: 'Ask for the erasure',
    kind: 'danger',
    proof: 'This erases the organisation, and your last sign-in is a while ago.',
  },
  cancel: {
    title: 'Keep this organisation',
    note: 'The erasure is taken back, and everything stays as it is.',
    verb: 'Keep it',
    kind: 'primary',
    proof: 'This concerns the whole organisation, and your last sign-in is a while ago.',
  },
} as const;

function EraseDialog({ which, onClose, onDone }: { which: Act; onClose: () => void; onDone: () => void }) {
  const { id } = useOrg();
  const mutate = useMutate();
  const { act, busy, fault } = useAction();
  const { title, note, verb, kind, proof: why } = words[which];
  const proof = useProof(why);
  const submit = async (refundRequested: boolean) => {
    const done = await act(() =>
      proof.run<unknown>(() =>
        which === 'ask'
          ? mutate(RequestOrgErasureDocument, { id, refundRequested })
          : mutate(CancelOrgErasureDocument, { id }),
      ),
    );
    if (done !== null) onDone();
  };
  return (
    <>
      <Dialog title={title} note={note} size={460} onClose={onClose}>
        <form
          className="settings-form"
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            void submit(new FormData(event.currentTarget).get('refund') !== null);
          }}
        >
          {which === 'ask' && (
            <label className="check">
              <input type="checkbox" name="refund" />
              <span>
                Give unused credit back <span className="faint">to where it was paid from</span>
              </span>
            </label>
          )}
          <FormFault fault={fault} />
          <DialogFoot onClose={onClose} kind={kind} busy={busy}>
            {verb}
          </DialogFoot>
        </form>
      </Dialog>
      {proof.dialog}
    </>
  );
}

export function EraseCard({ org, onDone }: { org: OrgSettingsFragment; onDone: () => void }) {
  const [open, setOpen] = useState<Act | null>(null);
  const due = org.erasureDueAt;
  return (
    <Card title="Erase">
      <div className="settings-foot">
        {due ? (
          <span className="grow soft">
            It is erased from <Time at={due} /> on. Until then it works as before.
          </span>
        ) : (
          <span className="grow soft">Everything is deleted after a notice, but for what the law keeps.</span>
        )}
        {due ? (
          <Button onClick={() => setOpen('cancel')}>Take it back</Button>
        ) : (
          <Button kind="danger" onClick={() => setOpen('ask')}>
            Erase the organisation
          </Button>
        )}
      </div>
      {open !== null && (
        <EraseDialog
          which={open}
          onClose={() => setOpen(null)}
          onDone={() => {
            setOpen(null);
            onDone();
          }}
        />
      )}
    </Card>
  );
}
