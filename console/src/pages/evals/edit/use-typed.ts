// What a form of a case begins with, and how its messages are written.
import { useState } from 'react';
import { type CaseShown, questionOf, type Typed, typedOf, withMessages } from './case-form.ts';

/** The texts of all fields of a form. */
export function typedIn(form: HTMLFormElement): Typed {
  return Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));
}

/** Fields keep what was typed; the messages are carried over when they are written the other way. */
export function useTyped(shown: CaseShown | null) {
  const [typed, setTyped] = useState(() => typedOf(shown));
  const [as_json, setJson] = useState(shown !== null && questionOf(shown.input.messages) === null);
  const onJson = (wanted: boolean, form: HTMLFormElement | null) => {
    const now = form === null ? typed : { ...typed, ...typedIn(form) };
    const next = withMessages(now, wanted);
    if (next === null) return;
    setTyped(next);
    setJson(wanted);
  };
  return { typed, as_json, onJson };
}
