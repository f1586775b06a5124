// Invitations: those that wait can be sent again or taken back.
import {
  type InvitationRowFragment,
  ResendInvitationDocument,
  RevokeInvitationDocument,
} from '../../api/gen/graphql.ts';
import { useSend } from '../../api/send.ts';
import { useOrg } from '../../app/org.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { BoneRows, Empty, FormFault } from '../../ui/states.tsx';
import { Status, type Tone } from '../../ui/status.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { roleOf } from './roles.ts';

const tones: Readonly<Record<InvitationRowFragment['status'], Tone>> = {
  PENDING: 'warn',
  ACCEPTED: 'ok',
  REVOKED: 'mute',
  EXPIRED: 'bad',
};

interface Acts {
  readonly onResend: (row: InvitationRowFragment) => void;
  readonly onRevoke: (row: InvitationRowFragment) => void;
}

function Row({ row, onResend, onRevoke }: Acts & { row: InvitationRowFragment }) {
  const waits = row.status === 'PENDING' || row.status === 'EXPIRED';
  return (
    <tr>
      <td className="member-person">
        <div className="ellipsis" title={row.email}>
          {row.email}
        </div>
      </td>
      <td>{roleOf(row.role)}</td>
      <td>
        <Status tone={tones[row.status]}>{row.status.toLowerCase()}</Status>
      </td>
      <td className="soft">{waits ? <Time at={row.expiresAt} /> : '–'}</td>
      <td className="n row-menu member-menu">
        {waits && (
          <div className="member-actions">
            <Button kind="quiet" onClick={() => onResend(row)}>
              Send again<span className="visually-hidden"> to {row.email}</span>
            </Button>
            <Button kind="quiet" onClick={() => onRevoke(row)}>
              Revoke<span className="visually-hidden"> the invitation of {row.email}</span>
            </Button>
          </div>
        )}
      </td>
    </tr>
  );
}

function Rows({ rows, ...acts }: Acts & { rows: readonly InvitationRowFragment[] | undefined }) {
  return (
    <Table name="List of invitations" busy={rows === undefined}>
      <Columns
        of={[
          'For',
          'Role',
          'State',
          'Valid until',
          { name: 'Actions', className: 'row-menu member-menu', hidden: true },
        ]}
      />
      <tbody>
        {rows === undefined ? (
          <BoneRows rows={1} columns={5} />
        ) : (
          rows.map((row) => <Row key={row.id} row={row} {...acts} />)
        )}
      </tbody>
    </Table>
  );
}

export function InvitationsCard(props: {
  rows: readonly InvitationRowFragment[] | undefined;
  onDone: (said: string) => void;
}) {
  const { rows, onDone } = props;
  const { id } = useOrg();
  const { send, fault } = useSend();
  const resend = async ({ id: invitation, email }: InvitationRowFragment) => {
    const done = await send(ResendInvitationDocument, { id, invitation });
    if (done !== null) onDone(`A new link is on its way to ${email}; the one before leads nowhere now.`);
  };
  const revoke = async ({ id: invitation, email }: InvitationRowFragment) => {
    const done = await send(RevokeInvitationDocument, { id, invitation });
    if (done !== null) onDone(`The invitation of ${email} was taken back.`);
  };
  return (
    <Card title="Invitations" flush>
      <FormFault fault={fault} />
      {rows?.length === 0 ? (
        <Empty title="Nobody is invited">A mail brings the link, which is valid for seven days.</Empty>
      ) : (
        <Rows rows={rows} onResend={(row) => void resend(row)} onRevoke={(row) => void revoke(row)} />
      )}
    </Card>
  );
}
