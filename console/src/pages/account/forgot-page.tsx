// A forgotten password: asking for the mail that sets a new one.
import { Link } from '@tanstack/react-router';
import { faultOfForm } from '../../api/errors.ts';
import { forgotPassword } from '../../api/sign-up.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';
import { OutsideCard, useForm } from './frame.tsx';

export function ForgotPasswordPage() {
  const { submit, busy, fault, done } = useForm((text) => {
    const email = text('email').trim();
    if (email === '') return faultOfForm('Enter your e-mail address.');
    return forgotPassword(email);
  });
  return (
    <OutsideCard
      title="Forgotten password"
      note="a mail brings a link that sets a new one"
      below={<Link to="/sign-in">Back to sign-in</Link>}
    >
      {done === null ? (
        <form className="sign-in-form" onSubmit={(event) => void submit(event)} noValidate>
          <TextField
            label="E-mail"
            name="email"
            type="email"
            autoComplete="username"
            autoCapitalize="none"
            spellCheck={false}
            autoFocus
            required
          />
          <FormFault fault={fault} />
          <Button type="submit" kind="primary" className="wide" busy={busy}>
            Send the mail
          </Button>
        </form>
      ) : (
        <p role="status">
          If there is an account with this address, a mail is on its way to it. Its link is valid for half an
          hour. An address gets at most three such mails an hour.
        </p>
      )}
    </OutsideCard>
  );
}
