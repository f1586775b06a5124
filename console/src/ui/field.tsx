// A labelled control with hint and fault, tied together for screen readers.
import { type ComponentPropsWithRef, type ReactNode, useId, useState } from 'react';

interface Around {
  label: string;
  hint?: ReactNode;
  fault?: string | null;
}

function around(id: string, { hint, fault }: Around) {
  const described = [fault ? `${id}-fault` : '', hint ? `${id}-hint` : ''].filter(Boolean).join(' ');
  return {
    id,
    'aria-invalid': fault ? true : undefined,
    'aria-describedby': described === '' ? undefined : described,
  };
}

function Frame({ id, label, hint, fault, children }: Around & { id: string; children: ReactNode }) {
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children}
      {fault && (
        <span className="fault" id={`${id}-fault`} role="alert">
          {fault}
        </span>
      )}
      {hint && (
        <span className="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  );
}

export function TextField({ label, hint, fault, ...rest }: Around & ComponentPropsWithRef<'input'>) {
  const id = useId();
  return (
    <Frame id={id} label={label} hint={hint} fault={fault ?? null}>
      <input className="input" {...rest} {...around(id, { label, hint, fault: fault ?? null })} />
    </Frame>
  );
}

export function PasswordField({ label, hint, fault, ...rest }: Around & ComponentPropsWithRef<'input'>) {
  const id = useId();
  const [shown, setShown] = useState(false);
  return (
    <Frame id={id} label={label} hint={hint} fault={fault ?? null}>
      <span className="password">
        <input
          className="input"
          {...rest}
          {...around(id, { label, hint, fault: fault ?? null })}
          type={shown ? 'text' : 'password'}
        />
        <button type="button" aria-pressed={shown} onClick={() => setShown(!shown)}>
          {shown ? 'Hide' : 'Show'}
          <span className="visually-hidden"> password</span>
        </button>
      </span>
    </Frame>
  );
}

export function AreaField({ label, hint, fault, ...rest }: Around & ComponentPropsWithRef<'textarea'>) {
  const id = useId();
  return (
    <Frame id={id} label={label} hint={hint} fault={fault ?? null}>
      <textarea className="input area" {...rest} {...around(id, { label, hint, fault: fault ?? null })} />
    </Frame>
  );
}

export function SelectField({
  label,
  hint,
  fault,
  children,
  ...rest
}: Around & ComponentPropsWithRef<'select'>) {
  const id = useId();
  return (
    <Frame id={id} label={label} hint={hint} fault={fault ?? null}>
      <select className="input" {...rest} {...around(id, { label, hint, fault: fault ?? null })}>
        {children}
      </select>
    </Frame>
  );
}
