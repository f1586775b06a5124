// Asking for an account; a mail brings the link that makes it.
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { challenge, signup } from '../../api/boot.ts';
import { type Fault, faultOfForm } from '../../api/errors.ts';
import { register, resendVerification } from '../../api/sign-up.ts';
import { Button } from '../../ui/button.tsx';
import { PasswordField, TextField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';
import { InviteCodeField } from '../sign-up/code-field.tsx';
import { useChallenge } from './challenge.tsx';
import { OutsideCard, useForm } from './frame.tsx';

function Sent({ email }: { email: string }) {
  const [fault, setFault] = useState<Fault | null>(null);
  const [again, setAgain] = useState(false);
  const resend = async () => {
    const answer = await resendVerification(email);
    setFault(answer.ok ? null : answer.fault);
    setAgain(answer.ok);
  };
  return (
    <div className="sign-in-form" role="status">
      <p>
        A mail is on its way to {email}. Open its link within a day to finish.
        {again && ' It was sent again; the link of the earlier mail leads nowhere now.'}
      </p>
      <FormFault fault={fault} />
      <Button className="wide" onClick={() => void resend()}>
        Send the mail again
      </Button>
    </div>
  );
}

function Form({ onSent }: { onSent: (email: string) => void }) {
  const { answer, spend, field } = useChallenge();
  const { submit, busy, fault } = useForm((text, form) => {
    const [name, email, password] = [text('name').trim(), text('email').trim(), text('password')];
    if (name === '' || email === '' || password === '')
      return faultOfForm('Enter your name, your e-mail address and a password.');
    const code = text('invite_code').trim();
    if (signup === 'invite' && code === '') return faultOfForm('Enter your invite code.');
    if (form.get('terms') === null) return faultOfForm('Accept the terms to go on.');
    if (challenge !== null && answer === '') return faultOfForm('Show first that you are a person.');
    const invited = code === '' ? {} : { invite_code: code };
    return register({ name, email, password, ...invited }, answer).then((result) => {
      spend();
      if (result.ok) onSent(email);
      return result;
    });
  });
  return (
    <form className="sign-in-form" onSubmit={(event) => void submit(event)} noValidate>
      <TextField label="Your name" name="name" autoComplete="name" maxLength={120} autoFocus required />
      <TextField
        label="E-mail"
        name="email"
        type="email"
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        required
      />
      <PasswordField
        label="Password"
        name="password"
        autoComplete="new-password"
        hint="At least 12 characters."
        required
      />
      {signup === 'invite' && <InviteCodeField />}
      <label className="check">
        <input type="checkbox" name="terms" value="yes" />
        <span>I accept the terms of service.</span>
      </label>
      {field}
      <FormFault fault={fault} />
      <Button type="submit" kind="primary" className="wide" busy={busy}>
        Make the account
      </Button>
    </form>
  );
}

export function RegisterPage() {
  const [email, setEmail] = useState<string | null>(null);
  return (
    <OutsideCard
      title="Make an account"
      note="with an e-mail address that you can read mail at"
      below={<Link to="/sign-in">Sign in instead</Link>}
    >
      {signup === 'closed' && (
        <p>Accounts are made with an invitation. Ask an owner or admin of yours for one.</p>
      )}
      {signup !== 'closed' && email === null && <Form onSent={setEmail} />}
      {email !== null && <Sent email={email} />}
    </OutsideCard>
  );
}
