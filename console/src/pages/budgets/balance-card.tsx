// Below which balance the organization is told, and whom.
import { type FormEvent, useState } from 'react';
import { UpdateLowBalanceDocument } from '../../api/gen/graphql.ts';
import { useSend } from '../../api/send.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { TextField } from '../../ui/field.tsx';
import { Money } from '../../ui/money.tsx';
import { Bone, FormFault } from '../../ui/states.tsx';
import { microOf } from '../keys/budget.ts';
import { dollarsOf } from '../keys/changes.ts';

interface Org {
  readonly id: string;
  readonly lowBalanceMicro: string;
}

function useSave(org: Org, onDone: () => void) {
  const { send, busy, fault } = useSend();
  const save = async (lowBalanceMicro: string) => {
    const done = await send(UpdateLowBalanceDocument, { id: org.id, lowBalanceMicro });
    if (done !== null) onDone();
  };
  return { save, busy, fault };
}

function EditMark({ org, onDone, onClose }: { org: Org; onDone: () => void; onClose: () => void }) {
  const { save, busy, fault } = useSave(org, onDone);
  const [wrong, setWrong] = useState<string | null>(null);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const micro = microOf(String(new FormData(event.currentTarget).get('mark') || '0'));
    setWrong(micro === undefined ? 'An amount in US dollars, like 5 or 12.50.' : null);
    if (micro !== undefined) void save(micro);
  };
  return (
    <form className="mark-form" onSubmit={submit} noValidate>
      <TextField
        label="Warn below"
        name="mark"
        inputMode="decimal"
        hint="US dollars. 0 sends nothing."
        defaultValue={dollarsOf(org.lowBalanceMicro)}
        autoComplete="off"
        fault={wrong}
      />
      <FormFault fault={fault} />
      <div className="actions">
        <Button type="button" onClick={onClose}>
          Cancel
        </Button>
        <Button kind="primary" type="submit" busy={busy}>
          Save
        </Button>
      </div>
    </form>
  );
}

/** `org` undefined: it is being read. */
export function BalanceCard(props: { org: Org | null | undefined; allowed: boolean; onChanged: () => void }) {
  const { org, allowed, onChanged } = props;
  const [editing, setEditing] = useState(false);
  const edit = allowed && !editing && org && <Button onClick={() => setEditing(true)}>Change</Button>;
  return (
    <Card title="Low balance" more={edit || undefined}>
      {!org && <Bone width={220} />}
      {org && !editing && (
        <p>
          {org.lowBalanceMicro === '0' ? (
            'Nobody is warned when credits run low.'
          ) : (
            <>
              Owners, admins and billing get a mail when less than{' '}
              <Money micro={org.lowBalanceMicro} as="spend" /> is left, and when a call is refused because
              nothing is.
            </>
          )}
        </p>
      )}
      {org && editing && (
        <EditMark
          org={org}
          onClose={() => setEditing(false)}
          onDone={() => {
            setEditing(false);
            onChanged();
          }}
        />
      )}
    </Card>
  );
}
