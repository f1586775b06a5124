// Asking for access where accounts are not made by everybody; staff decide, and a mail brings the link.
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { challenge } from '../../api/boot.ts';
import { faultOfForm } from '../../api/errors.ts';
import { askAccess } from '../../api/sign-up.ts';
import { Button } from '../../ui/button.tsx';
import { AreaField, TextField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';
import { useChallenge } from './challenge.tsx';
import { OutsideCard, useForm } from './frame.tsx';

const needed = {
  name: 'your name',
  email: 'your e-mail address',
  company: 'your company',
  use_case: 'what it is for',
};

function Fields() {
  return (
    <>
      <TextField label="Your name" name="name" autoComplete="name" maxLength={120} autoFocus required />
      <TextField
        label="E-mail"
        name="email"
        type="email"
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        required
      />
      <TextField label="Company" name="company" autoComplete="organization" maxLength={120} required />
      <AreaField label="What for" name="use_case" rows={4} maxLength={500} required />
      <label className="check">
        <input type="checkbox" name="terms" value="yes" />
        <span>I accept the terms of service.</span>
      </label>
    </>
  );
}

function Form({ onSent }: { onSent: () => void }) {
  const { answer, spend, field } = useChallenge();
  const { submit, busy, fault } = useForm((text, form) => {
    const missing = Object.entries(needed).find(([name]) => text(name).trim() === '');
    if (missing !== undefined) return faultOfForm(`Enter ${missing[1]}.`);
    if (form.get('terms') === null) return faultOfForm('Accept the terms to go on.');
    if (challenge !== null && answer === '') return faultOfForm('Show first that you are a person.');
    const [name, email, company, use_case] = ['name', 'email', 'company', 'use_case'].map((one) =>
      text(one).trim(),
    ) as [string, string, string, string];
    return askAccess({ name, email, company, use_case }, answer).then((result) => {
      spend();
      if (result.ok) onSent();
      return result;
    });
  });
  return (
    <form className="sign-in-form" onSubmit={(event) => void submit(event)} noValidate>
      <Fields />
      {field}
      <FormFault fault={fault} />
      <Button type="submit" kind="primary" className="wide" busy={busy}>
        Ask for access
      </Button>
    </form>
  );
}

export function RequestAccessPage() {
  const [sent, setSent] = useState(false);
  return (
    <OutsideCard
      title="Ask for access"
      note="a person reads this, and a mail brings the answer"
      below={<Link to="/sign-in">Sign in instead</Link>}
    >
      {sent ? (
        <p role="status">Thank you. We read your request and answer by mail.</p>
      ) : (
        <Form onSent={() => setSent(true)} />
      )}
    </OutsideCard>
  );
}
