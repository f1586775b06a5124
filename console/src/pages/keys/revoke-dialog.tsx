// Revoking a key: shows what that does and how much the key was used, and asks for its name when it is in use.
import { type FormEvent, useState } from 'react';
import { useQuery } from 'urql';
import { KeyRecentDocument, type KeyRowFragment, RevokeKeyDocument } from '../../api/gen/graphql.ts';
import { useSend } from '../../api/send.ts';
import { useOrg } from '../../app/org.tsx';
import { Dialog, DialogFoot } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { plural } from '../../ui/format/numbers.ts';
import { Bone, FormFault } from '../../ui/states.tsx';

const HOUR_MS = 3_600_000;

/** A name as a page shows it: several spaces in a row are shown as one. */
const asShown = (name: string) => name.trim().replaceAll(/\s+/g, ' ');

/** How many calls a key had in the last hour; `read` is true once that has been asked. */
function useCallsOfLastHour(key: string) {
  const { environment } = useOrg();
  const [since] = useState(() => new Date(Date.now() - HOUR_MS).toISOString());
  const [{ data }] = useQuery({
    query: KeyRecentDocument,
    variables: {
      environment,
      keyId: key,
      from: since,
      to: new Date(Date.parse(since) + HOUR_MS).toISOString(),
    },
    requestPolicy: 'network-only',
  });
  return { calls: data?.usage?.totals.requests, read: data !== undefined };
}

function useRevoke(id: string, onDone: (row: KeyRowFragment) => void) {
  const { send, busy, fault } = useSend();
  const revoke = async () => {
    const done = await send(RevokeKeyDocument, { id });
    if (done !== null) onDone(done.key);
  };
  return { revoke, busy, fault };
}

function Recent({ calls, read }: { calls: number | undefined; read: boolean }) {
  return (
    <p className="soft key-recent">
      {calls !== undefined && `${plural(calls, 'call')} with it in the last hour.`}
      {calls === undefined && (read ? 'Its recent use could not be read.' : <Bone width={220} />)}
    </p>
  );
}

export function RevokeKeyDialog({
  row,
  onClose,
  onDone,
}: {
  row: KeyRowFragment;
  onClose: () => void;
  onDone: (row: KeyRowFragment) => void;
}) {
  const { calls, read } = useCallsOfLastHour(row.id);
  const { revoke, busy, fault } = useRevoke(row.id, onDone);
  const [wrong, setWrong] = useState(false);
  const in_use = calls === undefined ? row.lastUsedAt !== null : calls > 0;

  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = String(new FormData(event.currentTarget).get('name') ?? '');
    if (in_use && asShown(typed) !== asShown(row.name)) return setWrong(true);
    void revoke();
  };
  return (
    <Dialog
      title={`Revoke ${row.name}?`}
      note="It stops everywhere within a second, and cannot be brought back. Calls that run now finish."
      size={460}
      onClose={onClose}
    >
      <form className="key-form" onSubmit={submit} noValidate>
        <Recent calls={calls} read={read} />
        {in_use && (
          <TextField
            label={`Type ${row.name} to confirm`}
            name="name"
            autoComplete="off"
            spellCheck={false}
            fault={wrong ? 'The name does not match.' : null}
            onChange={() => setWrong(false)}
            data-autofocus
          />
        )}
        <FormFault fault={fault} />
        <DialogFoot onClose={onClose} cautious={!in_use} kind="danger" busy={busy}>
          <span className="ellipsis">Revoke {row.name}</span>
        </DialogFoot>
      </form>
    </Dialog>
  );
}
