// The three fields in which limits are typed.
import { TextField } from '../../ui/field.tsx';

const limits = [
  ['rpm', 'Calls a minute'],
  ['tpm', 'Tokens a minute'],
  ['concurrency', 'At once'],
] as const;
type Name = (typeof limits)[number][0];

export function LimitFields(props: {
  placeholder: string;
  values?: Readonly<Record<Name, number | null>>;
  hint?: (name: Name) => string;
  faults: Readonly<Partial<Record<Name, string>>>;
}) {
  const { placeholder, values, hint, faults } = props;
  return (
    <div className="limit-fields">
      {limits.map(([name, label]) => (
        <TextField
          key={name}
          label={label}
          name={name}
          inputMode="numeric"
          placeholder={placeholder}
          defaultValue={values?.[name] ?? ''}
          {...(hint === undefined ? {} : { hint: hint(name) })}
          autoComplete="off"
          fault={faults[name] ?? null}
        />
      ))}
    </div>
  );
}
