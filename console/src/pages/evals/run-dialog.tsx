// Starting a run: models, how often, and the budget, beside the most that it can cost.
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useClient } from 'urql';
import { type Fault, faultOfQuery } from '../../api/errors.ts';
import {
  CreateEvalRunDocument,
  EvalEstimateDocument,
  type EvalEstimateQuery,
  type EvalSuiteQuery,
} from '../../api/gen/tools/graphql.ts';
import { useSend } from '../../api/send.ts';
import { useOrg } from '../../app/org.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { AreaField, SelectField, TextField } from '../../ui/field.tsx';
import { plural } from '../../ui/format/numbers.ts';
import { Money } from '../../ui/money.tsx';
import { FormFault } from '../../ui/states.tsx';
import { dollarsOf, microOf, modelsIn } from './words.ts';

type History = NonNullable<EvalSuiteQuery['evalSuiteHistory']>;
type Projects = NonNullable<EvalSuiteQuery['projects']>;
type Estimate = NonNullable<EvalEstimateQuery['evalEstimate']>;

interface Faults {
  readonly models: string | null;
  readonly budget: string | null;
}
const MODELS_MAX = 20;
const noFaults: Faults = { models: null, budget: null };

/** What the form asks of a run, without its budget. */
function askedIn(form: FormData) {
  const judgeModel = String(form.get('judge') ?? '').trim();
  return {
    targets: modelsIn(String(form.get('models') ?? '')).map((model) => ({ model })),
    repeat: Number(form.get('repeat')),
    judgeSamples: Number(form.get('samples')),
    ...(judgeModel === '' ? {} : { judgeModel }),
  };
}

function Counts({
  name,
  label,
  of,
  hint,
}: {
  name: string;
  label: string;
  of: readonly number[];
  hint: string;
}) {
  return (
    <SelectField label={label} name={name} hint={hint}>
      {of.map((n) => (
        <option key={n}>{n}</option>
      ))}
    </SelectField>
  );
}

function Fields({ faults, projects }: { faults: Faults; projects: Projects }) {
  return (
    <>
      <AreaField
        label="Models"
        name="models"
        hint="One a line; each answers every case. Empty: each case names its own."
        spellCheck={false}
        fault={faults.models}
        data-autofocus
      />
      <div className="eval-fields">
        <Counts
          name="repeat"
          label="Answers to each case"
          of={[1, 2, 3, 4, 5]}
          hint="More tell chance apart."
        />
        <Counts name="samples" label="Grades by a judge" of={[1, 3, 5, 7, 9]} hint="Most of them decide." />
      </div>
      <TextField
        label="Judge"
        name="judge"
        hint="The model of judges that name none."
        autoComplete="off"
        spellCheck={false}
      />
      {projects.length > 1 && (
        <SelectField label="Project" name="project" hint="Its budget counts the calls.">
          {projects.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </SelectField>
      )}
    </>
  );
}

/** What the answers of the form last cost at most. */
function useEstimate(suiteId: string) {
  const client = useClient();
  const { environment } = useOrg();
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<Fault | null>(null);
  const [estimate, setEstimate] = useState<Estimate | null>(null);
  const ask = async (form: FormData): Promise<Estimate | null> => {
    const { targets, ...more } = askedIn(form);
    setBusy(true);
    const { data, error } = await client
      .query(
        EvalEstimateDocument,
        { suiteId, targets: targets.length === 0 ? [{}] : targets, ...more, environment },
        { requestPolicy: 'network-only' },
      )
      .toPromise();
    setBusy(false);
    setFault(error ? faultOfQuery(error) : null);
    const found = data?.evalEstimate ?? null;
    setEstimate(found);
    return found;
  };
  return { ask, busy, fault, estimate };
}

function EstimateLine({ estimate }: { estimate: Estimate | null }) {
  return (
    <p className="eval-estimate" role="status">
      {estimate === null ? (
        <span className="soft">The most that it can cost is not known yet.</span>
      ) : (
        <>
          {plural(estimate.answers, 'answer')}, at most <Money micro={estimate.estimateMicro} />; available
          are <Money micro={estimate.availableMicro} as="balance" />
        </>
      )}
    </p>
  );
}

/** Sends the form; `start` gives what is wrong with its fields. */
function useStart(history: History, projects: Projects) {
  const { slug, env, environment } = useOrg();
  const navigate = useNavigate();
  const { busy, fault, sendOnce } = useSend();
  const start = async (form: FormData, budget: string): Promise<Faults> => {
    const budgetMicro = microOf(budget);
    const { targets, ...more } = askedIn(form);
    const models = targets.length > MODELS_MAX ? `At most ${MODELS_MAX} models.` : null;
    if (budgetMicro === null || models !== null) {
      return { models, budget: budgetMicro === null ? 'An amount in dollars, as 0.50.' : null };
    }
    const projectId = form.get('project') ?? (projects.length === 1 ? projects[0]?.id : null);
    const done = await sendOnce(CreateEvalRunDocument, {
      ...{ suiteId: history.suite.id, targets: targets.length === 0 ? [{}] : targets, ...more },
      ...{ budgetMicro, environment },
      ...(projectId ? { projectId: String(projectId) } : {}),
    });
    if (done !== null)
      void navigate({ to: '/$org/$env/evals/runs/$id', params: { org: slug, env, id: done.run.id } });
    return noFaults;
  };
  return { busy, fault, start };
}

export function RunDialog(props: { history: History; projects: Projects; onClose: () => void }) {
  const { history, onClose } = props;
  const { environment } = useOrg();
  const projects = props.projects.filter((one) => one.environment === environment && one.status === 'ACTIVE');
  const { busy, fault, start } = useStart(history, projects);
  const [faults, setFaults] = useState(noFaults);
  const [budget, setBudget] = useState('');
  const { ask, ...estimated } = useEstimate(history.suite.id);
  const estimate = async (form: FormData) => {
    const found = await ask(form);
    if (found !== null && budget === '') setBudget(dollarsOf(found.estimateMicro));
  };
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setFaults(await start(new FormData(event.currentTarget), budget));
  };
  return (
    <Dialog
      title={`Run ${history.suite.name}`}
      note="A run never costs more than its budget. It goes on when you leave."
      onClose={onClose}
      size={520}
    >
      <form className="eval-form" noValidate onSubmit={(event) => void submit(event)}>
        <Fields faults={faults} projects={projects} />
        <EstimateLine estimate={estimated.estimate} />
        <TextField
          label="Budget in dollars"
          name="budget"
          inputMode="decimal"
          autoComplete="off"
          value={budget}
          onChange={(event) => setBudget(event.target.value)}
          fault={faults.budget}
        />
        <FormFault fault={fault ?? estimated.fault} />
        <div className="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            busy={estimated.busy}
            onClick={(event) => void estimate(new FormData(event.currentTarget.form ?? undefined))}
          >
            Estimate
          </Button>
          <Button type="submit" kind="primary" busy={busy}>
            Start the run
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
