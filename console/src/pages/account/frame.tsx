// Around what people do before they are signed in: the mark, a title, and a card.
import '../sign-in/sign-in.css';
import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import { mark_url, storefront } from '../../api/boot.ts';
import type { Fault } from '../../api/errors.ts';
import type { Result } from '../../api/session.ts';

/** The mark of whoever's address this is, and its name where that is not ours. */
export function Mark() {
  return (
    <span className="sign-in-mark">
      {mark_url !== null && <img src={mark_url} height="40" alt="" />}
      {storefront !== null && <strong>{storefront.display_name}</strong>}
    </span>
  );
}

/** Where customers of a storefront get help. */
function Help() {
  if (storefront === null) return null;
  const { support_email, support_url, terms_url } = storefront;
  return (
    <>
      {support_email !== null && <a href={`mailto:${support_email}`}>{support_email}</a>}
      {support_url !== null && <a href={support_url}>Help</a>}
      {terms_url !== null && <a href={terms_url}>Terms</a>}
    </>
  );
}

export function OutsideCard(props: { title: string; note: string; below?: ReactNode; children: ReactNode }) {
  const { title, note, below, children } = props;
  useEffect(() => {
    document.title = title;
    delete document.documentElement.dataset['env'];
  }, [title]);
  return (
    <main className="outside">
      <div className="sign-in">
        <Mark />
        <h1>{title}</h1>
        <p>{note}</p>
        <div className="card">{children}</div>
        {(below !== undefined || storefront !== null) && (
          <nav className="sign-in-below">
            {below}
            <Help />
          </nav>
        )}
      </div>
    </main>
  );
}

/** A form that sends one request: what is wrong with it, whether it is on its way, and how it is sent. */
export function useForm<T>(
  send: (text: (name: string) => string, form: FormData) => Promise<Result<T>> | Fault,
) {
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<Fault | null>(null);
  const [done, setDone] = useState<T | null>(null);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (busy) return;
    const form = new FormData(event.currentTarget);
    const sent = send((name) => String(form.get(name) ?? ''), form);
    if (!(sent instanceof Promise)) return setFault(sent);
    setBusy(true);
    setFault(null);
    const answer = await sent;
    setBusy(false);
    if (answer.ok) setDone(answer.value);
    else setFault(answer.fault);
  };
  return { submit, busy, fault, done };
}
