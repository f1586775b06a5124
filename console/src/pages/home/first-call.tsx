// The way to a first call: make a key, paste a snippet, see the call arrive. Opening the page alone creates nothing.
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { base_url } from '../../api/boot.ts';
import type { Fault } from '../../api/errors.ts';
import { useOrg } from '../../app/org.tsx';
import { Button } from '../../ui/button.tsx';
import { PageHead } from '../../ui/card.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { RouteLink, ShortFeed } from '../../ui/feed.tsx';
import { Icon } from '../../ui/icons.tsx';
import { SnippetTabs } from '../../ui/snippet-tabs.tsx';
import { FormFault } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { useFeed } from '../../ui/use-feed.ts';
import { type NewKey, useCreateKey, useDefaultProject } from '../keys/create.ts';
import { sendFirstCall } from '../keys/send.ts';
import { useSnippetModel } from '../keys/snippet-model.ts';

const PATIENCE_MS = 60_000;

function Step(props: {
  number: number;
  state: 'done' | 'now' | 'later';
  title: string;
  note?: string;
  children?: ReactNode;
}) {
  const { number, state, title, note, children } = props;
  return (
    <li className="step" data-state={state} aria-current={state === 'now' ? 'step' : undefined}>
      <div className="step-mark">
        <span className="step-number">
          {state === 'done' ? <Icon name="check" size={15} /> : number}
          {state === 'done' && <span className="visually-hidden">done</span>}
        </span>
      </div>
      <div className="step-body">
        <h2>{title}</h2>
        {note && <p>{note}</p>}
        {children}
      </div>
    </li>
  );
}

function Hints() {
  return (
    <ul className="hints">
      <li>
        Is the variable set? <code className="mono">echo $GATEWAY_API_KEY</code> shows the key.
      </li>
      <li>
        Does the address end as in the snippet? OpenAI clients need <code className="mono">/v1</code>,
        Anthropic’s do not.
      </li>
      <li>
        Is the gateway in reach? <code className="mono">curl {base_url}/healthz</code> answers.
      </li>
    </ul>
  );
}

function Arrival({ made, model, onArrived }: { made: NewKey; model: string; onArrived: () => void }) {
  const feed = useFeed({ read: undefined, key_id: made.key.id });
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<Fault | null>(null);
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  const [row] = feed.rows;
  useEffect(() => {
    if (row !== undefined) onArrived();
  }, [row, onArrived]);
  if (row !== undefined) {
    return (
      <div className="arrived-card">
        <Table name="Your call">
          <ShortFeed rows={[row]} fresh={feed.fresh} />
        </Table>
        <div className="arrived-foot">
          <RouteLink row={row} />
        </div>
      </div>
    );
  }
  const send = async () => {
    setBusy(true);
    setFault(await sendFirstCall({ base_url, secret: made.secret, model }));
    setBusy(false);
  };
  return (
    <>
      <div className="listening" role="status">
        <span className="pulse" aria-hidden="true" />
        <span className="grow">
          Listening. Your call appears here by itself, with its route and its price.
        </span>
        <Button busy={busy} onClick={() => void send()}>
          Send one for me
        </Button>
      </div>
      <FormFault fault={fault} />
      {late && <Hints />}
    </>
  );
}

function KeyStep({ made, onMade }: { made: NewKey | null; onMade: (made: NewKey | null) => void }) {
  const { env } = useOrg();
  const project = useDefaultProject();
  const { create, busy, fault } = useCreateKey();
  const sandbox = env === 'sandbox';
  const kind = sandbox ? 'sandbox' : 'live';
  const make = async () => {
    if (project === null) return;
    onMade(await create({ project_id: project.id, name: 'first call', scopes: ['INFERENCE'] }));
  };
  return (
    <Step
      number={1}
      state={made ? 'done' : 'now'}
      title={made ? `${sandbox ? 'Sandbox' : 'Live'} key ready` : `Make a ${kind} key`}
      note={
        sandbox
          ? 'Sandbox calls are answered by simulated models and cost nothing real.'
          : 'Live calls are charged to the credit of your organisation.'
      }
    >
      {made ? (
        <div className="secret">
          <code>{made.secret}</code>
          <CopyButton text={made.secret} what="the key" />
        </div>
      ) : (
        <Button kind="primary" icon="key" busy={busy} disabled={project === null} onClick={() => void make()}>
          Make a {kind} key
        </Button>
      )}
      <FormFault fault={fault} />
    </Step>
  );
}

/** The way from the sandbox to live calls, and back. */
function OtherEnvironment() {
  const { env, slug } = useOrg();
  if (env === 'sandbox') {
    return (
      <div className="card note">
        <span className="grow">
          <b>Then go live.</b>{' '}
          <span className="soft">Add credits and make a live key. Nothing else changes.</span>
        </span>
        <Link
          className="btn"
          to="/$org/$env/credits"
          params={{ org: slug, env: 'live' }}
          search={{ add: true }}
        >
          Add credits
        </Link>
      </div>
    );
  }
  return (
    <div className="card note">
      <span className="grow">
        <b>Try it free first.</b>{' '}
        <span className="soft">The sandbox answers every model of the catalog without real money.</span>
      </span>
      <Link className="btn" to="/$org/$env/home" params={{ org: slug, env: 'sandbox' }}>
        Open the sandbox
      </Link>
    </div>
  );
}

export function FirstCall({ onDone }: { onDone: () => void }) {
  const [made, setMade] = useState<NewKey | null>(null);
  const [arrived, setArrived] = useState(false);
  const model = useSnippetModel(made?.secret ?? null);
  const waiting = made ? 'now' : 'later';
  return (
    <div className="first-call">
      <PageHead
        title="Your first call"
        actions={
          <Button kind="quiet" onClick={onDone}>
            {arrived ? 'Go to Home' : 'Not now'}
          </Button>
        }
      >
        <p>Keep the client you have. Change the address and the key.</p>
      </PageHead>
      <div className="stack">
        <ol className="card steps">
          <KeyStep made={made} onMade={setMade} />
          <Step
            number={2}
            state={arrived ? 'done' : waiting}
            title="Paste and run"
            note="The key is read from the environment, so it stays out of your code."
          >
            {made && model && <SnippetTabs base_url={base_url} model={model} secret={made.secret} />}
          </Step>
          <Step number={3} state={arrived ? 'done' : 'later'} title="See it arrive">
            {made && model && <Arrival made={made} model={model} onArrived={() => setArrived(true)} />}
          </Step>
        </ol>
        <OtherEnvironment />
      </div>
    </div>
  );
}
