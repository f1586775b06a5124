// Sign in: e-mail and password, then the code of the second factor where one is set. Used by the page, and by the
// dialog that appears when a session ends under an open page.
import { type FormEvent, type RefObject, useEffect, useRef, useState } from 'react';
import { type Fault, offlineFault } from '../../api/errors.ts';
import { proveSecondFactor, type SignIn, signIn } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { PasswordField, TextField } from '../../ui/field.tsx';
import { plural } from '../../ui/format/numbers.ts';
import { FormFault } from '../../ui/states.tsx';

/** What a refused sign-in says: the API's own sentence, except for the refusals that people see often. */
function faultOf(fault: Fault): Fault {
  if (fault.code === 'invalid_credentials') {
    return { ...fault, message: 'The e-mail address or the password is wrong.', request_id: null };
  }
  if (fault.code === 'invalid_totp' && fault.attempts_left === 0) {
    const message = 'There were too many wrong codes. Enter your password again.';
    return { ...fault, message, request_id: null };
  }
  if (fault.code === 'too_many_attempts') {
    const minutes = Math.max(1, Math.ceil((fault.retry_after_s ?? 900) / 60));
    const message = `Too many attempts. Try again in ${plural(minutes, 'minute')}.`;
    return { ...fault, message };
  }
  return fault;
}

const incomplete: Fault = {
  ...offlineFault,
  code: 'incomplete',
  message: 'Enter your e-mail address and your password.',
  offline: false,
};

type Step = { readonly kind: 'password' } | { readonly kind: 'code'; readonly mfa_token: string };

function PasswordStep({ email }: { email: string }) {
  return (
    <>
      <TextField
        label="E-mail"
        name="email"
        type="email"
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        defaultValue={email}
        autoFocus={email === ''}
        required
      />
      <PasswordField
        label="Password"
        name="password"
        autoComplete="current-password"
        autoFocus={email !== ''}
        required
      />
    </>
  );
}

function CodeStep({ field, hint }: { field: RefObject<HTMLInputElement | null>; hint: string }) {
  useEffect(() => field.current?.focus(), [field]);
  return (
    <TextField
      ref={field}
      label="Code"
      name="code"
      inputMode="numeric"
      autoComplete="one-time-code"
      maxLength={12}
      hint={hint}
      required
    />
  );
}

const RECOVERABLE = 'Six digits from your authenticator app, or one of your recovery codes.';

/** `code_hint` says what is taken as a code. */
export function SignInForm(props: {
  email?: string;
  code_hint?: string;
  onDone: () => void;
  /** Goes over to single sign-on, which the organisation of this address asks for. */
  onSsoRequired?: (email: string) => void;
}) {
  const { email = '', code_hint = RECOVERABLE, onDone, onSsoRequired } = props;
  const [step, setStep] = useState<Step>({ kind: 'password' });
  const [fault, setFault] = useState<Fault | null>(null);
  const [busy, setBusy] = useState(false);
  const code = useRef<HTMLInputElement>(null);

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (busy) return;
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? '');
    if (step.kind === 'password' && (text('email').trim() === '' || text('password') === '')) {
      return setFault(incomplete);
    }
    setBusy(true);
    setFault(null);
    const result: SignIn =
      step.kind === 'password'
        ? await signIn(text('email').trim(), text('password'))
        : await proveSecondFactor(step.mfa_token, text('code').replaceAll(/\s/g, ''));
    setBusy(false);
    if (result.kind === 'signed_in') onDone();
    if (result.kind === 'second_factor') setStep({ kind: 'code', mfa_token: result.mfa_token });
    if (result.kind !== 'refused') return;
    if (result.fault.code === 'sso_required') onSsoRequired?.(text('email').trim());
    setFault(faultOf(result.fault));
    code.current?.select();
    // After five wrong codes, or when its time is over, the second step accepts no code any more.
    const ended = result.fault.code === 'too_many_attempts' || result.fault.attempts_left === 0;
    if (ended) setStep({ kind: 'password' });
  };

  return (
    <form className="sign-in-form" onSubmit={(event) => void submit(event)} noValidate>
      {step.kind === 'password' ? <PasswordStep email={email} /> : <CodeStep field={code} hint={code_hint} />}
      <FormFault fault={fault} />
      <Button type="submit" kind="primary" className="wide" busy={busy}>
        {step.kind === 'password' ? 'Sign in' : 'Continue'}
      </Button>
      {step.kind === 'code' && (
        <Button kind="quiet" className="wide" onClick={() => setStep({ kind: 'password' })}>
          Use another account
        </Button>
      )}
    </form>
  );
}
