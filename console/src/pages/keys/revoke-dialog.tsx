// Revoking a key: what it does, how much it was used, and its name typed when it is in use.
import { type FormEvent, useState } from 'react';
import { useClient, useQuery } from 'urql';
import { type Fault, faultOfQuery, faultOfUserError } from '../../api/errors.ts';
import { KeyRecentDocument, type KeyRowFragment, RevokeKeyDocument } from '../../api/gen/graphql.ts';
import { useOrg } from '../../app/org.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { plural } from '../../ui/format/numbers.ts';
import { Bone, FormFault } from '../../ui/states.tsx';

const HOUR_MS = 3_600_000;

/** A name as a page shows it: spaces in a row are one. */
const asShown = (name: string) => name.trim().replaceAll(/\s+/g, ' ');

export function RevokeKeyDialog({
  row,
  onClose,
  onDone,
}: {
  row: KeyRowFragment;
  onClose: () => void;
  onDone: () => void;
}) {
  const client = useClient();
  const { environment } = useOrg();
  const [since] = useState(() => new Date(Date.now() - HOUR_MS).toISOString());
  const [{ data }] = useQuery({
    query: KeyRecentDocument,
    variables: {
      environment,
      keyId: row.id,
      from: since,
      to: new Date(Date.parse(since) + HOUR_MS).toISOString(),
    },
    requestPolicy: 'network-only',
  });
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<Fault | null>(null);
  const [wrong, setWrong] = useState(false);
  const calls = data?.usage?.totals.requests;
  const in_use = calls === undefined ? row.lastUsedAt !== null : calls > 0;

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = String(new FormData(event.currentTarget).get('name') ?? '');
    if (in_use && asShown(typed) !== asShown(row.name)) return setWrong(true);
    setBusy(true);
    const { data: answer, error } = await client
      .mutation(RevokeKeyDocument, { input: { id: row.id } })
      .toPromise();
    setBusy(false);
    if (error) return setFault(faultOfQuery(error));
    if (answer?.revokeKey.__typename === 'RevokeKeyPayload') return onDone();
    if (answer) setFault(faultOfUserError(answer.revokeKey));
  };
  return (
    <Dialog
      title={`Revoke ${row.name}?`}
      note="It stops everywhere within a second, and cannot be brought back. Calls that run now finish."
      size={460}
      onClose={onClose}
    >
      <form className="key-form" onSubmit={(event) => void submit(event)} noValidate>
        <p className="soft key-recent">
          {calls !== undefined && `${plural(calls, 'call')} with it in the last hour.`}
          {calls === undefined &&
            (data ? 'How much it was used lately could not be read.' : <Bone width={220} />)}
        </p>
        {in_use && (
          <TextField
            label={`Type ${row.name} to go on`}
            name="name"
            autoComplete="off"
            spellCheck={false}
            fault={wrong ? 'This is not its name.' : null}
            onChange={() => setWrong(false)}
            data-autofocus
          />
        )}
        <FormFault fault={fault} />
        <div className="dialog-foot">
          <Button onClick={onClose} {...(in_use ? {} : { 'data-autofocus': true })}>
            Cancel
          </Button>
          <Button type="submit" kind="danger" busy={busy}>
            <span className="ellipsis">Revoke {row.name}</span>
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
