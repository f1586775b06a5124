// Creating a key: a short form, then the secret, shown once. Closing asks for confirmation until the secret was copied.
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { base_url } from '../../api/boot.ts';
import type { Scope } from '../../api/gen/graphql.ts';
import { useOrg } from '../../app/org.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ShortFeed } from '../../ui/feed.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { spendText } from '../../ui/format/money.ts';
import { SnippetTabs } from '../../ui/snippet-tabs.tsx';
import { FormFault } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Table } from '../../ui/table.tsx';
import { useFeed } from '../../ui/use-feed.ts';
import { microOf } from './budget.ts';
import { type NewKey, type NewKeyForm, useCreateKey, useProjects } from './create.ts';
import { scopes, scopeWord } from './scopes.ts';

const MODEL = 'sandbox/echo';
const expiries = [
  { value: '', name: 'Never' },
  { value: '24h', name: 'In a day' },
  { value: '720h', name: 'In 30 days' },
  { value: '2160h', name: 'In 90 days' },
  { value: '8760h', name: 'In a year' },
];

type Faults = { name?: string; scopes?: string; budget?: string };

/** What the form asks for, and what is wrong with it. */
function readForm(form: FormData, chosen: ReadonlySet<Scope>): { faults: Faults; input: NewKeyForm } {
  const text = (name: string) => String(form.get(name) ?? '').trim();
  const budget = text('budget');
  const daily = budget === '' ? null : microOf(budget);
  const faults = {
    ...(text('name') === '' ? { name: 'Give it a name, so that you know it again in lists and logs.' } : {}),
    ...(chosen.size === 0 ? { scopes: 'Choose at least one.' } : {}),
    ...(daily === undefined ? { budget: 'An amount in US dollars, like 25 or 0.50.' } : {}),
  };
  const input = {
    project_id: text('project'),
    name: text('name'),
    scopes: scopes.map(({ value }) => value).filter((value) => chosen.has(value)),
    ...(daily ? { budget: { dailyMicro: daily, hard: form.get('hard') !== null } } : {}),
    ...(text('expires') === '' ? {} : { expiresIn: text('expires') }),
  };
  return { faults, input };
}

function ScopeChoice({
  chosen,
  onToggle,
  fault,
}: {
  chosen: ReadonlySet<Scope>;
  onToggle: (scope: Scope) => void;
  fault: string | undefined;
}) {
  return (
    <fieldset className="key-scopes">
      <legend>What it may do</legend>
      {scopes.map(({ value, name, what }) => (
        <label className="check" key={value}>
          <input type="checkbox" checked={chosen.has(value)} onChange={() => onToggle(value)} />
          <span>
            <code className="mono">{name}</code> <span className="faint">{what}</span>
          </span>
        </label>
      ))}
      {fault && (
        <span className="fault" role="alert">
          {fault}
        </span>
      )}
    </fieldset>
  );
}

function BudgetAndExpiry({ fault }: { fault: string | null }) {
  return (
    <>
      <div className="key-pair">
        <TextField
          label="Daily budget"
          name="budget"
          inputMode="decimal"
          placeholder="no limit"
          hint="US dollars a day, UTC."
          autoComplete="off"
          fault={fault}
        />
        <SelectField label="Expires" name="expires">
          {expiries.map(({ value, name }) => (
            <option value={value} key={value}>
              {name}
            </option>
          ))}
        </SelectField>
      </div>
      <label className="check">
        <input type="checkbox" name="hard" defaultChecked />
        <span>
          Stop calls when the budget is spent <span className="faint">otherwise you are only warned</span>
        </span>
      </label>
    </>
  );
}

