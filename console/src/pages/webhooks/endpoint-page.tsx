// One endpoint: how it stands, what it gets, and what was sent to it.
import './webhooks.css';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import {
  TestWebhookDocument,
  UpdateWebhookDocument,
  WebhookDocument,
  type WebhookRowFragment,
} from '../../api/gen/tools/graphql.ts';
import { useSend } from '../../api/send.ts';
import { may, useOrg } from '../../app/org.tsx';
import { readWebhookSearch, type WebhookSearch } from '../../app/search.ts';
import { useShortcuts } from '../../app/shortcuts.ts';
import { Button } from '../../ui/button.tsx';
import { Card, PageHead } from '../../ui/card.tsx';
import { Bone, Empty, ErrorBox } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';
import { DeliveriesCard } from './deliveries-card.tsx';
import { DeleteDialog, EditDialog, RotateDialog } from './dialogs.tsx';
import { metBy, offWords, standingOf } from './words.ts';

const PATH = '/$org/$env/webhooks/$id';

type Doing = 'edit' | 'rotate' | 'delete';

function Facts({ row }: { row: WebhookRowFragment }) {
  const { tone, shape, word } = standingOf(row);
  return (
    <dl className="webhook-facts">
      <div>
        <dt>State</dt>
        <dd>
          <Status tone={tone} shape={shape}>
            {word}
          </Status>{' '}
          {row.status === 'ACTIVE' && row.failingSince && (
            <span className="sub">
              since <Time at={row.failingSince} />
            </span>
          )}
        </dd>
      </div>
      <div>
        <dt>Signs with</dt>
        <dd>
          <code className="mono">{row.secretHint}</code>
          {row.previousSecretExpiresAt && (
            <div className="sub">
              and the secret before it, until <Time at={row.previousSecretExpiresAt} as="feed" />
            </div>
          )}
        </dd>
      </div>
      <div>
        <dt>Last taken</dt>
        <dd>
          <Time at={row.lastDeliveryAt} never="never" />
        </dd>
      </div>
      <div>
        <dt>Events</dt>
        <dd>{row.events.includes('*') ? 'all' : row.events.join(', ')}</dd>
      </div>
    </dl>
  );
}

/** Switching on and off, and the test event; what came of it is said by `onSaid`. */
function useActs(id: string, onSaid: (said: string) => void) {
  const { send, busy, fault } = useSend();
  const switchTo = async (status: 'ACTIVE' | 'DISABLED') => {
    const done = await send(UpdateWebhookDocument, { id, status });
    if (done !== null) onSaid(status === 'ACTIVE' ? 'It is switched on.' : 'It is switched off.');
  };
  const ping = async () => {
    const done = await send(TestWebhookDocument, { id });
    if (done === null) return;
    const last = done.delivery.attemptLog.at(-1);
    const met = last === undefined ? 'no answer' : metBy(last);
    onSaid(
      done.delivery.status === 'DELIVERED'
        ? `The test event was delivered: ${met}.`
        : `The test event was not delivered: ${met}.`,
    );
  };
  return { switchTo, ping, busy, fault };
}

function Off({ row, allowed, onPress }: { row: WebhookRowFragment; allowed: boolean; onPress: () => void }) {
  const { disabledReason } = row;
  return (
    <div className="webhook-off">
      <p>{offWords[disabledReason ?? 'MANUAL']}</p>
      {allowed && disabledReason !== 'ORG_CLOSED' && (
        <Button kind="primary" onClick={onPress}>
          Switch on again
        </Button>
      )}
    </div>
  );
}

/** What can be done to an endpoint. */
function Actions(props: {
  row: WebhookRowFragment;
  busy: boolean;
  ping: () => Promise<void>;
  switchTo: (status: 'DISABLED') => Promise<void>;
  onDo: (doing: Doing) => void;
}) {
  const { row, busy, ping, switchTo, onDo } = props;
  return (
    <>
      <Button busy={busy} aria-keyshortcuts="t" onClick={() => void ping()}>
        Send a test event
      </Button>
      <Button aria-keyshortcuts="e" onClick={() => onDo('edit')}>
        Edit
      </Button>
      <Button onClick={() => onDo('rotate')}>Replace secret</Button>
      {row.status === 'ACTIVE' && <Button onClick={() => void switchTo('DISABLED')}>Switch off</Button>}
      <Button kind="danger" onClick={() => onDo('delete')}>
        Delete
      </Button>
    </>
  );
}

function Shown({ row, reread }: { row: WebhookRowFragment; reread: () => void }) {
  const { slug, env, role } = useOrg();
  const allowed = may(role, 'keys');
  const navigate = useNavigate();
  const search = readWebhookSearch(useSearch({ from: PATH }));
  const onSearch = (next: WebhookSearch) =>
    void navigate({ to: PATH, params: { org: slug, env, id: row.id }, search: next, replace: true });
  const [said, setSaid] = useState('');
  const [serial, setSerial] = useState(0);
  const [doing, setDoing] = useState<Doing | null>(null);
  const onSaid = (words: string) => {
    setSaid(words);
    setSerial((before) => before + 1);
    reread();
  };
  const { switchTo, ping, busy, fault } = useActs(row.id, onSaid);
  useShortcuts(allowed ? { e: () => setDoing('edit'), t: () => void ping() } : {});
  const close = () => setDoing(null);
  const done = (words: string) => {
    if (doing !== 'rotate') close();
    onSaid(words);
  };
  return (
    <>
      <PageHead
        title={row.url}
        actions={allowed && <Actions {...{ row, busy, ping, switchTo }} onDo={setDoing} />}
      >
        <p role="status">
          {said || (
            <Link className="link" to="/$org/$env/webhooks" params={{ org: slug, env }}>
              All endpoints
            </Link>
          )}{' '}
          <span className="soft">{row.description}</span>
        </p>
      </PageHead>
      <div className="stack">
        {fault && <ErrorBox fault={fault} />}
        <Card>
          {row.status === 'DISABLED' && <Off {...{ row, allowed }} onPress={() => void switchTo('ACTIVE')} />}
          <Facts row={row} />
        </Card>
        <DeliveriesCard hook={row} {...{ allowed, search, onSearch, serial, onSaid }} />
      </div>
      {doing === 'edit' && <EditDialog row={row} onClose={close} onDone={done} />}
      {doing === 'rotate' && <RotateDialog row={row} onClose={close} onDone={done} />}
      {doing === 'delete' && (
        <DeleteDialog
          row={row}
          onClose={close}
          onDone={() => void navigate({ to: '/$org/$env/webhooks', params: { org: slug, env } })}
        />
      )}
    </>
  );
}

export function WebhookPage() {
  const { id } = useParams({ from: PATH });
  const [{ data, error }, again] = useQuery({
    ...{ query: WebhookDocument, variables: { id } },
    requestPolicy: 'cache-and-network',
  });
  const reread = () => again({ requestPolicy: 'network-only' });
  if (data?.webhook) return <Shown row={data.webhook} reread={reread} />;
  return (
    <>
      <PageHead title="Endpoint" />
      {error && <ErrorBox fault={faultOfQuery(error)} onRetry={reread} />}
      {!error && data === undefined && <Bone width={260} />}
      {!error && data?.webhook === null && (
        <Empty title="There is no such endpoint">It was deleted, or belongs to another organisation.</Empty>
      )}
    </>
  );
}
