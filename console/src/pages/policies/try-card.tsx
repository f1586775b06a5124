// Trying a text on a call that is described: what would be chosen, what it would cost, and what the active version does.
import type { FormEvent } from 'react';
import { useQuery } from 'urql';
import { type Fault, faultOfQuery } from '../../api/errors.ts';
import {
  type PolicyTrialFragment,
  TryPolicyDocument,
  TryStoredPolicyDocument,
} from '../../api/gen/tools/graphql.ts';
import { useOrg } from '../../app/org.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { TextField } from '../../ui/field.tsx';
import { shareText } from '../../ui/format/numbers.ts';
import { Money } from '../../ui/money.tsx';
import { FormFault } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { reasonText } from '../request/explain.ts';
import type { Desk, PolicyShown } from './policy-page.tsx';
import { useUsedModel } from './used-model.ts';
import { differenceText } from './words.ts';

/** The call that is described. */
export interface Asked {
  readonly model: string;
  readonly input: number;
  readonly has: readonly string[];
}

function readAsked(form: FormData): Asked {
  const input = Number(form.get('input'));
  return {
    model: String(form.get('model') ?? '').trim(),
    input: Number.isInteger(input) && input >= 0 ? input : 0,
    has: ['tools', 'json_schema', 'images'].filter((name) => form.get(name) !== null),
  };
}

function Fields({ asked }: { asked: Asked }) {
  return (
    <>
      <TextField
        label="Model"
        name="model"
        defaultValue={asked.model}
        autoComplete="off"
        spellCheck={false}
      />
      <TextField label="Input tokens" name="input" defaultValue={String(asked.input)} inputMode="numeric" />
      <fieldset className="policy-flags">
        <legend className="visually-hidden">The call has</legend>
        {[
          ['tools', 'tools'],
          ['json_schema', 'a JSON schema'],
          ['images', 'images'],
        ].map(([name = '', word]) => (
          <label key={name} className="check">
            <input type="checkbox" name={name} defaultChecked={asked.has.includes(name)} />
            {word}
          </label>
        ))}
      </fieldset>
    </>
  );
}

function Plan({ trial }: { trial: PolicyTrialFragment }) {
  return (
    <Table name="What would be tried">
      <Columns
        of={[
          { name: 'Try', className: 'n' },
          'Provider',
          'Model',
          { name: 'Score', className: 'n' },
          { name: 'Cost', className: 'n' },
        ]}
      />
      <tbody>
        {trial.plan.map((item) => (
          <tr key={item.attempt}>
            <td className="n">{item.attempt}</td>
            <td>
              {item.provider} <span className="faint">{item.region}</span>
            </td>
            <td className="soft">{item.model}</td>
            <td className="n">{shareText(item.score)}</td>
            <td className="n">
              <Money micro={item.estCostMicro} />
            </td>
          </tr>
        ))}
        {trial.excluded.map((item) => (
          <tr key={item.endpointId} className="policy-out">
            <td className="n">–</td>
            <td>{item.provider}</td>
            <td colSpan={3}>
              <Status tone="mute" plain>
                left out
              </Status>{' '}
              {reasonText(item.reason)}
            </td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

function Outcome({ trial, active }: { trial: PolicyTrialFragment; active: PolicyTrialFragment | null }) {
  const { decision } = trial;
  const difference = active === null ? null : differenceText(trial.plan, active.plan);
  return (
    <>
      <div className="policy-outcome" role="status">
        {decision.denied ? <Status tone="bad">refused</Status> : <Status tone="ok">routed</Status>}
        <span>{decision.rule === '-' ? 'no rule matches' : `rule ${decision.rule}`}</span>
        <span className="soft">sort {decision.sort}</span>
        {difference !== null && <Status tone="warn">differs from active: {difference}</Status>}
        {active !== null && difference === null && <span className="soft">as the active version</span>}
      </div>
      {decision.notes.length > 0 && (
        <ul className="policy-notes soft">
          {decision.notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
      {trial.plan.length + trial.excluded.length > 0 && <Plan trial={trial} />}
    </>
  );
}

/** The trial of `text`, and that of the active version, where there is one. */
function useTrial({ row }: PolicyShown, text: string | null, asked: Asked) {
  const { environment } = useOrg();
  const facts = { ...asked, has: [...asked.has], name: row.name, environment };
  const [tried] = useQuery({
    query: TryPolicyDocument,
    variables: { ...facts, yaml: text ?? '' },
    pause: text === null || asked.model === '',
    requestPolicy: 'network-only',
  });
  const version = row.scopes[0]?.version;
  const [stored] = useQuery({
    query: TryStoredPolicyDocument,
    variables: { ...facts, version: version ?? 1 },
    pause: version === undefined || asked.model === '',
  });
  const fault: Fault | null = tried.error ? faultOfQuery(tried.error) : null;
  const active = version === undefined ? null : (stored.data?.policyDryRun ?? null);
  return { trial: tried.data?.policyDryRun ?? null, active, fault, busy: tried.fetching };
}

interface Props {
  readonly shown: PolicyShown;
  readonly text: string | null;
  readonly desk: Desk;
}

function Trying({ shown, text, desk, model }: Props & { model: string }) {
  const { asked, setAsked } = desk;
  const call = asked ?? { model, input: 1_000, has: [] };
  const { trial, active, fault, busy } = useTrial(shown, text, call);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setAsked(readAsked(new FormData(event.currentTarget)));
  };
  return (
    <>
      <form className="policy-try" onSubmit={submit} noValidate>
        <Fields asked={call} />
        <Button type="submit" busy={busy}>
          Try
        </Button>
      </form>
      <FormFault fault={fault} />
      {trial !== null && fault === null && <Outcome trial={trial} active={active} />}
    </>
  );
}

export function TryCard(props: Props) {
  const model = useUsedModel();
  return (
    <Card title="Try" note="The text as typed. Nothing is called, held or charged." flush>
      {model !== null && <Trying {...props} model={model} />}
    </Card>
  );
}