function Form({ onMade, onClose }: { onMade: (made: NewKey) => void; onClose: () => void }) {
  const { env } = useOrg();
  const projects = useProjects();
  const { create, busy, fault } = useCreateKey();
  const [chosen, setChosen] = useState<ReadonlySet<Scope>>(new Set(['INFERENCE']));
  const [faults, setFaults] = useState<Faults>({});

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (busy) return;
    const read = readForm(new FormData(event.currentTarget), chosen);
    setFaults(read.faults);
    if (Object.keys(read.faults).length > 0) return;
    const made = await create(read.input);
    if (made !== null) onMade(made);
  };
  const toggle = (scope: Scope) =>
    setChosen((before) => {
      const next = new Set(before);
      if (!next.delete(scope)) next.add(scope);
      return next;
    });

  return (
    <form className="key-form" onSubmit={(event) => void submit(event)} noValidate>
      <TextField
        label="Name"
        name="name"
        placeholder="backend-prod"
        hint="Shown in lists and logs."
        autoComplete="off"
        maxLength={120}
        fault={faults.name ?? (fault?.field?.endsWith('name') ? fault.message : null)}
        data-autofocus
      />
      <SelectField label="Project" name="project">
        {projects.map(({ id, name }) => (
          <option value={id} key={id}>
            {name}
          </option>
        ))}
      </SelectField>
      <ScopeChoice chosen={chosen} onToggle={toggle} fault={faults.scopes} />
      <BudgetAndExpiry fault={faults.budget ?? null} />
      <FormFault fault={fault} />
      <div className="dialog-foot">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" kind="primary" busy={busy} disabled={projects.length === 0}>
          {env === 'sandbox' ? 'Create sandbox key' : 'Create key'}
        </Button>
      </div>
    </form>
  );
}

function Settings({ made }: { made: NewKey }) {
  const { key } = made;
  const { dailyMicro, hard } = key.budget;
  return (
    <p className="key-settings sub">
      <span>
        <b>{key.name}</b> in {key.project?.name ?? 'its project'}
      </span>
      <span>{key.scopes.map(scopeWord).join(', ')}</span>
      <span>{key.expiresAt === null ? 'no expiry' : `until ${key.expiresAt?.slice(0, 10)}`}</span>
      <span>{dailyMicro ? `${spendText(dailyMicro)} a day, ${hard ? 'hard' : 'soft'}` : 'no budget'}</span>
    </p>
  );
}

function Secret({
  made,
  asking,
  onCopied,
  onClose,
  onStay,
}: {
  made: NewKey;
  asking: boolean;
  onCopied: () => void;
  onClose: () => void;
  onStay: () => void;
}) {
  const copy = useRef<HTMLButtonElement>(null);
  useEffect(() => copy.current?.focus(), []);
  const feed = useFeed({ read: undefined, key_id: made.key.id });
  const [row] = feed.rows;
  return (
    <>
      <div className="secret key-secret">
        <code>{made.secret}</code>
        <CopyButton ref={copy} text={made.secret} what="the key" primary onCopied={onCopied} />
      </div>
      <Settings made={made} />
      <SnippetTabs base_url={base_url} model={MODEL} secret={made.secret} />
      {row && (
        <div className="key-arrived">
          <Table name="First call of this key">
            <ShortFeed rows={[row]} fresh={feed.fresh} />
          </Table>
        </div>
      )}
      {asking ? (
        <div className="key-ask" role="alert">
          <span className="grow">The key can’t be shown again. Close without copying it?</span>
          <Button onClick={onStay}>Keep it open</Button>
          <Button kind="danger" onClick={onClose}>
            Close
          </Button>
        </div>
      ) : (
        <div className="dialog-foot">
          <span className="grow" role="status">
            <Status tone="ok" shape={row ? 'ok' : 'run'} plain>
              {row ? 'The first call has arrived' : 'Waiting for this key’s first call'}
            </Status>
          </span>
          <Button onClick={onClose}>I have stored it</Button>
        </div>
      )}
    </>
  );
}

export function CreateKeyDialog({ onClose, onMade }: { onClose: () => void; onMade: () => void }) {
  const { env } = useOrg();
  const [made, setMade] = useState<NewKey | null>(null);
  const [copied, setCopied] = useState(false);
  const [asking, setAsking] = useState(false);
  /** Escape and a press outside. */
  const leave = () => {
    if (made === null || copied || asking) onClose();
    else setAsking(true);
  };
  if (made === null) {
    return (
      <Dialog title={env === 'sandbox' ? 'Create a sandbox key' : 'Create a key'} onClose={leave} size={480}>
        <Form
          onClose={onClose}
          onMade={(next) => {
            setMade(next);
            onMade();
          }}
        />
      </Dialog>
    );
  }
  return (
    <Dialog
      title="Copy your key now"
      note="We keep only its fingerprint, so it can’t be shown again."
      onClose={leave}
    >
      <Secret
        made={made}
        asking={asking}
        onCopied={() => setCopied(true)}
        onClose={onClose}
        onStay={() => setAsking(false)}
      />
    </Dialog>
  );
}
