// Opens one call by its id, as support and logs name it.
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, type Ref, useState } from 'react';
import { Icon } from '../ui/icons.tsx';
import { useOrg } from './org.tsx';

const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/i;

export function FindById({ ref }: { ref: Ref<HTMLInputElement> }) {
  const { slug, env } = useOrg();
  const navigate = useNavigate();
  const [wrong, setWrong] = useState(false);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const id = String(new FormData(event.currentTarget).get('id') ?? '').trim();
    setWrong(!ULID.test(id));
    if (ULID.test(id)) {
      event.currentTarget.reset();
      void navigate({ to: '/$org/$env/requests/$id', params: { org: slug, env, id: id.toUpperCase() } });
    }
  };
  return (
    <form className="find-id" onSubmit={submit}>
      <Icon name="search" size={15} />
      <input
        ref={ref}
        name="id"
        className="input"
        placeholder="Open by request id"
        aria-label="Request id"
        aria-keyshortcuts="/"
        aria-invalid={wrong || undefined}
        aria-describedby={wrong ? 'find-id-fault' : undefined}
        autoComplete="off"
        spellCheck={false}
        onChange={() => setWrong(false)}
      />
      <span className="kbd" aria-hidden="true">
        /
      </span>
      {wrong && (
        <span className="fault" id="find-id-fault" role="alert">
          A request id has 26 letters and digits.
        </span>
      )}
    </form>
  );
}
