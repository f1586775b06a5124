// Sessions of members that are in the organisation, and ending one.
import { EndMemberSessionDocument, type MemberSessionRowFragment } from '../../api/gen/graphql.ts';
import { useSend } from '../../api/send.ts';
import { useOrg } from '../../app/org.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { BoneRows, FormFault } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { deviceText } from '../profile/device.ts';

function Row({ row, onEnd }: { row: MemberSessionRowFragment; onEnd: () => void }) {
  const device = deviceText(row.userAgent ?? null);
  return (
    <tr>
      <td className="member-person">
        <div className="ellipsis" title={row.email}>
          {row.email}
        </div>
      </td>
      <td className="member-device">
        <div className="two">
          <div className="ellipsis" title={row.userAgent ?? undefined}>
            {device}
          </div>
          <div className="sub">{row.ipPrefix ?? 'address not kept'}</div>
        </div>
      </td>
      <td className="soft">
        <Time at={row.lastSeenAt} />
      </td>
      <td className="n row-menu member-menu">
        {row.current ? (
          <Status tone="ok">this one</Status>
        ) : (
          <Button kind="quiet" onClick={onEnd}>
            End
            <span className="visually-hidden">
              {' '}
              the session of {row.email} with {device}
            </span>
          </Button>
        )}
      </td>
    </tr>
  );
}

export function SessionsCard(props: {
  rows: readonly MemberSessionRowFragment[] | undefined;
  onDone: (said: string) => void;
}) {
  const { rows, onDone } = props;
  const { id } = useOrg();
  const { send, fault } = useSend();
  const end = async ({ id: sessionId, email }: MemberSessionRowFragment) => {
    const done = await send(EndMemberSessionDocument, { id, sessionId });
    if (done !== null) onDone(`A session of ${email} has ended.`);
  };
  return (
    <Card title="Sessions" note="who is signed in here" flush>
      <FormFault fault={fault} />
      <Table name="List of members' sessions" busy={rows === undefined}>
        <Columns
          of={[
            'Person',
            'Program and network',
            'Last seen',
            { name: 'Actions', className: 'row-menu member-menu', hidden: true },
          ]}
        />
        <tbody>
          {rows === undefined ? (
            <BoneRows rows={1} columns={4} />
          ) : (
            rows.map((row) => <Row key={row.id} row={row} onEnd={() => void end(row)} />)
          )}
        </tbody>
      </Table>
    </Card>
  );
}
