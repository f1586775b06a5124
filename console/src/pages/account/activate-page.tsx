// Where the mail of an approval leads: a password, and the account is made.
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { type Fault, faultOfForm } from '../../api/errors.ts';
import { type Approval, activateAccess, findApproval } from '../../api/sign-up.ts';
import { takeToken } from '../../app/mailed-token.ts';
import { Button } from '../../ui/button.tsx';
import { PasswordField } from '../../ui/field.tsx';
import { Bone, ErrorBox, FormFault } from '../../ui/states.tsx';
import { OutsideCard, useForm } from './frame.tsx';

function Form({ token, email }: { token: string; email: string }) {
  const { submit, busy, fault, done } = useForm((text) => {
    const password = text('password');
    return password === '' ? faultOfForm('Enter a password.') : activateAccess(token, password);
  });
  if (done !== null)
    return (
      <div className="sign-in-form" role="status">
        <p>Your account is ready. Sign in as {email}.</p>
        <Link className="btn primary wide" to="/sign-in">
          Sign in
        </Link>
      </div>
    );
  return (
    <form className="sign-in-form" onSubmit={(event) => void submit(event)} noValidate>
      <input type="hidden" name="email" autoComplete="username" value={email} />
      <PasswordField
        label="Password"
        name="password"
        autoComplete="new-password"
        hint="At least 12 characters."
        autoFocus
        required
      />
      <FormFault fault={fault} />
      <Button type="submit" kind="primary" className="wide" busy={busy}>
        Make the account
      </Button>
    </form>
  );
}

export function ActivatePage() {
  const [token] = useState(takeToken);
  const [approval, setApproval] = useState<Approval | null>(null);
  const [fault, setFault] = useState<Fault | null>(null);
  useEffect(() => {
    void findApproval(token).then((answer) => {
      if (answer.ok) setApproval(answer.value);
      else setFault(answer.fault);
    });
  }, [token]);
  return (
    <OutsideCard
      title={approval === null ? 'Your access' : `Welcome, ${approval.name}`}
      note={approval === null ? 'after an approval' : `set a password for ${approval.email}`}
    >
      {fault !== null && <ErrorBox fault={fault} />}
      {fault === null && approval === null && <Bone width="100%" height={38} />}
      {approval !== null && <Form token={token} email={approval.email} />}
    </OutsideCard>
  );
}
