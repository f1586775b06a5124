// Around what people do before they are signed in: the mark, a title, and a card.
import '../sign-in/sign-in.css';
import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import type { Fault } from '../../api/errors.ts';
import type { Result } from '../../api/session.ts';

export function OutsideCard(props: { title: string; note: string; below?: ReactNode; children: ReactNode }) {
  const { title, note, below, children } = props;
  useEffect(() => {
    document.title = title;
    delete document.documentElement.dataset['env'];
  }, [title]);
  return (
    <main className="outside">
      <div className="sign-in">
        <span className="sign-in-mark" aria-hidden="true">
          <img src="/favicon.svg" width="40" height="40" alt="" />
        </span>
        <h1>{title}</h1>
        <p>{note}</p>
        <div className="card">{children}</div>
        {below !== undefined && <nav className="sign-in-below">{below}</nav>}
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
