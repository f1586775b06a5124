// Setting up a second factor: the secret for the app, a first code, then the recovery codes, shown once. Secret and codes
// live in the state of this dialog and go with it.
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { confirmFactor, type Enrolment, enrol } from '../../api/account.ts';
import type { Fault } from '../../api/errors.ts';
import { useAction } from '../../api/send.ts';
import type { Result } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Dialog, DialogFoot } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Bone, ErrorBox, FormFault } from '../../ui/states.tsx';
import { useProof } from './proof.tsx';

/** A code, and what is done with it. */
export function CodeForm<T>(props: {
  label: string;
  button: string;
  danger?: boolean;
  onClose: () => void;
  send: (code: string) => Promise<Result<T>>;
  onDone: (value: T) => void;
}) {
  const { act, busy, fault, setFault } = useAction();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const code = String(new FormData(event.currentTarget).get('code') ?? '').replaceAll(/\s/g, '');
    if (code === '') return;
    const value = await act(() => props.send(code));
    if (value !== null) props.onDone(value);
  };
  const wrong = fault?.code === 'invalid_totp' ? 'This code is wrong or was used already.' : null;
  return (
    <form className="profile-form" onSubmit={(event) => void submit(event)} noValidate>
      <TextField
        label={props.label}
        name="code"
        inputMode="numeric"
        autoComplete="one-time-code"
        maxLength={16}
        fault={wrong}
        onChange={() => setFault(null)}
        data-autofocus
      />
      {wrong === null && <FormFault fault={fault} />}
      <DialogFoot onClose={props.onClose} kind={props.danger ? 'danger' : 'primary'} busy={busy}>
        {props.button}
      </DialogFoot>
    </form>
  );
}

/** The recovery codes, once. */
export function RecoveryCodes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  const copy = useRef<HTMLButtonElement>(null);
  useEffect(() => copy.current?.focus(), []);
  return (
    <>
      <p className="soft profile-text">
        Each of these lets you in once when the app is not at hand. They can’t be shown again.
      </p>
      <ul className="recovery">
        {codes.map((code) => (
          <li key={code} className="mono">
            {code}
          </li>
        ))}
      </ul>
      <div className="dialog-foot">
        <CopyButton ref={copy} text={codes.join('\n')} what="the recovery codes" label="Copy all" />
        <Button kind="primary" onClick={onClose}>
          I have stored them
        </Button>
      </div>
    </>
  );
}

/** The secret that the app needs; made when this is shown. */
function Secret({ made }: { made: Enrolment | null }) {
  return (
    <>
      <ol className="profile-steps">
        <li>
          Open an authenticator app, choose to add an account by hand, and enter this key; or{' '}
          {made === null ? (
            'open it'
          ) : (
            <a className="link" href={made.otpauth_uri}>
              open it
            </a>
          )}{' '}
          with the app on this device.
        </li>
        <li>Enter the six digits that it shows.</li>
      </ol>
      <div className="secret">
        {made === null ? <Bone width={260} /> : <code>{made.secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}</code>}
        {made !== null && <CopyButton text={made.secret} what="the key for the app" />}
      </div>
    </>
  );
}

function Steps({ code, onClose }: { code: string | undefined; onClose: () => void }) {
  const proof = useProof();
  const [made, setMade] = useState<Enrolment | null>(null);
  const [fault, setFault] = useState<Fault | null>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const begun = useRef(false);
  const begin = async () => {
    setFault(null);
    const answer = await proof.run(() => enrol(code));
    if (answer.ok) setMade(answer.value);
    else setFault(answer.fault);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the dialog opens
  useEffect(() => {
    if (begun.current) return;
    begun.current = true;
    void begin();
  }, []);
  if (codes !== null) return <RecoveryCodes codes={codes} onClose={onClose} />;
  return (
    <>
      {fault === null ? <Secret made={made} /> : <ErrorBox fault={fault} onRetry={() => void begin()} />}
      {made !== null && (
        <CodeForm
          label="Code that the app shows"
          button="Put it in force"
          onClose={onClose}
          send={(typed) => proof.run(() => confirmFactor(typed))}
          onDone={({ recovery_codes }) => setCodes(recovery_codes)}
        />
      )}
      {proof.dialog}
    </>
  );
}

export function EnrolDialog({ has_factor, onClose }: { has_factor: boolean; onClose: () => void }) {
  // Taken when the dialog opens: the factor comes into force while it is open.
  const [replacing] = useState(has_factor);
  const [code, setCode] = useState<string | null>(null);
  const asked = replacing && code === null;
  return (
    <Dialog
      title={replacing ? 'Use another authenticator app' : 'Set up a second factor'}
      note={replacing ? 'The one that you use now works until the new one is confirmed.' : undefined}
      size={500}
      onClose={onClose}
    >
      {asked ? (
        <CodeForm
          label="Code of the factor that you have now"
          button="Continue"
          onClose={onClose}
          send={async (typed) => ({ ok: true as const, value: typed })}
          onDone={setCode}
        />
      ) : (
        <Steps code={code ?? undefined} onClose={onClose} />
      )}
    </Dialog>
  );
}
