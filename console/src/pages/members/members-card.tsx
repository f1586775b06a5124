// Who is in the organisation, with which role, and what may be done about it.
import type { MemberRowFragment } from '../../api/gen/graphql.ts';
import { useOrg } from '../../app/org.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { countText } from '../../ui/format/numbers.ts';
import { BoneRows } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { mayTouch, roleOf } from './roles.ts';

export type MemberAct = { readonly kind: 'role' | 'remove' | 'leave'; readonly row: MemberRowFragment };

interface RowProps {
  readonly row: MemberRowFragment;
  readonly own: boolean;
  readonly onAct: (act: MemberAct) => void;
}

function Actions({ row, own, onAct }: RowProps) {
  const { role } = useOrg();
  const touchable = mayTouch(role, roleOf(row.role));
  return (
    <div className="member-actions">
      {touchable && (
        <Button kind="quiet" onClick={() => onAct({ kind: 'role', row })}>
          Role<span className="visually-hidden"> of {row.email}</span>
        </Button>
      )}
      {own && (
        <Button kind="quiet" onClick={() => onAct({ kind: 'leave', row })}>
          Leave
        </Button>
      )}
      {!own && touchable && (
        <Button kind="quiet" onClick={() => onAct({ kind: 'remove', row })}>
          Remove<span className="visually-hidden"> {row.email}</span>
        </Button>
      )}
    </div>
  );
}

function Row(props: RowProps) {
  const { row, own } = props;
  return (
    <tr>
      <td className="member-person">
        <div className="two">
          <div className="ellipsis" title={row.email}>
            {row.email}
          </div>
          <div className="sub">{own ? 'you' : row.name || '–'}</div>
        </div>
      </td>
      <td>{roleOf(row.role)}</td>
      <td>
        {row.status === 'SUSPENDED' ? (
          <Status tone="warn">suspended</Status>
        ) : (
          <Status tone={row.twoFactor ? 'ok' : 'mute'} plain>
            {row.twoFactor ? 'on' : 'off'}
          </Status>
        )}
      </td>
      <td className="soft">{row.lastSeenAt ? <Time at={row.lastSeenAt} /> : 'never'}</td>
      <td className="n row-menu member-menu">
        <Actions {...props} />
      </td>
    </tr>
  );
}

export function MembersCard(props: {
  rows: readonly MemberRowFragment[] | undefined;
  user_id: string;
  onAct: (act: MemberAct) => void;
}) {
  const { rows, user_id, onAct } = props;
  return (
    <Card title="People" note={rows && countText(rows.length)} flush>
      <Table name="List of members" busy={rows === undefined}>
        <Columns
          of={[
            'Person',
            'Role',
            'Second factor',
            'Last seen',
            { name: 'Actions', className: 'row-menu member-menu', hidden: true },
          ]}
        />
        <tbody>
          {rows === undefined ? (
            <BoneRows rows={3} columns={5} />
          ) : (
            rows.map((row) => <Row key={row.userId} row={row} own={row.userId === user_id} onAct={onAct} />)
          )}
        </tbody>
      </Table>
    </Card>
  );
}
