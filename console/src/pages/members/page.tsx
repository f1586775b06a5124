// The people of the organisation: members, invitations, and where they are signed in.
import './members.css';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import { MembersAdminDocument, MembersDocument } from '../../api/gen/graphql.ts';
import { loadSession, useSessionState } from '../../api/session.ts';
import { useOrg } from '../../app/org.tsx';
import { Button } from '../../ui/button.tsx';
import { PageHead } from '../../ui/card.tsx';
import { ErrorBox } from '../../ui/states.tsx';
import { RemoveDialog, RoleDialog } from './change-dialogs.tsx';
import { InvitationsCard } from './invitations-card.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { type MemberAct, MembersCard } from './members-card.tsx';
import { managesMembers } from './roles.ts';
import { SessionsCard } from './sessions-card.tsx';

function useMembers() {
  const { role } = useOrg();
  const manages = managesMembers(role);
  const [{ data, error }, readMembers] = useQuery({ query: MembersDocument });
  const [admin, readAdmin] = useQuery({ query: MembersAdminDocument, pause: !manages });
  const again = () => {
    readMembers({ requestPolicy: 'network-only' });
    if (manages) readAdmin({ requestPolicy: 'network-only' });
  };
  return { members: data?.members ?? undefined, error, admin: admin.data, manages, again };
}

function Dialogs(props: {
  open: MemberAct | 'invite';
  onClose: () => void;
  onDone: (said: string) => void;
  onLeft: () => void;
}) {
  const { open, onClose, onDone, onLeft } = props;
  if (open === 'invite') return <InviteDialog onClose={onClose} onDone={onDone} />;
  const { row } = open;
  if (open.kind === 'role') return <RoleDialog row={row} onClose={onClose} onDone={onDone} />;
  const leaves = open.kind === 'leave';
  return <RemoveDialog row={row} own={leaves} onClose={onClose} onDone={leaves ? onLeft : onDone} />;
}

export function MembersPage() {
  const session = useSessionState();
  const navigate = useNavigate();
  const { members, error, admin, manages, again } = useMembers();
  const [open, setOpen] = useState<MemberAct | 'invite' | null>(null);
  const [said, setSaid] = useState('');
  const onDone = (words: string) => {
    setOpen(null);
    setSaid(words);
    again();
    // The own role may be another one now.
    void loadSession();
  };
  const onLeft = async () => {
    await loadSession();
    await navigate({ to: '/' });
  };
  if (session.kind !== 'signed_in') return null;
  const invite = (
    <Button kind="primary" icon="mail" onClick={() => setOpen('invite')}>
      Invite
    </Button>
  );
  return (
    <>
      <PageHead title="Members" actions={manages ? invite : null}>
        <p role="status">{said || 'Who may do what here, and where they are signed in.'}</p>
      </PageHead>
      <div className="stack">
        {error && !members ? (
          <div className="card">
            <ErrorBox fault={faultOfQuery(error)} onRetry={again} />
          </div>
        ) : (
          <MembersCard rows={members} user_id={session.session.user.id} onAct={setOpen} />
        )}
        {manages && <InvitationsCard rows={admin?.invitations ?? undefined} onDone={onDone} />}
        {manages && <SessionsCard rows={admin?.sessions ?? undefined} onDone={onDone} />}
      </div>
      {open !== null && (
        <Dialogs open={open} onClose={() => setOpen(null)} onDone={onDone} onLeft={() => void onLeft()} />
      )}
    </>
  );
}
