// Where the mail of an invitation leads: sign in or make an account, and be a member.
import '../sign-in/sign-in.css';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { Fault } from '../../api/errors.ts';
import { accept, lookUp, type Offer } from '../../api/invitation.ts';
import { loadSession, signOut, useSessionState } from '../../api/session.ts';
import { takeToken } from '../../app/mailed-token.ts';
import { Button } from '../../ui/button.tsx';
import { Bone, ErrorBox, FormFault } from '../../ui/states.tsx';
import { Mark } from '../account/frame.tsx';
import { SignInForm } from '../sign-in/form.tsx';
import { RegisterForm } from './register-form.tsx';

function useOffer() {
  const [token] = useState(takeToken);
  const [offer, setOffer] = useState<Offer | null>(null);
  const [fault, setFault] = useState<Fault | null>(null);
  useEffect(() => {
    void loadSession();
    void lookUp(token).then((answer) => {
      if (answer.ok) setOffer(answer.value);
      else setFault(answer.fault);
    });
  }, [token]);
  return { token, offer, fault };
}

function AcceptCard({ token, offer }: { token: string; offer: Offer }) {
  const navigate = useNavigate();
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<Fault | null>(null);
  const join = async () => {
    setBusy(true);
    const answer = await accept(token);
    setBusy(false);
    if (!answer.ok) return setFault(answer.fault);
    await loadSession();
    await navigate({ to: '/$org/$env/home', params: { org: answer.value.org.slug, env: 'live' } });
  };
  return (
    <div className="sign-in-form">
      <p>You are signed in as {offer.email}.</p>
      <FormFault fault={fault} />
      <Button kind="primary" className="wide" busy={busy} onClick={() => void join()}>
        Join {offer.org.name}
      </Button>
    </div>
  );
}

function Step({ token, offer }: { token: string; offer: Offer }) {
  const state = useSessionState();
  const navigate = useNavigate();
  if (state.kind === 'unknown') return <Bone width="100%" height={38} />;
  if (state.kind === 'unreachable') return <ErrorBox fault={state.fault} />;
  if (state.kind === 'signed_in') {
    const { email } = state.session.user;
    if (email.toLowerCase() === offer.email.toLowerCase()) return <AcceptCard token={token} offer={offer} />;
    return (
      <div className="sign-in-form">
        <p>
          The invitation is for {offer.email}, and you are signed in as {email}.
        </p>
        <Button className="wide" onClick={() => void signOut()}>
          Sign out
        </Button>
      </div>
    );
  }
  if (offer.has_account) return <SignInForm email={offer.email} onDone={() => undefined} />;
  return <RegisterForm token={token} email={offer.email} onDone={() => void navigate({ to: '/' })} />;
}

export function InvitationPage() {
  const { token, offer, fault } = useOffer();
  useEffect(() => {
    document.title = 'Invitation';
    delete document.documentElement.dataset['env'];
  }, []);
  return (
    <main className="outside">
      <div className="sign-in">
        <Mark />
        <h1>{offer === null ? 'Invitation' : `Join ${offer.org.name}`}</h1>
        <p>{offer === null ? 'to work in an organisation' : `as ${offer.role}, with ${offer.email}`}</p>
        <div className="card">
          {fault !== null && <ErrorBox fault={fault} />}
          {fault === null && offer === null && <Bone width="100%" height={38} />}
          {offer !== null && <Step token={token} offer={offer} />}
        </div>
      </div>
    </main>
  );
}
