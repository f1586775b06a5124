// Apps: what calls name, how much each is used, and which of them everybody sees.
import './apps.css';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useQuery } from 'urql';
import { base_url } from '../../api/boot.ts';
import { faultOfQuery } from '../../api/errors.ts';
import { type AppRowFragment, AppsDocument } from '../../api/gen/tools/graphql.ts';
import { may, useOrg } from '../../app/org.tsx';
import { Button } from '../../ui/button.tsx';
import { Card, PageHead } from '../../ui/card.tsx';
import { countText } from '../../ui/format/numbers.ts';
import { BoneRows, Empty, ErrorBox } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { BadgeDialog, EditDialog } from './dialogs.tsx';
import { standingOf } from './words.ts';

type App = AppRowFragment;
interface Doing {
  readonly act: 'edit' | 'badge';
  readonly app: App;
}
type OnAct = (act: Doing['act'], app: App) => void;

function Line({ app, changes, onAct }: { app: App; changes: boolean; onAct: OnAct }) {
  const { word, tone } = standingOf(app);
  return (
    <tr>
      <td className="app-name">
        <div>{app.name}</div>
        <div className="sub mono">{app.slug}</div>
      </td>
      <td data-label="Seen by">
        <Status tone={tone}>{word}</Status>
      </td>
      <td className="soft" data-label="Category">
        {app.category ?? '–'}
      </td>
      <td className="n" data-label="Calls, 30 days">
        {countText(app.requests30d)}
      </td>
      <td className="n" data-label="Tokens, 30 days">
        {countText(app.tokens30d)}
      </td>
      <td className="app-acts">
        {app.public && (
          <Button kind="quiet" aria-label={`Badge of ${app.name}`} onClick={() => onAct('badge', app)}>
            Badge
          </Button>
        )}
        {changes && app.owned && (
          <Button kind="quiet" aria-label={`Edit ${app.name}`} onClick={() => onAct('edit', app)}>
            Edit
          </Button>
        )}
      </td>
    </tr>
  );
}

function AppsTable(props: { rows: readonly App[] | undefined; changes: boolean; onAct: OnAct }) {
  const { rows, changes, onAct } = props;
  return (
    <Table name="List of apps" busy={rows === undefined} stacks>
      <Columns
        of={[
          'App',
          'Seen by',
          'Category',
          { name: 'Calls, 30 days', className: 'n' },
          { name: 'Tokens, 30 days', className: 'n' },
          { name: 'Actions', hidden: true },
        ]}
      />
      <tbody>
        {rows === undefined ? (
          <BoneRows rows={2} columns={6} />
        ) : (
          rows.map((app) => <Line key={app.slug} {...{ app, changes, onAct }} />)
        )}
      </tbody>
    </Table>
  );
}

function SandboxNote() {
  const { slug } = useOrg();
  return (
    <p className="note soft">
      <span>
        Apps are of live calls, so they are not changed here.{' '}
        <Link className="link" to="/$org/$env/apps" params={{ org: slug, env: 'live' }}>
          See them in Live
        </Link>
      </span>
    </p>
  );
}

function None() {
  return (
    <Empty title="No app yet">
      Name your app in a call, as <code>svc.app</code> or in the header <code>x-svc-app</code>. It is listed
      here within ten minutes, and you can then show it to everybody.
    </Empty>
  );
}

export function AppsPage() {
  const { role, env } = useOrg();
  const [{ data, error }, again] = useQuery({ query: AppsDocument, requestPolicy: 'cache-and-network' });
  const [doing, setDoing] = useState<Doing | null>(null);
  const [said, setSaid] = useState<string | null>(null);
  const reread = () => again({ requestPolicy: 'network-only' });
  const rows = data?.apps ?? undefined;
  const changes = env === 'live' && may(role, 'keys');
  const onDone = (app: App) => {
    setDoing(null);
    setSaid(
      app.public ? `Everybody sees ${app.name} now.` : `${app.name} is seen by your organisation alone.`,
    );
    reread();
  };
  return (
    <>
      <PageHead title="Apps">
        <p role="status">
          {said ? (
            <Status tone="ok" plain>
              {said}
            </Status>
          ) : (
            'What your calls name. Figures are renewed every ten minutes.'
          )}
        </p>
      </PageHead>
      <div className="stack">
        <Card flush>
          {env !== 'live' && <SandboxNote />}
          {error && !rows && <ErrorBox fault={faultOfQuery(error)} onRetry={reread} />}
          {rows?.length === 0 && <None />}
          {!(error && !rows) && rows?.length !== 0 && (
            <AppsTable {...{ rows, changes }} onAct={(act, app) => setDoing({ act, app })} />
          )}
        </Card>
        {rows?.some(({ owned }) => !owned) && (
          <p className="sub">
            Another organisation was the first to call with a name that is taken. Your calls under it count
            for you alone: choose another name.
          </p>
        )}
        <p className="sub">
          <a className="link" href="/models">
            Models and prices
          </a>{' '}
          are public.
        </p>
      </div>
      {doing?.act === 'edit' && <EditDialog app={doing.app} onDone={onDone} onClose={() => setDoing(null)} />}
      {doing?.act === 'badge' && (
        <BadgeDialog app={doing.app} base_url={base_url} onClose={() => setDoing(null)} />
      )}
    </>
  );
}
