// Where the mail that proves an address leads. A press is asked for, because programs that look at mails open links too.
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { verifyEmail } from '../../api/sign-up.ts';
import { takeToken } from '../../app/mailed-token.ts';
import { Button } from '../../ui/button.tsx';
import { FormFault } from '../../ui/states.tsx';
import { OutsideCard, useForm } from './frame.tsx';

export function VerifyEmailPage() {
  const [token] = useState(takeToken);
  const { submit, busy, fault, done } = useForm(() => verifyEmail(token));
  return (
    <OutsideCard title="Confirm your address" note="and your account is ready">
      {done === null ? (
        <form className="sign-in-form" onSubmit={(event) => void submit(event)}>
          <FormFault fault={fault} />
          <Button type="submit" kind="primary" className="wide" busy={busy} autoFocus>
            Confirm the address
          </Button>
        </form>
      ) : (
        <div className="sign-in-form" role="status">
          <p>{done.email} is confirmed. Sign in with the password that you chose.</p>
          <Link className="btn primary wide" to="/sign-in">
            Sign in
          </Link>
        </div>
      )}
    </OutsideCard>
  );
}
