// The account of the person: who they are, how they sign in, and where they are signed in.
import './profile.css';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { signOutEverywhere } from '../../api/account.ts';
import { loadSession, useSessionState } from '../../api/session.ts';
import { useOrg } from '../../app/org.tsx';
import { Card, PageHead } from '../../ui/card.tsx';
import { IdText } from '../../ui/copy.tsx';
import { FactorCard } from './factor-card.tsx';
import { PasswordCard } from './password-card.tsx';
import { SessionsCard } from './sessions-card.tsx';

export function ProfilePage() {
  const state = useSessionState();
  const { name: org_name, role } = useOrg();
  const navigate = useNavigate();
  const [changes, setChanges] = useState(0);
  if (state.kind !== 'signed_in') return null;
  const { user, orgs } = state.session;
  const everywhere = async () => {
    await signOutEverywhere();
    await loadSession();
    await navigate({ to: '/sign-in' });
  };
  return (
    <>
      <PageHead title="Your account">
        <p>{user.email}</p>
      </PageHead>
      <div className="stack profile">
        <Card title="You">
          <dl className="profile-facts">
            <div>
              <dt>Name</dt>
              <dd>{user.name || '–'}</dd>
            </div>
            <div>
              <dt>E-mail</dt>
              <dd>{user.email}</dd>
            </div>
            <div>
              <dt>Here</dt>
              <dd>
                {role} of {org_name}
                {orgs.length > 1 && `, and in ${orgs.length - 1} more`}
              </dd>
            </div>
            <div>
              <dt>Id</dt>
              <dd>
                <IdText id={user.id} />
              </dd>
            </div>
          </dl>
        </Card>
        <FactorCard has_factor={user.two_factor} />
        <PasswordCard email={user.email} onChanged={() => setChanges((before) => before + 1)} />
        <SessionsCard since={changes} onEverywhere={() => void everywhere()} />
      </div>
    </>
  );
}
