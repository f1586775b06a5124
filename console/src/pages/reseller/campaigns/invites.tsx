// Invite codes of a reseller: who registers with one becomes a customer. A code itself is shown once.
import { type FormEvent, useState } from 'react';
import { useClient, useQuery } from 'urql';
import { faultOfForm, faultOfQuery } from '../../../api/errors.ts';
import {
  ResaleCreateInviteDocument,
  type ResaleInviteFragment,
  ResaleInvitesDocument,
  ResaleRevokeInviteDocument,
} from '../../../api/gen/tools/graphql.ts';
import { useSend } from '../../../api/send.ts';
import { useOrg } from '../../../app/org.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { CopyButton } from '../../../ui/copy.tsx';
import { Dialog, DialogFoot } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/field.tsx';
import { countText } from '../../../ui/format/numbers.ts';
import { BoneRows, Empty, ErrorBox, FormFault } from '../../../ui/states.tsx';
import { Status } from '../../../ui/status.tsx';
import { Columns, Table } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';
import { OlderFoot, useOlder } from '../../credits/older.tsx';
import { holds } from '../views.ts';

const PAGE = 20;
type Row = ResaleInviteFragment;
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
    <Dialog
      title="The code"
      note="It is shown here and nowhere else. Who registers with it becomes your customer."
      size={460}
      onClose={onClose}
    >
      <div className="add-form">
        <div className="row wrap">
          <code className="mono resale-code">{code}</code>
          <CopyButton text={code} what="the code" primary />
        </div>
        <div className="dialog-foot">
          <Button onClick={onClose}>I have it, close</Button>
        </div>
      </div>
    </Dialog>
  );
}

function MakeDialog({ onClose, onMade }: { onClose: () => void; onMade: (code: string) => void }) {
  const { sendOnce, busy, fault, setFault } = useSend();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? '').trim();
    const maxUses = wholeOf(text('uses'), 10_000);
    const expiresDays = wholeOf(text('days'), 365);
    if (text('note') === '') return setFault(faultOfForm('Say whom or what it is for.'));
    if (maxUses === null) return setFault(faultOfForm('A code has 1 to 10,000 uses.'));
    if (expiresDays === null) return setFault(faultOfForm('A code is taken for 1 to 365 days.'));
    const made = await sendOnce(ResaleCreateInviteDocument, { note: text('note'), maxUses, expiresDays });
    if (made !== null) onMade(made.code);
  };
  return (
    <Dialog
      title="Make an invite code"
      note="Each use makes one customer, on the default tier."
      size={460}
      onClose={onClose}
    >
      <form className="add-form" onSubmit={(event) => void submit(event)} noValidate>
        <TextField
          label="For"
          name="note"
          maxLength={200}
          hint="For your list; nobody else sees it."
          autoComplete="off"
          data-autofocus
        />
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

function RevokeDialog({ row, onClose, onDone }: { row: Row; onClose: () => void; onDone: () => void }) {
  const { send, busy, fault } = useSend();
  const revoke = async () => {
    if ((await send(ResaleRevokeInviteDocument, { id: row.id })) !== null) onDone();
  };
  return (
    <Dialog
      title={`Revoke ${row.hint}?`}
      note="Nobody becomes a customer with it any more. Customers that were made with it stay."
      size={440}
      onClose={onClose}
    >
      <FormFault fault={fault} />
      <DialogFoot onClose={onClose} cautious kind="danger" busy={busy} onPress={() => void revoke()}>
        Revoke
      </DialogFoot>
    </Dialog>
  );
}

function Line({ row, onRevoke }: { row: Row; onRevoke: (() => void) | null }) {
  return (
    <tr>
      <td>
        <span className="mono">{row.hint}</span>
      </td>
      <td data-label="State">
        <Status tone={row.status === 'USABLE' ? 'ok' : 'mute'}>{words[row.status]}</Status>
      </td>
      <td data-label="For">{row.note}</td>
      <td className="n" data-label="Used">
        {countText(row.uses)} of {countText(row.maxUses)}
      </td>
      <td className="soft" data-label="Until">
        <Time at={row.expiresAt} />
      </td>
      <td className="soft" data-label="Made by">
        {row.createdBy}
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

const COLUMNS = [
  ...['Code', 'State', 'For'],
  { name: 'Used', className: 'n' },
  ...['Until', 'Made by'],
  { name: 'Actions', hidden: true },
];

function List({ serial, onRevoke }: { serial: number; onRevoke: ((row: Row) => void) | null }) {
  const client = useClient();
  const [{ data, error }, again] = useQuery({
    ...{ query: ResaleInvitesDocument, variables: { first: PAGE } },
    requestPolicy: serial === 0 ? 'cache-and-network' : 'network-only',
  });
  const { rows, ...older } = useOlder(data?.reseller?.invites, async (after) => {
    const asked = { first: PAGE, after };
    const { data: page, error } = await client.query(ResaleInvitesDocument, asked).toPromise();
    return { page: page?.reseller?.invites, error };
  });
  if (error && !rows)
    return <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />;
  if (rows?.length === 0)
    return <Empty title="No code yet">Who registers with a code of yours becomes your customer.</Empty>;
  return (
    <>
      <Table name="Codes and their uses" stacks busy={rows === undefined}>
        <Columns of={COLUMNS} />
        <tbody>
          {rows?.map((row) => (
            <Line key={row.id} row={row} onRevoke={onRevoke && (() => onRevoke(row))} />
          )) ?? <BoneRows rows={2} columns={7} />}
        </tbody>
      </Table>
      <OlderFoot shown={rows?.length ?? 0} what="codes" {...older} />
    </>
  );
}

export function InvitesView() {
  const may = holds(useOrg(), 'reseller.campaigns');
  const [making, setMaking] = useState(false);
  const [code, setCode] = useState<string | null>(null);
  const [revoking, setRevoking] = useState<Row | null>(null);
  const [serial, setSerial] = useState(0);
  const button = may && (
    <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
      New code
    </Button>
  );
  const changed = () => setSerial((before) => before + 1);
  return (
    <>
      <Card title="Invite codes" more={button} flush>
        <List key={serial} serial={serial} onRevoke={may ? setRevoking : null} />
      </Card>
      {making && (
        <MakeDialog
          onClose={() => setMaking(false)}
          onMade={(made) => {
            setMaking(false);
            setCode(made);
            changed();
          }}
        />
      )}
      {code !== null && <MadeDialog code={code} onClose={() => setCode(null)} />}
      {revoking && (
        <RevokeDialog
          row={revoking}
          onClose={() => setRevoking(null)}
          onDone={() => {
            setRevoking(null);
            changed();
          }}
        />
      )}
    </>
  );
}
