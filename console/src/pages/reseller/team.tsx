// What members of the reseller may do for customers. Owners and admins may do everything.
import { type FormEvent, useState } from 'react';
import { useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import {
  type ResaleMemberFragment,
  ResaleSetGrantsDocument,
  ResaleTeamDocument,
  type ResellerGrant,
} from '../../api/gen/tools/graphql.ts';
import { useSend } from '../../api/send.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Dialog, DialogFoot } from '../../ui/dialog.tsx';
import { BoneRows, ErrorBox, FormFault } from '../../ui/states.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { grantOf, grantWords } from './words.ts';

type Member = ResaleMemberFragment;
const grants: readonly ResellerGrant[] = [
  ...(['RESELLER_READ', 'RESELLER_WRITE', 'RESELLER_CAMPAIGNS'] as const),
  ...(['RESELLER_SUPPORT', 'STOREFRONT_WRITE'] as const),
];

const has_all = ({ role }: Member) => role === 'OWNER' || role === 'ADMIN';

function GrantsDialog(props: { member: Member; onClose: () => void; onDone: () => void }) {
  const { member, onClose, onDone } = props;
  const { send, busy, fault } = useSend();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const chosen = grants.filter((grant) => form.has(grant));
    const done = await send(ResaleSetGrantsDocument, { userId: member.userId, grants: chosen });
    if (done !== null) onDone();
  };
  return (
    <Dialog
      title={`What ${member.name || member.email} may do`}
      note="It holds from the next press on, and ends with the membership."
      size={480}
      onClose={onClose}
    >
      <form className="add-form" onSubmit={(event) => void submit(event)} noValidate>
        <fieldset className="resale-grants">
          <legend className="visually-hidden">Grants</legend>
          {grants.map((grant, i) => (
            <label className="check" key={grant}>
              <input
                type="checkbox"
                name={grant}
                defaultChecked={member.grants.includes(grant)}
                data-autofocus={i === 0 || undefined}
              />
              <span>
                {grantWords[grantOf(grant)][0]} <span className="faint">{grantWords[grantOf(grant)][1]}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <FormFault fault={fault} />
        <DialogFoot onClose={onClose} busy={busy}>
          Save
        </DialogFoot>
      </form>
    </Dialog>
  );
}

function Line({ member, onChange }: { member: Member; onChange: () => void }) {
  const names = member.grants.map((grant) => grantWords[grantOf(grant)][0]);
  return (
    <tr>
      <td>
        {member.name} <span className="faint">{member.email}</span>
      </td>
      <td data-label="Role">{member.role.toLowerCase()}</td>
      <td data-label="May">
        {has_all(member) ? 'everything' : names.join(', ')}
        {!has_all(member) && names.length === 0 && <span className="faint">nothing</span>}
      </td>
      <td className="n">
        {!has_all(member) && (
          <Button onClick={onChange} aria-label={`Change what ${member.email} may do`}>
            Change…
          </Button>
        )}
      </td>
    </tr>
  );
}

export function TeamView() {
  const [{ data, error }, again] = useQuery({
    query: ResaleTeamDocument,
    requestPolicy: 'cache-and-network',
  });
  const [changing, setChanging] = useState<Member | null>(null);
  const [said, setSaid] = useState('');
  const reread = () => again({ requestPolicy: 'network-only' });
  const members = data?.reseller?.staff;
  const done = () => {
    setChanging(null);
    setSaid('Saved.');
    reread();
  };
  return (
    <Card title="Team" note={<span role="status">{said || 'People join on the page Members.'}</span>} flush>
      {error && !members ? (
        <ErrorBox fault={faultOfQuery(error)} onRetry={reread} />
      ) : (
        <Table name="Members and what they may do" stacks busy={!members}>
          <Columns of={['Member', 'Role', 'May', { name: 'Actions', hidden: true }]} />
          <tbody>
            {members ? (
              members.map((member) => (
                <Line key={member.userId} member={member} onChange={() => setChanging(member)} />
              ))
            ) : (
              <BoneRows rows={3} columns={4} />
            )}
          </tbody>
        </Table>
      )}
      {changing && <GrantsDialog member={changing} onClose={() => setChanging(null)} onDone={done} />}
    </Card>
  );
}
