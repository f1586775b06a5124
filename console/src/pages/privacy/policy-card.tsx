// The data policy as a form: what may be stored, where calls may go, what is replaced in them. What saving does is said before.
import type { FormEvent } from 'react';
import type { Fault } from '../../api/errors.ts';
import { Card } from '../../ui/card.tsx';
import { AreaField, TextField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';
import { SaveFoot } from '../settings/save-foot.tsx';
import type { Draft, PolicyFaults } from './policy.ts';
import { RedactionFields } from './redaction-fields.tsx';

interface Form {
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
  readonly locked: boolean;
  readonly faults: PolicyFaults;
}

function Check(props: { form: Form; name: 'logging' | 'zdr' | 'no_train'; words: string; more: string }) {
  const { form, name, words, more } = props;
  const { draft, onDraft, locked } = form;
  return (
    <label className="check">
      <input
        type="checkbox"
        checked={draft[name]}
        disabled={locked}
        onChange={({ target }) => onDraft({ ...draft, [name]: target.checked })}
      />
      <span>
        {words} <span className="faint">{more}</span>
      </span>
    </label>
  );
}

function Content({ form }: { form: Form }) {
  const { draft, onDraft, locked, faults } = form;
  return (
    <>
      <Check
        form={form}
        name="logging"
        words="Store what calls say"
        more="redacted, for owners, admins and developers"
      />
      <TextField
        label="Stored for, days"
        name="days"
        inputMode="numeric"
        value={draft.days}
        readOnly={locked}
        onChange={({ target }) => onDraft({ ...draft, days: target.value })}
        fault={faults.days ?? null}
        hint="From 0, which stores nothing, to 365."
      />
    </>
  );
}

function Places({ form }: { form: Form }) {
  const { draft, onDraft, locked, faults } = form;
  return (
    <>
      <Check form={form} name="zdr" words="Only endpoints that retain nothing" more="ZDR" />
      <Check form={form} name="no_train" words="Only endpoints that do not train on calls" more="" />
      <AreaField
        label="Regions that calls may go to"
        name="regions"
        rows={2}
        spellCheck={false}
        value={draft.regions}
        readOnly={locked}
        onChange={({ target }) => onDraft({ ...draft, regions: target.value })}
        fault={faults.regions ?? null}
        hint="One a line; eu means eu-west and eu-central too. Empty: all."
      />
    </>
  );
}

export function PolicyCard(props: {
  form: Form;
  odd: boolean;
  effects: readonly string[];
  busy: boolean;
  fault: Fault | null;
  said: string;
  onSave: () => void;
}) {
  const { form, odd, effects, busy, fault, said, onSave } = props;
  const { locked, faults } = form;
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    onSave();
  };
  const note = locked ? 'owners and admins change it' : 'for every call of this organisation';
  return (
    <Card title="Data policy" note={note}>
      <form className="privacy-form" onSubmit={submit} noValidate>
        <Content form={form} />
        <Places form={form} />
        <RedactionFields {...form} odd={odd} fault={faults.patterns ?? null} />
        {effects.length > 0 && (
          <ul className="privacy-effects" aria-label="What saving does">
            {effects.map((effect) => (
              <li key={effect}>{effect}</li>
            ))}
          </ul>
        )}
        <FormFault fault={fault} />
        {!locked && <SaveFoot verb="Save the policy" busy={busy} said={said} />}
      </form>
    </Card>
  );
}
