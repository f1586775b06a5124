// Invite codes: made, watched and revoked here. A code itself is shown once.
import { type FormEvent, useState } from 'react';
import { useClient, useQuery } from 'urql';
import { faultOfForm } from '../../../api/errors.ts';
import {
  CreateInviteCodeDocument,
  type InviteCodeRowFragment,
  InviteCodesDocument,
  RevokeInviteCodeDocument,
} from '../../../api/gen/staff/graphql.ts';
import { useMutate, useSend } from '../../../api/send.ts';
import { useOlder } from '../../../pages/credits/older.tsx';
import { Button } from '../../../ui/button.tsx';
import { CopyButton } from '../../../ui/copy.tsx';
import { Dialog, DialogFoot } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/field.tsx';
import { countText } from '../../../ui/format/numbers.ts';
import { FormFault } from '../../../ui/states.tsx';
import { Status } from '../../../ui/status.tsx';
import { Columns, Table } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';
import { useMay } from '../../realm.ts';
import { DecideDialog } from '../decide-dialog.tsx';
import { WaitingCard } from '../waiting-card.tsx';

const PAGE = 20;
type Row = InviteCodeRowFragment;
const words: Readonly<Record<Row['status'], string>> = {
  USABLE: 'open',
  USED_UP: 'used up',
  EXPIRED: 'over',
  REVOKED: 'revoked',
};

/** A whole number of 1 to `most`; null for anything else. */
function wholeOf(text: string, most: number): number | null {
  const n = Number(text);
  return /^\d{1,5}$/.test(text) && n >= 1 && n <= most ? n : null;
}

function MadeDialog({ code, onClose }: { code: string; onClose: () => void }) {
  return (
    <Dialog title="The code" note="It is shown here and nowhere else." size={460} onClose={onClose}>
      <div className="dialog-form">
        <div className="row wrap">
          <code className="mono">{code}</code>
          <CopyButton text={code} what="the code" />
        </div>
        <div className="dialog-foot">
          <Button onClick={onClose}>I have it, close</Button>
        </div>
      </div>
    </Dialog>
  );
}

function MakeDialog({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const { send, busy, fault, setFault } = useSend();
  const [code, setCode] = useState<string | null>(null);
  if (code !== null) return <MadeDialog code={code} onClose={onDone} />;
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? '').trim();
    const maxUses = wholeOf(text('uses'), 10_000);
    const expiresDays = wholeOf(text('days'), 365);
    if (text('note') === '') return setFault(faultOfForm('Say whom or what it is for.'));
    if (maxUses === null) return setFault(faultOfForm('A code has 1 to 10,000 uses.'));
    if (expiresDays === null) return setFault(faultOfForm('A code is taken for 1 to 365 days.'));
    const made = await send(CreateInviteCodeDocument, { note: text('note'), maxUses, expiresDays });
    if (made !== null) setCode(made.code);
  };
  return (
    <Dialog
      title="Make an invite code"
      note="Each use lets one organization be made. The code stands in the audit log with your name."
      size={460}
      onClose={onClose}
    >
      <form className="dialog-form" onSubmit={(event) => void submit(event)} noValidate>
        <TextField label="For" name="note" maxLength={200} autoComplete="off" data-autofocus />
        <TextField label="Uses" name="uses" inputMode="numeric" defaultValue="1" autoComplete="off" />
        <TextField
          label="Taken for, days"
          name="days"
          inputMode="numeric"
          defaultValue="30"
          autoComplete="off"
        />
        <FormFault fault={fault} />
        <DialogFoot onClose={onClose} busy={busy}>
          Make the code
        </DialogFoot>
      </form>
    </Dialog>
  );
}

function Line({ row, onRevoke }: { row: Row; onRevoke: (() => void) | null }) {
  return (
    <tr>
      <td className="mono">{row.hint}</td>
      <td>
        <Status tone={row.status === 'USABLE' ? 'ok' : 'mute'}>{words[row.status]}</Status>
      </td>
      <td>{row.note}</td>
      <td className="n">
        {countText(row.uses)} <span className="soft">of {countText(row.maxUses)}</span>
      </td>
      <td className="soft">
        <Time at={row.expiresAt} />
      </td>
      <td className="soft">
        {row.createdBy}, <Time at={row.createdAt} />
      </td>
      <td className="n">
        {onRevoke && row.status === 'USABLE' && (
          <Button onClick={onRevoke} aria-label={`Revoke ${row.hint}`}>
            Revoke…
          </Button>
        )}
      </td>
    </tr>
  );
}

function RevokeDialog({ row, onClose, onDone }: { row: Row; onClose: () => void; onDone: () => void }) {
  const mutate = useMutate();
  return (
    <DecideDialog
      title={`Revoke ${row.hint}`}
      note="Nobody gets in with it any more. Organizations that were made with it stay."
      words={{ label: 'Reason', hint: 'For the audit log.', needed: true }}
      verb="Revoke"
      danger
      send={(_form, reason) => mutate(RevokeInviteCodeDocument, { id: row.id, reason })}
      onClose={onClose}
      onDone={onDone}
    />
  );
}

export function CodesCard() {
  const client = useClient();
  const may = useMay('support');
  const [{ data, error }, again] = useQuery({ query: InviteCodesDocument, variables: { first: PAGE } });
  const [making, setMaking] = useState(false);
  const [revoking, setRevoking] = useState<Row | null>(null);
  const reread = () => again({ requestPolicy: 'network-only' });
  const { rows, ...older } = useOlder(data?.inviteCodes, async (after) => {
    const { data: page, error } = await client.query(InviteCodesDocument, { first: PAGE, after }).toPromise();
    return { page: page?.inviteCodes, error };
  });
  const done = () => {
    setMaking(false);
    setRevoking(null);
    reread();
  };
  return (
    <>
      <WaitingCard
        {...{ title: 'Invite codes', what: 'codes', order: 'newest', rows, older, error, onRetry: reread }}
        empty={['No code yet', 'A code lets its holder make an account and an organization.']}
        more={may && <Button onClick={() => setMaking(true)}>Make a code…</Button>}
      >
        {(rows) => (
          <Table name="Codes and their uses">
            <Columns
              of={[
                'Code',
                'State',
                'For',
                { name: 'Used', className: 'n' },
                'Until',
                'Made by',
                { name: 'Actions', hidden: true },
              ]}
            />
            <tbody>
              {rows.map((row) => (
                <Line key={row.id} row={row} onRevoke={may ? () => setRevoking(row) : null} />
              ))}
            </tbody>
          </Table>
        )}
      </WaitingCard>
      {making && <MakeDialog onClose={() => setMaking(false)} onDone={done} />}
      {revoking && <RevokeDialog row={revoking} onClose={() => setRevoking(null)} onDone={done} />}
    </>
  );
}
