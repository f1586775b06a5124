// The account of the person: who they are, how they sign in, and where they are signed in.
import './profile.css';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { signOutEverywhere } from '../../api/account.ts';
import { loadSession, useSessionState } from '../../api/session.ts';
import { PageHead } from '../../ui/card.tsx';
import { FactorCard } from './factor-card.tsx';
import { PasswordCard } from './password-card.tsx';
import { SessionsCard } from './sessions-card.tsx';
import { YouCard } from './you-card.tsx';

export function ProfilePage() {
  const state = useSessionState();
  const navigate = useNavigate();
  const [changes, setChanges] = useState(0);
  if (state.kind !== 'signed_in') return null;
  const { user } = state.session;
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
        <YouCard session={state.session} />
        <FactorCard has_factor={user.two_factor} />
        <PasswordCard email={user.email} onChanged={() => setChanges((before) => before + 1)} />
        <SessionsCard since={changes} onEverywhere={() => void everywhere()} />
      </div>
    </>
  );
}
