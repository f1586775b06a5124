// What is asked about a provider key.
import type { Fault } from '../../api/errors.ts';
import { PasswordField, TextField } from '../../ui/field.tsx';

const LABEL_MAX = 64;

/** The refusal of a form where it is about the field `name`; null otherwise. */
export function faultAt(fault: Fault | null, name: string): string | null {
  return fault?.field === `input.${name}` ? fault.message : null;
}

export function LabelField(props: { value?: string; fault: string | null; focus?: boolean }) {
  const { value, fault, focus = false } = props;
  return (
    <TextField
      label="Label"
      name="label"
      placeholder="research"
      hint="Tells several keys of one provider apart."
      autoComplete="off"
      maxLength={LABEL_MAX}
      defaultValue={value}
      fault={fault}
      data-autofocus={focus || undefined}
    />
  );
}

export function SecretField({ fault, focus = false }: { fault: string | null; focus?: boolean }) {
  return (
    <PasswordField
      label="Key"
      name="secret"
      hint="As the provider gave it. For AWS: ACCESS_KEY_ID:SECRET, and :SESSION_TOKEN where there is one."
      autoComplete="off"
      spellCheck={false}
      fault={fault}
      data-autofocus={focus || undefined}
    />
  );
}

/** Whether the gateway's keys may answer in the place of this one, and what that costs. */
export function FallbackField({ value }: { value: boolean }) {
  return (
    <label className="check">
      <input type="checkbox" name="fallback" defaultChecked={value} />
      <span>
        Answer with the gateway’s keys when this one cannot{' '}
        <span className="faint">
          Such a call costs the full price, from your credits. Otherwise it fails with the provider’s words,
          and costs nothing.
        </span>
      </span>
    </label>
  );
}

/** What stands in the fields. */
export function readFields(form: HTMLFormElement) {
  const data = new FormData(form);
  const text = (name: string) => String(data.get(name) ?? '').trim();
  return {
    ...{ providerId: text('provider'), label: text('label'), secret: text('secret') },
    fallbackToPool: data.get('fallback') !== null,
  };
}
