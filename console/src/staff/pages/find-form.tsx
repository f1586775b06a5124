// The field that finds, with its button: what is typed becomes part of the address.
import { type FormEvent, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { useGo } from '../go.tsx';

export function FindForm(props: {
  /** Where it leads, without the query. */
  path: string;
  label: string;
  placeholder: string;
  q: string | undefined;
  /** The page is this field. */
  focused?: true;
}) {
  const { path, label, placeholder, q, focused } = props;
  const go = useGo();
  const [wrong, setWrong] = useState(false);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget).get('q') ?? '').trim();
    setWrong(text === '');
    if (text !== '') go(`${path}?q=${encodeURIComponent(text)}`);
  };
  return (
    <form className="staff-find" onSubmit={submit}>
      <input
        key={q ?? ''}
        name="q"
        className="input"
        aria-label={label}
        aria-invalid={wrong || undefined}
        placeholder={placeholder}
        defaultValue={q ?? ''}
        // biome-ignore lint/a11y/noAutofocus: where the page is this field
        autoFocus={focused}
        autoComplete="off"
        spellCheck={false}
        maxLength={254}
      />
      <Button type="submit" kind="primary" icon="search">
        Find
      </Button>
    </form>
  );
}
