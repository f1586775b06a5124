// What is done to endpoints: made, changed, given a new secret, deleted.
import { useState } from 'react';
import {
  CreateWebhookDocument,
  DeleteWebhookDocument,
  RotateWebhookSecretDocument,
  UpdateWebhookDocument,
  type WebhookRowFragment,
} from '../../api/gen/tools/graphql.ts';
import { useSend } from '../../api/send.ts';
import { Dialog, DialogFoot } from '../../ui/dialog.tsx';
import { FormFault } from '../../ui/states.tsx';
import { EndpointForm } from './form.tsx';
import { SecretDialog } from './secret-dialog.tsx';

const VERIFY = 'Your server verifies with it what arrives; the documentation of webhooks shows how.';

interface Of {
  readonly row: WebhookRowFragment;
  readonly onClose: () => void;
  readonly onDone: (said: string) => void;
}

export function CreateDialog(props: { onClose: () => void; onMade: () => void }) {
  const { onClose, onMade } = props;
  const { sendOnce, busy, fault } = useSend();
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <SecretDialog
      secret={secret}
      title="Add an endpoint"
      note="It gets a signed POST for each event, at least once."
      afterwards={VERIFY}
      onClose={onClose}
    >
      <EndpointForm
        row={null}
        button="Add endpoint"
        {...{ busy, fault, onClose }}
        onSend={async (input) => {
          const made = await sendOnce(CreateWebhookDocument, { ...input, events: [...input.events] });
          if (made === null) return;
          setSecret(made.secret);
          onMade();
        }}
      />
    </SecretDialog>
  );
}

export function EditDialog({ row, onClose, onDone }: Of) {
  const { send, busy, fault } = useSend();
  return (
    <Dialog
      title="Edit the endpoint"
      note="Its secret stays. What is queued goes to the new address."
      onClose={onClose}
    >
      <EndpointForm
        row={row}
        button="Save"
        {...{ busy, fault, onClose }}
        onSend={async (input) => {
          const changes = { id: row.id, ...input, events: [...input.events] };
          if ((await send(UpdateWebhookDocument, changes)) !== null) onDone('The endpoint was changed.');
        }}
      />
    </Dialog>
  );
}

export function RotateDialog({ row, onClose, onDone }: Of) {
  const { sendOnce, busy, fault } = useSend();
  const [secret, setSecret] = useState<string | null>(null);
  const rotate = async () => {
    const made = await sendOnce(RotateWebhookSecretDocument, { id: row.id });
    if (made === null) return;
    setSecret(made.secret);
    onDone('There is a new secret. For 24 hours the one before it signs too.');
  };
  return (
    <SecretDialog
      secret={secret}
      title="Replace the secret?"
      note="For 24 hours every event is signed with both, so that nothing is refused while your server takes the new one."
      afterwards={VERIFY}
      onClose={onClose}
    >
      <FormFault fault={fault} />
      <DialogFoot onClose={onClose} busy={busy} cautious onPress={() => void rotate()}>
        Replace the secret
      </DialogFoot>
    </SecretDialog>
  );
}

export function DeleteDialog({ row, onClose, onDone }: Of) {
  const { send, busy, fault } = useSend();
  const remove = async () => {
    if ((await send(DeleteWebhookDocument, { id: row.id })) !== null) onDone('');
  };
  return (
    <Dialog
      title="Delete the endpoint?"
      note={`${row.url} gets nothing more, and its deliveries are gone. To pause it, switch it off instead.`}
      size={460}
      onClose={onClose}
    >
      <FormFault fault={fault} />
      <DialogFoot onClose={onClose} busy={busy} cautious kind="danger" onPress={() => void remove()}>
        Delete it
      </DialogFoot>
    </Dialog>
  );
}
