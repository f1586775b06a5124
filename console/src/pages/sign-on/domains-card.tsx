// Mail domains: claimed, proved by a TXT record, given up.
import { type FormEvent, useState } from 'react';
import {
  AddSsoDomainDocument,
  RemoveSsoDomainDocument,
  type SsoDomainRowFragment,
  VerifySsoDomainDocument,
} from '../../api/gen/tools/graphql.ts';
import { useSend } from '../../api/send.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Dialog, DialogFoot } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { BoneRows, Empty, FormFault } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Columns, Table } from '../../ui/table.tsx';

const reasons: Readonly<Record<string, string>> = {
  record_not_found: 'There is no TXT record at that name yet. New records take minutes to hours to be seen.',
  record_differs: 'There are TXT records at that name, and none of them is the value.',
};

function Line(props: {
  row: SsoDomainRowFragment;
  onVerify: (domain: string) => void;
  onRemove: (row: SsoDomainRowFragment) => void;
  busy: boolean;
}) {
  const { row, onVerify, onRemove, busy } = props;
  const is_proved = row.verifiedAt !== null;
  return (
    <tr>
      <td className="sign-on-domain">{row.domain}</td>
      <td>
        <Status tone={is_proved ? 'ok' : 'warn'}>{is_proved ? 'proved' : 'not proved'}</Status>
      </td>
      <td>
        <span className="sign-on-record">
          <code>{row.record}</code>
          <code>{row.token}</code>
        </span>
      </td>
      <td>
        <div className="sign-on-actions">
          <CopyButton text={row.token} what={`the value of ${row.domain}`} />
          <Button kind="quiet" busy={busy} onClick={() => onVerify(row.domain)}>
            Verify<span className="visually-hidden"> {row.domain}</span>
          </Button>
          <Button kind="quiet" onClick={() => onRemove(row)}>
            Remove<span className="visually-hidden"> {row.domain}</span>
          </Button>
        </div>
      </td>
    </tr>
  );
}

function AddDialog({ onClose, onDone }: { onClose: () => void; onDone: (said: string) => void }) {
  const { send, busy, fault } = useSend();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const domain = String(new FormData(event.currentTarget).get('domain') ?? '').trim();
    const added = await send(AddSsoDomainDocument, { domain });
    if (added !== null) onDone(added.instructions);
  };
  return (
    <Dialog
      title="Add a mail domain"
      note="The part of your addresses behind the @. You prove it by a DNS record."
      size={440}
      onClose={onClose}
    >
      <form className="sign-on-form" onSubmit={(event) => void submit(event)} noValidate>
        <TextField
          label="Domain"
          name="domain"
          placeholder="acme.com"
          autoCapitalize="none"
          data-autofocus
          required
        />
        <FormFault fault={fault} />
        <DialogFoot onClose={onClose} busy={busy}>
          Add
        </DialogFoot>
      </form>
    </Dialog>
  );
}

function RemoveDialog(props: {
  row: SsoDomainRowFragment;
  onClose: () => void;
  onDone: (said: string) => void;
}) {
  const { row, onClose, onDone } = props;
  const { send, busy, fault } = useSend();
  const remove = async () => {
    const removed = await send(RemoveSsoDomainDocument, { domain: row.domain });
    if (removed !== null) onDone(`${row.domain} is removed.`);
  };
  return (
    <Dialog
      title={`Remove ${row.domain}?`}
      note="Nobody with an address of it comes by single sign-on any more."
      size={440}
      onClose={onClose}
    >
      <FormFault fault={fault} />
      <DialogFoot onClose={onClose} cautious kind="danger" busy={busy} onPress={() => void remove()}>
        Remove
      </DialogFoot>
    </Dialog>
  );
}

function Rows(props: {
  rows: readonly SsoDomainRowFragment[] | undefined;
  busy: boolean;
  onVerify: (domain: string) => void;
  onRemove: (row: SsoDomainRowFragment) => void;
}) {
  const { rows, ...line } = props;
  if (rows?.length === 0) {
    return <Empty title="No domain yet">Begin here: your addresses show who belongs to you.</Empty>;
  }
  return (
    <Table name="List of mail domains" busy={rows === undefined}>
      <Columns of={['Domain', 'State', 'TXT record and value', { name: 'Actions', hidden: true }]} />
      <tbody>
        {rows === undefined ? (
          <BoneRows rows={2} columns={4} />
        ) : (
          rows.map((row) => <Line key={row.domain} row={row} {...line} />)
        )}
      </tbody>
    </Table>
  );
}

export function DomainsCard(props: {
  rows: readonly SsoDomainRowFragment[] | undefined;
  onDone: (said: string) => void;
}) {
  const { rows, onDone } = props;
  const { send, busy, fault } = useSend();
  const [open, setOpen] = useState<'add' | SsoDomainRowFragment | null>(null);
  const verify = async (domain: string) => {
    const found = await send(VerifySsoDomainDocument, { domain });
    if (found === null) return;
    const { reason } = found;
    onDone(reason ? (reasons[reason.toLowerCase()] ?? reason) : `${domain} is proved.`);
  };
  const done = (said: string) => {
    setOpen(null);
    onDone(said);
  };
  return (
    <Card
      title="Mail domains"
      more={
        <Button icon="plus" onClick={() => setOpen('add')}>
          Add a domain
        </Button>
      }
    >
      <FormFault fault={fault} />
      <Rows rows={rows} busy={busy} onVerify={(domain) => void verify(domain)} onRemove={setOpen} />
      {open === 'add' && <AddDialog onClose={() => setOpen(null)} onDone={done} />}
      {open !== null && open !== 'add' && (
        <RemoveDialog row={open} onClose={() => setOpen(null)} onDone={done} />
      )}
    </Card>
  );
}
